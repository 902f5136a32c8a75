"""Kafka's own Java tools as black boxes; skipped, with the reason, where Java or Maven is missing."""
