"""Checks of the device itself: readings, energy, throttling, what reading costs, and what it reaches at most."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any, Optional

from .bench import Bench, Missing, case_of, median_ms, numbers, tool
from .vendor import Readings, VendorLog, integral, nvidia_query, published

# How far a mean may be from the tool's: in the reading's unit, or as a share.
APART: dict[str, tuple[float, float, str]] = {
    "busy_percent": (12.0, 0.0, "%"),
    "clock_mhz": (0.0, 0.05, "MHz"),
    "power_w": (5.0, 0.10, "W"),
    "temperature_c": (3.0, 0.0, "°C"),
    "memory_used_bytes": (3e8, 0.03, "B"),
}


def watch(bench: Bench, seconds: float, rate: float = 10) -> Readings:
    """Powerband's readings of the device, with the times at which they were made."""
    began = time.monotonic()
    ended = bench.call(
        str(bench.program), "devices", "--watch", "--json", "--rate", str(rate), "--seconds", str(seconds),
        limit=seconds + 20,
    )
    if ended.status != 0:
        raise Missing(f"powerband devices --watch ended with {ended.status}: {ended.err.strip()[-200:]}")
    rows = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
    wanted = "host" if bench.dry else card_of(bench)["id"]
    return [(began + row["at_s"], row["values"]) for row in rows if row["device"] == wanted]


def card_of(bench: Bench) -> Any:
    devices = bench.run("devices")["devices"]
    kind = "amd" if bench.amd else "nvidia"
    cards = [device for device in devices if device["kind"] == kind]
    if not cards:
        raise Missing("powerband devices lists no card")
    return cards[0]


def mean(readings: Readings, name: str) -> Optional[float]:
    found = [row[name] for _, row in readings if name in row]
    return statistics.fmean(found) if found else None


def readings(bench: Bench) -> None:
    """Readings of the device against the maker's own tool during the same seconds, idle and at work."""
    seconds, warm_s = (1.0, 0.5) if bench.dry else (5.0, 2.0)
    for state in ("idle", "at work"):
        is_at_work = state == "at work"
        if is_at_work:
            bench.loops.begin(do="load", device=bench.torch_device, seconds=seconds + 2 * warm_s)
            time.sleep(warm_s)
        with VendorLog(bench) as log:
            ours = watch(bench, seconds)
        if is_at_work:
            bench.loops.finish(seconds + 30)
        theirs = [(at, row) for at, row in log.found if ours and ours[0][0] <= at <= ours[-1][0]]
        if not theirs:
            bench.skip(state, "the maker's tool gave no reading at the same time")
            continue
        compare_readings(bench, state, ours, theirs)
        if not bench.dry:
            energy_counter(bench, state, ours, theirs)


def compare_readings(bench: Bench, state: str, ours: Readings, theirs: Readings) -> None:
    for name, (apart, share, unit) in APART.items():
        expected, seen = mean(theirs, name), mean(ours, name)
        if expected is None:
            continue
        within = max(apart, share * expected)
        wanted = f"{expected:.4g} ± {within:.3g} {unit}"
        # A bare card's clock goes up and down by hundreds of megahertz while nothing runs.
        if state == "idle" and name in ("clock_mhz", "busy_percent"):
            within *= 3
            wanted = f"{expected:.4g} ± {within:.3g} {unit}"
        if seen is None:
            bench.tell(f"{name}, {state}", wanted, "no reading", False)
        else:
            bench.tell(f"{name}, {state}", wanted, f"{seen:.4g} {unit}", abs(seen - expected) <= within)
    theirs_bits = throttle_bits(theirs)
    if theirs_bits is not None:
        bits = throttle_bits(ours)
        seen_text = "no reading" if bits is None else str(bits)
        # What one of the two sees for a tenth of a second only, the other may miss.
        kept = bits is not None and (bits == theirs_bits or bool(bits & theirs_bits) or bits | theirs_bits == 1)
        bench.tell(f"throttle reasons, {state}, as a sum of bits", str(theirs_bits), seen_text, kept)


def throttle_bits(readings: Readings) -> Optional[int]:
    found = [int(row["throttle"]) for _, row in readings if "throttle" in row]
    bits = 0
    for one in found:
        bits |= one
    return bits if found else None


def energy_counter(bench: Bench, state: str, ours: Readings, theirs: Readings) -> None:
    """The counter's rise against the integral of power, ours and the tool's."""
    counted = [(at, row["energy_j"]) for at, row in ours if "energy_j" in row]
    if len(counted) < 2:
        bench.skip(f"energy counter, {state}", "the card has none")
        return
    rise, seconds = counted[-1][1] - counted[0][1], counted[-1][0] - counted[0][0]
    for whose, source, within in (("power", ours, 0.05), ("the tool's power", theirs, 0.10)):
        joules, covered = integral(source, "power_w")
        if covered <= 0 or seconds <= 0:
            bench.skip(f"energy counter against {whose}, {state}", "too few readings of power")
            continue
        bench.near(f"mean power by the counter against that of {whose}, {state}", rise / seconds, joules / covered, within, "W")


def throttling(bench: Bench) -> None:
    """Under a power cap, the card says that power limits it, and so does Powerband."""
    if bench.dry or bench.amd:
        raise Missing("there is no NVIDIA card")
    if not bench.may_cap:
        raise Missing("a cap changes the card's setting for a moment: --cap allows it")
    cells = nvidia_query("power.limit", "power.min_limit")
    try:
        before, lowest = (float(cell) for cell in cells)
    except ValueError:
        raise Missing(f"the card has no power limit: {', '.join(cells)}") from None
    capped = bench.call(tool("nvidia-smi"), "--id=0", f"--power-limit={lowest:.0f}", limit=20)
    if capped.status != 0:
        raise Missing(f"the cap is not permitted: {(capped.out + capped.err).strip()[-200:]}")
    try:
        bench.loops.begin(do="load", device=bench.torch_device, seconds=7)
        time.sleep(2)
        with VendorLog(bench) as log:
            ours = watch(bench, 3)
        bench.loops.finish(30)
        bits, theirs = throttle_bits(ours), throttle_bits(log.found)
        bench.tell("throttle bit of the power limit, nvidia-smi", "set", f"bits {theirs}", bool((theirs or 0) & 1))
        bench.tell("throttle bit of the power limit, Powerband", "set", f"bits {bits}", bool((bits or 0) & 1))
        power = mean(ours, "power_w")
        if power is not None:
            bench.between("power under the cap", power, 0.5 * lowest, 1.1 * lowest, "W")
    finally:
        bench.call(tool("nvidia-smi"), "--id=0", f"--power-limit={before:.0f}", limit=20)


def telemetry(bench: Bench) -> None:
    """Reading at 10 and at 100 Hz: as many readings as asked for, what they cost, and that medians stay."""
    seconds = 1.0 if bench.dry else 4.0
    # The energy counter is most of it: four milliseconds of a processor each time it is read, at most eleven times a
    # second.
    for rate, most in ((10, 6.0), (100, 12.0)):
        ended = bench.call(
            str(bench.program), "devices", "--watch", "--json", "--rate", str(rate), "--seconds", str(seconds),
            limit=seconds + 20,
        )
        rows = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
        first = rows[0]["device"] if rows else ""
        read = sum(row["device"] == first for row in rows)
        bench.between(f"readings of {first or 'a device'} in {seconds:g} s at {rate} Hz", read, 0.7 * rate * seconds, 1.1 * rate * seconds + 2)
        share = 100 * ended.processor_s / seconds
        bench.between(f"processor time of reading at {rate} Hz, of one core, start included", share, 0, 25.0 if bench.dry else most, "%")
    effect(bench)


def effect(bench: Bench) -> None:
    medians: dict[int, list[float]] = {0: [], 10: [], 100: []}
    setup = f"torch:{bench.device}"
    if bench.dry:
        # No Python has to start for these.
        setup = "rten:cpu,threads=1"
        medians.pop(0)
    for _ in range(1 if bench.dry else 2):
        for rate, found in medians.items():
            session = bench.bench(
                f"telemetry-{rate}", bench.model, "--setup", setup, "--batch", str(bench.batch),
                "--telemetry", str(rate), *(["--rounds", "2"] if bench.dry else []), limit=60,
            )
            found.append(median_ms(session))
    rates = list(medians)
    for rate in rates[1:]:
        within = 0.5 if bench.dry else 0.01
        bench.near(f"median at {rate} Hz against {rates[0]} Hz", min(medians[rate]), min(medians[rates[0]]), within, "ms")


def energy(bench: Bench) -> None:
    """Energy of an image: the counter or the integral of power, against mean power times time."""
    with VendorLog(bench) as log:
        began = time.monotonic()
        session = bench.bench(
            "energy", bench.model, "--setup", f"torch:{bench.device}", "--batch", str(bench.batch), "--energy",
        )
        ended = time.monotonic()
    case = case_of(session)
    found = case["energy"]
    if "unknown" in found:
        raise Missing(f"no energy: {found['unknown']}")
    per_item = float(found["gross_j_per_item"])
    bench.tell("energy of an image", "above 0", f"{per_item:.4g} J by {found['method']}", per_item > 0)
    bench.near("energy against mean power × time", found["gross_j"], found["mean_w"] * found["seconds"], 0.02, "J")
    powers = [device["quantities"].get("power_w") for device in case["devices"]]
    means = list(numbers(reading["mean"] for reading in powers if reading))
    if means:
        bench.near("mean power of the energy against that of the readings", found["mean_w"], max(means), 0.10, "W")
    by_rate = found["mean_w"] / float(case["throughput_per_s"])
    bench.near("energy of an image against power ÷ throughput", per_item, by_rate, 0.05, "J")
    during = sorted(row["power_w"] for at, row in log.found if began <= at <= ended and "power_w" in row)
    if during:
        # The busiest tenth of the tool's readings: most of a run is starting and warming up.
        highest = statistics.fmean(during[-max(1, len(during) // 10):])
        bench.near("mean power against the tool's highest tenth", found["mean_w"], highest, 0.2, "W")


def roofs(bench: Bench) -> None:
    """What the device reaches at most, plausible against what its maker publishes."""
    limit = 40.0 if bench.dry else 150.0
    ended = bench.call(
        str(bench.program), "roofs", "--json", limit=limit,
        # In the dry run the engines of Python are left out: each takes seconds to start.
        environment={"POWERBAND_PYTHON": "/nonexistent/python", "VIRTUAL_ENV": "/nonexistent"} if bench.dry else None,
    )
    if ended.status != 0:
        raise Missing(f"powerband roofs ended with {ended.status}: {ended.err.strip()[-300:]}")
    (bench.folder / "roofs.json").write_text(ended.out, encoding="utf-8")
    devices = json.loads(ended.out)["devices"]
    # Of the first device of its kind: "cpu", "cuda:0", "rocm:0".
    found = next((one for one in devices if one["device"] == bench.device), None)
    if found is None:
        names = ", ".join(one["device"] for one in devices) or "none"
        raise Missing(f"powerband roofs has no {bench.device}; it has {names}")
    check_shape(bench, found)
    table = Path(__file__).resolve().parents[2] / "assets/devices.txt"
    if not table.is_file():
        table = Path(__file__).resolve().parents[1] / "devices.txt"
    known = None if bench.dry else published(found["name"], table)
    if known:
        against_published(bench, found, known)
    elif bench.dry:
        against_peak(bench, found)
    else:
        bench.skip("published peak", f"{found['name']} is not in the table of published peaks")


def rows_of(found: Any, kind: str, what: Optional[str] = None) -> list[Any]:
    return [row for row in found["roofs"] if row["kind"] == kind and what in (None, row["what"])]


def check_shape(bench: Bench, found: Any) -> None:
    rows = found["roofs"]
    kinds = sorted({row["kind"] for row in rows})
    bench.tell("figures", "compute and bandwidth among them", ", ".join(kinds) or "none", {"compute", "bandwidth"} <= set(kinds))
    wrong = [row for row in rows if not row["low"] <= row["figure"] <= row["high"] or row["figure"] <= 0]
    bench.tell("figures outside of their own range", "0", str(len(wrong)), not wrong)
    spreads = sorted(numbers(row["spread_percent"] for row in rows))
    if spreads and not bench.dry:
        bench.between("median spread of the figures", statistics.median(spreads), 0, 5, "%")


def against_published(bench: Bench, found: Any, known: dict[str, float]) -> None:
    for what, unit in (("f32", 1e12), ("f16", 1e12)):
        # The program's names: what is published for 16-bit floats holds for either kind.
        names = ("fp16", "bf16") if what == "f16" else (what,)
        products = [row["figure"] for row in rows_of(found, "compute") if row["what"] in names]
        if not products or what not in known:
            bench.skip(f"{what} product", "not measured, or nothing is published")
            continue
        share = 100 * max(products) / (known[what] * unit)
        # float32 is published for TF32, which AMD's cards may not have.
        low = 3.0 if what == "f32" and bench.amd else 50.0
        bench.between(f"{what} product, share of the published peak", share, low, 95.0, "%")
    copies = [row["figure"] for row in rows_of(found, "bandwidth") if row["access"] == "copy"]
    if copies and "memory" in known:
        bench.between("copy, share of the published bandwidth", 100 * max(copies) / (known["memory"] * 1e9), 50, 95, "%")


def against_peak(bench: Bench, found: Any) -> None:
    """On a processor: the best product of an engine against the peak that loops in registers reach."""
    peaks = [row["figure"] for row in rows_of(found, "compute", "f32")]
    products = [row["figure"] for row in rows_of(found, "engine product", "f32")]
    if not peaks or not products:
        raise Missing("no engine's product was measured: a library of ONNX Runtime would be one")
    # Neighbours on a shared processor come and go between the two.
    bench.between("best product, share of the measured peak", 100 * max(products) / max(peaks), 10, 120, "%")
