"""`causeway replica`: `status` is the command, `replica_status` asks each leader for its replicas."""
