"""One unit of both sides compared.

`digests` is the fast path (equal bytes), `merge` the slow path (batches aligned by offset), `classify` names a
difference, `findings` has the classes and severities, `compare` does one unit on both paths.
"""
