"""Who may do what. `authorized_operations`: the bit fields in which answers list operations (KIP-430)."""
