"""What an audit leaves behind: `page` (report.html), `pictures` (the picture in it), `tables` (JSON and Parquet)."""
