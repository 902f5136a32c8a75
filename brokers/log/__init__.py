"""One partition's log, in Kafka's formats on disk.

What the core decides, pure: `config`, `segments` (what is known of a segment), `epochs`, `producers`, `log`.
What the disk holds, against the `Files` port: `checkpoints`, `snapshots`, `indexes` (formats), `segment_file`,
`ranges`, `stored_log`, `timestamps` (one open log), `recovery`, `root`, `opening` (start), `syncing`, `storage` (all).
"""
