"""The opening of a log.

`log_loader`: checks and repairs the files of a log. `opening`: opens or creates the folder of a partition.
"""
