"""`causeway link` and `causeway mirror`, over a region's admin endpoint (gRPC).

`link` and `mirror` have the commands, `holes` shows the ledger of mirrors, `forecast` what a failover would cost,
`restore` is the way back, `decisions` shows what was
promoted and failed over, `drift` how mirrors differ from their sources.
`region_admin` is the endpoint's client, `messages` converts replies to JSON, `times` writes instants.
"""
