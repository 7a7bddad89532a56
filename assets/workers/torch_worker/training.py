"""A case of task=train: a run is a step."""

import contextlib
import copy
import math
import time
from typing import Any, Optional

import torch

from .availability import torch_version
from .errors import unsupported
from .modes import compiled
from .networks import Network
from .placing import autocast, place_module, place_tensor
from .recipe import MOMENTUM, OPTIMISERS, SEED, Recipe
from .tensors import tensors_of
from .training_data import training_data

# Entered around the phases of a step that is not profiled.
NOT_WATCHED = contextlib.nullcontext()


class Marks:
    """Moments of a step: on a card by events in its queue, else by the clock."""

    def __init__(self, on_card: bool, count: int) -> None:
        events = range(count if on_card else 0)
        self.events = [torch.cuda.Event(enable_timing=True) for _ in events]
        self.times = [0] * count

    def mark(self, place: int) -> None:
        if self.events:
            self.events[place].record()
        else:
            self.times[place] = time.perf_counter_ns()

    def spans_ns(self) -> list[int]:
        """The times between the moments."""
        if self.events:
            self.events[-1].synchronize()
            pairs = zip(self.events, self.events[1:])
            return [round(earlier.elapsed_time(later) * 1e6) for earlier, later in pairs]
        return [later - earlier for earlier, later in zip(self.times, self.times[1:])]


class Training:
    """A copy of the network that learns; a run is one step."""

    part_names = ("forward", "backward", "optimiser", "other")

    def __init__(self, recipe: Recipe, network: Network, specs: list[dict[str, Any]], seed: int) -> None:
        dims = specs[0]["dims"]
        if len(specs) != 1 or specs[0]["element"] != "F32" or len(dims) < 2:
            raise unsupported("task=train needs a network with one float32 input that begins with the batch")
        self.recipe = recipe
        self.batch = dims[0]
        module = place_module(recipe, copy.deepcopy(network.module))
        classes = count_classes(recipe, module, dims, network.title)
        self.pictures, self.labels, self.feeding = training_data(recipe, dims, classes, seed)
        self.optimiser = make_optimiser(recipe, module.parameters())
        self.scaler = loss_scaler(recipe)
        self.module = compiled(recipe, module) if recipe.compiler else module
        self.order = torch.Generator().manual_seed(SEED)
        self.marks = Marks(recipe.on_card, 6)
        self.watched = False
        self.parts: tuple[int, ...] = ()
        self.epochs: list[dict[str, Any]] = []
        self.begin_epoch()

    def mode(self) -> Any:
        return torch.enable_grad()

    def begin_epoch(self) -> None:
        """Shuffles. A rest smaller than a batch is left out, as every step is to be as large."""
        order = torch.randperm(len(self.labels), generator=self.order)
        if len(order) < self.batch:
            order = order.repeat(-(-self.batch // len(order)))
        steps = len(order) // self.batch
        self.batches = list(order[: steps * self.batch].split(self.batch))
        self.seen, self.loss_sum, self.correct = 0, 0.0, 0

    def phase(self, name: str) -> Any:
        """A name for what follows, where a profiler watches."""
        return torch.profiler.record_function(name) if self.watched else NOT_WATCHED

    def timed_run(self) -> int:
        mark = self.marks.mark
        chosen = self.batches.pop()
        mark(0)
        self.optimiser.zero_grad(set_to_none=True)
        pictures = self.pictures[chosen].to(self.recipe.target).float().div_(127.5).sub_(1.0)
        pictures = place_tensor(self.recipe, pictures)
        labels = self.labels[chosen].to(self.recipe.target)
        mark(1)
        with self.phase("forward"), autocast(self.recipe):
            scores = first_tensor(self.module(pictures))
            loss = torch.nn.functional.cross_entropy(scores, labels)
        mark(2)
        with self.phase("backward"):
            (self.scaler.scale(loss) if self.scaler else loss).backward()
        mark(3)
        with self.phase("optimiser"):
            self.take_step()
        mark(4)
        self.loss_sum += loss.item() * self.batch
        self.correct += int((scores.argmax(1) == labels).sum().item())
        self.seen += self.batch
        mark(5)
        before, forward, backward, step, after = self.marks.spans_ns()
        self.parts = (forward, backward, step, before + after)
        if not self.batches:
            self.end_epoch()
        return sum(self.parts)

    def take_step(self) -> None:
        if self.scaler:
            self.scaler.step(self.optimiser)
            self.scaler.update()
        else:
            self.optimiser.step()

    def end_epoch(self) -> None:
        loss = self.loss_sum / self.seen
        # JSON has no NaN.
        told = loss if math.isfinite(loss) else None
        epoch = {"items": self.seen, "loss": told, "accuracy": self.correct / self.seen}
        self.epochs.append(epoch)
        self.begin_epoch()

    def finished_epochs(self) -> list[dict[str, Any]]:
        """The epochs that came to an end since they were last asked for, those of warming up as well."""
        finished, self.epochs = self.epochs, []
        return finished

    def take_generation(self) -> Optional[dict[str, Any]]:
        return None

    def outputs(self) -> list[tuple[str, Any]]:
        raise unsupported("a step of training has no outputs to compare; take task=infer for that")


def first_tensor(output: Any) -> Any:
    found = tensors_of(output)
    return found[0][1] if found else None


def count_classes(recipe: Recipe, module: Any, dims: list[int], title: str) -> int:
    """The number of classes of the network, from its output."""
    with torch.no_grad(), autocast(recipe):
        was_training = module.training
        scores = first_tensor(module.eval()(place_tensor(recipe, torch.zeros([1, *dims[1:]]))))
        module.train(was_training)
    if scores is None or scores.dim() != 2:
        raise unsupported(f"task=train needs a network that gives scores, batch×classes; {title} does not")
    return int(scores.shape[1])


def make_optimiser(recipe: Recipe, parameters: Any) -> Any:
    name = recipe.choice("optimiser", tuple(OPTIMISERS), "sgd")
    rate = recipe.number("lr", OPTIMISERS[name])
    if name == "sgd":
        momentum = recipe.number("momentum", MOMENTUM)
        return torch.optim.SGD(parameters, lr=rate, momentum=momentum)
    return {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name](parameters, lr=rate)


def loss_scaler(recipe: Recipe) -> Any:
    """Keeps small gradients from vanishing in fp16; other precisions need none."""
    if recipe.numbers != "amp-fp16":
        return None
    if torch_version() >= (2, 3):
        return torch.amp.GradScaler(torch.device(recipe.target).type)
    if recipe.on_card:
        return torch.cuda.amp.GradScaler()
    raise unsupported(f"training with amp-fp16 on a processor needs PyTorch 2.3, not {torch.__version__}")
