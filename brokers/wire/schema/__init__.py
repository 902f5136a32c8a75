"""Tables of Kafka's messages, one text file per family of APIs, read by `brokers.wire.tables`.

    api KEY NAME VERSIONS flexible VERSION    an RPC; `request` and `response` follow, with fields
    record NAME [type N] VERSIONS flexible VERSION    a message that stands alone; fields follow
    struct NAME                               a struct that several messages of the file use
      name type [versions] [tag N] [= default] [ignorable]
        ...                                   the fields of a struct, where it is used

Types are bool, int8 to int64, uint16, float64, string, bytes, records, uuid or a struct's name;
`[]` makes an array, `?` allows null (`?3+` from version 3 on). Versions are `4`, `4-7` or `4+`; a
field without them has those of what it is in. Without a default a field is zero, empty, or for a
tagged struct absent. When a version lacks a field, only an ignorable one may be set.
"""
