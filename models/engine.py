"""Runs a version's network on the CPU with OpenVINO: static int8, one window at a time.

A network may be cut in two: what the first part is sure of, the rest never reads.
"""

from __future__ import annotations

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

# Lengths are rounded up to a multiple of this: each different length costs a kernel of its own
# once, a padded token costs its arithmetic every time.
PAD_TO = 16

# So many windows wait for a core at most, so that none stands idle while their answers are read or
# Python is busy. Each holds some 10 kB.
_STARTED_AHEAD = 64

# The names of the network's inputs and outputs.
INPUTS = ("ids", "kinds", "mask")
OUTPUTS = ("spam", "promotion")
# A network may have one more: the text's hidden states added up, each by its token's probability
# of promotion, so that what is advertised counts more than the remark before it.
POOLED = "pooled"
# And the states with which the rest of the network goes on, where there is a rest.
STATES = "states"
REST_INPUTS = (STATES, "kinds", "mask")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowScores:
    """The network's answers to one window, in log-odds; `promotion` has one a token of the text.

    `pooled` is the weighted mean of the text's hidden states, None from a network that does not
    tell it. Both are kept as arrays of float32: a tuple would take eight times the memory.
    """

    spam: float
    promotion: Sequence[float]
    pooled: Sequence[float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The rest of a network, and between which log-odds of the first part it is asked."""

    network: Path
    above: float
    below: float


class Engine:
    """Answers for windows one by one, as many at once as there are cores.

    A batch would save hardly anything on a CPU, where one window fills a core, and would let a
    comment's score depend on its neighbours. Every window is computed by one thread, padded by
    its own length alone, so that the same window gets the same bits whatever is asked with it.
    Threads may share an engine; they take turns.
    """

    def __init__(
        self,
        network: Path,
        *,
        rest: Rest | None = None,
        threads: int | None = None,
        exact: bool = False,
    ) -> None:
        """Raise `ValueError` if a file is no network with the inputs and outputs expected.

        Int8 products are computed in float32 where this CPU cannot add them up (`models.int8`).
        What is not int8 is computed in bfloat16 where the CPU can, else in float32; `exact` asks
        for float32 there, to tell what the shorter numbers change.
        """
        at_once = threads or _cores()
        self._lock = Lock()
        self._first = _Part(network, INPUTS, at_once, exact=exact)
        self._rest = _Part(rest.network, REST_INPUTS, at_once, exact=exact) if rest else None
        self._open = (rest.above, rest.below) if rest else (0.0, 0.0)
        if rest is not None and STATES not in self._first.names:
            msg = "the network hands nothing on to its rest"
            raise ValueError(msg)

    def read(
        self, windows: Sequence[Window], meanwhile: Callable[[], None] | None = None
    ) -> list[WindowScores]:
        """Return each window's scores, in order. Raise `ClassifierError` if the engine fails.

        `meanwhile` is called once while the engine computes. What it raises is raised here.
        """
        scores: dict[int, WindowScores] = {}
        # Longest first, so that no core is left alone with a long one at the end.
        order = deque(sorted(range(len(windows)), key=lambda i: -len(windows[i].ids)))
        running: deque[tuple[int, ov.InferRequest, bool]] = deque()

        def start_next(request: ov.InferRequest) -> None:
            i = order.popleft()
            request.start_async(input_arrays(windows[i]))
            running.append((i, request, True))

        with self._lock:
            try:
                with _failures_told():
                    for _ in range(min(len(windows), _STARTED_AHEAD)):
                        start_next(self._first.take())
                if meanwhile is not None:
                    meanwhile()
                with _failures_told():
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
                # After an error: nothing may run on when the next list comes.
                for _, request, _ in running:
                    with suppress(RuntimeError):
                        request.wait()
        return [scores[i] for i in range(len(windows))]


class _Part:
    """A graph that was compiled, and requests to run it."""

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
        # Each holds one window's numbers; one more is made when none is free.
        self.free: list[ov.InferRequest] = []

    def take(self) -> ov.InferRequest:
        """Return a request that is not running; whoever takes it puts it back."""
        return self.free.pop() if self.free else self._compiled.create_infer_request()


@contextmanager
def _failures_told() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise ClassifierError("the engine failed") from error


def cpu_has_bfloat16() -> bool:
    """Return True if the engine finds bfloat16 instructions on this CPU."""
    return "BF16" in _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@cache
def _core() -> ov.Core:
    """Return the process's only core, which is never let go of.

    OpenVINO's plugin for CPUs gives the thread that loads it a stack for signals, and frees it with
    the last core and network, in whichever thread that is (its class `SigAltStackSetup`). A worker
    that took over another version in a thread died of the next signal, its SIGTERM.
    """
    return ov.Core()


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    """Return the inputs of the rest, where the first part has just read the window."""
    arrays = input_arrays(window)
    return {STATES: first.get_tensor(STATES).data, "kinds": arrays["kinds"], "mask": arrays["mask"]}


def _scores_of(request: ov.InferRequest, window: Window, *, pooled: bool) -> WindowScores:
    """Return a finished request's answers, copied: the next window is computed in their place."""
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
