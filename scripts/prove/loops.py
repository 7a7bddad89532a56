"""Plain loops of PyTorch, in one process that starts once: a request a line, an answer a line, both JSON.

Nothing of Powerband is used here: it is what a measurement is held against. Times are those of events on a card, and
of the host's clock on a processor.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any, Callable

import torch
import torchvision

Step = Callable[[], dict[str, float]]
# Networks with their inputs, and memory that is held.
made: dict[tuple[Any, ...], Any] = {}


def network_of(model: str, device: str) -> torch.nn.Module:
    torch.manual_seed(1)
    name, _, variant = model.partition("@")
    network: torch.nn.Module = getattr(torchvision.models, name)(weights=None, num_classes=10 if variant else 1000)
    if variant:
        # Pictures of CIFAR-10 are small already.
        network.conv1 = torch.nn.Conv2d(3, 64, kernel_size=3, stride=1, padding=1, bias=False)
        network.maxpool = torch.nn.Identity()
    return network.to(device)


def inference(model: str, device: str, mode: str, batch: int) -> Step:
    """A forward pass in one of the modes."""
    network = network_of(model, device).eval()
    side = 32 if "@" in model else 224
    inputs = torch.rand(batch, 3, side, side, device=device)
    words = mode.split(",")[0].split("+")
    for number, kind in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        if number in words:
            network, inputs = network.to(kind), inputs.to(kind)
    if "channels-last" in words:
        network = network.to(memory_format=torch.channels_last)
        inputs = inputs.to(memory_format=torch.channels_last)
    if "compile" in words:
        network = torch.compile(network, mode=mode.partition("compile_mode=")[2] or None)
    kind = {"amp-bf16": torch.bfloat16, "amp-fp16": torch.float16}.get(words[0])
    family = device.split(":")[0]

    def step() -> dict[str, float]:
        with torch.inference_mode(), torch.autocast(family, kind or torch.bfloat16, enabled=kind is not None):
            return timed(device, {"run": lambda: network(inputs)})

    return step


def training(model: str, device: str, batch: int) -> Step:
    """A step of training on pictures in the shape of CIFAR-10, with its phases."""
    network = network_of(model, device).train()
    inputs = torch.rand(batch, 3, 32, 32, device=device)
    labels = torch.randint(0, 10, (batch,), device=device)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01)
    kept: dict[str, Any] = {}

    def forward() -> None:
        optimiser.zero_grad(set_to_none=True)
        kept["loss"] = torch.nn.functional.cross_entropy(network(inputs), labels)

    def step() -> dict[str, float]:
        phases = {"forward": forward, "backward": lambda: kept["loss"].backward(), "optimiser": optimiser.step}
        return timed(device, phases)

    return step


def timed(device: str, phases: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Milliseconds of each phase."""
    if device == "cpu":
        times = {}
        for name, phase in phases.items():
            start = time.perf_counter()
            phase()
            times[name] = 1e3 * (time.perf_counter() - start)
        return times
    marks = [torch.cuda.Event(enable_timing=True)]
    marks[0].record()
    for phase in phases.values():
        phase()
        marks.append(torch.cuda.Event(enable_timing=True))
        marks[-1].record()
    marks[-1].synchronize()
    return {name: a.elapsed_time(b) for name, a, b in zip(phases, marks, marks[1:])}


def loop(request: dict[str, Any]) -> dict[str, Any]:
    """Medians of the phases, after a warm-up, of as many runs as fit into the seconds."""
    device, batch, mode = request["device"], request["batch"], request["mode"]
    key = (request["model"], device, mode, batch)
    if key not in made:
        made[key] = (
            training(request["model"], device, batch)
            if mode == "train"
            else inference(request["model"], device, mode, batch)
        )
    step = made[key]
    warm = time.monotonic() + 0.3 * request["seconds"]
    while time.monotonic() < warm:
        step()
    found: list[dict[str, float]] = []
    ends = time.monotonic() + request["seconds"]
    while time.monotonic() < ends or len(found) < 5:
        found.append(step())
    medians = {name: statistics.median(one[name] for one in found) for name in found[0]}
    total = statistics.median(sum(one.values()) for one in found)
    return {"median_ms": total, "phases": medians, "runs": len(found)}


def load(request: dict[str, Any]) -> dict[str, Any]:
    """A large product again and again, for so many seconds."""
    device = request["device"]
    size, kind = (512, torch.float32) if device == "cpu" else (8192, torch.float16)
    a = torch.randn(size, size, device=device, dtype=kind)
    ends, products = time.monotonic() + request["seconds"], 0
    while time.monotonic() < ends:
        for _ in range(20):
            a @ a
        products += 20
        if device != "cpu":
            torch.cuda.synchronize()
    return {"products": products, "size": size}


def hold(request: dict[str, Any]) -> dict[str, Any]:
    """Takes the device's memory but for so many bytes."""
    free, _ = torch.cuda.mem_get_info()
    size = max(0, int(free - request["leave"]))
    made[("held",)] = torch.empty(size, dtype=torch.uint8, device=request["device"])
    return {"bytes": size}


def forget(_: dict[str, Any]) -> dict[str, Any]:
    """Gives up its memory, for checks that want all of it."""
    made.clear()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return {}


DOES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"loop": loop, "load": load, "hold": hold, "forget": forget}


def answer(document: dict[str, Any]) -> None:
    print(json.dumps(document), flush=True)


def main() -> None:
    has_card = torch.cuda.is_available()
    answer({
        "torch": torch.__version__,
        "card": torch.cuda.get_device_name(0) if has_card else None,
        "memory": torch.cuda.get_device_properties(0).total_memory if has_card else None,
    })
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer(DOES[request["do"]](request))
        # Whatever goes wrong in a loop is the answer to its request, and the next one is served.
        except Exception as error:  # noqa: BLE001
            answer({"error": f"{type(error).__name__}: {str(error)[:300]}"})


if __name__ == "__main__":
    main()
