"""Checks of measurements: modes against plain loops, training, memory, providers, replicas, profiles, verdicts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from .bench import Bench, Missing, case_of, end, median_ms, tool
from .vendor import display_of_own

# As setups spell them; the last one captures CUDA graphs.
MODES = ("eager", "amp-bf16", "channels-last", "fp16", "compile", "compile,compile_mode=reduce-overhead")


def setup_of(bench: Bench, mode: str) -> str:
    return f"torch:{bench.device}" if mode == "eager" else f"torch:{bench.device},mode={mode}"


def plain(bench: Bench, mode: str, batch: int, limit: float = 120) -> dict[str, Any]:
    model = "resnet18@cifar" if bench.dry else ("resnet50@cifar" if mode == "train" else "resnet50")
    seconds = 0.4 if bench.dry else 1.5
    return bench.loops.ask(
        limit, do="loop", model=model, device=bench.torch_device, mode=mode, batch=batch, seconds=seconds
    )


def loops(bench: Bench) -> None:
    """Each mode of PyTorch against plain loops with events of the card, taking turns."""
    modes = ("eager",) if bench.dry else MODES
    before = turns(bench, modes)
    session, first = bench.measured(*(setup_of(bench, mode) for mode in modes))
    after = turns(bench, modes)
    within = 0.3 if bench.dry else 0.02
    for place, mode in enumerate(modes):
        what = f"mode={mode}, batch {bench.batch}, median"
        theirs = [turn[mode] for turn in (before, after) if isinstance(turn.get(mode), float)]
        if not theirs:
            bench.skip(what, str(before.get(mode) or after.get(mode)))
            continue
        try:
            ours = median_ms(session, first + place)
        except Missing as reason:
            bench.skip(what, str(reason))
            continue
        # The device's clock may change between the two turns, and a median between them is as good as either.
        low, high = min(theirs) * (1 - within), max(theirs) * (1 + within)
        bench.between(f"{what} (plain {min(theirs):.4g} and {max(theirs):.4g} ms, ± {within:.0%})", ours, low, high, "ms")


def turns(bench: Bench, modes: tuple[str, ...]) -> dict[str, float | str]:
    """The plain loop's median of each mode, or why there is none."""
    found: dict[str, float | str] = {}
    for mode in modes:
        try:
            found[mode] = float(plain(bench, mode, bench.batch)["median_ms"])
        except Missing as reason:
            found[mode] = str(reason)
    return found


def verdict(bench: Bench) -> None:
    """Setups that take turns get a verdict with an interval around the ratio of their medians."""
    _, session = bench.session("dry" if bench.dry else "loops")
    wanted = session["setups"][1 if bench.dry else MODES.index("compile")]["setup"]
    pairs = [pair for comparison in session["comparisons"] for pair in comparison["pairs"]]
    pair = next((pair for pair in pairs if wanted in (pair["before"]["setup"], pair["after"]["setup"])), None)
    if pair is None:
        raise Missing(f"there is no comparison with {wanted}")
    said = str(pair["verdict"])
    words = ("faster", "slower", "same", "equivalent", "inconclusive")
    bench.tell(f"verdict of the first setup against {wanted}", "one of " + ", ".join(words), said, said in words)
    if pair["ci95"]:
        low, high = pair["ci95"]
        bench.between("its speed-up, within the 95 % interval", pair["speed_up"], low, high, "×")


def training(bench: Bench) -> None:
    """The phases of a step of training: each against a plain loop, and adding up to the step."""
    # Large enough for the card to be what takes the time, and not the host that starts its kernels.
    batch = bench.batch if bench.dry else 512
    before = plain(bench, "train", batch)
    session, place = bench.measured(f"torch:{bench.device},task=train", model=f"{bench.model}@cifar", batch=batch)
    phases = {part["name"]: float(part["median_ms"]) for part in case_of(session, place)["parts"]}
    wanted = {"forward", "backward", "optimiser"}
    bench.tell("phases", ", ".join(sorted(wanted)), ", ".join(phases), wanted <= set(phases))
    bench.near("sum of the phases' medians", sum(phases.values()), median_ms(session, place), 0.15, "ms")
    after = plain(bench, "train", batch)
    for name in ("forward", "backward"):
        theirs = (before["phases"][name], after["phases"][name])
        share = 0.5 if bench.dry else 0.05
        low, high = min(theirs) * (1 - share), max(theirs) * (1 + share)
        bench.between(f"{name} (plain {min(theirs):.4g} and {max(theirs):.4g} ms)", phases.get(name, 0.0), low, high, "ms")


def out_of_memory(bench: Bench) -> None:
    """A curve over batch sizes: throughput rises, the batch that does not fit is an outcome, the rest is kept."""
    if bench.dry:
        batches, limit = [1, 16384], ",memory=1500MiB,threads=1"
    else:
        # ResNet-50's first layer alone takes 6.4 MB an image, in and out.
        bench.loops.ask(do="forget")
        bench.loops.ask(do="hold", device=bench.torch_device, leave=6e9)
        batches, limit = [1, 16, 128, 2048], ""
    text = ",".join(map(str, batches))
    try:
        session = bench.bench("curve", bench.model, "--setup", f"torch:{bench.device}{limit}", "--batch", text)
    finally:
        if not bench.dry:
            bench.loops.ask(do="forget")
    cases = session["cases"]
    outcomes = [case["outcome"] for case in cases]
    fits = all(outcome == "finished" for outcome in outcomes[:-1])
    is_full = "memory" in outcomes[-1].replace("_", " ").replace("-", " ")
    bench.tell(f"batches {text}", "finished, the last one out of memory", ", ".join(outcomes), fits and is_full)
    rates = [float(case["throughput_per_s"]) for case in cases[:-1] if case["throughput_per_s"]]
    if len(rates) > 1:
        rises = all(b >= 0.98 * a for a, b in zip(rates, rates[1:]))
        bench.tell("throughput along the curve", "rising", ", ".join(f"{rate:.4g}" for rate in rates), rises)


def provider(bench: Bench) -> None:
    """ONNX Runtime's provider for the device runs the nodes; what fell back is counted."""
    if not bench.dry:
        found = [one for one in bench.run("engines")["engines"] if one["engine"] == "ort" and one["available"]]
        wanted = "MIGraphX" if bench.amd else "CUDA"
        built = sorted({provider for one in found for provider in one["providers"]})
        if wanted not in built:
            raise Missing(f"no ONNX Runtime here was built with {wanted}; found: {', '.join(built) or 'none'}")
    session, place = bench.measured(f"ort:{bench.device}")
    bench.tell("ONNX Runtime on the device", "finished", case_of(session, place)["outcome"], True)
    examined = session["setups"][place]["examination"]
    if not examined:
        raise Missing("the setup was not examined")
    shares = examined["providers"]
    wanted = "CPU" if bench.dry else ("MIGraphX" if bench.amd else "CUDA")
    said = ", ".join(f"{one['provider']} {one['nodes']} nodes" for one in shares)
    bench.tell("nodes by provider", f"{wanted} first", said, wanted.lower() in str(shares[0]["provider"]).lower())
    counted = sum(int(one["nodes"]) for one in shares)
    # By operator.
    after = sum(examined["nodes_after"].values())
    bench.tell("nodes of all providers", str(after), str(counted), counted == after)
    others = counted - int(shares[0]["nodes"])
    fallback = examined["fallback"]
    fell = int(fallback["nodes"]) if fallback else 0
    bench.tell("nodes that fell back", str(others), str(fell), fell == others)


def replicas(bench: Bench) -> None:
    """Two replicas on one device: both run, and throughput is counted while both run."""
    session, place = bench.measured(f"torch:{bench.device},copies=2")
    case = case_of(session, place)
    by_median = float(case["throughput_by_median_per_s"])
    within = 0.4 if bench.dry else 0.2
    bench.near("throughput against batch ÷ median", float(case["throughput_per_s"]), by_median, within, "items/s")


def profile(bench: Bench) -> None:
    """A kernel profile opens, and adds up."""
    session, place = bench.measured(f"torch:{bench.device}", arguments=("--profile",))
    path, _ = bench.session("dry" if bench.dry else "profile")
    document = kernels(bench, path)
    rows = document["rows"]
    bench.near("sum of the rows", sum(row["total_ns"] for row in rows) / 1e6, document["summed_ns"] / 1e6, 1e-6, "ms")
    runs = document["runs"]
    if not runs:
        raise Missing("the profile does not say how many runs it holds")
    median = median_ms(session, place)
    per_run = document["summed_ns"] / runs / 1e6
    # A profiler slows the host, and streams overlap: this is whether the sum is the run's at all.
    bench.between("kernel time of a run against the unprofiled median", per_run, 0.3 * median, 1.5 * median, "ms")


def kernels(bench: Bench, path: Path) -> Any:
    document = bench.run("kernels", str(path), "--by", "kernel")
    rows = document["rows"]
    bench.tell("kernels by name", "5 or more", str(len(rows)), len(rows) >= 5)
    return document


def outside_profiler(bench: Bench) -> None:
    """The maker's profiler around the worker, and its file opened."""
    name = "rocprofv3" if bench.amd else "nsys"
    tool(name)
    bench.bench(
        "outside", bench.model, "--setup", f"torch:{bench.device}", "--batch", str(bench.batch), f"--profile={name}",
        limit=120,
    )
    kernels(bench, bench.session("outside")[0])


def counters(bench: Bench) -> None:
    """Nsight Compute's table of a plain loop is read."""
    if bench.amd:
        raise Missing("Nsight Compute is NVIDIA's")
    request = (
        f'{{"do":"loop","model":"{bench.model}","device":"cuda:0","mode":"eager","batch":1,"seconds":0}}\n'
    )
    script = bench.folder / "one-loop.py"
    lines = [
        "import io, runpy, sys",
        f"sys.stdin = io.StringIO({request!r})",
        f"runpy.run_path({str(Path(__file__).parent / 'loops.py')!r}, run_name='__main__')",
    ]
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ended = bench.call(
        tool("ncu"), "--csv", "--page", "raw", "--launch-count", "30", "--clock-control", "none",
        "--section", "SpeedOfLight", sys.executable, str(script), limit=120,
    )
    table = bench.folder / "counters.csv"
    table.write_text(ended.out, encoding="utf-8")
    if '"ID"' not in ended.out:
        raise Missing(f"ncu wrote no table: {(ended.out + ended.err).strip()[-200:]}")
    document = bench.run("import", str(table))
    found = sum(len(one["kernels"]) for one in document.get("profiles", [document]))
    bench.tell("kernels in ncu's table", "1 or more", str(found), found >= 1)


def frames(bench: Bench) -> None:
    """The window opens, shows its first frame, is drawn by the card, and rests; on a display of its own if needed."""
    server, display = None, os.environ.get("DISPLAY")
    if not display:
        server, display = display_of_own()
    try:
        window(bench, display)
    finally:
        if server is not None:
            end(server)


def window(bench: Bench, display: str) -> None:
    hidden = ("WAYLAND_DISPLAY", "WAYLAND_SOCKET")
    environment = {name: value for name, value in bench.environment.items() if name not in hidden}
    child = subprocess.Popen(
        [str(bench.program)], env=environment | {"DISPLAY": display, "POWERBAND_TIMES": "1"}, cwd=bench.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, errors="replace", start_new_session=True,
    )
    try:
        took = first_frame(child, min(20.0, max(0.5, bench.left())))
        bench.between("first frame after the start of the window", took, 0, 5000 if bench.dry else 2000, "ms")
        libraries = Path(f"/proc/{child.pid}/maps").read_text(errors="replace")
        makers = ("amdgpu", "radeonsi") if bench.amd else ("libEGL_nvidia", "libGLX_nvidia")
        if any(maker in libraries for maker in makers):
            bench.tell("drawn by", "the card", "the card", True)
        else:
            bench.skip("drawn by", "the display has no OpenGL of the card: the processor draws")
        # Looking for engines and devices takes the first seconds.
        time.sleep(min(3.0 if bench.dry else 6.0, max(0.0, bench.left())))
        rest = 1.0 if bench.dry else 4.0
        spent = -processor_s(child.pid)
        time.sleep(rest)
        spent += processor_s(child.pid)
        bench.between("processor time at rest, of one core", 100 * spent / rest, 0, 10 if bench.dry else 3, "%")
    finally:
        end(child)


def first_frame(child: subprocess.Popen[str], limit: float) -> float:
    """Milliseconds, as the program prints them: "first frame 153 ms"."""
    timer = threading.Timer(limit, child.kill)
    timer.start()
    last = ""
    try:
        for line in child.stderr or ():
            if line.startswith("first frame "):
                return float(line.split()[2])
            last = line.strip() or last
    finally:
        timer.cancel()
    raise Missing(f"the window showed no frame: {last}")


def processor_s(pid: int) -> float:
    """Seconds on processors so far, of all threads."""
    cells = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(cells[11]) + int(cells[12])) / float(os.sysconf("SC_CLK_TCK"))
