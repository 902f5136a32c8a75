"""What the findings of a partition mean.

`settle` joins the findings of all units of a partition, `heads` judges what is missing where a log starts, `holes`
reads the hole ledger and the cuts of failovers, and `verdicts` judges promise P2.
"""
