"""`python -m federation.audit run ...`: the audit alone, for spark-submit and for machines without the rest."""

from federation.audit.cli import audit

audit(prog_name="python -m federation.audit")
