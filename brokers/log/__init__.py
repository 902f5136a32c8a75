"""One partition's log: `log` decides (pure), `storage` executes against the `Files` port; Kafka's formats on disk."""
