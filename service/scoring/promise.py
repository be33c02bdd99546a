"""What a model version promises of its own cutoffs."""

from __future__ import annotations

from dataclasses import dataclass

from service.scoring.weights import Cutoffs


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A version's cutoffs, and the error rates they were chosen to keep; None for none stated.

    `ham_called_spam` is the false-positive rate at the spam cutoff, `spam_called_ham` the rate of
    misses at the ham cutoff, both as shares of all comments with that label.
    """

    version: str
    cutoffs: Cutoffs
    ham_called_spam: float | None = None
    spam_called_ham: float | None = None
