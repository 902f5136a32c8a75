"""All regions: what an operator declares and runs, and the proof that the promises hold.

Read in this order: `promises` (what is guaranteed), `node` (a region's process: a broker and a linker composed),
`cli` and `commands` (what an operator types), `local` (a federation on one machine), `demo` (the whole product once
through), `audit` (the outside witness), `shell` (everything that awaits).
"""
