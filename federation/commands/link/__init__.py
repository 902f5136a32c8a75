"""`causeway link` and `causeway mirror`, over a region's admin endpoint (gRPC).

`link` and `mirror` have the commands, `region_admin` the client of the endpoint, `messages` converts replies to JSON.
"""
