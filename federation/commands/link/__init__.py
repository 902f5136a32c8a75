"""`causeway link` and `causeway mirror`, over a region's admin endpoint (gRPC).

`link` and `mirror` have the commands, `changes` those that change a mirror's state, of the `chosen_topics`. `restore`
is the way back, `taken_over` lists whose it may be. `holes` shows the ledger of mirrors, `forecast` what a failover
would cost, `decisions` what was promoted, failed over and reversed, `transitions` what is under way, `drift` how
mirrors differ from their sources, `holds` what a source keeps for mirrors, `destinations` whom it waits for when it
starts.
`region_admin` is the endpoint's client, `messages` converts replies to JSON, `times` writes instants, `lags` lags;
`dialect` has names that users of Cluster Linking type besides.
"""
