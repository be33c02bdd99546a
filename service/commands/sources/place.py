"""Remembers how far an import has come, so that the same command goes on from there."""

from __future__ import annotations

import contextlib
import json

from service.commands.input_files import InputFile
from service.data_folder import write_private
from service.domain.comment import SiteId


class Place:
    """How many entries of a file are done, kept in a small hidden file beside it.

    It counts for one content, one site, and one way of importing. Going on too early does no
    harm: a comment that is known already is a repeat.
    """

    def __init__(self, file: InputFile, site_id: SiteId, *, with_decisions: bool) -> None:
        self._of = {
            "file": file.fingerprint(),
            "site_id": site_id,
            "with_decisions": with_decisions,
        }
        self.path = file.path.with_name(f".{file.path.name}.import.json")

    def done(self) -> int:
        """Return how many entries were done by an earlier, interrupted run."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0
        if not isinstance(kept, dict) or {name: kept.get(name) for name in self._of} != self._of:
            return 0
        done = kept.get("done")
        return done if isinstance(done, int) and done > 0 else 0

    def remember(self, done: int) -> None:
        """Keep how many entries are done, where the file's folder can be written to."""
        # Without it the next run begins anew, which takes longer and does no harm.
        with contextlib.suppress(OSError):
            write_private(self.path, json.dumps({**self._of, "done": done}), replace=True)

    def forget(self) -> None:
        """Take the file away: the import is complete."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
