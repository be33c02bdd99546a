"""Makes everything of a candidate that follows its network, as the commands apart from it do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from models.linear import LinearTable
from models.registry import Fusion
from models.tokens import CommentTokeniser
from models.transformer import Calibration
from training.card.figures import card_facts, card_json
from training.card.fingerprint import fingerprint
from training.card.provenance import PACKAGES
from training.data.dataset import DataFile, Dataset
from training.data.partition import Partition
from training.fit.evidence import signal_strengths
from training.fit.joining import calibrate
from training.fit.measured import Measured
from training.fit.members import Members
from training.fit.reading import (
    Read,
    all_evidence,
    labels,
    measure_part,
    p_spam_of,
)
from training.fit.weighing import Weighed
from training.network.exits import ExitNetwork
from training.network.finetune import Progress
from training.network.quantisation_aware import export_quantisation_aware
from training.network.tune import new_network, plan_training_examples, tune
from training.retraining.config import RetrainConfig, Start
from training.retraining.run_folder import RunFolder
from training.retraining.update import guard_cutoffs
from training.retraining.weigh import Outcome, weigh_and_measure
from training.trust.weights import WeighedDecision

CARD_FILE = "card.json"


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

    `reads` are the members' answers on the calibration and the test part.
    """
    calibration = calibrate(reads[0], parts.calibration, config.train.join)
    outcome = weigh_and_measure(parts, reads, calibration, config.train.weigh, tell=tell)
    return WeighedCandidate(linear=linear, calibration=calibration, outcome=outcome)


def update_candidate(
    parts: Partition,
    reads: tuple[Read, Read],
    read_before: Read,
    linear: LinearTable,
    current: Members,
) -> WeighedCandidate:
    """Return the current version's calibration and weights, and its cutoffs, which are guarded.

    `reads` are the candidate's members' answers on the calibration and the test part,
    `read_before` the current version's on the calibration part.
    """
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
        weighed=Weighed(fusion=fusion, out_of_fold=after),
        parts=(measured[0], measured[1]),
        test_strengths=test_strengths,
    )
    return WeighedCandidate(linear=linear, calibration=calibration, outcome=outcome)


def fusion_bytes(fusion: Fusion) -> bytes:
    """Return a fusion as a file, to be read again by `Fusion(**json)`."""
    return json.dumps(asdict(fusion), allow_nan=False, indent=2).encode("utf-8")


def write_cards(
    folder: RunFolder,
    found: WeighedCandidate,
    *,
    rounding: Measured,
    files: Sequence[DataFile],
    config: Mapping[str, object],
) -> None:
    """Write the candidate's card into the run's folder; its name and its embedding come later."""
    facts = card_facts(
        version="candidate",
        trained_at=datetime.now(UTC),
        seconds=sum(folder.seconds().values()),
        fingerprint=fingerprint(files, config),
        config=config,
        packages=PACKAGES,
        files=files,
        fusion=found.outcome.weighed.fusion,
        parts=found.outcome.parts,
        calibration=asdict(found.calibration),
        rounding_to_int8=rounding,
    )
    folder.write(CARD_FILE, card_json(facts).encode("utf-8"))


def fine_tune_from_base(
    parts: Partition,
    dataset: Dataset,
    decided: Sequence[WeighedDecision],
    tokeniser_json: str,
    config: RetrainConfig,
    checkpoint: Path,
    tell: Callable[[Progress], None],
) -> ExitNetwork:
    """Return the base's network, fine-tuned on the base corpora and the decisions in the parts."""
    train = config.train
    plan = plan_training_examples(
        parts.train,
        range(len(parts.train)),
        dataset.texts,
        train.tune,
        train.rotation,
        name=Start.BASE,
        weights={str(one.example.comment.id): one.weight for one in decided},
    )
    network = new_network(tokeniser_json, train.tune)
    tune(
        network,
        plan,
        tokeniser_json,
        train.tune,
        seed=config.seed,
        checkpoint=checkpoint,
        tell=tell,
    )
    return network


def export_from_base(
    network: ExitNetwork, parts: Partition, tokeniser: CommentTokeniser, config: RetrainConfig
) -> tuple[bytes, bytes]:
    """Return graph and weights, in int8, of the network of the first exit."""
    return export_quantisation_aware(
        network.cut(network.exits[0]),
        parts.train,
        tokeniser,
        config.train.on_grid,
        windows=config.train.int8_windows,
        seed=config.seed,
    )
