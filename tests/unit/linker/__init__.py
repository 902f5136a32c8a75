"""Unit tests of `linker`."""
