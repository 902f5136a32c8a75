"""Unit tests of `linker.shell`."""
