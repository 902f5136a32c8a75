"""Who may do what. `principal`: who sends a request; `authorized_operations`: the bit fields in which answers list
operations (KIP-430)."""
