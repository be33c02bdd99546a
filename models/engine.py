"""Runs a version's network on the CPU with OpenVINO: static int8, one window at a time.

A network may be cut in two: the second part reads only what the first is unsure of.
"""

from __future__ import annotations

import ctypes
import os
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from models.errors import ClassifierError
from models.int8 import prepare_for_cpu
from models.quiet_openvino import ov
from models.tokens import Window

# Lengths are rounded up to a multiple of this. Each different length needs a kernel of its own;
# each padded token needs computing time.
PAD_TO = 16

# At most this many windows wait for a core, so that no core is idle while scores are read or Python
# is busy. Each takes some 10 kB.
_STARTED_AHEAD = 64

# The names of the network's inputs and outputs.
INPUTS = ("ids", "kinds", "mask")
OUTPUTS = ("spam", "promotion")
# A network may have one more output: the sum of the text's hidden states, each times its token's
# probability of promotion, so that the advertisement counts more than a remark before it.
POOLED = "pooled"
# The states from which the second part continues, if there is one.
STATES = "states"
REST_INPUTS = (STATES, "kinds", "mask")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowScores:
    """The network's scores of one window, in log-odds.

    `promotion` has one number per token of the text. `pooled` is the weighted mean of the text's
    hidden states, None if the network has no such output. Both are float32 arrays: tuples would
    take eight times the memory.
    """

    spam: float
    promotion: Sequence[float]
    pooled: Sequence[float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The second part of a network, and the log-odds between which it is used."""

    network: Path
    above: float
    below: float


class Engine:
    """Scores windows one by one, in parallel on all cores.

    On a CPU a batch would hardly be faster, and a comment's score would depend on the others in the
    batch. Each window is computed by one thread and padded by its own length alone, so the same
    window always gets the same bits. Threads may share an engine; they take turns.
    """

    def __init__(
        self,
        network: Path,
        *,
        rest: Rest | None = None,
        threads: int | None = None,
        exact: bool = False,
    ) -> None:
        """Raise `ValueError` if a file is not a network with the expected inputs and outputs.

        Int8 products are computed in float32 if this CPU cannot add them up (`models.int8`). The
        rest is computed in bfloat16 if the CPU can, else in float32; `exact` always uses float32,
        to measure the difference.
        """
        at_once = threads or len(os.sched_getaffinity(0))
        self._lock = Lock()
        self._first = _Part(network, INPUTS, at_once, exact=exact)
        self._rest = _Part(rest.network, REST_INPUTS, at_once, exact=exact) if rest else None
        self._open = (rest.above, rest.below) if rest else (0.0, 0.0)
        if rest is not None and STATES not in self._first.names:
            msg = "the network hands nothing on to its rest"
            raise ValueError(msg)
        # Its weights are read when it is compiled and when it first runs, never again.
        self._paged_in = rest.network.with_suffix(".bin") if rest else None
        if self._paged_in:
            _page_out(self._paged_in)

    def read(
        self, windows: Sequence[Window], meanwhile: Callable[[], None] | None = None
    ) -> list[WindowScores]:
        """Return each window's scores, in order. Raise `ClassifierError` if the engine fails.

        `meanwhile` is called once while the engine computes; its exceptions are raised here.
        """
        scores: dict[int, WindowScores] = {}
        # The longest first, so that no core is left with a long one at the end.
        order = deque(sorted(range(len(windows)), key=lambda i: -len(windows[i].ids)))
        running: deque[tuple[int, ov.InferRequest, bool]] = deque()

        def start_next(request: ov.InferRequest) -> None:
            i = order.popleft()
            request.start_async(input_arrays(windows[i]))
            running.append((i, request, True))

        with self._lock:
            try:
                with _as_classifier_errors():
                    for _ in range(min(len(windows), _STARTED_AHEAD)):
                        start_next(self._first.take())
                if meanwhile is not None:
                    meanwhile()
                with _as_classifier_errors():
                    while running:
                        i, request, is_first = running[0]
                        request.wait()
                        running.popleft()
                        if self._rest and not is_first:
                            said = _scores_of(request, windows[i], pooled=False)
                            scores[i] = replace(said, pooled=scores[i].pooled)
                            self._rest.free.append(request)
                            continue
                        scores[i] = _scores_of(request, windows[i], pooled=self._first.pools)
                        if self._rest and self._open[0] < scores[i].spam < self._open[1]:
                            rest = self._rest.take()
                            rest.start_async(_rest_arrays(request, windows[i]))
                            running.append((i, rest, False))
                        if order:
                            start_next(request)
                        else:
                            self._first.free.append(request)
            finally:
                # After an error: no request may still run when the next list is read.
                for _, request, _ in running:
                    with suppress(RuntimeError):
                        request.wait()
            if self._paged_in and self._rest and self._rest.free:
                _page_out(self._paged_in)
                self._paged_in = None
        return [scores[i] for i in range(len(windows))]


class _Part:
    """A compiled graph, and the requests to run it."""

    def __init__(self, path: Path, inputs: Sequence[str], at_once: int, *, exact: bool) -> None:
        core = _core()
        try:
            model = core.read_model(path)
            ports = (*model.inputs, *model.outputs)
            self.names = {name for port in ports for name in port.get_names()}
            if not {*inputs, *OUTPUTS} <= self.names:
                msg = "the network's inputs and outputs are not the ones expected"
                raise ValueError(msg)
            prepare_for_cpu(core, model)
            self._compiled = core.compile_model(
                model,
                "CPU",
                {
                    "NUM_STREAMS": str(at_once),
                    "INFERENCE_NUM_THREADS": str(at_once),
                    "ENABLE_CPU_PINNING": "NO",
                    **({"INFERENCE_PRECISION_HINT": "f32"} if exact else {}),
                },
            )
        except RuntimeError as error:
            msg = "the network cannot be read by the engine"
            raise ValueError(msg) from error
        self.pools = POOLED in self.names
        # Each holds one window's numbers; another one is created if none is free.
        self.free: list[ov.InferRequest] = []

    def take(self) -> ov.InferRequest:
        """Return a request that is not running; the caller must put it back."""
        return self.free.pop() if self.free else self._compiled.create_infer_request()


# Linux 5.4 and later, <linux/mman.h>.
_MADV_PAGEOUT = 21


def _page_out(file: Path) -> None:
    """Return the memory of a mapped file to the system; it is read again if used.

    OpenVINO keeps a network's file mapped, but computes with weights of its own.
    """
    ending = f" {file.resolve()}"
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text("utf-8", "replace").splitlines():
            if line.endswith(ending):
                start, end = (int(one, 16) for one in line.partition(" ")[0].split("-"))
                ctypes.CDLL(None).madvise(
                    ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_PAGEOUT
                )


@contextmanager
def _as_classifier_errors() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise ClassifierError("the engine failed") from error


def cpu_has_bfloat16() -> bool:
    """Return True if the engine finds bfloat16 instructions on this CPU."""
    return "BF16" in _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@cache
def _core() -> ov.Core:
    """Return the process's only core, which is never deleted.

    OpenVINO's CPU plugin gives the thread that loads it a signal stack, and frees it with the last
    core and network, in any thread (its class `SigAltStackSetup`). Without this core, a worker that
    loads a version in a thread would crash at its next signal.
    """
    return ov.Core()


def input_arrays(window: Window) -> dict[str, npt.NDArray[np.int64]]:
    """Return the network's inputs for one window, each of shape (1, padded length)."""
    length = -(-len(window.ids) // PAD_TO) * PAD_TO
    ids, kinds, mask = (np.zeros((1, length), dtype=np.int64) for _ in INPUTS)
    used = len(window.ids)
    ids[0, :used] = window.ids
    kinds[0, window.n_context : used] = 1
    mask[0, :used] = 1
    return {"ids": ids, "kinds": kinds, "mask": mask}


def _rest_arrays(first: ov.InferRequest, window: Window) -> dict[str, npt.NDArray[np.generic]]:
    """Return the inputs of the second part for the window that the first part has just read."""
    arrays = input_arrays(window)
    return {STATES: first.get_tensor(STATES).data, "kinds": arrays["kinds"], "mask": arrays["mask"]}


def _scores_of(request: ov.InferRequest, window: Window, *, pooled: bool) -> WindowScores:
    """Return a copy of a finished request's scores: the next window overwrites them."""
    spam, promotion = (request.get_tensor(name).data for name in OUTPUTS)
    start = window.n_context
    return WindowScores(
        spam=float(spam[0]),
        promotion=array("f", promotion[0, start : start + len(window.spans)].tolist()),
        pooled=_mean(
            request.get_tensor(POOLED).data.reshape(-1), promotion[0, start : len(window.ids)]
        )
        if pooled
        else None,
    )


def _mean(added_up: npt.NDArray[np.float32], promotion: npt.NDArray[np.float32]) -> array[float]:
    """Return the weighted mean, given the weighted sum and the weights' log-odds."""
    weights = 1.0 / (1.0 + np.exp(-np.clip(promotion.astype(np.float64), -60.0, 60.0)))
    return array("f", (added_up / np.sum(weights)).tolist())
