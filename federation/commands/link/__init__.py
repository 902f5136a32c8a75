"""`causeway link` and `causeway mirror`, over a region's admin endpoint (gRPC).

`link` and `mirror` have the commands, `region_admin` the region they ask, `messages` turns its replies into JSON.
"""
