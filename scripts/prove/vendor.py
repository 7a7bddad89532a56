"""What the maker's own tools say of a card, and what the kernel says of the processor: never through Powerband."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Optional

from .bench import Bench, Missing, end, tool

Readings = list[tuple[float, dict[str, float]]]

# What nvidia-smi reads, by the name that Powerband has for it.
NVIDIA_FIELDS = {
    "busy_percent": "utilization.gpu",
    "clock_mhz": "clocks.sm",
    "power_w": "power.draw.instant",
    "temperature_c": "temperature.gpu",
    "memory_used_bytes": "memory.used",
    "throttle": "clocks_event_reasons.active",
}
# Names of the same before they were changed.
OLDER_FIELDS = {"power.draw.instant": "power.draw", "clocks_event_reasons.active": "clocks_throttle_reasons.active"}
# Bits of NVML's reasons, and those of Powerband's readings.
THROTTLE_BITS = {0x4: 1, 0x20: 2, 0x8: 4, 0x40: 4, 0x80: 8, 0x10: 16}
# What rocm-smi calls them, the first that is there.
AMD_FIELDS = {
    "busy_percent": ("GPU use (%)",),
    "power_w": ("Current Socket Graphics Package Power (W)", "Average Graphics Package Power (W)"),
    "temperature_c": ("Temperature (Sensor edge) (C)", "Temperature (Sensor junction) (C)"),
    "memory_used_bytes": ("VRAM Total Used Memory (B)",),
    "clock_mhz": ("sclk clock speed:",),
}


class VendorLog:
    """The maker's tool, asked again and again in the background, from `with` to its end."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.found: Readings = []
        self.stopped = threading.Event()
        self.child: Optional[subprocess.Popen[str]] = None
        if bench.dry:
            self.work = self._kernel
        elif bench.amd:
            self.tool = tool("rocm-smi")
            self.work = self._rocm
        else:
            self.fields = nvidia_fields()
            self.child = subprocess.Popen(
                [tool("nvidia-smi"), f"--query-gpu={','.join(self.fields.values())}",
                 "--format=csv,noheader,nounits", "--id=0", "--loop-ms=100"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, start_new_session=True,
            )
            self.work = self._nvidia
        self.thread = threading.Thread(target=self.work, name="vendor", daemon=True)

    def __enter__(self) -> VendorLog:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        if self.child is not None:
            end(self.child)
        self.thread.join(timeout=5)

    def _nvidia(self) -> None:
        assert self.child is not None and self.child.stdout is not None
        try:
            for line in self.child.stdout:
                self.found.append((time.monotonic(), nvidia_row(self.fields, line)))
        except ValueError:
            # The stream was closed: the check has all it wants.
            return

    def _rocm(self) -> None:
        while not self.stopped.is_set():
            try:
                words = [self.tool, "-a", "--showmeminfo", "vram", "--json", "-d", "0"]
                text = subprocess.run(words, capture_output=True, text=True, timeout=10, check=True).stdout
                self.found.append((time.monotonic(), rocm_row(text)))
            except (subprocess.SubprocessError, ValueError, StopIteration):
                self.stopped.wait(0.5)

    def _kernel(self) -> None:
        before = cpu_times()
        while not self.stopped.wait(0.2):
            now = cpu_times()
            busy, total = now[0] - before[0], now[1] - before[1]
            row = {"memory_used_bytes": memory_used()}
            if total > 0:
                row["busy_percent"] = 100 * busy / total
            self.found.append((time.monotonic(), row))
            before = now


def nvidia_fields() -> dict[str, str]:
    """The names of the fields that this nvidia-smi knows."""
    fields = dict(NVIDIA_FIELDS)
    for name, field in NVIDIA_FIELDS.items():
        older = OLDER_FIELDS.get(field)
        if older and not nvidia_query(field):
            fields[name] = older
    return fields


def nvidia_query(*fields: str) -> list[str]:
    """What nvidia-smi says of these fields; nothing where it does not know one."""
    words = [tool("nvidia-smi"), f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", "--id=0"]
    try:
        ended = subprocess.run(words, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        raise Missing("nvidia-smi does not answer") from None
    return [cell.strip() for cell in ended.stdout.split(",")] if ended.returncode == 0 else []


def nvidia_row(fields: dict[str, str], line: str) -> dict[str, float]:
    row: dict[str, float] = {}
    for name, cell in zip(fields, line.strip().split(",")):
        try:
            if name == "throttle":
                reasons = int(cell.strip(), 16)
                row[name] = float(sum({ours for bit, ours in THROTTLE_BITS.items() if reasons & bit}))
            else:
                row[name] = float(cell) * (2**20 if name == "memory_used_bytes" else 1)
        except ValueError:
            # "[N/A]": this card has no such reading.
            continue
    return row


def rocm_row(text: str) -> dict[str, float]:
    card: dict[str, Any] = next(iter(json.loads(text[text.index("{"):]).values()))
    row: dict[str, float] = {}
    for name, words in AMD_FIELDS.items():
        cell = next((str(card[word]) for word in words if word in card), "")
        digits = cell.strip("()").removesuffix("Mhz").strip()
        try:
            row[name] = float(digits)
        except ValueError:
            continue
    return row


def cpu_times() -> tuple[float, float]:
    """Ticks that all processors were busy, and all ticks."""
    cells = [float(cell) for cell in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    idle = cells[3] + cells[4]
    return sum(cells) - idle, sum(cells)


def memory_used() -> float:
    cells = {line.split(":")[0]: line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines()}
    return 1024.0 * (float(cells["MemTotal"]) - float(cells["MemAvailable"]))


def integral(readings: Readings, name: str) -> tuple[float, float]:
    """The integral of a reading over time by trapezoids, and the seconds that it covers."""
    rows = [(at, row[name]) for at, row in readings if name in row]
    pairs = list(zip(rows, rows[1:]))
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairs), sum(b[0] - a[0] for a, b in pairs)


def published(name: str, table: Path) -> Optional[dict[str, float]]:
    """What the maker publishes of a card, from the table of the program: units of 10^12 operations and 10^9 bytes."""
    for line in table.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("#") or len(cells) < 6 or not all(word in name for word in cells[0].split()):
            continue
        keys = ("f32", "f16", "int8", "memory")
        return {key: float(cell) for key, cell in zip(keys, cells[1:5]) if cell != "-"}
    return None


def display_of_own(size: str = "1920x1080x24") -> tuple[subprocess.Popen[str], str]:
    """An X server that only the check uses, and its name."""
    read, write = os.pipe()
    server = subprocess.Popen(
        [tool("Xvfb"), "-displayfd", str(write), "-screen", "0", size, "-noreset", "-nolisten", "tcp"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        text=True, pass_fds=[write], start_new_session=True,
    )
    os.close(write)
    with os.fdopen(read) as said:
        number = said.readline().strip()
    if not number:
        end(server)
        raise Missing("Xvfb ended before it had a display")
    return server, f":{number}"
