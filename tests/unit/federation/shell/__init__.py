"""What of a federation awaits or blocks."""
