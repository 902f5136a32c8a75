"""The files of one segment.

`file_names`: their names. `indexes`: the offset index and the time index. `log_segment`: the `.log` file with its
indexes. `ranges`: ranges of batches in it. `segment_digest`: the format of the digest of a sealed segment.
`digest_writing`: writes digests.
"""
