"""A case of task=infer: a run is a forward pass."""

import time
from typing import Any, Optional

import torch

from .modes import compiled, scripted
from .placing import autocast, place_tensor
from .recipe import MIXED, Recipe
from .tensors import tensors_of, to_host


class Inference:
    """A network with its inputs bound."""

    feeding = "inputs made once on the device; outputs stay there"

    def __init__(self, recipe: Recipe, module: Any, inputs: list[Any], names: list[str]) -> None:
        self.recipe = recipe
        self.inputs = [place_tensor(recipe, tensor) for tensor in inputs]
        self.names = names
        self.output: Any = None
        self.parts: tuple[int, ...] = ()
        self.module = module
        if recipe.compiler == "script":
            self.module = scripted(recipe, module, self.inputs)
        elif recipe.compiler:
            self.module = compiled(recipe, module)
        mixed = recipe.numbers in MIXED and recipe.compiler != "script"
        self.run = self.run_mixed if mixed else self.run_plain
        self.part_names = ("host",) if recipe.by_events else ()
        self.timed_run = self.timed_on_card if recipe.by_events else self.timed_on_host
        if recipe.by_events:
            self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def mode(self) -> Any:
        """What has to be entered around runs."""
        return torch.inference_mode()

    def run_plain(self) -> None:
        self.output = self.module(*self.inputs)

    def run_mixed(self) -> None:
        with autocast(self.recipe):
            self.output = self.module(*self.inputs)

    def timed_on_host(self) -> int:
        start = time.perf_counter_ns()
        self.run()
        if self.recipe.on_card:
            torch.cuda.synchronize()
        return time.perf_counter_ns() - start

    def timed_on_card(self) -> int:
        """The card's own time, by events in its queue; the host's beside it."""
        first, last = self.events
        start = time.perf_counter_ns()
        first.record()
        self.run()
        last.record()
        last.synchronize()
        self.parts = (time.perf_counter_ns() - start,)
        return round(first.elapsed_time(last) * 1e6)

    def outputs(self) -> list[tuple[str, Any]]:
        self.run()
        found = tensors_of(self.output)
        if len(found) == len(self.names):
            return [(name, to_host(tensor)) for name, (_, tensor) in zip(self.names, found)]
        return [(name or f"output{place}", to_host(tensor)) for place, (name, tensor) in enumerate(found)]

    def take_generation(self) -> Optional[dict[str, Any]]:
        return None

    def finished_epochs(self) -> list[dict[str, Any]]:
        return []
