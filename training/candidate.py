"""Makes everything of a candidate that follows its network, as the commands apart from it do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from models.embedding import EMBEDDING_SIZE, Projection
from models.linear import LinearTable
from models.registry import Fusion
from models.tokens import CommentTokeniser
from models.transformer import Calibration
from training.card import Measured
from training.dataset import DataFile, Dataset
from training.embed import SHRINKAGE, check_same, fit_projection, measure_meeting, pooled_of
from training.evidence import signal_strengths
from training.finetune import Progress
from training.fingerprint import fingerprint
from training.fuse import VoiceWeight
from training.joining import calibrate
from training.members import Members, engine_of
from training.network import Network, average
from training.partition import Part, Partition
from training.pooling import LAYER, with_pooling
from training.reading import Read, all_evidence, labels, measure_part, p_spam_of
from training.retrain_config import RetrainConfig
from training.run_folder import RunFolder
from training.simulate_histories import GroupCheck, HistoryFit
from training.train import exported, fine_tuned
from training.trust import Taught
from training.update import guard_cutoffs
from training.version_card import VersionCard, card_json, card_markdown
from training.weigh import Outcome, weigh_and_measure
from training.weighing import Weighed

CARD_FILE, CARD_PAGE = "card.json", "card.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedCandidate:
    """How a candidate's members join, and what everything is worth together."""

    linear: LinearTable
    calibration: Calibration
    outcome: Outcome


def weigh_candidate(
    parts: Partition,
    reads: tuple[Read, Read],
    linear: LinearTable,
    config: RetrainConfig,
    *,
    tell: Callable[[str], None],
) -> WeighedCandidate:
    """Return calibration, weights and cutoffs, fitted on the calibration part.

    `reads` are the members' answers on the calibration and the test part. The head for LLM voice
    says nothing, as nobody calibrates it here.
    """
    calibration = calibrate(reads[0], parts.calibration, (0.0, 0.0), config.train.join)
    outcome = weigh_and_measure(
        parts, reads, calibration, config.train.weigh, tell=tell, beside_tfidf=False
    )
    return WeighedCandidate(linear=linear, calibration=calibration, outcome=outcome)


def update_candidate(
    parts: Partition,
    reads: tuple[Read, Read],
    read_before: Read,
    linear: LinearTable,
    current: Members,
    card: Mapping[str, Any],
) -> WeighedCandidate:
    """Return the current version's calibration and weights, and its cutoffs, which are guarded.

    `reads` are the candidate's members' answers on the calibration and the test part,
    `read_before` the current version's on the calibration part. What the card of the current
    version tells of its weights stays true and is handed on. Raises `ValueError` where it lacks.
    """
    try:
        histories = dict(card["histories_from_simulation"])
        checks = tuple(GroupCheck(**one) for one in histories.pop("checks"))
        fit = HistoryFit(**histories, checks=checks)
        voice = VoiceWeight(**card["llm_voice_weight"])
        evidence = list(card["evidence_table"])
    except (KeyError, TypeError) as error:
        msg = (
            "the current version's card.json does not tell its histories, evidence or LLM voice: "
            "retrain with --start base"
        )
        raise ValueError(msg) from error
    calibration, known = current.calibration, current.known_fusion
    strengths, test_strengths = (signal_strengths(e) for e in (parts.calibration, parts.test))
    before, after = (
        all_evidence(p_spam_of(read, calibration), strengths, known)
        for read in (read_before, reads[0])
    )
    fusion = guard_cutoffs(known, labels(parts.calibration), before, after)
    measured = [
        measure_part(name, examples, read, seen, calibration, fusion)
        for name, examples, read, seen in (
            ("test", parts.test, reads[1], test_strengths),
            ("calibration", parts.calibration, reads[0], strengths),
        )
    ]
    outcome = Outcome(
        weighed=Weighed(fusion=fusion, out_of_fold=after, histories=fit),
        voice=voice,
        parts=(measured[0], measured[1]),
        evidence=evidence,
        test_strengths=test_strengths,
    )
    return WeighedCandidate(linear=linear, calibration=calibration, outcome=outcome)


def fusion_bytes(fusion: Fusion) -> bytes:
    """Return a fusion as a file, to be read again by `Fusion(**json)`."""
    return json.dumps(asdict(fusion), allow_nan=False, indent=2).encode("utf-8")


def write_cards(
    folder: RunFolder,
    found: WeighedCandidate,
    parts: Partition,
    *,
    rounding: Measured,
    files: Sequence[DataFile],
    config: Mapping[str, object],
    current_card: Mapping[str, Any],
) -> None:
    """Write the candidate's card into the run's folder; its name and its embedding come later."""
    seconds = folder.seconds()
    card = VersionCard(
        version="candidate",
        trained_at=datetime.now(UTC),
        seconds=sum(seconds.values()),
        fingerprint=fingerprint(files, config),
        config=config,
        files=files,
        partition=parts,
        fusion=found.outcome.weighed.fusion,
        histories=found.outcome.weighed.histories,
        evidence=found.outcome.evidence,
        calibration=found.calibration,
        voice=current_card["llm_voice"] if found.calibration.voice_slope else None,
        voice_weight=found.outcome.voice,
        rounding=rounding,
        parts=found.outcome.parts,
    )
    folder.write(CARD_FILE, card_json(card).encode("utf-8"))
    folder.write(CARD_PAGE, card_markdown(card).encode("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The graph with the output that embeddings are made from, the projection, what it is worth."""

    network: bytes
    projection: Projection
    facts: dict[str, Any]


def embed_network(
    network: bytes,
    weights: bytes,
    tokeniser: CommentTokeniser,
    parts: Partition,
    config: RetrainConfig,
    *,
    threads: int,
    advance: Callable[[float], None],
) -> Embedded:
    """Return the candidate's embedding, fitted on comments of the train part.

    Every answer about spam is checked to stay the same. Raise `ValueError` if one does not.
    """
    layers = len(config.train.layers)
    pooling = with_pooling(network, layer=min(LAYER, layers - 1))
    engine = engine_of(pooling, weights, threads=threads)
    if pooling != network:
        before = engine_of(network, weights, threads=threads)
        check_same(before, engine, tokeniser, parts.calibration)
    rng = np.random.default_rng(config.seed)
    order = rng.permutation(len(parts.train))[: config.embedding_comments]
    some = [parts.train[i] for i in np.sort(order).tolist()]
    pooled = pooled_of(engine, tokeniser, some)
    projection = fit_projection(np.array([np.mean(p, axis=0) for p in pooled]))
    advance(0.6)
    facts: dict[str, Any] = {
        "fitted_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "fitted_on": len(some),
        "shrinkage": SHRINKAGE,
        "size": EMBEDDING_SIZE,
    }
    for part in Part:
        of_part = some if part is Part.TRAIN else getattr(parts, part.value)
        # Without a campaign in it, a comparison with all other spam tells nothing.
        spam = [e for e in of_part if e.is_spam]
        embeddings = [projection.embed(p) for p in pooled_of(engine, tokeniser, spam)]
        facts[part.value] = measure_meeting(spam, embeddings)
    return Embedded(network=pooling, projection=projection, facts=facts)


def fine_tune_from_base(
    parts: Partition,
    dataset: Dataset,
    decided: Sequence[Taught],
    tokeniser: CommentTokeniser,
    config: RetrainConfig,
    checkpoint: Path,
    tell: Callable[[Progress], None],
) -> Network:
    """Return the base's network, fine-tuned on the base corpora and the decisions in the parts."""
    weights = {str(one.example.comment.id): one.weight for one in decided}
    train = replace(config.train, seed=config.seed)
    tuned = fine_tuned(parts, dataset, tokeniser, train, checkpoint, weights=weights, tell=tell)
    return average(tuned.networks)


def export_from_base(
    network: Network, parts: Partition, tokeniser: CommentTokeniser, config: RetrainConfig
) -> tuple[bytes, bytes]:
    """Return `network.xml` and `network.bin` of a network in int8."""
    return exported(network, parts, tokeniser, replace(config.train, seed=config.seed))
