"""Gives a version an embedding of comments and writes it as a new version that judges the same.

    python -m training.embed --version models/artifacts/NAME --name NEW --data PATH ... [--promote]

The network gets one more output, its weights stay byte for byte; the projection is fitted on the
train part. Every answer about spam is checked to be the same bit for bit. Where there
is an embedding already, its projection is fitted anew.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.embedding import EMBEDDING_SIZE, Projection, projection_bytes
from models.engine import Engine, WindowScores
from models.errors import ModelVersionError
from models.registry import (
    FUSION_FILE,
    Fusion,
    check_free,
    load_version,
    promote,
    write_version,
)
from models.tokens import CommentTokeniser
from models.transformer import (
    EMBEDDING_FILE,
    NETWORK_FILE,
    TOKENISER_FILE,
    WEIGHTS_FILE,
    TransformerClassifier,
)
from training.command import exit_code_of, parse_version_options, version_parser
from training.corrections import LABEL_CORRECTIONS
from training.dataset import DEFAULT_DATA, Example, read_dataset
from training.embedding_page import HEADING, embedding_lines
from training.partition import Part, partition
from training.pooling import with_pooling

FloatArray = npt.NDArray[np.float64]

# Added to each direction's variance, as a share of the mean variance of those kept: without it
# directions that hardly vary would count as much as the others.
SHRINKAGE = 0.1
# Shares of strangers' pairs at which the share of found pairs of one campaign is told.
_TOLD_AT = (1e-4, 1e-3, 1e-2)
_CHECKED_WINDOWS = 500


def fit_projection(pooled: FloatArray) -> Projection:
    """Return the projection on the directions in which comments differ most, each made as wide.

    `pooled` has a row a comment, more of them than `EMBEDDING_SIZE`. Principal components of the
    covariance, whitened (Jolliffe, "Principal Component Analysis", 2002, 2.3). Campaigns
    are too few to learn a metric from: `training/README.md` has what was tried.
    """
    mean = pooled.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov((pooled - mean).T))
    widest = variances[-EMBEDDING_SIZE:]
    matrix = directions[:, -EMBEDDING_SIZE:] / np.sqrt(widest + SHRINKAGE * widest.mean())
    return Projection(mean=mean.astype(np.float32), matrix=matrix.astype(np.float32))


def measure_meeting(
    examples: Sequence[Example], embeddings: Sequence[tuple[float, ...] | None]
) -> dict[str, Any]:
    """Return how much closer members of one campaign lie than other comments.

    Each member of a campaign is compared with each spam comment: `found_at` tells which share of
    the pairs of one campaign lies closer than the closest share named of the other pairs.
    """
    known = [(e, v) for e, v in zip(examples, embeddings, strict=True) if v and e.is_spam]
    campaigns = np.array([e.campaign or "" for e, _ in known])
    members = np.flatnonzero(campaigns != "")
    told: dict[str, Any] = {
        "campaigns": len(set(campaigns.tolist()) - {""}),
        "members": len(members),
        "compared_with": len(known),
    }
    vectors = np.array([v for _, v in known]).reshape(len(known), -1)
    same = campaigns[members][:, None] == campaigns[None, :]
    cosines = vectors[members] @ vectors.T
    others, cosines[np.arange(len(members)), members] = cosines[~same], np.nan
    pairs = cosines[same]
    pairs = pairs[~np.isnan(pairs)]
    if len(pairs) == 0 or len(others) == 0:
        return told
    return told | {
        "pairs": len(pairs) // 2,
        "found_at": {
            f"{share:g}": round(float((pairs >= np.quantile(others, 1 - share)).mean()), 4)
            for share in _TOLD_AT
        },
        "nearest_is_of_the_campaign": round(
            float(np.mean(same[np.arange(len(members)), np.nanargmax(cosines, axis=1)])), 4
        ),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    options = _parse(arguments)
    return exit_code_of(lambda: _embed_version(options))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = version_parser("embed", __doc__)
    return parse_version_options(parser, arguments, purpose="fit")


def _embed_version(options: argparse.Namespace) -> int:
    started = time.monotonic()
    folder = options.version.resolve()
    out = options.out or folder.parent
    check_free(out, options.name)
    load_version(folder)
    files = files_of(folder)
    card = json.loads((folder / "card.json").read_bytes())
    own = [] if options.no_own_data else [DEFAULT_DATA]
    dataset = read_dataset([*own, *options.data], corrections=LABEL_CORRECTIONS)
    parts = partition(dataset, seed=int(card["config"]["seed"]))
    if len(parts.train) <= EMBEDDING_SIZE:
        msg = (
            f"an embedding needs more than {EMBEDDING_SIZE} comments in the train part, "
            f"got {len(parts.train)}: name more files with --data"
        )
        raise ValueError(msg)

    files[NETWORK_FILE] = with_pooling(files[NETWORK_FILE])
    tokeniser = CommentTokeniser(files[TOKENISER_FILE].decode("utf-8"))
    with tempfile.TemporaryDirectory() as staging:
        for name in (NETWORK_FILE, WEIGHTS_FILE):
            (Path(staging) / name).write_bytes(files[name])
        engine = Engine(Path(staging) / NETWORK_FILE)
    check_same(Engine(folder / NETWORK_FILE), engine, tokeniser, parts.calibration)
    pooled = pooled_of(engine, tokeniser, parts.train)
    # Ham too: by directions of spam alone all ham lies on one side, and looks alike.
    projection = fit_projection(np.array([np.mean(p, axis=0) for p in pooled]))
    files[EMBEDDING_FILE] = projection_bytes(projection)
    facts: dict[str, Any] = {
        "of": folder.name,
        "fitted_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "fitted_on": len(parts.train),
        "shrinkage": SHRINKAGE,
        "size": EMBEDDING_SIZE,
    }
    for part in Part:
        spam = [e for e in getattr(parts, part.value) if e.is_spam]
        vectors = [projection.embed(p) for p in pooled_of(engine, tokeniser, spam)]
        facts[part.value] = measure_meeting(spam, vectors)
    facts["seconds"] = round(time.monotonic() - started)
    made = write_version(
        out,
        options.name,
        kind=TransformerClassifier.KIND,
        weights=files,
        fusion=_fusion_of(folder),
        documents=_documents(folder, options.name, card, facts),
    )
    if options.promote:
        promote(out, options.name)
    print(f"{made}: {'promoted' if options.promote else 'not promoted'}; see its card.md")
    return 0


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a version's members. Raise `ModelVersionError` if it has others."""
    missing = [name for name in TransformerClassifier.FILES if not (folder / name).is_file()]
    if missing:
        msg = f"{folder} has no {', '.join(missing)}: only transformer versions have an embedding"
        raise ModelVersionError(msg)
    return {name: (folder / name).read_bytes() for name in TransformerClassifier.FILES}


def _fusion_of(folder: Path) -> Fusion:
    return Fusion(**json.loads((folder / FUSION_FILE).read_bytes()))


def pooled_of(
    engine: Engine, tokeniser: CommentTokeniser, examples: Sequence[Example]
) -> list[list[Sequence[float]]]:
    """Return what the network pools of each comment's windows."""
    windows = [tokeniser.windows(e.input) for e in examples]
    scores = iter(engine.read([w for some in windows for w in some]))
    return [[_told(next(scores)) for _ in some] for some in windows]


def _told(scores: WindowScores) -> Sequence[float]:
    if scores.pooled is None:
        raise ValueError("the network pools nothing")
    return scores.pooled


def check_same(
    before: Engine, after: Engine, tokeniser: CommentTokeniser, examples: Sequence[Example]
) -> None:
    """Raise `ValueError` if the network with one more output says anything else than before."""
    windows = [w for e in examples[:_CHECKED_WINDOWS] for w in tokeniser.windows(e.input)]
    old, new = before.read(windows), after.read(windows)
    changed = sum(
        (a.spam, a.promotion, a.llm_voice) != (b.spam, b.promotion, b.llm_voice)
        for a, b in zip(old, new, strict=True)
    )
    if changed:
        msg = f"the network would answer {changed} of {len(windows)} windows otherwise"
        raise ValueError(msg)


def _documents(
    folder: Path, name: str, card: dict[str, Any], facts: dict[str, Any]
) -> dict[str, str]:
    """Return the version's card with a part on its embedding; all else it says stays true."""
    told = json.dumps(card | {"version": name, "embedding": facts}, ensure_ascii=False, indent=1)
    page = (
        (folder / "card.md").read_text("utf-8").partition(f"\n{HEADING}\n")[0].rstrip().split("\n")
    )
    page[0] = f"# {name}"
    return {
        "card.json": f"{told}\n",
        "card.md": "\n".join([*page, "", *embedding_lines(facts)]) + "\n",
    }


if __name__ == "__main__":
    sys.exit(main())
