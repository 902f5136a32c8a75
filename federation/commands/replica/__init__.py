"""`causeway replica`: `status` is the command, `replica_status` requests the status from each leader."""
