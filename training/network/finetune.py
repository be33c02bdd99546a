"""Fine-tunes the network: seeded, resumable, with progress and estimated time."""

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from models.engine import cpu_has_bfloat16
from models.tokens import CommentTokeniser, Window
from training.data.training_examples import (
    TrainingExample,
    Variation,
    collect_stock,
    vary,
)
from training.network.encoder import Logits, Network

# A token's target is 1, 0 or unknown.
_UNKNOWN = -1.0
# Batches are cut from runs of this many, sorted by length: little padding, but still mixed.
_RUN_OF_BATCHES = 20
_PAD_TO = 16
# The number of a batch's training examples that are read at once, grouped by length, for less
# padding and memory.
_MICRO_BATCH = 8
# The log-odds from which a change costs by its distance instead of its square, and the weight of
# that cost.
_HUBER, _MOVED_WEIGHT = 2.0, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FineTuneConfig:
    """The settings of the fine-tuning."""

    # How often each training example is used, unless batches are planned.
    epochs: float = 2.0
    batch_size: int = 32
    learning_rate: float = 1.5e-4
    warm_up: float = 0.06
    weight_decay: float = 0.01
    # 0.2 to 5 % of the public sources' labels are wrong, so certainty must not pay.
    label_smoothing: float = 0.02
    # The most windows of a long comment: the first, the last, one between.
    max_windows: int = 3
    # With 0.5 the network learns to separate spam from ham more slowly.
    promotion_weight: float = 0.05
    variation: Variation = field(default_factory=Variation)
    # The most work that an interruption loses, in steps and in seconds.
    save_every_steps: int = 200
    save_every_seconds: float | None = None
    # The weight of learning from the last exit, for the earlier ones.
    exits_weight: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a run."""

    step: int
    steps: int
    loss: float
    seconds_left: float


def fine_tune(
    network: Network,
    tokeniser: CommentTokeniser,
    training_examples: Sequence[TrainingExample],
    config: FineTuneConfig,
    *,
    seed: int,
    checkpoint: Path | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    teacher: Network | None = None,
    batches: Sequence[Sequence[int]] | None = None,
) -> float:
    """Train the network in place, on a GPU if there is one.

    Returns the seconds it took, including those before the last checkpoint.

    With a `teacher`, the network learns its outputs instead of labels (distillation, Hinton et al.
    2015). `batches` are positions of training examples, one list per step; without them every
    training example is used once per epoch. Parameters without a gradient stay unchanged.

    With a `checkpoint`, an interrupted run continues from its last save, and a finished one is not
    repeated; the caller deletes the file. The same seed and data give the same order of training
    examples on every machine.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # Without dropout: one or two epochs do not overfit, and it takes a quarter of all time. A
    # network that learns nothing new also stays identical.
    network.to(device).eval()
    if teacher is not None:
        teacher.to(device).eval()
    stock = collect_stock(training_examples)
    per_epoch = math.ceil(len(training_examples) / config.batch_size)
    steps = max(1, round(per_epoch * config.epochs)) if batches is None else len(batches)
    optimiser = _optimiser(network, config)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda s: _rate(s, steps, config))
    states = {"network": network, "optimiser": optimiser, "schedule": schedule}
    done, before_this = _resume(checkpoint, states, device)
    began, first = time.monotonic(), done
    saved_at = began
    planned = _batches(training_examples, config, seed) if batches is None else iter(batches)
    for step, batch in enumerate(planned):
        if step >= steps:
            break
        if step < done:
            continue
        torch.manual_seed(seed + step)
        rng = random.Random(f"{seed}-{step}")  # noqa: S311  # varying training examples is no secret
        varied = [vary(training_examples[i], config.variation, stock, rng) for i in batch]
        optimiser.zero_grad(set_to_none=True)
        loss = 0.0
        for some in _micro_batches(varied):
            of_some = _loss(
                network, _collate(some, tokeniser, config, rng, device), config, teacher
            )
            of_some = of_some * (len(some) / len(varied))
            of_some.backward()  # type: ignore[no-untyped-call]  # torch gives it no types
            loss += float(of_some.detach())
        nn.utils.clip_grad_norm_([p for p in network.parameters() if p.requires_grad], 1.0)
        optimiser.step()
        schedule.step()
        ahead = (time.monotonic() - began) / (step + 1 - first) * (steps - step - 1)
        on_progress(Progress(step=step + 1, steps=steps, loss=loss, seconds_left=ahead))
        due = (step + 1) % config.save_every_steps == 0 or step + 1 == steps
        if config.save_every_seconds is not None:
            due |= time.monotonic() - saved_at >= config.save_every_seconds
        if checkpoint is not None and due:
            seconds = before_this + time.monotonic() - began
            _save(checkpoint, step + 1, seconds, states)
            saved_at = time.monotonic()
    network.to("cpu").eval()
    return before_this + time.monotonic() - began


def _optimiser(network: nn.Module, config: FineTuneConfig) -> torch.optim.AdamW:
    trainable = [p for p in network.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trainable if p.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in trainable if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.learning_rate)


def _rate(step: int, steps: int, config: FineTuneConfig) -> float:
    """Return the factor of the learning rate: rising during the warm-up, then falling to 0."""
    warm = max(1.0, config.warm_up * steps)
    return min((step + 1) / warm, max(0.0, 1.0 - step / steps))


def _batches(
    training_examples: Sequence[TrainingExample], config: FineTuneConfig, seed: int
) -> Iterator[list[int]]:
    """Yield positions of training examples, epoch by epoch, each in its own order."""
    for epoch in range(math.ceil(config.epochs)):
        rng = random.Random(f"{seed}-epoch-{epoch}")  # noqa: S311  # an order is no secret
        order = rng.sample(range(len(training_examples)), len(training_examples))
        batches = cut_batches(training_examples, order, config.batch_size)
        rng.shuffle(batches)
        yield from batches


def cut_batches(
    training_examples: Sequence[TrainingExample], order: Sequence[int], size: int
) -> list[list[int]]:
    """Return batches of training examples of similar length, cut from runs of this order."""
    run = size * _RUN_OF_BATCHES
    batches = []
    for start in range(0, len(order), run):
        some = sorted(
            order[start : start + run], key=lambda i: len(training_examples[i].input.text)
        )
        batches += [some[i : i + size] for i in range(0, len(some), size)]
    return batches


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    ids: torch.Tensor
    kinds: torch.Tensor
    mask: torch.Tensor
    # Each window's training example, and the targets of its tokens.
    owner: torch.Tensor
    promotion: torch.Tensor
    # One per training example; `_UNKNOWN` if it is not known.
    is_spam: torch.Tensor
    weight: torch.Tensor


def _collate(
    training_examples: Sequence[TrainingExample],
    tokeniser: CommentTokeniser,
    config: FineTuneConfig,
    rng: random.Random,
    device: torch.device,
) -> _Batch:
    owned = [
        (place, window)
        for place, training_example in enumerate(training_examples)
        for window in _some(tokeniser.windows(training_example.input), config.max_windows, rng)
    ]
    ids, kinds, mask = window_tensors([window for _, window in owned])
    promotion = torch.full(ids.shape, _UNKNOWN)
    for row, (place, window) in enumerate(owned):
        start = window.n_context
        promotion[row, start : start + len(window.spans)] = _token_targets(
            window, training_examples[place]
        )
    return _Batch(
        ids=ids.to(device),
        kinds=kinds.to(device),
        mask=mask.to(device),
        owner=torch.tensor([place for place, _ in owned], device=device),
        promotion=promotion.to(device),
        is_spam=torch.tensor(
            [_UNKNOWN if s is None else float(s) for s in (e.is_spam for e in training_examples)],
            device=device,
        ),
        weight=torch.tensor([one.weight for one in training_examples], device=device),
    )


def window_tensors(windows: Sequence[Window]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return these windows as ids, kinds and mask, padded to one length."""
    # In steps, so that a run has few shapes: torch keeps plans and memory for each.
    longest = -(-max(len(window.ids) for window in windows) // _PAD_TO) * _PAD_TO
    ids, kinds, mask = (torch.zeros((len(windows), longest), dtype=torch.long) for _ in range(3))
    for row, window in enumerate(windows):
        used = len(window.ids)
        ids[row, :used] = torch.tensor(window.ids)
        kinds[row, window.n_context : used] = 1
        mask[row, :used] = 1
    return ids, kinds, mask


def _some(windows: Sequence[Window], most: int, rng: random.Random) -> Sequence[Window]:
    if len(windows) <= most:
        return windows
    return [windows[0], *rng.sample(windows[1:-1], max(0, most - 2)), windows[-1]]


def _token_targets(window: Window, training_example: TrainingExample) -> torch.Tensor:
    """Return 1 for each token in promotion, 0 for plain text, otherwise unknown."""
    answer = [_UNKNOWN] * len(window.spans)
    for spans, value in ((training_example.plain, 0.0), (training_example.promotion, 1.0)):
        for place, (start, end) in enumerate(window.spans):
            if end > start and any(a <= start < b for a, b in spans):
                answer[place] = value
    return torch.tensor(answer)


def _micro_batches(varied: Sequence[TrainingExample]) -> Iterator[Sequence[TrainingExample]]:
    by_length = sorted(varied, key=lambda one: len(one.input.text))
    for start in range(0, len(by_length), _MICRO_BATCH):
        yield by_length[start : start + _MICRO_BATCH]


def mixed_precision(device: torch.device) -> torch.autocast:
    """Return a context for matrix products in bfloat16, if that is faster here.

    A CPU without bfloat16 instructions takes sixteen times as long as in float32.
    """
    enabled = device.type != "cpu" or cpu_has_bfloat16()
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)


def _loss(
    network: Network, batch: _Batch, config: FineTuneConfig, teacher: Network | None
) -> torch.Tensor:
    with mixed_precision(batch.ids.device):
        outputs = network(batch.ids, batch.kinds, batch.mask)
    count = len(batch.is_spam)
    pooled = [
        (_pool(spam.float(), batch.owner, count), promotion.float()) for spam, promotion in outputs
    ]
    last = pooled[-1]
    if teacher is not None:
        return _distillation_loss(pooled, batch, config, teacher)
    losses = [_label_loss(logits, batch, config) for logits in pooled]
    losses += [config.exits_weight * _exit_loss(logits, last, batch) for logits in pooled[:-1]]
    return torch.stack(losses).sum() / len(pooled)


def _label_loss(logits: Logits, batch: _Batch, config: FineTuneConfig) -> torch.Tensor:
    spam, promotion = logits
    loss = _spam_loss(spam, batch.is_spam, batch.weight, config.label_smoothing)
    return loss + config.promotion_weight * _token_loss(promotion, batch.promotion)


def _exit_loss(logits: Logits, last: Logits, batch: _Batch) -> torch.Tensor:
    """Return the distance of an earlier exit's spam log-odds from the last one's."""
    each = functional.binary_cross_entropy_with_logits(
        logits[0], torch.sigmoid(last[0].detach()), reduction="none"
    )
    known = (batch.is_spam != _UNKNOWN).float() * batch.weight
    return (each * known).sum() / len(each)


def _distillation_loss(
    now: Sequence[Logits], batch: _Batch, config: FineTuneConfig, teacher: Network
) -> torch.Tensor:
    """Return the distance of the outputs from those of the teacher.

    Promotion is compared by relative entropy, spam by its log-odds (Huber 1964): the cutoffs are so
    far out that relative entropy hardly differs between 0.02 and 0.04. It is 0, like its gradient,
    if nothing has changed.
    """
    with torch.no_grad(), mixed_precision(batch.ids.device):
        of_teacher = teacher(batch.ids, batch.kinds, batch.mask)
    of_token = (batch.mask * batch.kinds).float()
    loss = torch.zeros(())
    for (spam, promotion), (was_spam, was_promotion) in zip(now, of_teacher, strict=True):
        was = _pool(was_spam.float(), batch.owner, len(batch.is_spam))
        moved = (_divergence(promotion, was_promotion.float()) * of_token).sum()
        loss = loss + _MOVED_WEIGHT * functional.huber_loss(spam, was, delta=_HUBER)
        loss = loss + config.promotion_weight * moved / of_token.sum().clamp(min=1.0)
    return loss


def _divergence(log_odds: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Return the relative entropy of each output to the teacher's, both in log-odds."""
    target = torch.sigmoid(teacher)
    return functional.binary_cross_entropy_with_logits(
        log_odds, target, reduction="none"
    ) - functional.binary_cross_entropy_with_logits(teacher, target, reduction="none")


def _pool(log_odds: torch.Tensor, owner: torch.Tensor, count: int) -> torch.Tensor:
    """Return the logarithm of the mean odds of each example's windows, as in serving."""
    belongs = owner.unsqueeze(0) == torch.arange(count, device=owner.device).unsqueeze(1)
    spread = torch.where(belongs, log_odds.unsqueeze(0), torch.finfo(log_odds.dtype).min)
    return torch.logsumexp(spread, dim=1) - torch.log(belongs.sum(1).to(log_odds.dtype))


def _spam_loss(
    log_odds: torch.Tensor, target: torch.Tensor, weight: torch.Tensor, smoothing: float
) -> torch.Tensor:
    known = target != _UNKNOWN
    smooth = target[known] * (1 - 2 * smoothing) + smoothing
    each = functional.binary_cross_entropy_with_logits(log_odds[known], smooth, reduction="none")
    return (each * weight[known]).sum() / len(target)


def _token_loss(log_odds: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    known = target != _UNKNOWN
    if not bool(known.any()):
        return log_odds.sum() * 0.0
    return functional.binary_cross_entropy_with_logits(log_odds[known], target[known])


def _save(checkpoint: Path, step: int, seconds: float, states: Mapping[str, Any]) -> None:
    staged = checkpoint.with_suffix(".writing")
    kept = {name: of.state_dict() for name, of in states.items()}
    torch.save({"step": step, "seconds": seconds, **kept}, staged)
    staged.replace(checkpoint)


def _resume(
    checkpoint: Path | None, states: Mapping[str, Any], device: torch.device
) -> tuple[int, float]:
    """Restore a run's state from its checkpoint; return its steps and seconds."""
    if checkpoint is None or not checkpoint.exists():
        return 0, 0.0
    kept = torch.load(checkpoint, map_location=device, weights_only=True)
    for name, of in states.items():
        of.load_state_dict(kept[name])
    return int(kept["step"]), float(kept["seconds"])
