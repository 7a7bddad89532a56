"""Warming up and measuring, as in crates/worker/src/measure.rs."""

import contextlib
import dataclasses
import gc
import random
import statistics
import time
from typing import Any, Iterator, Optional

MOST_RUNS = 1_000_000
CLOCK_READINGS = 1_000
# A sleep ends late, so the last bit of a wait is spent looking at the clock.
LOOK_OUT_NS = 200_000


class EmptyRun:
    """An empty run, for the overhead of measuring."""

    part_names: tuple[str, ...] = ()
    parts: tuple[int, ...] = ()

    def timed_run(self) -> int:
        start = time.perf_counter_ns()
        return time.perf_counter_ns() - start

    def take_generation(self) -> Optional[dict[str, Any]]:
        return None


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """No garbage collection between or in timed runs, as in `timeit`."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def warm_up(case: Any, rule: dict[str, Any], limit: Optional[dict[str, Any]]) -> dict[str, Any]:
    """Runs until the medians of several windows in a row agree, or a limit is reached."""
    least_ns, most_ns = (rule[key] * 1_000_000 for key in ("min_time_ms", "max_time_ms"))
    window_ns = max(1, least_ns // 5)
    # The least runs are one window after the other.
    runs_a_window = max(1, rule["min_runs"] // max(1, rule["windows"]))

    def is_over(runs: int, spent_ns: int) -> bool:
        reached = limit and runs >= limit["runs"] and spent_ns >= limit["least_ns"]
        return bool(spent_ns >= most_ns or reached)

    medians: list[float] = []
    runs = spent_ns = 0
    while True:
        window: list[int] = []
        in_window_ns = 0
        while len(window) < runs_a_window or in_window_ns < window_ns:
            sample = case.timed_run()
            window.append(sample)
            in_window_ns += sample
            if is_over(runs + len(window), spent_ns + in_window_ns) or len(window) >= 100_000:
                break
        runs += len(window)
        spent_ns += in_window_ns
        medians.append(statistics.median(window))
        settled = agree(medians, rule)
        enough = runs >= rule["min_runs"] and spent_ns >= least_ns
        if (settled and enough) or is_over(runs, spent_ns) or runs >= MOST_RUNS:
            return {"runs": runs, "spent_ns": spent_ns, "settled": settled}


def agree(medians: list[float], rule: dict[str, Any]) -> bool:
    """Whether the last windows' medians lie within the allowed share of each other."""
    windows = rule["windows"]
    if len(medians) < windows:
        return False
    last = medians[len(medians) - windows :]
    return not last or max(last) <= min(last) * (1.0 + rule["agree_within"])


@dataclasses.dataclass
class Round:
    started_monotonic_ns: int
    spent_ns: int
    samples_ns: list[int]
    # For each sample, what it is made up of.
    parts_ns: list[tuple[int, ...]]


def measure_round(case: Any, rule: dict[str, Any]) -> Round:
    wake_up(case, rule)
    # What warmed up is no part of the round.
    case.take_generation()
    begin_together(rule.get("starts_at_ns"))
    load = rule.get("load", "Closed")
    if load == "Closed":
        return closed_loop(case, rule)
    kind, numbers = next(iter(load.items()))
    return open_loop(case, rule, kind, numbers["per_s"])


def begin_together(at_ns: Optional[int]) -> None:
    """Several workers begin at one moment of the monotonic clock, which all processes share."""
    if at_ns is not None:
        wait_until(time.perf_counter_ns() + at_ns - time.monotonic_ns())


def wake_up(case: Any, rule: dict[str, Any]) -> None:
    """Runs that are not measured, in which caches, clocks and threads find back to their places."""
    start = time.perf_counter_ns()
    runs = sum_ns = 0
    while runs < rule["wake_up_runs"] or sum_ns < rule.get("wake_up_ns", 0):
        sum_ns = max(sum_ns + case.timed_run(), time.perf_counter_ns() - start)
        runs += 1


def is_over(rule: dict[str, Any], n_samples: int, so_far_ns: int) -> bool:
    enough = n_samples >= rule["min_samples"] and so_far_ns >= rule["min_ns"]
    return enough or n_samples >= rule["max_samples"] or so_far_ns >= rule["max_ns"]


def closed_loop(case: Any, rule: dict[str, Any]) -> Round:
    """Each run as soon as the one before is over."""
    samples: list[int] = []
    parts: list[tuple[int, ...]] = []
    sum_ns = 0
    started_monotonic_ns = time.monotonic_ns()
    start = time.perf_counter_ns()
    while True:
        sample = case.timed_run()
        samples.append(sample)
        parts.append(case.parts)
        sum_ns += sample
        if is_over(rule, len(samples), sum_ns):
            break
    spent_ns = max(time.perf_counter_ns() - start, sum_ns)
    return Round(started_monotonic_ns, spent_ns, samples, parts)


def open_loop(case: Any, rule: dict[str, Any], kind: str, per_s: float) -> Round:
    """Each run as soon as its request has arrived and the run before is over. A sample counts from the
    arrival, by the host's clock, so that a run which had to wait shows that it did."""
    arrivals = random.Random(rule.get("seed", 0))
    samples: list[int] = []
    parts: list[tuple[int, ...]] = []
    due_ns = 0.0
    started_monotonic_ns = time.monotonic_ns()
    start = time.perf_counter_ns()
    while True:
        wait_until(start + int(due_ns))
        case.timed_run()
        spent_ns = time.perf_counter_ns() - start
        samples.append(max(0, spent_ns - int(due_ns)))
        parts.append(case.parts)
        if is_over(rule, len(samples), spent_ns):
            return Round(started_monotonic_ns, spent_ns, samples, parts)
        share = arrivals.expovariate(1.0) if kind == "Poisson" else 1.0
        due_ns += share * 1e9 / per_s


def wait_until(moment_ns: int) -> None:
    sleep_ns = moment_ns - time.perf_counter_ns() - LOOK_OUT_NS
    if sleep_ns > 0:
        time.sleep(sleep_ns / 1e9)
    while time.perf_counter_ns() < moment_ns:
        pass


def clock_ns() -> int:
    """What reading the clock once takes."""
    start = time.perf_counter_ns()
    for _ in range(CLOCK_READINGS):
        time.perf_counter_ns()
    return (time.perf_counter_ns() - start) // CLOCK_READINGS


def empty_run_ns() -> int:
    """The median time of an empty run, through the same loop."""
    rule = {"wake_up_runs": 100, "min_samples": 1_000, "max_samples": 1_000}
    with undisturbed():
        done = measure_round(EmptyRun(), {**rule, "min_ns": 0, "max_ns": 100_000_000})
    return int(statistics.median(done.samples_ns))


def spaced(samples: Any) -> str:
    return " ".join(map(str, samples))
