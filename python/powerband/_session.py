"""Sessions and comparisons: tables of the program as frames."""

import functools
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from . import _frames
from ._program import PowerbandError, answer, document

PathLike = Union[str, "os.PathLike[str]"]


def read(path: PathLike, frames: Optional[str] = None) -> "Session":
    """A session, or any file of another tool that `powerband import` opens.

    `frames` is pandas, polars or list; without it tables are frames of whichever is installed, else lists of
    dictionaries.
    """
    file = Path(os.path.expanduser(path))
    if not file.exists():
        raise PowerbandError(f"there is no file {file}")
    if file.suffix == ".ron":
        return Session(file, frames)
    folder = tempfile.TemporaryDirectory(prefix="powerband-")
    copy = Path(folder.name) / "session.ron"
    answer("import", f"--out={copy}", "--json", "--", str(file))
    return Session(copy, frames, folder)


class Session:
    """A session: what was measured, and the frames of it. Frames are made when they are first asked for."""

    def __init__(self, path: Path, frames: Optional[str], folder: Any = None) -> None:
        self.path = path
        self.frames = frames
        # Where an imported file was made a session, for as long as this lives.
        self._folder = folder
        self.document: Dict[str, Any] = document("show", "--json", "--", str(path))
        """The JSON document that `powerband show --json` prints."""

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @functools.cached_property
    def cases(self) -> Any:
        """A row for each case: times in milliseconds with their interval, throughput, memory, energy, flags."""
        if not self.document["cases"]:
            return _frames.frame([], self.frames)
        return self._exported("cases.csv")

    @functools.cached_property
    def samples(self) -> Any:
        """A row for each sample, in nanoseconds."""
        cases = [{"setup": case["setup"], **case["point"]} for case in self.document["cases"]]
        read = functools.partial(_frames.samples, cases=cases, wanted=self.frames)
        return self._exported("samples.npy", "--samples", read=read)

    @functools.cached_property
    def telemetry(self) -> Any:
        """A row for each reading of a device: device, quantity, seconds since the run began, value."""
        if not any(device["readings"] for device in self.document["telemetry"]["devices"]):
            return _frames.frame([], self.frames)
        return self._exported("telemetry.csv", "--chart=telemetry")

    @functools.cached_property
    def kernels(self) -> Any:
        """A row for each kernel of each profile."""
        rows: List[Dict[str, Any]] = []
        for number, profile in enumerate(self.document["profiles"], 1):
            words = ("kernels", "--json", "--by=kernel", f"--profile={number}", "--", str(self.path))
            for row in document(*words)["rows"]:
                plain = {key: cell for key, cell in row.items() if not isinstance(cell, (dict, list))}
                bound = (row.get("limit") or {}).get("bound")
                operators = ", ".join(row.get("operators") or [])
                rows.append({"profile": profile["name"], **plain, "operators": operators, "bound": bound})
        return _frames.frame(rows, self.frames)

    @functools.cached_property
    def comparisons(self) -> Any:
        """A row for each case against the same of the first setup: speed-up, interval, verdict."""
        return _frames.frame(pair_rows(self.document["comparisons"]), self.frames)

    def compare(
        self,
        other: Union["Session", PathLike, None] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> "Comparison":
        """Did it get faster? This session is before, `other` after; alone, its setups are compared with each other.

        `before` and `after` choose setups, each by its spelling, its label or its number from 1.
        """
        paths = [str(self.path)]
        if other is not None:
            paths.append(str(other.path if isinstance(other, Session) else other))
        chosen = [f"--before={before}"] if before is not None else []
        chosen += [f"--after={after}"] if after is not None else []
        return Comparison(self, [*chosen, "--", *paths])

    def chart(self, name: str, *options: str) -> str:
        """A figure as SVG, by the name that `powerband export --chart` knows: throughput, latency, kernels…"""
        return str(self._exported("chart.svg", f"--chart={name}", *options, read=read_text))

    def _exported(self, name: str, *options: str, read: Optional[Callable[[Path], Any]] = None) -> Any:
        with tempfile.TemporaryDirectory(prefix="powerband-") as folder:
            to = Path(folder) / name
            answer("export", f"--to={to}", *options, "--", str(self.path))
            return read(to) if read else _frames.read_csv(to, self.frames)

    def __str__(self) -> str:
        return answer("show", "--", str(self.path))

    def __repr__(self) -> str:
        return f"<powerband.Session {self.name!r}, {len(self.document['cases'])} cases, {self.path}>"

    def _repr_html_(self) -> str:
        return answer("show", "--html", "--", str(self.path))


class Comparison:
    """Two sides: ratios with their intervals, and verdicts."""

    def __init__(self, session: Session, words: List[str]) -> None:
        self.session = session
        self._words = words
        self.document: Dict[str, Any] = document("compare", "--json", *words)
        """The JSON document that `powerband compare --json` prints."""

    @functools.cached_property
    def pairs(self) -> Any:
        """A row for each pair of cases."""
        return _frames.frame(self._rows(), self.session.frames)

    @property
    def verdict(self) -> str:
        """faster, slower, same or inconclusive; of several pairs the one that all share, else mixed."""
        verdicts = {row["verdict"] for row in self._rows()}
        return str(verdicts.pop()) if len(verdicts) == 1 else "mixed"

    @property
    def speed_up(self) -> Optional[float]:
        """How many times as fast after as before, where there is one pair."""
        speed_up: Optional[float] = self._of_only_pair("speed_up")
        return speed_up

    @property
    def interval(self) -> Optional[Tuple[float, float]]:
        """The 95 % interval of the speed-up, where there is one pair."""
        low, high = self._of_only_pair("low"), self._of_only_pair("high")
        return None if low is None or high is None else (low, high)

    @property
    def reason(self) -> str:
        """Why the verdict is open or needs care; empty where it does not."""
        return "; ".join(dict.fromkeys(row["reason"] for row in self._rows() if row["reason"]))

    def _rows(self) -> List[Dict[str, Any]]:
        return pair_rows(self.document["comparisons"])

    def _of_only_pair(self, key: str) -> Any:
        rows = self._rows()
        return rows[0][key] if len(rows) == 1 else None

    def __str__(self) -> str:
        return answer("compare", *self._words)

    def __repr__(self) -> str:
        interval = self.interval
        told = f", {self.speed_up:.4g} times as fast" if self.speed_up else ""
        told += f", {interval[0]:.4g} to {interval[1]:.4g}" if interval else ""
        return f"<powerband.Comparison {self.verdict}{told}>"

    def _repr_html_(self) -> str:
        return answer("compare", "--html", *self._words)


def pair_rows(comparisons: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Pairs of cases as rows."""
    rows = []
    for pair in (pair for one in comparisons for pair in one["pairs"]):
        before, after = pair["before"], pair["after"]
        low, high = pair["ci95"] or (None, None)
        rows.append(
            {
                "before": before["setup"],
                "after": after["setup"],
                **after["point"],
                "before_median_ms": before["median_ms"],
                "after_median_ms": after["median_ms"],
                "speed_up": pair["speed_up"],
                "low": low,
                "high": high,
                "verdict": pair["verdict"],
                "reason": pair["reason"],
                "noise_floor": pair["noise_floor"],
                "rounds": pair["rounds"],
                "interleaved": pair["interleaved"],
            }
        )
    return rows


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
