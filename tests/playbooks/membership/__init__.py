"""Nodes of one region in one process: what they say to one another about who is there."""
