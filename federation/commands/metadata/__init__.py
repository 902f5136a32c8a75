"""`causeway region metadata`: backups of a region's metadata, and a quorum that is begun anew.

- `commands`: the commands; `reports`: what they print
- `backup_file`: the format of a backup; `running_region`: the metadata of a region that runs, read as an observer does
"""
