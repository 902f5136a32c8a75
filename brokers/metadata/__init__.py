"""What a region agrees on: records of one log, decided by one controller, kept by a quorum.

`commands` (what one may ask), `controller` (decides a command as records; `topics`, `partitions`, `mirrors`,
`config_changes`, `documents`, `registration` and `producer_ids` hold the rules), `config_keys` (every topic key),
`configs` (values in force), `image` (the agreed state), `replay` (records onto an image), `records` (records to bytes),
`batches` (bytes to batches), `snapshot` (an image as a file), `quorum` (who leads, what is committed), `plane` (all of
it behind one door).
"""
