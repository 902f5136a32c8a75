"""Unit tests of `linker.wire`."""
