"""An audit of what is new since an earlier one, and the chain of reports down to the first.

`last_report`   an earlier report out of its file, checked
`earlier`       what of a partition earlier reports judged, and whether that still stands
`chain`         the digest of a report, and those of its predecessors
"""
