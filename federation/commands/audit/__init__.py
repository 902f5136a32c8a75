"""`causeway audit`: the outside witness's command line, and how it learns what regions say of themselves.

`command`       `causeway audit run` and `causeway audit facts`
`regions`       the two regions that a command line names
`facts`         a region's facts: asked of its administration, read from its metadata log, or out of a file
`compaction`    what those facts say of compaction
`facts_table`   the facts as tables
`verify`        `causeway audit verify`: the chain of reports
`progress`      a progress bar while an audit runs, and the table after it
"""
