"""What checks share: the program, the process with plain loops, the time that is left, and the lines of the table."""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Iterator, Optional

KEPT, NOT_KEPT, NOT_RUN, BROKE = "kept", "NOT kept", "not run", "broke"
VERDICTS = (KEPT, NOT_KEPT, NOT_RUN, BROKE)
# A dry run measures these in one session, because each start of Python takes seconds; a check names its place here.
# One thread each: two wait for each other where other programs compute too.
DRY_SETUPS = {
    "loops": "torch:cpu,threads=1",
    "verdict": "torch:cpu,threads=1,mode=channels-last",
    "training": "torch:cpu,threads=1,task=train",
    "replicas": "rten:cpu,copies=2,threads=1",
    "provider": "ort:cpu,threads=1",
}
DRY_BATCH = 2
# Seconds that a program has to end by itself before it is killed.
GRACE = 4.0


@dataclass
class Line:
    """One claim."""

    check: str
    what: str
    expected: str
    seen: str
    verdict: str


class Missing(Exception):
    """A check cannot run here, with the reason."""


class Ended:
    """A program that has ended, and what it cost."""

    def __init__(self, status: int, out: str, err: str, processor_s: float) -> None:
        self.status, self.out, self.err, self.processor_s = status, out, err, processor_s


class Loops:
    """The process with plain loops of PyTorch: it starts once and keeps its networks."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.answers: queue.Queue[Optional[str]] = queue.Queue(maxsize=64)
        self.child = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "loops.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=bench.environment | ({"OMP_NUM_THREADS": "1"} if bench.dry else {}), start_new_session=True,
        )
        threading.Thread(target=self._read, name="loops", daemon=True).start()
        ready = self._answer(60)
        self.has_card: bool = ready.get("card") is not None
        self.card: Optional[str] = ready.get("card")
        self.torch: Optional[str] = ready.get("torch")
        self.memory: Optional[float] = ready.get("memory")

    def _read(self) -> None:
        for line in self.child.stdout or ():
            if line.startswith("{"):
                self.answers.put(line)
        self.answers.put(None)

    def _answer(self, limit: float) -> dict[str, Any]:
        try:
            line = self.answers.get(timeout=max(1.0, min(limit, self.bench.left())))
        except queue.Empty:
            self.end()
            raise Missing(f"the plain loops gave no answer within {limit:.0f} s") from None
        if line is None:
            raise Missing("the process with the plain loops ended: is torch installed for this Python?")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Missing(f"plain loop: {answer['error']}")
        return answer

    def begin(self, **request: Any) -> None:
        """Asks for something without waiting."""
        if self.child.poll() is not None:
            raise Missing("the process with the plain loops has ended")
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()

    def ask(self, limit: float = 120, **request: Any) -> dict[str, Any]:
        self.begin(**request)
        return self._answer(limit)

    def finish(self, limit: float = 60) -> dict[str, Any]:
        """Waits for what `begin` asked for."""
        return self._answer(limit)

    def end(self) -> None:
        end(self.child)


class Bench:
    """The program, the device, and the lines so far."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.dry: bool = arguments.dry
        self.amd: bool = arguments.amd
        self.may_cap: bool = arguments.cap
        self.program: Path = arguments.program.resolve()
        self.keep: Optional[Path] = arguments.keep
        self.ends = time.monotonic() + 60 * arguments.minutes
        # What a check has at most, so that one that hangs leaves time for the others.
        self.check_ends = self.ends
        self.lines: list[Line] = []
        self.check = ""
        self.seconds: dict[str, float] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="powerband-prove-"))
        self.torch_device = "cpu" if self.dry else "cuda:0"
        self.device = "cpu" if self.dry else ("rocm:0" if self.amd else "cuda:0")
        self.model = "resnet18@cifar" if self.dry else "resnet50"
        self.batch = DRY_BATCH if self.dry else 32
        self.environment = os.environ | {
            "POWERBAND_HOME": str(self.folder / "home"),
            "POWERBAND_PYTHON": sys.executable,
        }
        self.sessions: dict[str, tuple[Path, Any]] = {}
        self._loops: Optional[Loops] = None

    @property
    def loops(self) -> Loops:
        if self._loops is None or self._loops.child.poll() is not None:
            self._loops = Loops(self)
        return self._loops

    def close(self) -> None:
        if self._loops is not None:
            self._loops.end()
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            for path in [*self.folder.glob("*.ron"), *self.folder.glob("*.json")]:
                shutil.copy2(path, self.keep)
        shutil.rmtree(self.folder, ignore_errors=True)

    def left(self) -> float:
        """Seconds that this check has left."""
        return min(self.ends, self.check_ends) - time.monotonic()

    # Lines of the table.

    def tell(self, what: str, expected: str, seen: str, kept: bool) -> None:
        self.add(Line(self.check, what, expected, seen, KEPT if kept else NOT_KEPT))

    def skip(self, what: str, reason: str) -> None:
        self.add(Line(self.check, what, "", reason, NOT_RUN))

    def add(self, line: Line) -> None:
        self.lines.append(line)
        expected = f" (expected {line.expected})" if line.expected else ""
        what = f"{line.what}: " if line.what else ""
        print(f"  {line.verdict:9} {what}{line.seen}{expected}", flush=True)

    def near(self, what: str, seen: float, expected: float, within: float, unit: str) -> None:
        """A figure that agrees with another's within a share."""
        off = abs(seen / expected - 1) if expected else abs(seen)
        self.tell(what, f"{expected:.4g} {unit} ± {within:.0%}", f"{seen:.4g} {unit}", off <= within)

    def between(self, what: str, seen: float, low: float, high: float, unit: str = "") -> None:
        self.tell(what, f"{low:.4g} to {high:.4g} {unit}".strip(), f"{seen:.4g} {unit}".strip(), low <= seen <= high)

    # The program.

    def call(self, *words: str, limit: float = 240, environment: Optional[dict[str, str]] = None) -> Ended:
        """The program or a tool to its end, within the time that is left."""
        limit = max(2.0, min(limit, self.left()))
        child = subprocess.Popen(
            words, env=self.environment | (environment or {}), cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        )
        before = os.times()
        try:
            out, err = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            end(child)
            raise Missing(f"no answer within {limit:.0f} s: {' '.join(words[:6])}") from None
        finally:
            if child.poll() is None:
                end(child)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        return Ended(child.returncode, out, err, spent)

    def run(self, *arguments: str, limit: float = 240, status: tuple[int, ...] = (0,)) -> Any:
        """A subcommand of the program with --json: its document."""
        ended = self.call(str(self.program), *arguments, "--json", limit=limit)
        if ended.status not in status:
            raise Missing(f"{' '.join(arguments)} ended with {ended.status}: {ended.err.strip()[-300:]}")
        return json.loads(ended.out)

    def bench(self, name: str, model: str, *arguments: str, limit: float = 240) -> Any:
        """A run: the session as JSON. A case without times is seen by the check itself."""
        path = self.folder / f"{name}.ron"
        usual = ["--preset", "quick", "--out", str(path), "--force", "--seed", "1"]
        document = self.run("bench", model, *usual, *arguments, limit=limit, status=(0, 2))
        self.sessions[name] = (path, document)
        return document

    def session(self, name: str) -> tuple[Path, Any]:
        """What an earlier check measured."""
        found = self.sessions.get(name)
        if found is None:
            raise Missing(f"the check {name} measured nothing")
        return found

    def measured(
        self, *setups: str, arguments: tuple[str, ...] = (), model: str = "", batch: int = 0
    ) -> tuple[Any, int]:
        """A session of the check's own with these setups, and where they begin in it; in a dry run the shared one."""
        if not self.dry:
            words = [word for setup in setups for word in ("--setup", setup)]
            session = self.bench(
                self.check, model or self.model, *words, "--batch", str(batch or self.batch), *arguments, limit=260
            )
            return session, 0
        if "dry" not in self.sessions:
            words = [word for setup in DRY_SETUPS.values() for word in ("--setup", setup)]
            self.bench("dry", self.model, *words, "--batch", str(self.batch), "--profile", "--rounds", "2")
        place = list(DRY_SETUPS).index(self.check) if self.check in DRY_SETUPS else 0
        return self.sessions["dry"][1], place


def end(child: subprocess.Popen[str]) -> None:
    """Ends a program that was started here, with what it started."""
    for signal_number, wait in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
        if child.poll() is None:
            try:
                os.killpg(child.pid, signal_number)
            except ProcessLookupError:
                pass
        try:
            child.wait(timeout=wait)
            break
        except subprocess.TimeoutExpired:
            continue
    for stream in (child.stdin, child.stdout, child.stderr):
        _close(stream)


def _close(stream: Optional[IO[str]]) -> None:
    try:
        if stream is not None:
            stream.close()
    except OSError:
        pass


def case_of(session: Any, setup: int = 0, point: int = 0) -> Any:
    """A case of a session that was measured, or why it was not."""
    n_points = len(session["plan"]["points"])
    case = session["cases"][setup * n_points + point]
    if case["latency_ms"] is None:
        raise Missing(f"{case['setup']}: {case['outcome']}, {case['reason']}")
    return case


def median_ms(session: Any, setup: int = 0, point: int = 0) -> float:
    return float(case_of(session, setup, point)["latency_ms"]["median"])


def tool(name: str) -> str:
    found = shutil.which(name)
    if not found:
        raise Missing(f"{name} is not installed")
    return found


def numbers(values: Any) -> Iterator[float]:
    """The values that are numbers."""
    for value in values:
        if isinstance(value, (int, float)):
            yield float(value)
