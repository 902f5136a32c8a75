"""One partition on this node: `replica` (its state), `leader` (producers write), `mirror` (a link writes),
`waiting` (who is told when the high watermark moves)."""
