"""Loops of this Python as the program sees them: workers that answer its requests on a socket.

A run of the program asks as it asks any worker, in lines of JSON (`crates/worker/src/protocol.rs`). What needs a run
of the loop is a generator here, which gets the times of runs until it has an answer, so that the loop itself can be
that of any program.
"""

import contextlib
import gc
import json
import os
import platform
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path
from typing import Any, Dict, Generator, List, NamedTuple, Optional, Sequence, Tuple

from ._network import empty_network
from ._program import PowerbandError, program, reason

PROTOCOL = 2
MOST_RUNS = 1_000_000
MOST_IN_WINDOW = 100_000
CLOCK_READINGS = 1_000
# How often it is looked whether the program is still there, in seconds.
LOOK_S = 0.5
# How long the program may take to save what was measured, in seconds.
SAVING_S = 60
# Longer paths of sockets are not taken.
LONGEST_SOCKET = 100


class Run(NamedTuple):
    """When a run of the loop began, on the monotonic clock, and how long it took."""

    began_ns: int
    ns: int


Reply = Any
Task = Generator[None, Run, Reply]


def opened(request: Dict[str, Any]) -> Task:
    run = yield
    return {
        "Opened": {"open_ns": 0, "first_run_ns": run.ns, "feeding": "the loop feeds itself, outside of what is timed"}
    }


def warmed_up(request: Dict[str, Any]) -> Task:
    """Runs until the medians of several windows in a row agree, or a limit is reached."""
    rule, limit = request["rule"], request.get("limit")
    least_ns, most_ns = (rule[key] * 1_000_000 for key in ("min_time_ms", "max_time_ms"))
    window_ns = max(1, least_ns // 5)
    runs_a_window = max(1, rule["min_runs"] // max(1, rule["windows"]))
    medians: List[float] = []
    runs = spent_ns = 0

    def is_over(runs: int, spent_ns: int) -> bool:
        reached = limit and runs >= limit["runs"] and spent_ns >= limit["least_ns"]
        return bool(spent_ns >= most_ns or reached)

    while True:
        window: List[int] = []
        in_window_ns = 0
        while len(window) < runs_a_window or in_window_ns < window_ns:
            run = yield
            window.append(run.ns)
            in_window_ns += run.ns
            if is_over(runs + len(window), spent_ns + in_window_ns) or len(window) >= MOST_IN_WINDOW:
                break
        runs += len(window)
        spent_ns += in_window_ns
        medians.append(statistics.median(window))
        last = medians[-rule["windows"] :] if rule["windows"] else []
        settled = len(medians) >= rule["windows"] and (
            not last or max(last) <= min(last) * (1.0 + rule["agree_within"])
        )
        enough = runs >= rule["min_runs"] and spent_ns >= least_ns
        if (settled and enough) or is_over(runs, spent_ns) or runs >= MOST_RUNS:
            return {"Warm": {"runs": runs, "spent_ns": spent_ns, "settled": settled}}


def measured(request: Dict[str, Any]) -> Task:
    """A round: runs that wake caches and clocks up, and then samples, each as soon as the loop comes round again."""
    rule = request["rule"]
    if rule.get("load", "Closed") != "Closed":
        return refused("a loop of a Python program has no arrivals: it decides itself when its runs begin")
    woken = sum_ns = 0
    start: Optional[int] = None
    while woken < rule["wake_up_runs"] or sum_ns < rule.get("wake_up_ns", 0):
        run = yield
        start = run.began_ns if start is None else start
        woken += 1
        sum_ns = max(sum_ns + run.ns, run.began_ns + run.ns - start)
    samples: List[int] = []
    so_far_ns = 0
    while True:
        run = yield
        if not samples:
            start = run.began_ns
        samples.append(run.ns)
        so_far_ns += run.ns
        enough = len(samples) >= rule["min_samples"] and so_far_ns >= rule["min_ns"]
        if enough or len(samples) >= rule["max_samples"] or so_far_ns >= rule["max_ns"]:
            break
    spent_ns = max(run.began_ns + run.ns - (start or 0), so_far_ns)
    return {
        "Measured": {
            "started_monotonic_ns": start,
            "spent_ns": spent_ns,
            "samples_ns": " ".join(map(str, samples)),
        }
    }


def loaded(note: str) -> Reply:
    """What there is to say of this Python."""
    torch = sys.modules.get("torch")
    versions = [f"Python {platform.python_version()}"]
    versions += [f"PyTorch {torch.__version__}"] if torch else []
    start = time.perf_counter_ns()
    for _ in range(CLOCK_READINGS):
        time.perf_counter_ns()
    clock_ns = (time.perf_counter_ns() - start) // CLOCK_READINGS
    return {
        "Loaded": {
            "engine": ", ".join(versions),
            "library": sys.executable,
            "threads": torch.get_num_threads() if torch else None,
            "start_ns": 0,
            "library_ns": 0,
            "load_ns": 0,
            "empty_run_ns": clock_ns,
            "clock_ns": clock_ns,
            "own_weights": False,
            "notes": [note],
        }
    }


def refused(sentence: str) -> Reply:
    return {"Refused": {"Unsupported": sentence}}


TASKS = {"Open": opened, "WarmUp": warmed_up, "Measure": measured}

# Sockets of runs that go on. A process that is forked off has no part in them.
_sockets: "weakref.WeakSet[socket.socket]" = weakref.WeakSet()


def _let_go() -> None:
    for one in list(_sockets):
        with contextlib.suppress(OSError):
            # Not close(), which waits for the files made of the socket.
            os.close(one.detach())


os.register_at_fork(after_in_child=_let_go)


def readable(sockets: Sequence[socket.socket]) -> List[socket.socket]:
    """Those from which something can be read within a short while."""
    with selectors.DefaultSelector() as selector:
        for one in sockets:
            selector.register(one, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(LOOK_S)]  # type: ignore[misc]


class ProgramRun:
    """A run of `powerband bench` whose cases are loops of this process."""

    def __init__(self, loops: Sequence[str], model: Optional[str], words: Sequence[str], note: str) -> None:
        self.loops = list(loops)
        self.note = note
        self.pid = os.getpid()
        self.saved: Optional[Path] = None
        self._connections: List[Tuple[socket.socket, Any]] = []
        self._names: Dict[int, str] = {}
        # What is refused is refused before anything is made.
        setups = [word for loop in loops for word in ("--setup", setup_of(loop), f"--label={loop}")]
        command = [program(), "bench", f"--name={' vs. '.join(loops)}", *setups, *words]
        self._folder = _folder()
        path = os.path.join(self._folder, "loop")
        self._listener = socket.socket(socket.AF_UNIX)
        _sockets.add(self._listener)
        self._listener.bind(path)
        self._listener.listen()
        title = " vs. ".join(loops)
        if model is None:
            model = os.path.join(self._folder, f"{file_name(title)}.onnx")
            Path(model).write_bytes(empty_network(title))
        self._stderr = open(os.path.join(self._folder, "stderr"), "w+b")
        self._process = subprocess.Popen(
            [*command, "--", model],
            env={**os.environ, "POWERBAND_LOOP": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            # Ctrl-C reaches this process alone, which then ends the run.
            start_new_session=True,
        )

    def next_task(self) -> Optional[Tuple[str, Task, Any]]:
        """The next request that needs runs of a loop: the loop, what to do, and where to answer. Nothing at the end."""
        while True:
            request = self._next_request()
            if request is None:
                return None
            connection, kind, content = request
            if kind == "Load":
                self._names[id(connection)] = content["setup"]["options"]["loop"]
                self.answer(connection, loaded(self.note))
            elif kind == "Close":
                self.answer(connection, "Closed")
            elif kind in TASKS:
                task: Task = TASKS[kind](content)
                try:
                    next(task)
                except StopIteration as done:
                    self.answer(connection, done.value)
                else:
                    return self._names[id(connection)], task, connection
            else:
                self.answer(connection, refused(f"a loop of a Python program does not answer {kind}"))

    def answer(self, connection: Any, reply: Reply) -> None:
        # A run that was stopped does not listen any more, and says so itself.
        with contextlib.suppress(OSError):
            connection.write(json.dumps(reply) + "\n")
            connection.flush()

    def _next_request(self) -> Optional[Tuple[Any, str, Dict[str, Any]]]:
        while True:
            ready = readable([self._listener, *(pair[0] for pair in self._connections)])
            if self._listener in ready:
                self._greet(self._listener.accept()[0])
                continue
            for pair in [pair for pair in self._connections if pair[0] in ready]:
                line = pair[1].readline()
                # One that is cut off was the last.
                if line.endswith("\n"):
                    kind, content = next(iter(json.loads(line).items()))
                    return pair[1], kind, content
                self._hang_up(pair)
            if not ready and self._process.poll() is not None:
                return None

    def _greet(self, connection: socket.socket) -> None:
        _sockets.add(connection)
        file = connection.makefile("rw", encoding="utf-8")
        self._connections.append((connection, file))
        self.answer(file, {"protocol": PROTOCOL, "program": "powerband for Python", "pid": self.pid})

    def _hang_up(self, pair: Tuple[socket.socket, Any]) -> None:
        self._connections.remove(pair)
        with contextlib.suppress(OSError):
            # Closes the connection even where a forked process holds a copy of the socket.
            pair[0].shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            pair[1].close()
        pair[0].close()

    def interrupt(self) -> None:
        """Asks the program to end the run and to save what was measured."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def finish(self) -> str:
        """Waits until the program has ended, and returns why it did where it failed."""
        try:
            self._process.wait(SAVING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pair in list(self._connections):
            self._hang_up(pair)
        self._listener.close()
        self._stderr.seek(0)
        said = self._stderr.read().decode("utf-8", "replace")
        self._stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        saved = [line[len("Saved to ") :] for line in said.splitlines() if line.startswith("Saved to ")]
        self.saved = Path(saved[-1]) if saved else None
        return reason(said)


def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="powerband-")
    if len(folder) > LONGEST_SOCKET:
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="powerband-", dir="/tmp")
    return folder


def setup_of(loop: str) -> str:
    """The setup of a loop."""
    if '"' in loop or "\n" in loop or not loop.strip():
        raise PowerbandError(f"{loop!r} is no name of a loop: write one without quotes and line breaks")
    return f'command,loop="{loop}"'


def file_name(loop: str) -> str:
    """A name for the file of a loop's network."""
    plain = "".join(letter if letter.isalnum() or letter in " -_." else "-" for letter in loop)
    return plain.strip(" .")[:60] or "loop"


@contextlib.contextmanager
def undisturbed() -> Generator[None, None, None]:
    """No garbage collection between or in timed runs, as in `timeit`."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
