"""Orphan tails on the command line."""
