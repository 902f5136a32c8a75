"""The wire codec against its tables, two foreign implementations, and hostile bytes."""
