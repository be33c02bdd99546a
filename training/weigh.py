"""Fits all weights of a version anew and writes them as a new version with the same network.

    python -m training.weigh --version models/artifacts/NAME --name NEW --data PATH ... [--promote]

Reads the network's answers on the calibration part by the code that serves, fits the signals'
weights and the cutoffs, fits the weights of histories in a simulation, measures the test part.
With --linear-anew it first fits the linear member and the calibration, too. With --less-rounding it
first makes the network round only what the encoder's matrices multiply.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.errors import ModelVersionError
from models.linear import read_table, table_bytes
from models.registry import (
    Fusion,
    ModelVersion,
    check_free,
    load_version,
    promote,
    write_version,
)
from models.tokens import CommentTokeniser
from models.transformer import (
    CALIBRATION_FILE,
    EMBEDDING_FILE,
    LINEAR_FILE,
    NETWORK_FILE,
    TOKENISER_FILE,
    WEIGHTS_FILE,
    Calibration,
    TransformerClassifier,
)
from training.card import Measured
from training.command import exit_code_of, parse_version_options, version_parser
from training.corrections import LABEL_CORRECTIONS
from training.dataset import DEFAULT_DATA, DataFile, Dataset, Example, read_dataset
from training.evidence import signal_strengths
from training.evidence_table import measure_ways, ways_of_judging
from training.fingerprint import fingerprint
from training.fuse import VoiceWeight
from training.joining import JoinConfig, calibrate, fit_linear
from training.members import engine_of
from training.partition import AUTHORED, Partition, describe, partition
from training.reading import Read, measure_part, p_spam_of, read_inputs, voice_strengths
from training.version_card import MeasuredPart, Reweighed, VersionCard, card_json, card_markdown
from training.weighing import Evidence, WeighConfig, Weighed, weigh, weigh_voice

Tell = Callable[[str], None]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Fitted weights, both parts measured by them (test first), and the table of evidence."""

    weighed: Weighed
    voice: VoiceWeight
    parts: tuple[MeasuredPart, MeasuredPart]
    evidence: list[Measured]
    # What every detector sees in the test part: a column a detector.
    test_strengths: FloatArray


def weigh_and_measure(
    parts: Partition,
    reads: tuple[Read, Read],
    calibration: Calibration,
    config: WeighConfig,
    *,
    tell: Tell,
    beside_tfidf: bool,
) -> Outcome:
    """Return weights fitted on the calibration part, and what they are worth.

    `reads` are the members' answers on the calibration and the test part; the test part is only
    measured. `beside_tfidf` trains a TF-IDF filter on the train part to compare with.
    """
    examples = (parts.calibration, parts.test)
    tell("looking at both parts with every detector")
    held, test = (
        Evidence(
            examples=some,
            model_p_spam=p_spam_of(read, calibration),
            strengths=signal_strengths(some),
            is_new=_of_new_blogs(some, parts.train),
        )
        for some, read in zip(examples, reads, strict=True)
    )
    tell(f"fitting weights on {len(held.examples):,} comments, histories in a simulation")
    campaigns = [e for e in (*parts.train, *parts.calibration) if e.campaign and e.is_spam]
    weighed = weigh(held, campaigns, config)
    tell("measuring" + (" beside a TF-IDF filter, which is trained first" * beside_tfidf))
    ways = ways_of_judging(held, test, weighed, config, parts.train if beside_tfidf else ())
    measured = [
        measure_part(name, e.examples, read, e.strengths, calibration, weighed.fusion)
        for name, e, read in (("test", test, reads[1]), ("calibration", held, reads[0]))
    ]
    return Outcome(
        weighed=weighed,
        voice=weigh_voice(held, voice_strengths(reads[0], calibration), config),
        parts=(measured[0], measured[1]),
        evidence=measure_ways(ways, held, test, config),
        test_strengths=test.strengths,
    )


def _of_new_blogs(examples: Sequence[Example], train: Sequence[Example]) -> BoolArray:
    """Return which comments are of a source that was not learnt from; authored posts are all."""
    learnt = {e.source for e in train if not e.source.startswith(AUTHORED)}
    return np.array([e.source not in learnt for e in examples], dtype=np.bool_)


def main(arguments: Sequence[str] | None = None, config: WeighConfig | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    options = _parse(arguments)
    return exit_code_of(lambda: _weigh_version(options, config or WeighConfig()))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = version_parser("weigh", __doc__)
    parser.add_argument(
        "--linear-anew",
        action="store_true",
        help="fit the linear member and the calibration anew, too: as after a change of features",
    )
    parser.add_argument(
        "--less-rounding",
        action="store_true",
        help="round only what the encoder's matrices multiply, and calibrate anew: for networks "
        "exported before that was so; drops the embedding; needs torch",
    )
    parser.add_argument(
        "--no-tfidf", action="store_true", help="leave TF-IDF out of the table: half the time"
    )
    return parse_version_options(parser, arguments, purpose="weigh")


def _weigh_version(options: argparse.Namespace, config: WeighConfig) -> int:
    started = time.monotonic()
    tell = _teller(started)
    folder = options.version.resolve()
    out = options.out or folder.parent
    check_free(out, options.name)
    before = load_version(folder)
    files, card = files_of(folder), card_of(folder)
    own = [] if options.no_own_data else [DEFAULT_DATA]
    dataset = read_dataset([*own, *options.data], corrections=LABEL_CORRECTIONS)
    parts = partition(dataset, seed=int(card["config"]["seed"]))
    notes = _differences(dataset, parts, card)
    tell(f"{len(parts.calibration):,} comments to weigh on, {len(parts.test):,} to measure on")
    for note in notes:
        tell(note)

    tokeniser = CommentTokeniser(files[TOKENISER_FILE].decode("utf-8"))
    calibration = Calibration(**json.loads(files[CALIBRATION_FILE]))
    voice = (calibration.voice_slope, calibration.voice_offset)
    voice_measured, embedding = card["llm_voice"], card.get("embedding")
    linear = read_table(files[LINEAR_FILE])
    if options.less_rounding:
        # Not earlier: only this needs torch.
        from training import less_rounding, measured_anew

        train_config = measured_anew.config_of(card)
        files[NETWORK_FILE], files[WEIGHTS_FILE] = less_rounding.with_less_rounding(
            files[NETWORK_FILE], files[WEIGHTS_FILE]
        )
        # It was fitted on what the rounded head for promotion said.
        files.pop(EMBEDDING_FILE, None)
        embedding = None
    engine = engine_of(files[NETWORK_FILE], files[WEIGHTS_FILE])
    if options.less_rounding:
        tell("calibrating LLM voice")
        voice, voice_measured = measured_anew.voice_of(
            engine, dataset, tokeniser, linear, train_config
        )
    if options.linear_anew:
        tell(f"fitting the linear member on {len(parts.train):,} comments")
        linear = fit_linear(parts.train, JoinConfig())
        files[LINEAR_FILE] = table_bytes(linear)
    tell("reading both parts with the network")
    read, read_test = (
        read_inputs([e.input for e in part], engine, tokeniser, linear)
        for part in (parts.calibration, parts.test)
    )
    joined_anew = options.linear_anew or options.less_rounding
    if joined_anew:
        calibration = calibrate(read, parts.calibration, voice, JoinConfig())
        files[CALIBRATION_FILE] = json.dumps(asdict(calibration), indent=2).encode("utf-8")
    outcome = weigh_and_measure(
        parts,
        (read, read_test),
        calibration,
        config,
        tell=tell,
        beside_tfidf=not options.no_tfidf,
    )
    rounding = card["rounding_to_int8"]
    if options.less_rounding:
        tell("comparing with the network in float32")
        rounding = measured_anew.rounding_of(
            files,
            parts,
            outcome.parts[0].scored.all_evidence,
            tokeniser,
            linear,
            calibration,
            outcome.weighed.fusion,
            train_config,
        )
    settings: dict[str, Any] = {"weigh": asdict(config)}
    if joined_anew:
        settings["join"] = asdict(JoinConfig())
    written = VersionCard(
        version=options.name,
        trained_at=datetime.fromisoformat(card["trained_at"]),
        seconds=float(card["training_seconds"]),
        fingerprint=fingerprint(dataset.files, {"of": folder.name, **settings}),
        config=card["config"] | settings,
        files=(*dataset.files, *_learnt_otherwise(dataset, card)),
        partition=parts,
        fusion=outcome.weighed.fusion,
        histories=outcome.weighed.histories,
        evidence=outcome.evidence,
        calibration=calibration,
        voice=voice_measured,
        voice_weight=outcome.voice,
        rounding=rounding,
        parts=outcome.parts,
        embedding=embedding,
        seeds=card.get("seeds", ()),
        reweighed=Reweighed(
            version=folder.name,
            weighed_at=datetime.now(UTC),
            seconds=time.monotonic() - started,
            linear_anew=options.linear_anew,
            notes=notes,
            less_rounding=options.less_rounding,
        ),
    )
    made = write_version(
        out,
        options.name,
        kind=TransformerClassifier.KIND,
        weights=files,
        fusion=outcome.weighed.fusion,
        documents={"card.json": card_json(written), "card.md": card_markdown(written)},
    )
    if options.promote:
        promote(out, options.name)
    for line in _changes(before, outcome.weighed.fusion):
        print(line)
    tell(f"{made}: {'promoted' if options.promote else 'not promoted'}; see its card.md")
    return 0


def _teller(started: float) -> Tell:
    def tell(said: str) -> None:
        print(f"{time.monotonic() - started:5.0f} s  {said}", file=sys.stderr, flush=True)

    return tell


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a version's members. Raise `ModelVersionError` if it has others."""
    missing = [name for name in TransformerClassifier.FILES if not (folder / name).is_file()]
    if missing:
        msg = f"{folder} has no {', '.join(missing)}: only transformer versions can be weighed"
        raise ModelVersionError(msg)
    # The embedding is of the network, which stays.
    names = (*TransformerClassifier.FILES, EMBEDDING_FILE)
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}


def card_of(folder: Path) -> dict[str, Any]:
    """Return the version's card. Raise `ModelVersionError` if it does not tell what is needed."""
    card = json.loads((folder / "card.json").read_bytes())
    needed = ("config", "trained_at", "training_seconds", "llm_voice", "rounding_to_int8", "data")
    missing = [key for key in needed if key not in card]
    if missing or "seed" not in card["config"]:
        msg = f"{folder}'s card.json does not tell {', '.join(missing) or 'config.seed'}"
        raise ModelVersionError(msg)
    return dict(card)


def _changes(before: ModelVersion, fusion: Fusion) -> list[str]:
    """Return a line for the cutoffs, and one for each weight that differs."""
    old, new = before.signal_weights, fusion.signal_weights
    names = sorted(old.keys() | new.keys(), key=lambda n: (-abs(new.get(n, 0.0)), n))
    cutoffs = (
        f"cutoffs {before.ham_cutoff:.4f} and {before.spam_cutoff:.4f} -> "
        f"{fusion.ham_cutoff:.4f} and {fusion.spam_cutoff:.4f}"
    )
    return [
        cutoffs,
        *(
            f"{name}: {old.get(name, 0.0):.3f} -> {new.get(name, 0.0):.3f}"
            for name in names
            if old.get(name, 0.0) != new.get(name, 0.0)
        ),
    ]


def _learnt_otherwise(dataset: Dataset, card: dict[str, Any]) -> list[DataFile]:
    """Return the files that the network learnt from and that were not read now, or otherwise."""
    read = {(f.name, f.sha256) for f in dataset.files}
    fields = ("name", "sha256", "n_spam", "n_ham", "n_unlabelled")
    learnt = [DataFile(**{key: f[key] for key in fields}) for f in card["data"]]
    return [f for f in learnt if (f.name, f.sha256) not in read]


def _differences(dataset: Dataset, parts: Partition, card: dict[str, Any]) -> list[str]:
    """Return sentences on what differs from the data that the version was trained with.

    A comment stays in its part whatever else is read, so the network has seen none of the
    calibration and test parts as long as its posts and their groups are those of its training.
    """
    learnt = {f["name"]: f["sha256"] for f in (*card["data"], *card.get("test_data", ()))}
    now = {f.name: f.sha256 for f in dataset.files}
    said = {
        "not read now": sorted(learnt.keys() - now.keys()),
        "not read when it was trained": sorted(now.keys() - learnt.keys()),
        "changed since": sorted(n for n in now.keys() & learnt.keys() if now[n] != learnt[n]),
    }
    notes = [f"Files {what}: {', '.join(names)}." for what, names in said.items() if names]
    before, again = card.get("partition", {}), describe(parts)
    moved = [part for part in ("train", "calibration", "test") if before.get(part) != again[part]]
    if moved:
        notes.append(f"Not the same comments as then in: {', '.join(moved)}.")
    return notes


if __name__ == "__main__":
    sys.exit(main())
