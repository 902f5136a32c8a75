"""What makes this node one of a region's: its life, its way to the active controller, its watch over others.

`life` registers, catches up, beats and leaves. `channel` brings commands and requests to the active controller wherever
it is, in the encoding of `encoding`. `probing` runs where this node is the active controller, and tells a broker that
is gone from one that is slow.
"""
