"""Settings that hold for every test."""

from hypothesis import settings

# Tests share their cores with processes that other tests start, so no test may depend on how long it takes.
settings.register_profile("causeway", deadline=None, print_blob=True)
settings.load_profile("causeway")
