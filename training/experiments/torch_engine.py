"""Runs a version's network in torch: many windows at once on a GPU, for archives.

No verdict comes from here. In a batch a window's answer hangs a little on what is beside it, and
bfloat16 rounds otherwise than the int8 that serves.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence

import torch

from models.engine import INPUTS, PAD_TO, WindowScores
from models.tokens import Window
from models.transformer import NETWORK_FILE, WEIGHTS_FILE
from training.network.encoder import Network
from training.network.from_version import load_from_version
from training.network.short_numbers import short_numbers

# Tokens of a batch, padding included: enough to fill a large GPU, and what a CPU's caches hold.
GPU_TOKENS, CPU_TOKENS = 131_072, 4_096


class TorchEngine:
    """Answers for windows as `models.engine.Engine` does, in batches of like length."""

    def __init__(
        self, network: Network, *, device: torch.device, tokens_per_batch: int | None = None
    ) -> None:
        """`tokens_per_batch` counts padding; by default what suits the device."""
        self._network = network.to(device).eval()
        self._device = device
        self._tokens = tokens_per_batch or (CPU_TOKENS if device.type == "cpu" else GPU_TOKENS)

    def read(self, windows: Sequence[Window]) -> list[WindowScores]:
        """Return each window's scores, in order; what embeddings are made from is not told."""
        found: dict[int, WindowScores] = {}
        for places in token_batches([len(w.ids) for w in windows], self._tokens):
            batch = [windows[place] for place in places]
            spam, promotion, voice = self._ask(batch)
            for row, (place, window) in enumerate(zip(places, batch, strict=True)):
                start = window.n_context
                found[place] = WindowScores(
                    spam=float(spam[row]),
                    promotion=array("f", promotion[row, start : start + len(window.spans)]),
                    llm_voice=float(voice[row]),
                )
        return [found[place] for place in range(len(windows))]

    def _ask(self, batch: Sequence[Window]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        length = _padded(max(len(window.ids) for window in batch))
        ids, kinds, mask = (torch.zeros((len(batch), length), dtype=torch.long) for _ in INPUTS)
        for row, window in enumerate(batch):
            used = len(window.ids)
            ids[row, :used] = torch.tensor(window.ids)
            kinds[row, window.n_context : used] = 1
            mask[row, :used] = 1
        arrays = (one.to(self._device, non_blocking=True) for one in (ids, kinds, mask))
        with torch.inference_mode(), short_numbers(self._device):
            answers = self._network(*arrays)
        spam, promotion, voice = (one.float().cpu() for one in answers)
        return spam, promotion, voice


def torch_engine(files: Mapping[str, bytes], device: torch.device) -> TorchEngine:
    """Return an engine that runs the network of a version's files.

    Raise `ValueError` for a network that is not of our export.
    """
    network, _ = load_from_version(files[NETWORK_FILE], files[WEIGHTS_FILE])
    return TorchEngine(network, device=device)


def token_batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield places of windows in batches, the longest first, hardly any of it padding.

    A batch holds at most so many tokens, padding included, or one window.
    """
    batch: list[int] = []
    longest = 0
    for place in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and longest * (len(batch) + 1) > most:
            yield batch
            batch = []
        if not batch:
            longest = _padded(lengths[place])
        batch.append(place)
    if batch:
        yield batch


def _padded(length: int) -> int:
    return -(-length // PAD_TO) * PAD_TO
