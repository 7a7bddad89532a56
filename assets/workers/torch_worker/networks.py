"""Networks: torchvision's by name, the user's from a function or a file."""

import dataclasses
import importlib
import os
import re
import sys
from typing import Any

import torch

from .availability import lacks_networks
from .errors import Refused, failed, first_line, last_words, unsupported
from .memory import is_out_of_memory
from .onnx_weights import read_onnx, take_weights
from .recipe import SEED, Recipe
from .text_networks import TEXT_NETWORKS, text_network


@dataclasses.dataclass
class Network:
    """A module before it is placed anywhere."""

    module: Any
    # How messages call it.
    title: str
    # network, factory, script or exported.
    kind: str
    output_names: list[str]
    notes: list[str]
    # Whether it has other weights than the ONNX file, so that it computes something else.
    own_weights: bool = False


def build_network(recipe: Recipe, name: str, model: str) -> Network:
    """The module that the setup names, else the network of that name, with the ONNX file's weights."""
    torch.manual_seed(SEED)
    reference = recipe.options.get("module")
    weights, output_names = read_onnx(model)
    if reference is None:
        network = Network(named_network(name), name, "network", output_names, [])
    elif reference.endswith((".pt", ".ts", ".pt2")):
        network = Network(*saved_module(reference, recipe), output_names, [])
    else:
        network = Network(factory_module(reference), reference, "factory", output_names, [])
    if network.kind in ("network", "factory") and not recipe.trains:
        reason = take_weights(network.module, weights)
        network.own_weights = bool(reason)
        if reason:
            network.notes.append(
                f"{network.title} keeps its own weights, not those of the other "
                f"engines, so outputs cannot be compared: {reason}"
            )
        elif network.kind == "factory":
            network.notes.append(f"{reference} was given the weights of {model}, which fit it")
    else:
        network.own_weights = True
    return network


def named_network(name: str) -> Any:
    """The network that a library has by this name; text is transformers', pictures are torchvision's."""
    roof = re.fullmatch(r"roof-(product|copy|chain)-(\d+)", name)
    if roof:
        return roof_network(roof.group(1), int(roof.group(2)))
    plain = re.sub("[-_]", "", name.strip().lower())
    if plain in TEXT_NETWORKS or plain.removesuffix("past") in TEXT_NETWORKS:
        return text_network(name, plain.removesuffix("past"), plain.endswith("past"))
    return torchvision_network(name)


def roof_network(kind: str, size: int) -> Any:
    """What the roofs of PyTorch are measured with: a large product, a copy, and operators that do next to nothing."""
    if kind == "product":
        return torch.nn.Linear(size, size, bias=False)

    class Copy(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.clone()

    class Chain(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = x
            for _ in range(size):
                y = torch.add(y, x)
            return y

    return Copy() if kind == "copy" else Chain()


def torchvision_network(name: str) -> Any:
    reason = lacks_networks()
    if reason:
        raise unsupported(reason)
    models = sys.modules["torchvision"].models
    base, _, data = name.strip().lower().partition("@")
    builders = {
        # Names are as forgiving as Powerband's own: ResNet-50 is resnet50.
        re.sub("[-_]", "", builder): getattr(models, builder)
        for builder in dir(models)
        if builder.islower() and callable(getattr(models, builder))
    }
    builder = builders.get(re.sub("[-_]", "", base))
    if builder is None or data.replace("-", "") not in ("", "cifar", "cifar10"):
        raise unsupported(
            f'PyTorch has no network called "{name}": name one as torchvision does (resnet50, '
            "vit_b_16, resnet18@cifar), a built-in network for text (bert-base, gpt2), or give "
            "module=MODULE:FUNCTION or a .pt, .ts or .pt2 file"
        )
    return for_small_pictures(builder(num_classes=10), name) if data else builder()


def for_small_pictures(module: Any, name: str) -> Any:
    """CIFAR's pictures are small already: the first layers keep their size."""
    nn = torch.nn
    stem = nn.Conv2d(3, 64, kernel_size=3, stride=1, padding=1, bias=False)
    if hasattr(module, "conv1") and hasattr(module, "maxpool"):
        module.conv1, module.maxpool = stem, nn.Identity()
    elif hasattr(getattr(module, "features", None), "pool0"):
        module.features.conv0, module.features.pool0 = stem, nn.Identity()
    else:
        raise unsupported(f"{name}: only resnet… and densenet… have a form for CIFAR's small pictures")
    return module


def factory_module(reference: str) -> Any:
    """The return value of the user's function."""
    module_name, _, function_name = reference.partition(":")
    if not module_name or not function_name:
        raise unsupported(f"module={reference} is neither MODULE:FUNCTION nor a .pt, .ts or .pt2 file")
    # Only now: what lies in the current folder must not stand in for libraries.
    sys.path.insert(0, os.getcwd())
    try:
        function = getattr(importlib.import_module(module_name), function_name, None)
        if not callable(function):
            raise unsupported(f"the module {module_name} has no function {function_name}")
        made = function()
    except ModuleNotFoundError as error:
        if error.name == module_name.partition(".")[0]:
            raise unsupported(
                f"there is no module {module_name} in {os.getcwd()} nor in this Python "
                f"({sys.executable}); start from its folder, or add that to PYTHONPATH"
            ) from error
        raise failed(f"module={reference} failed: {last_words(error)}") from error
    except (Exception, SystemExit) as error:
        if isinstance(error, Refused) or is_out_of_memory(error):
            raise
        raise failed(f"module={reference} failed: {last_words(error)}") from error
    finally:
        sys.path.remove(os.getcwd())
    if not isinstance(made, torch.nn.Module):
        raise unsupported(f"{reference} returned a {type(made).__name__}; it has to return an nn.Module")
    return made


def saved_module(path: str, recipe: Recipe) -> tuple[Any, str, str]:
    """A module from a file, its title and its kind."""
    if not os.path.isfile(path):
        raise unsupported(f"module={path}: there is no such file (from {os.getcwd()})")
    exported = path.endswith(".pt2")
    try:
        if exported:
            program = torch.export.load(path)
            if recipe.on_card:
                passes = importlib.import_module("torch.export.passes")
                program = passes.move_to_device_pass(program, recipe.target)
            return program.module(), path, "exported"
        return torch.jit.load(path, map_location="cpu").eval(), path, "script"
    except Exception as error:
        if is_out_of_memory(error):
            raise
        save = "torch.export.save" if exported else "torch.jit.script(module).save"
        raise unsupported(
            f"{path} is not a file of {save}, and weights or pickles alone are no network: "
            f"{first_line(error)}; save it with {save}, or give module=MODULE:FUNCTION"
        ) from error
