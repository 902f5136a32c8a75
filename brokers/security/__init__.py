"""Who may do what. `principal`: who sends a request; `origin`: that, and from where, as the operator log has it;
`authorized_operations`: the bit fields in which answers list operations (KIP-430)."""
