"""Loops and functions of Python as cases of a session."""

import os
import sys
import time
import warnings
from typing import Any, Callable, ContextManager, List, Optional, Sequence

from ._loop import ProgramRun, Run, Task, undisturbed
from ._program import PowerbandError
from ._session import Comparison, PathLike, Session

Synchronise = Callable[[], Any]


def measure(
    name: str,
    *,
    batch: int = 1,
    preset: str = "quick",
    rounds: Optional[int] = None,
    spacing: Optional[str] = None,
    synchronise: Optional[Synchronise] = None,
    model: Optional[PathLike] = None,
    out: Optional[PathLike] = None,
    frames: Optional[str] = None,
) -> "Measurement":
    """A loop of your own as a case of a session.

        with powerband.measure("my loop", batch=32) as m:
            for x in batches:
                with m.run():
                    step(x)
                if m.done:
                    break
        m.session

    What is between the runs is not timed. The program decides how many runs warm up, how many a round has and how far
    rounds lie apart, as `powerband bench` does: `preset`, `rounds` and `spacing` are its options. A run ends when
    `synchronise()` returns: torch.cuda.synchronize where torch has used a card, else nothing. `batch` is what a run
    processes, for items per second; `model` is a network that the loop runs, by its name or its ONNX file. The session
    goes into the library, or into `out`.
    """
    return Measurement([name], _words(batch, preset, rounds, spacing, out), synchronise, model, frames)


def compare(
    before: Callable[[], Any],
    after: Callable[[], Any],
    *,
    rounds: int = 10,
    names: Sequence[str] = ("before", "after"),
    batch: int = 1,
    preset: str = "quick",
    spacing: Optional[str] = None,
    synchronise: Optional[Synchronise] = None,
    model: Optional[PathLike] = None,
    out: Optional[PathLike] = None,
    frames: Optional[str] = None,
) -> Comparison:
    """Measures two functions in turns, and returns the program's verdict; the options are those of `measure`."""
    first, second = names
    if first == second:
        raise PowerbandError(f"both functions are called {first!r}: give them two names")
    functions = {first: before, second: after}
    words = _words(batch, preset, rounds, spacing, out)
    with Measurement([first, second], words, synchronise, model, frames) as measurement:
        while not measurement.done:
            function = functions[measurement.loop]
            with measurement.run():
                function()
    return measurement.session.compare()


class Measurement:
    """A loop that is measured, from entering to leaving it."""

    def __init__(
        self,
        loops: List[str],
        words: List[str],
        synchronise: Optional[Synchronise],
        model: Optional[PathLike],
        frames: Optional[str],
    ) -> None:
        self._loops, self._words, self._frames = loops, words, frames
        self._model = None if model is None else os.fspath(model)
        self._chosen = synchronise
        self._synchronise: Optional[Synchronise] = synchronise
        self._program: Optional[ProgramRun] = None
        self._task: Optional[Task] = None
        self._connection: Any = None
        self._is_over = False
        self._undisturbed: Optional[ContextManager[None]] = None
        self._session: Optional[Session] = None
        self._timed = _TimedRun(self)
        self.loop = loops[0]
        """The loop whose turn it is."""
        self.runs = 0
        """Runs so far, those that warm up included."""

    @property
    def session(self) -> Session:
        """What was measured, once the loop was left."""
        if self._session is None:
            raise PowerbandError("there is a session once the measured loop was left")
        return self._session

    @property
    def done(self) -> bool:
        """Whether enough was measured. Between rounds this waits until the next one is due."""
        self._advance()
        return self._is_over

    def run(self) -> "ContextManager[None]":
        """A run of the loop: what is in the block is timed, while anything is to be measured."""
        return self._timed

    def __enter__(self) -> "Measurement":
        if self._program is not None:
            raise PowerbandError("a measurement is entered once; call powerband.measure again")
        note = "A run ends when the loop's own block does."
        if self._chosen is not None or device_synchronisation() is not None:
            note = "A run ends when its device has: torch.cuda.synchronize, or what synchronise= names."
        self._program = ProgramRun(self._loops, self._model, self._words, note)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        program = self._running()
        if program.pid != os.getpid():
            # A process that was forked off comes by here at its end, too.
            return
        self._disturb()
        is_whole = kind is None and self._is_over
        if kind is None and not self._is_over and self._task is None:
            is_whole = self.done
            # Asking for the next request keeps it undisturbed.
            self._disturb()
        if not is_whole:
            program.interrupt()
        why = program.finish()
        if program.saved is not None:
            self._session = Session(program.saved, self._frames)
        if kind is not None:
            return
        if self._session is None:
            raise PowerbandError(why)
        if not is_whole:
            warnings.warn(
                f"the loop {self.loop} ended after {self.runs} runs, before the plan was measured: "
                "give it more runs, fewer rounds, or leave it where m.done says so",
                stacklevel=2,
            )

    def _running(self) -> ProgramRun:
        if self._program is None:
            raise PowerbandError("nothing is measured yet: with powerband.measure(…) as m")
        return self._program

    def _advance(self) -> None:
        """Answers the program until it wants runs, or is over."""
        program = self._running()
        if program.pid != os.getpid():
            raise PowerbandError(
                "this process was forked off the one that measures, and its runs cannot be measured: "
                "measure in the process that calls powerband.measure"
            )
        if self._is_over or self._task is not None:
            return
        self._disturb()
        found = program.next_task()
        if found is None:
            self._is_over = True
            return
        self.loop, self._task, self._connection = found
        self._synchronise = self._chosen or device_synchronisation()
        self._undisturbed = undisturbed()
        self._undisturbed.__enter__()

    def _disturb(self) -> None:
        if self._undisturbed is not None:
            self._undisturbed.__exit__(None, None, None)
            self._undisturbed = None

    def _take(self, run: Run) -> None:
        self.runs += 1
        if self._task is None:
            return
        try:
            self._task.send(run)
        except StopIteration as done:
            self._task = None
            self._disturb()
            self._running().answer(self._connection, done.value)


class _TimedRun:
    """Times a block."""

    def __init__(self, measurement: Measurement) -> None:
        self._measurement = measurement
        self._start = 0

    def __enter__(self) -> None:
        measurement = self._measurement
        if measurement._task is None or measurement._running().pid != os.getpid():
            measurement._advance()
        if measurement._synchronise is not None:
            measurement._synchronise()
        self._start = time.perf_counter_ns()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        measurement = self._measurement
        if measurement._synchronise is not None and kind is None:
            measurement._synchronise()
        end = time.perf_counter_ns()
        if kind is None:
            measurement._take(Run(self._start, end - self._start))


def device_synchronisation() -> Optional[Synchronise]:
    """What waits for the card that torch computes on; nothing where it uses none."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return None
    return cuda.synchronize  # type: ignore[no-any-return]


def _words(
    batch: int, preset: str, rounds: Optional[int], spacing: Optional[str], out: Optional[PathLike]
) -> List[str]:
    # The loop is at hand, where Ctrl-C ends it: that it takes long is no failure.
    words = [f"--batch={batch}", f"--preset={preset}", "--timeout=86400"]
    words += [f"--rounds={rounds}"] if rounds is not None else []
    words += [f"--spacing={spacing}"] if spacing is not None else []
    words += [f"--out={os.fspath(out)}"] if out is not None else []
    return words
