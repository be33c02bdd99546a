"""Trains one version: a fine-tuned transformer beside a linear member, joined and calibrated.

Reads top to bottom: settings, data, members, calibration, weights of the signals, cutoffs, card.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from models.linear import LinearTable, table_bytes
from models.registry import SHIPPED_DIR, check_free, free_name, promote, write_version
from models.tokens import CommentTokeniser
from models.transformer import (
    CALIBRATION_FILE,
    LINEAR_FILE,
    NETWORK_FILE,
    TOKENISER_FILE,
    WEIGHTS_FILE,
    TransformerClassifier,
)
from service.scoring.conclude import logistic
from training.card import Measured, measure
from training.command import exit_code_of
from training.corrections import LABEL_CORRECTIONS
from training.dataset import DEFAULT_DATA, Dataset, Example, read_dataset
from training.finetune import FineTuneConfig, Progress, fine_tune
from training.fingerprint import find_same, fingerprint
from training.from_version import load_from_version
from training.fuse import fit_platt
from training.joining import JoinConfig, calibrate, fit_linear
from training.lessons import Lesson, lesson_of, voice_lesson
from training.members import engine_of
from training.network import (
    PACKAGED_BASE,
    Network,
    average,
    keep_layers,
    load_network,
    read_tokeniser,
)
from training.on_grid import export_on_grid
from training.partition import AUTHORED, SEED, Partition, partition
from training.ranks import Ranks, joined
from training.reading import labels, read_inputs
from training.rounding import (
    BEFORE_ROUNDING,
    WEIGHTS_ON_GRID,
    draw_to_compare,
    measure_rounding,
    measure_unrounded,
)
from training.version_card import VersionCard, card_json, card_markdown
from training.weigh import card_of, files_of, weigh_and_measure
from training.weighing import WeighConfig

# The stage in which all layers learn.
TEACHER = "teacher"
# Fewer texts of either kind are no ground to say anything on.
_MIN_VOICE_TEXTS = 20

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """Every knob, with its reason."""

    # Draws the parts, too.
    seed: int = SEED
    base: str = PACKAGED_BASE
    # Every second layer of six: half the arithmetic. `README.md` has what the others are worth.
    layers: tuple[int, ...] = (0, 2, 4)
    fine_tune: FineTuneConfig = field(default_factory=FineTuneConfig)
    # All layers learn first; those kept go on from there and learn, too, what all of them say of
    # each lesson (distillation, Hinton et al. 2015). Without it those kept learn alone.
    from_teacher: bool = True
    # So many networks learn, each by a seed of its own, and their weights are averaged. It costs
    # nothing when serving; how far they differ says what a figure of one is worth (`README.md`).
    seeds: int = 1
    # The version whose network is averaged with what they learnt, by name.
    averaged_with: str | None = None
    # The authored comments hold what the public ones lack: machine-written spam with its ham twins,
    # and both labels in 43 languages, of each of which there are few.
    authored_weight: float = 1.0
    other_language_weight: float = 1.5
    # Texts that teach LLM voice, drawn from those without a label.
    voice_texts: int = 1_500
    # Others of them that calibrate it, and as many again that it is measured on.
    voice_calibration_texts: int = 300
    # Windows that fix the ranges of int8 activations, and how the network then learns on that grid.
    int8_windows: int = 300
    on_grid: FineTuneConfig = field(
        default_factory=lambda: FineTuneConfig(
            epochs=0.2, learning_rate=5e-5, warm_up=0.1, weight_decay=0.0, dropout=False
        )
    )
    # The linear member and how it joins the network.
    join: JoinConfig = field(default_factory=JoinConfig)
    # On so many test comments the int8 network is compared with the one it was rounded from.
    rounding_comments: int = 5_000
    # Weights of the signals, cutoffs and their promises, histories.
    weigh: WeighConfig = field(default_factory=WeighConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """Networks of one shape that learnt the same lessons, each by its seed.

    Beside them the seconds that took, earlier legs of a run that was cut off included.
    """

    networks: tuple[Network, ...]
    seeds: tuple[int, ...]
    seconds: float


def fine_tuned(
    parts: Partition,
    dataset: Dataset,
    tokeniser: CommentTokeniser,
    config: TrainConfig,
    checkpoint: Path | None,
    *,
    weights: Mapping[str, float] | None = None,
    tell: Callable[[Progress], None] | None = None,
    ranks: Ranks | None = None,
) -> Tuned:
    """Return the networks, fine-tuned on the train part and on texts that teach LLM voice.

    `weights` says of comments by id how much they teach, where that is not what their source does;
    `ranks` which of several processes this is.
    """
    weights = weights or {}
    lessons = [
        lesson_of(e, weight=weights.get(e.comment.id, _weight(e, config))) for e in parts.train
    ]
    lessons += voice_lessons(dataset, config)[: config.voice_texts]

    def run(network: Network, stage: str, seed: int, before: Network | None = None) -> float:
        is_first = ranks is None or ranks.is_first
        return fine_tune(
            network,
            tokeniser,
            lessons,
            config.fine_tune,
            seed=seed,
            checkpoint=checkpoint and stage_checkpoint(checkpoint, stage),
            tell=tell or (partial(tell_progress, stage) if is_first else lambda _: None),
            before=before,
            ranks=ranks,
        )

    torch.manual_seed(config.seed)
    start = load_network(config.base, layers=None if config.from_teacher else config.layers)
    seconds, teacher, seed = 0.0, None, config.seed
    if config.from_teacher:
        teacher = start
        seconds = run(teacher, TEACHER, seed)
        start = copy.deepcopy(teacher)
        keep_layers(start.encoder, config.layers)
        lessons = [replace(lesson, as_before=True) for lesson in lessons]
        # In another order and varied otherwise than the teacher learnt them.
        seed += 1
    seeds = tuple(range(seed, seed + config.seeds))
    networks = tuple(copy.deepcopy(start) for _ in seeds)
    for one, own in zip(networks, seeds, strict=True):
        seconds += run(one, f"seed-{own}", own, before=teacher)
    return Tuned(networks=networks, seeds=seeds, seconds=seconds)


def stage_checkpoint(checkpoint: Path, stage: str) -> Path:
    """Return where one stage of the run that saves itself there saves itself."""
    return checkpoint.with_suffix(f".{stage}.pt")


def exported(
    network: Network, parts: Partition, tokeniser: CommentTokeniser, config: TrainConfig
) -> tuple[bytes, bytes]:
    """Return `network.xml` and `network.bin` of the network in int8, by these settings."""
    return export_on_grid(
        network,
        parts.train,
        tokeniser,
        config.on_grid,
        base=config.base,
        windows=config.int8_windows,
        seed=config.seed,
    )


def _measure_seeds(
    tuned: Tuned,
    averaged: Network,
    parts: Partition,
    tokeniser: CommentTokeniser,
    linear: LinearTable,
) -> list[Measured]:
    """Return what each network is worth on the calibration part, and their mean if that differs.

    None is rounded yet, and all are computed in float32.
    """
    named = {f"seed {seed}": one for seed, one in zip(tuned.seeds, tuned.networks, strict=True)}
    if averaged is not tuned.networks[0]:
        named["their mean, as exported"] = averaged
    return [
        {"network": name} | measure_unrounded(one, parts.calibration, tokeniser, linear)
        for name, one in named.items()
    ]


def _weight(example: Example, config: TrainConfig) -> float:
    if not example.source.startswith(AUTHORED):
        return 1.0
    english = example.language in (None, "en")
    return config.authored_weight if english else config.other_language_weight


def voice_lessons(dataset: Dataset, config: TrainConfig) -> list[Lesson]:
    """Return what the texts without a label teach, in an order that the seed fixes."""
    lessons = [lesson for text in dataset.texts if (lesson := voice_lesson(text))]
    order = np.random.default_rng(config.seed).permutation(len(lessons))
    return [lessons[i] for i in order.tolist()]


def tell_progress(stage: str, progress: Progress) -> None:
    """Say on standard error how far a stage of a run is, now and then."""
    if progress.step % 50 == 0 or progress.step == progress.steps:
        print(
            f"{stage}: step {progress.step} of {progress.steps}, loss {progress.loss:.3f}, "
            f"{progress.seconds_left / 60:.0f} min left",
            file=sys.stderr,
            flush=True,
        )


def _say(said: str) -> None:
    print(said, file=sys.stderr, flush=True)


def calibrate_voice(
    lessons: Sequence[Lesson], voice: FloatArray, config: TrainConfig
) -> tuple[tuple[float, float], Measured | None]:
    """Return slope and offset of the head for LLM voice, and what it is worth on other texts.

    Both from texts that it was not taught with. Without enough of both kinds the slope is 0:
    the head says nothing.
    """
    is_machine = np.array([bool(one.is_llm_voice) for one in lessons], dtype=np.bool_)
    n = config.voice_calibration_texts
    fitted, held = is_machine[:n], is_machine[n : 2 * n]
    if min(fitted.sum(), (~fitted).sum(), held.sum(), (~held).sum()) < _MIN_VOICE_TEXTS:
        return (0.0, 0.0), None
    slope, offset = fit_platt(voice[:n], fitted)
    p = np.array([logistic(slope * float(v) + offset) for v in voice[n : 2 * n]])
    return (slope, offset), measure(held, p)


def main(arguments: Sequence[str] | None = None, config: TrainConfig | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    options = _parse(arguments)
    return exit_code_of(lambda: _train_version(options, config or TrainConfig()))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.train", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        nargs="+",
        default=[],
        help="further data files (.jsonl, .jsonl.gz) or folders of them, beside the repository's",
    )
    parser.add_argument(
        "--no-own-data", action="store_true", help="leave out the repository's: only --data"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED_DIR, help="folder of versions")
    parser.add_argument("--name", help="the version's name; minilm-DATE by default")
    parser.add_argument("--base", help="a pretrained encoder, folder or id; else packaged")
    parser.add_argument(
        "--average-with",
        type=Path,
        metavar="VERSION",
        help="average the network with this version's, which must have learnt from the same parts",
    )
    parser.add_argument(
        "--seeds", type=int, help="so many networks learn, and their weights are averaged; else one"
    )
    parser.add_argument("--promote", action="store_true", help="make it the current version")
    parser.add_argument("--force", action="store_true", help="train even if nothing changed")
    options = parser.parse_args(arguments)
    if options.no_own_data and not options.data:
        parser.error("--no-own-data leaves nothing to train on: name files with --data")
    return options


def _train_version(options: argparse.Namespace, config: TrainConfig) -> int:
    if options.name:
        check_free(options.out, options.name)
    config = _with_options(config, options)
    others = [_network_of(options.average_with, config)] if options.average_with else []
    own = [] if options.no_own_data else [DEFAULT_DATA]
    dataset = read_dataset([*own, *options.data], corrections=LABEL_CORRECTIONS)
    mark = fingerprint(dataset.files, asdict(config))
    same = None if options.force or options.name else find_same(options.out, mark)
    if same is not None:
        if options.promote:
            promote(options.out, same)
        print(f"nothing changed since {same} was trained: kept (--force trains again)")
        return 0
    parts = partition(dataset, seed=config.seed)
    check_labels(parts)
    print(
        f"{len(parts.train):,} comments to train on, {len(parts.calibration):,} to calibrate on, "
        f"{len(parts.test):,} to test on, {len(parts.dropped):,} dropped",
        file=sys.stderr,
    )
    options.out.mkdir(parents=True, exist_ok=True)
    checkpoint = options.out / f".training-{mark[:16]}.pt"
    tokeniser_json = read_tokeniser(config.base)
    tokeniser = CommentTokeniser(tokeniser_json)
    with joined() as ranks:
        tuned = fine_tuned(parts, dataset, tokeniser, config, checkpoint, ranks=ranks)
    began = time.monotonic()
    if not ranks.is_first:
        return 0
    learnt = [*tuned.networks, *others]
    network = average(learnt) if len(learnt) > 1 else learnt[0]
    linear = fit_linear(parts.train, config.join)
    _say("measuring each seed on the calibration part")
    seeds = _measure_seeds(tuned, network, parts, tokeniser, linear)

    _say("rounding to int8")
    files = exported(network, parts, tokeniser, config)
    # What follows is about the very network that serves, rounded to int8.
    engine = engine_of(*files)
    read, read_test = (
        read_inputs([e.input for e in part], engine, tokeniser, linear)
        for part in (parts.calibration, parts.test)
    )
    voices = voice_lessons(dataset, config)[config.voice_texts :]
    read_voice = read_inputs([one.input for one in voices], engine, tokeniser, linear)
    voice, voice_measured = calibrate_voice(voices, read_voice.voice, config)
    calibration = calibrate(read, parts.calibration, voice, config.join)
    outcome = weigh_and_measure(
        parts, (read, read_test), calibration, config.weigh, tell=_say, beside_tfidf=True
    )
    fusion, test = outcome.weighed.fusion, outcome.parts[0]
    some = draw_to_compare(len(parts.test), config.rounding_comments, config.seed)
    compare = partial(
        measure_rounding,
        examples=[parts.test[i] for i in some],
        p_spam=test.scored.all_evidence[some],
        tokeniser=tokeniser,
        linear=linear,
        calibration=calibration,
        fusion=fusion,
    )
    served, _ = load_from_version(*files, base=config.base)
    rounding = compare(served, against=WEIGHTS_ON_GRID) | {
        "before_rounding": compare(network, against=BEFORE_ROUNDING)
    }

    now = datetime.now(UTC)
    seconds = tuned.seconds + time.monotonic() - began
    version = options.name or free_name(options.out, f"minilm-{now:%Y%m%d}")
    card = VersionCard(
        version=version,
        trained_at=now,
        seconds=seconds,
        fingerprint=mark,
        config=asdict(config),
        files=dataset.files,
        partition=parts,
        fusion=fusion,
        histories=outcome.weighed.histories,
        evidence=outcome.evidence,
        calibration=calibration,
        voice=voice_measured,
        voice_weight=outcome.voice,
        rounding=rounding,
        seeds=seeds,
        parts=outcome.parts,
    )
    folder_written = write_version(
        options.out,
        version,
        kind=TransformerClassifier.KIND,
        weights={
            NETWORK_FILE: files[0],
            WEIGHTS_FILE: files[1],
            TOKENISER_FILE: tokeniser_json.encode("utf-8"),
            LINEAR_FILE: table_bytes(linear),
            CALIBRATION_FILE: json.dumps(asdict(calibration), indent=2).encode("utf-8"),
        },
        fusion=fusion,
        documents={"card.json": card_json(card), "card.md": card_markdown(card)},
    )
    for stage in (TEACHER, *(f"seed-{seed}" for seed in tuned.seeds)):
        stage_checkpoint(checkpoint, stage).unlink(missing_ok=True)
    if options.promote:
        promote(options.out, version)
    state = "promoted" if options.promote else "not promoted"
    print(f"{folder_written}: trained in {seconds / 60:.1f} min, {state}; see its card.md")
    return 0


def _with_options(config: TrainConfig, options: argparse.Namespace) -> TrainConfig:
    """Return the settings as the command's options change them. Raise `ValueError` for no seed."""
    if options.seeds is not None and options.seeds < 1:
        raise ValueError("--seeds must be 1 or more: without it one network learns")
    return replace(
        config,
        base=options.base or config.base,
        seeds=options.seeds or config.seeds,
        averaged_with=options.average_with.name if options.average_with else None,
    )


def _network_of(folder: Path, config: TrainConfig) -> Network:
    """Return a version's network to average with. Raise `ValueError` if it knows the test part."""
    card = card_of(folder)
    if int(card["config"]["seed"]) != config.seed:
        msg = (
            f"{folder.name} learnt from other parts: its seed is {card['config']['seed']}, "
            f"not {config.seed}"
        )
        raise ValueError(msg)
    files = files_of(folder)
    network, _ = load_from_version(files[NETWORK_FILE], files[WEIGHTS_FILE], base=config.base)
    return network


def check_labels(parts: Partition) -> None:
    """Raise `ValueError` unless each part has spam and ham."""
    named = {"train": parts.train, "calibration": parts.calibration, "test": parts.test}
    for name, examples in named.items():
        is_spam = labels(examples)
        if is_spam.all() or not is_spam.any():
            msg = (
                f"the {name} part needs spam and ham, got {int(is_spam.sum())} spam among "
                f"{len(is_spam)} comments"
            )
            raise ValueError(msg)


if __name__ == "__main__":
    sys.exit(main())
