"""Files as other people's Kafka has them, written from their documentation; `{words}` are filled in by the test."""
