"""A link's cores, driven by what happens to them."""
