"""What a region says of itself, which its segment files do not hold.

`region_facts` is the document (`causeway audit facts` writes it): in-sync replicas, configurations, mirrors with their
cuts, the hole ledger. `replica_choice` says which replicas an audit must read.
"""
