"""Verify that an artifact inverts its template."""

from tplc.verify.artifact import Artifact, load_artifact
from tplc.verify.tally import Pair, Trial
from tplc.verify.verify import try_messages, verify

__all__ = ["Artifact", "Pair", "Trial", "load_artifact", "try_messages", "verify"]
