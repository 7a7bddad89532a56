"""Who else used the processors, as in crates/worker/src/cpu_contention.rs."""

import contextlib
import os
import re
import time
from pathlib import Path
from typing import Optional


def counters() -> Optional[dict[str, int]]:
    """The kernel's counters now; nothing on systems without /proc."""
    try:
        line = Path("/proc/stat").read_text().partition("\n")[0]
        # user nice system idle iowait irq softirq steal; guests are in the user's time already.
        ticks = [int(field) for field in line.split()[1:]] + [0] * 8
        own = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        return {
            "at_ns": time.perf_counter_ns(),
            "busy": sum(ticks[place] for place in (0, 1, 2, 5, 6)),
            "stolen": ticks[7],
            "own": sum(int(field) for field in own[11:15]),
            "switches": forced_switches(),
        }
    except (OSError, ValueError, IndexError):
        return None


def forced_switches() -> int:
    """How often a thread of this process had to make way."""
    total = 0
    for status in Path("/proc/self/task").glob("*/status"):
        # A thread may end while it is looked at.
        with contextlib.suppress(OSError):
            found = re.search(r"nonvoluntary_ctxt_switches:\s*(\d+)", status.read_text())
            total += int(found.group(1)) if found else 0
    return total


def contention_since(before: Optional[dict[str, int]]) -> Optional[dict[str, int]]:
    """What happened since then."""
    now = counters()
    if not before or not now:
        return None
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    passed = {key: max(0, now[key] - before[key]) for key in now}
    return {
        "counted_ns": passed["at_ns"],
        "switches": passed["switches"],
        "own_ns": passed["own"] * tick_ns,
        "others_ns": max(0, passed["busy"] - passed["own"]) * tick_ns,
        "stolen_ns": passed["stolen"] * tick_ns,
    }
