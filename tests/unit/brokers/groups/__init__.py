"""Consumer groups, module by module."""
