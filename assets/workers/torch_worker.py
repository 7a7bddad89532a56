#!/usr/bin/env python3
"""Powerband's worker for PyTorch: runs networks, trains them, and times each run.

It speaks the protocol of `src/worker/protocol.rs`: one JSON document a line, itself first, then one
reply to each request. Times are whole nanoseconds; points in time are on the monotonic clock, which
is what `time.perf_counter_ns` and `time.monotonic_ns` read on Linux.

Whatever goes wrong in a request becomes a reply that says so. The sentences in it are read by the
user, so they say what happened and what helps.

Needs Python 3.9 and, once a model is loaded, PyTorch and NumPy. PyTorch is imported only after the
first line is out, so that a Python without it can say that it has none.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import dataclasses
import gc
import importlib
import importlib.util
import inspect
import json
import math
import mmap
import os
import random
import re
import resource
import shutil
import statistics
import sys
import sysconfig
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

PROTOCOL = 2
PROGRAM = "powerband torch worker"
# Beyond 16 MiB the supervisor takes a line for garbled; a number of an output takes up to 25 bytes.
MOST_VALUES = 600_000
# The seed of weights that no file gives, and of everything random in training.
SEED = 42
# Default number of pictures in an epoch.
EPOCH_ITEMS = 512

# The torch and numpy modules, once `import_torch` has run.
torch: Any = None
numpy: Any = None


class Refused(Exception):
    """A request that is not done. `kind` is the name that the protocol has for the reason."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence


def unsupported(sentence: str) -> Refused:
    return Refused("Unsupported", sentence)


def failed(sentence: str) -> Refused:
    return Refused("Failed", sentence)


# ---------------------------------------------------------------------------------------------
# Importing PyTorch
# ---------------------------------------------------------------------------------------------


def import_torch() -> int:
    """Imports torch and numpy, and returns the time of that, in nanoseconds."""
    global torch, numpy
    start = time.perf_counter_ns()
    for name in ("torch", "numpy"):
        try:
            importlib.import_module(name)
        except (Exception, SystemExit) as error:
            raise unsupported(cannot_import(name, error)) from error
    torch, numpy = sys.modules["torch"], sys.modules["numpy"]
    return time.perf_counter_ns() - start


def cannot_import(name: str, error: BaseException) -> str:
    title = {"torch": "PyTorch", "numpy": "NumPy"}[name]
    packages = {"torch": "torch torchvision numpy", "numpy": "numpy"}[name]
    python = sys.executable
    install = f"install it with `{python} -m pip install {packages}`, or name another with python="
    if isinstance(error, ModuleNotFoundError) and error.name == name:
        return f"this Python ({python}) has no {title} ({error}); {install}"
    return f"the {title} of this Python ({python}) does not load ({last_words(error)}); {install}"


def torch_version() -> tuple[int, int]:
    """Major and minor version."""
    found = re.match(r"(\d+)\.(\d+)", torch.__version__)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def engine_name() -> str:
    return f"PyTorch {torch.__version__}"


# ---------------------------------------------------------------------------------------------
# What a setup asks for
# ---------------------------------------------------------------------------------------------

MIXED = {"amp-bf16": "bfloat16", "amp-fp16": "float16"}
WHOLE = {"bf16": "bfloat16", "fp16": "float16"}
COMPILERS = ("compile", "script", "tensorrt")
COMPILE_MODES = ("default", "reduce-overhead", "max-autotune")
MODE_WORDS = ("eager", *MIXED, *WHOLE, "channels-last", *COMPILERS)
# Learning rates where the setup gives none; the optimisers that are steered by the size of their
# gradients would fly apart with that of plain descent.
OPTIMISERS = {"sgd": 0.1, "adam": 0.001, "adamw": 0.001}
MOMENTUM = 0.9
# Who asks for the tokens of task=generate: a loop here, or generate() of transformers.
LOOPS = ("plain", "generate")
CLOCKS = ("device", "host")


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A setup, read and found free of contradictions."""

    # As the setup has it: cpu, cuda:0, rocm:0.
    device: str
    # As torch has it: a card is cuda on AMD as well.
    target: str
    words: frozenset[str]
    options: dict[str, str]

    @property
    def on_card(self) -> bool:
        return self.target != "cpu"

    @property
    def by_events(self) -> bool:
        """Whether times are those of events in the card's queue."""
        return self.on_card and self.options.get("clock") != "host"

    @property
    def trains(self) -> bool:
        return self.options.get("task", "infer") == "train"

    @property
    def generates(self) -> bool:
        return self.options.get("task", "infer") == "generate"

    @property
    def compiler(self) -> Optional[str]:
        return next((word for word in COMPILERS if word in self.words), None)

    @property
    def numbers(self) -> Optional[str]:
        """The precision, where it is not 32-bit floats."""
        return next((word for word in (*MIXED, *WHOLE) if word in self.words), None)

    @property
    def dtype(self) -> Any:
        """The type of weights and inputs."""
        return getattr(torch, WHOLE.get(self.numbers or "", "float32"))

    def autocast(self, cache: bool = True) -> Any:
        """Mixed precision, or nothing where the setup does not ask for it."""
        if self.numbers not in MIXED:
            return contextlib.nullcontext()
        kind = torch.device(self.target).type
        return torch.autocast(kind, getattr(torch, MIXED[self.numbers]), cache_enabled=cache)

    def placed(self, tensor: Any) -> Any:
        """A tensor where, in which numbers and in which order the network wants it."""
        if tensor.is_floating_point() and self.numbers in WHOLE:
            tensor = tensor.to(self.dtype)
        if "channels-last" in self.words and tensor.dim() == 4:
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        return tensor.to(self.target)

    def choice(self, key: str, values: tuple[str, ...], default: str) -> str:
        value = self.options.get(key, default)
        if value not in values:
            raise unsupported(f"{key}={value} is none of {', '.join(values)}")
        return value

    def whole(self, key: str) -> Optional[int]:
        text = self.options.get(key)
        if text is None:
            return None
        if not text.isdecimal() or int(text) < 1:
            raise unsupported(f"{key}={text} is not a whole number above zero")
        return int(text)

    def number(self, key: str, default: float) -> float:
        text = self.options.get(key)
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = math.nan
        if not value >= 0 or math.isinf(value):
            raise unsupported(f"{key}={text} is not a number from zero up, such as {default}")
        return value


def read_recipe(setup: dict[str, Any]) -> Recipe:
    device = setup.get("device", "cpu")
    options = setup.get("options", {})
    if not re.fullmatch(r"cpu|(cuda|rocm):\d+", device):
        raise unsupported(f"PyTorch runs on cpu, cuda:N and rocm:N here, not on \"{device}\"")
    target = device.replace("rocm", "cuda")
    words = frozenset(options.get("mode", "eager").split("+"))
    recipe = Recipe(device, target, words, options)
    check_words(recipe)
    recipe.choice("task", ("infer", "train", "generate"), "infer")
    recipe.choice("loop", LOOPS, "plain")
    recipe.choice("deterministic", ("true", "false"), "false")
    recipe.choice("tf32", ("on", "off"), "on")
    recipe.choice("clock", CLOCKS, "device")
    recipe.choice("compile_mode", COMPILE_MODES, "default")
    if recipe.trains:
        check_training(recipe)
    if recipe.generates and recipe.compiler:
        raise unsupported(
            f"mode={recipe.compiler} makes code for each length of the cache anew, so it does not go with "
            "task=generate; leave one of them out"
        )
    return recipe


def check_words(recipe: Recipe) -> None:
    """Refuses words that there are not, and words that exclude each other."""
    unknown = sorted(recipe.words.difference(MODE_WORDS))
    if unknown:
        known = ", ".join(MODE_WORDS)
        raise unsupported(f"mode has no \"{unknown[0]}\"; join with + any of {known}")
    for group, why in (
        ((*MIXED, *WHOLE), "a network runs in one kind of numbers"),
        (("eager", *COMPILERS), "a network is run in one way"),
    ):
        asked = [word for word in group if word in recipe.words]
        if len(asked) > 1:
            raise unsupported(f"mode={'+'.join(asked)} contradicts itself: {why}; keep one of them")


def check_training(recipe: Recipe) -> None:
    optimiser = recipe.choice("optimiser", tuple(OPTIMISERS), "sgd")
    recipe.number("lr", OPTIMISERS[optimiser])
    recipe.number("momentum", MOMENTUM)
    recipe.whole("epoch_items")
    if "momentum" in recipe.options and optimiser != "sgd":
        raise unsupported(f"momentum belongs to optimiser=sgd, and {optimiser} has its own")
    if recipe.compiler in ("script", "tensorrt"):
        raise unsupported(
            f"mode={recipe.compiler} makes a network that cannot learn; "
            "for task=train take eager or compile"
        )
    if recipe.numbers == "fp16":
        raise unsupported(
            "weights in fp16 lose the small steps of training; take mode=amp-fp16, bf16 or amp-bf16"
        )


def check_possible(recipe: Recipe) -> None:
    """Refuses what this PyTorch on this machine cannot do."""
    reason = lacks_device(recipe.device)
    if not reason and recipe.compiler:
        reason = LACKS_COMPILER[recipe.compiler](recipe.on_card)
    if not reason and recipe.numbers:
        reason = lacks_numbers(recipe.numbers, recipe.target)
    if reason:
        raise unsupported(reason)


# ---------------------------------------------------------------------------------------------
# What is not possible here, and what helps
# ---------------------------------------------------------------------------------------------


def lacks_device(device: str) -> Optional[str]:
    """Why a device cannot be used; `cuda` and `rocm` without a number ask for any such card."""
    kind, _, number = device.partition(":")
    if kind == "cpu":
        return None
    build = "rocm" if torch.version.hip else "cuda" if torch.version.cuda else "cpu"
    titles = {"rocm": "ROCm", "cuda": "CUDA", "cpu": "processors only"}
    if build != kind:
        instead = f"; write {build}:{number or 0} to use its cards" if build != "cpu" else ""
        return (
            f"this {engine_name()} is built for {titles[build]}, not for {titles[kind]}{instead}; "
            "https://pytorch.org/get-started/locally has the command that installs that build"
        )
    if not torch.cuda.is_available():
        tool = {"cuda": "nvidia-smi", "rocm": "rocminfo"}[kind]
        return (
            f"this {engine_name()} is built for {titles[kind]} and finds no card that it can use; "
            f"{tool} shows whether the driver works; an old driver needs an update"
        )
    count = torch.cuda.device_count()
    if number and int(number) >= count:
        return f"PyTorch finds {count} card(s) here, counted from 0, and no {device}"
    return None


def lacks_compile(on_card: bool) -> Optional[str]:
    if not hasattr(torch, "compile"):
        return f"mode=compile needs PyTorch 2.0 or newer, and this is {torch.__version__}"
    if on_card and not importlib.util.find_spec("triton"):
        return f"mode=compile on a card needs Triton; `{sys.executable} -m pip install triton`"
    if not on_card and not cpp_compiler():
        return "mode=compile needs a C++ compiler; install g++ (apt install g++), or set CXX to one"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        return "mode=compile needs Python's C headers; install them (apt install python3-dev)"
    return None


def cpp_compiler() -> Optional[str]:
    """The compiler that torch's Inductor is to use: CXX, else g++, else clang."""
    wanted = os.environ.get("CXX")
    return shutil.which(wanted) if wanted else shutil.which("g++") or shutil.which("clang++")


def lacks_script(_on_card: bool) -> Optional[str]:
    if all(hasattr(torch.jit, name) for name in ("trace", "freeze", "optimize_for_inference")):
        return None
    return f"mode=script needs a PyTorch with TorchScript, 1.10 or newer; this is {torch.__version__}"


def lacks_tensorrt(_on_card: bool) -> Optional[str]:
    no_card = lacks_device("cuda")
    if no_card:
        return f"mode=tensorrt needs an NVIDIA card: {no_card}"
    if not importlib.util.find_spec("torch_tensorrt"):
        install = f"`{sys.executable} -m pip install torch-tensorrt`"
        return f"mode=tensorrt needs the package torch_tensorrt in this Python; {install}"
    return None


LACKS_COMPILER: dict[str, Callable[[bool], Optional[str]]] = {
    "compile": lacks_compile,
    "script": lacks_script,
    "tensorrt": lacks_tensorrt,
}


def lacks_numbers(word: str, target: str) -> Optional[str]:
    """Runs a tiny network in those numbers: which release can what on which processor is a long list."""
    recipe = Recipe(target, target, frozenset([word]), {})
    nn = torch.nn
    layers = (nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4))
    wanted = getattr(torch, {**MIXED, **WHOLE}[word])
    try:
        with torch.inference_mode(), recipe.autocast(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = nn.Sequential(*layers).eval().to(target, recipe.dtype)
            done = network(recipe.placed(torch.zeros(2, 3, 8, 8))).dtype == wanted
        reason = f"gives {wanted} no effect"
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise
        done, reason = False, f"says: {first_line(error)}"
    if done:
        return None
    return f"mode={word} on {target}: PyTorch {torch.__version__} {reason}; PyTorch 2.5 or newer can"


def lacks_networks() -> Optional[str]:
    try:
        importlib.import_module("torchvision")
    except ModuleNotFoundError:
        install = f"`{sys.executable} -m pip install torchvision`"
        return f"torchvision, which has the networks, is not installed; {install}"
    except Exception as error:
        return (
            f"torchvision does not load ({first_line(error)}), as when it belongs to another "
            f"PyTorch; `{sys.executable} -m pip install --upgrade torch torchvision`"
        )
    return None


def lacks() -> dict[str, str]:
    """Everything that is not possible here, with the reason."""
    on_card = torch.cuda.is_available()
    target = "cuda:0" if on_card else "cpu"
    found = {f"mode={word}": check(on_card) for word, check in LACKS_COMPILER.items()}
    found.update({f"mode={word}": lacks_numbers(word, target) for word in (*MIXED, *WHOLE)})
    found.update({f"device={kind}": lacks_device(kind) for kind in ("cuda", "rocm")})
    found["networks"] = lacks_networks()
    return {key: reason for key, reason in found.items() if reason}


# ---------------------------------------------------------------------------------------------
# ONNX files: the weights alone, read without a library
# ---------------------------------------------------------------------------------------------

# ONNX's numbers for element types.
ONNX_TYPES = {1: "<f4", 6: "<i4", 7: "<i8", 10: "<f2", 11: "<f8"}


def varint(data: Any, place: int) -> tuple[int, int]:
    """A number in protobuf's spelling, seven bits a byte, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def fields(data: Any) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: number, and value or bytes."""
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        wire = key & 7
        if wire == 0:
            value, place = varint(data, place)
        else:
            if wire == 2:
                length, place = varint(data, place)
            else:
                length = {1: 8, 5: 4}[wire]
            value = data[place : place + length]
            place += length
        yield key >> 3, value


def onnx_tensor(data: Any) -> tuple[str, Any]:
    """Name and values of a TensorProto; no values where they lie in another file or are of a rare type."""
    name, dims, kind, values = "", [], 0, None
    for number, value in fields(data):
        if number == 1:
            dims += packed_varints(value)
        elif number == 2:
            kind = value
        elif number == 4 or number == 9:
            values = value
        elif number == 8:
            name = bytes(value).decode()
    if values is None or kind not in ONNX_TYPES:
        return name, None
    flat = numpy.frombuffer(values, dtype=ONNX_TYPES[kind])
    return name, flat.reshape(dims) if flat.size == math.prod(dims) else None


def packed_varints(value: Any) -> list[int]:
    """The numbers of a repeated field, which stand one by one or all in one piece."""
    if isinstance(value, int):
        return [value]
    numbers, place = [], 0
    while place < len(value):
        number, place = varint(value, place)
        numbers.append(number)
    return numbers


def read_onnx(path: str) -> tuple[dict[str, Any], list[str]]:
    """The weights of an ONNX file by name, and the names of its outputs. Empty without a file."""
    if not path or not os.path.isfile(path) or os.path.getsize(path) == 0:
        return {}, []
    weights, outputs = {}, []
    try:
        with open(path, "rb") as file:
            # The arrays keep the mapping alive for as long as they are used.
            whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        graphs = [value for number, value in fields(whole) if number == 7]
        for number, value in (field for graph in graphs for field in fields(graph)):
            if number == 5:
                name, values = onnx_tensor(value)
                weights[name] = values
            elif number == 12:
                outputs += [bytes(text).decode() for key, text in fields(value) if key == 1]
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise failed(f"{path} cannot be read as an ONNX file; write it anew ({error})") from error
    return weights, outputs


def take_weights(module: Any, weights: dict[str, Any]) -> Optional[str]:
    """Gives the module the file's weights, if they fit one and all; else the reason why not."""
    if not weights:
        return "there is no ONNX file with weights"
    pairs = []
    for name, value in learned(getattr(module, "inner", module)).items():
        found = weights.get(name)
        if found is None and weights.get(f"{name}.T") is not None:
            # The matrix of a product, which ONNX has the other way round.
            found = weights[f"{name}.T"].T
        if found is None:
            return f"the ONNX file has no weights called {name}"
        if tuple(found.shape) != tuple(value.shape):
            return f"{name} is {list(value.shape)} here and {list(found.shape)} in the ONNX file"
        pairs.append((value, found))
    with torch.no_grad():
        for value, found in pairs:
            value.copy_(torch.from_numpy(numpy.array(found)))
    return None


# Numbers in a state that are counted or worked out and not learned.
NOT_LEARNED = ("num_batches_tracked", "inv_freq", "position_ids", ".masked_bias", ".attn.bias")


def learned(module: Any) -> dict[str, Any]:
    """The tensors that a file has to give, each once: a head may share its matrix with a table of words."""
    seen: set[int] = set()
    found = {}
    for name, value in module.state_dict().items():
        place_ = value.data_ptr()
        if not name.endswith(NOT_LEARNED) and (place_ not in seen or not place_):
            found[name] = value
        seen.add(place_)
    return found


# ---------------------------------------------------------------------------------------------
# Networks
# ---------------------------------------------------------------------------------------------


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


# Classes of transformers and sizes that differ from their defaults, by Powerband's names without hyphens.
TEXT_NETWORKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bertbase": ("BertConfig", "BertModel", {}),
    "minilm": (
        "BertConfig",
        "BertModel",
        {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536},
    ),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {}),
    "llamatiny": (
        "LlamaConfig",
        "LlamaForCausalLM",
        {
            "vocab_size": 49152,
            "hidden_size": 576,
            "intermediate_size": 1536,
            "num_hidden_layers": 30,
            "num_attention_heads": 9,
            "num_key_value_heads": 3,
            "max_position_embeddings": 2048,
            "rms_norm_eps": 1e-5,
            "tie_word_embeddings": True,
        },
    ),
}


def text_network(name: str, plain: str, has_past: bool) -> Any:
    """A network of transformers, made from its sizes without a download, that takes its inputs in the order
    of the ONNX file."""
    install = f"`{sys.executable} -m pip install transformers`"
    try:
        transformers = importlib.import_module("transformers")
    except ModuleNotFoundError as error:
        raise unsupported(
            f"{name} in PyTorch is a network of transformers, which is not installed; {install}"
        ) from error
    except Exception as error:
        raise unsupported(
            f"{name} in PyTorch is a network of transformers, which does not load ({first_line(error)}); "
            f"`{sys.executable} -m pip install --upgrade torch transformers`"
        ) from error
    config_class, model_class, sizes = TEXT_NETWORKS[plain]
    config = getattr(transformers, config_class)(**sizes)
    inner = getattr(transformers, model_class)(config)
    is_encoder = model_class == "BertModel"
    third = "token_type_ids" if is_encoder else "position_ids"
    # The word for what a decoder has seen differs between releases.
    takes = inspect.signature(inner.forward).parameters
    cache_name = "cache" if "cache" in takes else "past_key_values"

    class InOrder(torch.nn.Module):
        """Inputs by place rather than by name, and outputs as one list of tensors."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, ids: Any, mask: Any, third_input: Any, *past: Any) -> Any:
            inputs = {"input_ids": ids, "attention_mask": mask, third: third_input}
            if is_encoder:
                made = self.inner(**inputs)
                return made.last_hidden_state, made.pooler_output
            if not has_past:
                return (self.inner(**inputs, use_cache=False).logits,)
            cache = transformers.DynamicCache()
            for layer in range(len(past) // 2):
                cache.update(past[2 * layer], past[2 * layer + 1], layer)
            made = self.inner(**inputs, **{cache_name: cache}, use_cache=True)
            # It has grown in its place.
            return (made.logits, *cached_tensors(cache))

    return InOrder()


def cached_tensors(cache: Any) -> list[Any]:
    """Keys and values of a cache of transformers, layer by layer; releases keep them in two ways."""
    if hasattr(cache, "layers"):
        return [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
    return [tensor for pair in zip(cache.key_cache, cache.value_cache) for tensor in pair]


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
            f"PyTorch has no network called \"{name}\": name one as torchvision does (resnet50, "
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


# ---------------------------------------------------------------------------------------------
# Modes
# ---------------------------------------------------------------------------------------------


def prepare(recipe: Recipe, network: Network) -> Any:
    """The module in the setup's place, numbers and order. Training leaves it be: each case has a copy."""
    if network.kind == "exported" and (recipe.numbers in WHOLE or recipe.trains):
        asked = "task=train" if recipe.trains else f"mode={recipe.numbers}"
        raise unsupported(
            f"{asked}: an exported .pt2 program stays as it was exported; "
            "give module=MODULE:FUNCTION instead, or export it that way"
        )
    if network.kind == "script" and recipe.compiler in ("compile", "tensorrt"):
        raise unsupported(f"mode={recipe.compiler} takes no TorchScript; give module=MODULE:FUNCTION")
    module = network.module
    if network.kind != "exported":
        module = module.train(recipe.trains)
    return module if recipe.trains else place(recipe, module)


def place(recipe: Recipe, module: Any) -> Any:
    if recipe.numbers in WHOLE:
        module = module.to(dtype=recipe.dtype)
    if "channels-last" in recipe.words:
        module = module.to(memory_format=torch.channels_last)
    return module.to(recipe.target)


def compiled(recipe: Recipe, module: Any) -> Any:
    """Compiles for each shape by itself: code for any batch size is slower than code for one."""
    mode = recipe.options.get("compile_mode", "default")
    if not os.environ.get("CXX") and not shutil.which("g++") and shutil.which("clang++"):
        os.environ["CXX"] = "clang++"
    try:
        settings = importlib.import_module("torch._dynamo.config")
        for limit in ("recompile_limit", "cache_size_limit"):
            # Beyond its limit torch runs further batch sizes uncompiled, without a message.
            if hasattr(settings, limit):
                setattr(settings, limit, 1024)
        if recipe.compiler == "tensorrt":
            importlib.import_module("torch_tensorrt")
            typed = {"use_explicit_typing": True}
            return torch.compile(module, backend="tensorrt", dynamic=False, options=typed)
        return torch.compile(module, dynamic=False, mode=mode)
    except Exception as error:
        raise unsupported(
            f"mode={recipe.compiler}: {last_words(error)}; another pairing of Python and PyTorch may"
        ) from error


def scripted(recipe: Recipe, module: Any, inputs: list[Any]) -> Any:
    """Traced, with weights as constants, and optimised. Mixed precision is recorded in it."""
    with torch.no_grad(), recipe.autocast(cache=False), warnings.catch_warnings():
        # Warnings that TorchScript is deprecated do not help here.
        warnings.simplefilter("ignore")
        if not isinstance(module, torch.jit.ScriptModule):
            module = torch.jit.trace(module, tuple(inputs), check_trace=False)
        return torch.jit.optimize_for_inference(torch.jit.freeze(module.eval()))


def set_globals(recipe: Recipe) -> list[str]:
    """What holds for the whole process: threads, seeds, how exact a card multiplies."""
    notes = []
    threads = recipe.whole("threads")
    if threads:
        torch.set_num_threads(threads)
    if recipe.on_card:
        torch.cuda.set_device(torch.device(recipe.target))
    tf32 = recipe.options.get("tf32")
    if tf32 and recipe.on_card:
        torch.backends.cuda.matmul.allow_tf32 = tf32 == "on"
        torch.backends.cudnn.allow_tf32 = tf32 == "on"
    elif tf32:
        notes.append("tf32 is an affair of NVIDIA's cards and has no effect on a processor")
    elif recipe.on_card and torch.version.cuda and not recipe.numbers:
        notes.append("convolutions round their inputs to TF32, as PyTorch has it; tf32=off keeps float32")
    if recipe.options.get("deterministic") == "true":
        be_deterministic()
    if recipe.options.get("clock") == "host" and recipe.on_card:
        notes.append("times are the host's, until the card is done: what others computed on it is in them")
    if recipe.numbers in MIXED and recipe.compiler != "script":
        notes.append("mixed precision is entered anew for each run, so each run casts the weights")
    return notes


def be_deterministic() -> None:
    """The same numbers in each session: fixed seeds, and no algorithm that adds in another order."""
    random.seed(SEED)
    numpy.random.seed(SEED)
    torch.manual_seed(SEED)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)


# ---------------------------------------------------------------------------------------------
# Inputs and outputs
# ---------------------------------------------------------------------------------------------

# The protocol's names for element types, and torch's.
ELEMENTS = {
    "F32": "float32",
    "F64": "float64",
    "F16": "float16",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "Bool": "bool",
}


def fill_of(spec: dict[str, Any]) -> tuple[str, Any]:
    """What an input is filled with, and the numbers that belong to it."""
    fill = spec.get("fill", "Usual")
    return (fill, None) if isinstance(fill, str) else next(iter(fill.items()))


def make_input(spec: dict[str, Any], seed: int) -> Any:
    """The same values for the same seed, as the fill says; without one, normal floats, or zeros and ones."""
    generator = torch.Generator().manual_seed(seed % 2**63)
    dtype = getattr(torch, ELEMENTS[spec["element"]])
    dims = spec["dims"]
    kind, numbers = fill_of(spec)
    if kind == "File":
        return load_input(spec, numbers)
    if kind in ("Zeros", "Ones", "Number"):
        return torch.full(dims, {"Zeros": 0, "Ones": 1}.get(kind, numbers)).to(dtype)
    if kind == "Range":
        return counted(spec, numbers["from"]).to(dtype)
    if kind == "Random":
        low, high = numbers["low"], numbers["high"]
        if dtype.is_floating_point:
            return (low + torch.rand(dims, generator=generator) * (high - low)).to(dtype)
        return torch.randint(math.floor(low), math.ceil(high), dims, generator=generator).to(dtype)
    if dtype.is_floating_point:
        return torch.randn(dims, generator=generator).to(dtype)
    return torch.randint(0, 2, dims, generator=generator).to(dtype)


def counted(spec: dict[str, Any], start: int) -> Any:
    """Counts up along the last dimension that is not the batch."""
    dims, batch_axes = spec["dims"], spec.get("batch_axes", [])
    if not dims:
        return torch.tensor(start)
    axes = [axis for axis in range(len(dims)) if axis not in batch_axes] or [len(dims) - 1]
    shape = [size if axis == axes[-1] else 1 for axis, size in enumerate(dims)]
    numbers = torch.arange(start, start + dims[axes[-1]])
    return numbers.reshape(shape).expand(dims).contiguous()


def load_input(spec: dict[str, Any], path: str) -> Any:
    """An input out of the user's file, whose items are repeated or cut to the batch."""
    try:
        values = numpy.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise failed(f"the input {spec['name']} cannot be read from {path}: {error}") from error
    if values.ndim == len(spec["dims"]):
        for axis in spec.get("batch_axes", []):
            values = values.take(numpy.arange(spec["dims"][axis]), axis=axis, mode="wrap")
    if list(values.shape) != spec["dims"]:
        raise failed(f"the input {spec['name']} is {spec['dims']}, and {path} holds {list(values.shape)}")
    return torch.from_numpy(numpy.ascontiguousarray(values.astype(ELEMENTS[spec["element"]])))


def fills_text(specs: list[dict[str, Any]]) -> str:
    """What inputs are filled with, as far as it is not as usual."""
    texts = []
    for spec in specs:
        kind, numbers = fill_of(spec)
        if kind == "Random" and "int" in ELEMENTS[spec["element"]]:
            text = f"{math.ceil(numbers['low']):,}…{math.ceil(numbers['high']) - 1:,}".replace("-", "−")
        elif kind == "Random":
            text = f"{numbers['low']:g} to {numbers['high']:g}"
        elif kind == "Range":
            text = f"counts up from {numbers['from']:,}"
        elif kind == "Number":
            text = f"{numbers:,.10g}"
        elif kind == "File":
            text = Path(numbers).name
        else:
            text = kind.lower()
        if kind != "Usual":
            texts.append(f"{spec['name']} {text}")
    return ", ".join(texts)


def read_input(spec: dict[str, Any], path: str) -> Any:
    try:
        values = numpy.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise failed(f"the input {spec['name']} cannot be read from {path}: {error}") from error
    found = (str(values.dtype), list(values.shape))
    if found != (ELEMENTS[spec["element"]], spec["dims"]):
        raise failed(
            f"the input {spec['name']} is {ELEMENTS[spec['element']]} {spec['dims']}, "
            f"and {path} holds {found[0]} {found[1]}"
        )
    return torch.from_numpy(numpy.ascontiguousarray(values))


def make_inputs(specs: list[dict[str, Any]], feed: list[str], seed: int) -> list[Any]:
    if feed and len(feed) != len(specs):
        raise failed(f"{len(feed)} files were given for {len(specs)} inputs; give one for each")
    if feed:
        return [read_input(spec, path) for spec, path in zip(specs, feed)]
    return [make_input(spec, seed + place) for place, spec in enumerate(specs)]


def tensors_of(output: Any) -> list[tuple[Optional[str], Any]]:
    """The tensors in what a network returned, in order, with their names where they have any."""
    if torch.is_tensor(output):
        return [(None, output)]
    if isinstance(output, dict):
        named = []
        for key, value in output.items():
            found = [tensor for _, tensor in tensors_of(value)]
            names = [str(key)] if len(found) == 1 else [f"{key}.{place}" for place in range(len(found))]
            named += zip(names, found)
        return named
    if isinstance(output, (list, tuple)):
        return [found for value in output for found in tensors_of(value)]
    return []


def to_host(tensor: Any) -> Any:
    """A tensor as an array of a type that the protocol has a name for."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    array = numpy.ascontiguousarray(tensor.cpu().numpy())
    if str(array.dtype) not in ELEMENTS.values():
        raise unsupported(f"an output of type {array.dtype} cannot be compared")
    return array


def output_document(name: str, array: Any) -> dict[str, Any]:
    if array.size > MOST_VALUES:
        raise unsupported(f"the output {name} has {array.size} elements, too many for one line")
    values = array.astype("float64").ravel()
    wrong = int(values.size - numpy.isfinite(values).sum())
    if wrong:
        raise failed(
            f"{wrong} of the {values.size} numbers of the output {name} are infinite or none at all "
            "(NaN): the network leaves the range of its numbers; try bf16, amp-bf16 or eager"
        )
    element = next(key for key, value in ELEMENTS.items() if value == str(array.dtype))
    spec = {"name": name, "element": element, "dims": list(array.shape)}
    return {"spec": spec, "values": values.tolist()}


# ---------------------------------------------------------------------------------------------
# Cases: what is run and timed
# ---------------------------------------------------------------------------------------------


class EmptyRun:
    """An empty run, for the overhead of measuring."""

    part_names: tuple[str, ...] = ()
    parts: tuple[int, ...] = ()

    def timed_run(self) -> int:
        start = time.perf_counter_ns()
        return time.perf_counter_ns() - start

    def take_generation(self) -> Optional[dict[str, Any]]:
        return None


class Inference:
    """A network with its inputs bound."""

    feeding = "inputs made once on the device; outputs stay there"

    def __init__(self, recipe: Recipe, module: Any, inputs: list[Any], names: list[str]) -> None:
        self.recipe = recipe
        self.inputs = [recipe.placed(tensor) for tensor in inputs]
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
        with self.recipe.autocast():
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
        return [
            (name or f"output{place}", to_host(tensor))
            for place, (name, tensor) in enumerate(found)
        ]

    def take_generation(self) -> Optional[dict[str, Any]]:
        return None

    def finished_epochs(self) -> list[dict[str, Any]]:
        return []


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
        module = place(recipe, copy.deepcopy(network.module))
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
        pictures = self.recipe.placed(pictures)
        labels = self.labels[chosen].to(self.recipe.target)
        mark(1)
        with self.phase("forward"), self.recipe.autocast():
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


# ---------------------------------------------------------------------------------------------
# Requests to a language model: what src/engines/generate.rs does
# ---------------------------------------------------------------------------------------------


class Requests:
    """A decoder whose runs are requests: a prompt, then tokens one by one, each the most likely."""

    part_names: tuple[str, ...] = ()
    parts: tuple[int, ...] = ()
    watched = False

    def __init__(
        self, recipe: Recipe, network: Network, module: Any, request: dict[str, Any], seed: int
    ) -> None:
        if network.kind in ("exported", "script"):
            raise unsupported(
                f"task=generate takes a module that can be called with past_key_values, and {network.title} "
                "is a saved program; give module=MODULE:FUNCTION"
            )
        self.keyword = cache_keyword(module, network.title)
        self.batch, self.prompt, self.new = (request[key] for key in ("batch", "prompt", "new"))
        check_positions(module, self.prompt, self.new)
        self.recipe, self.module, self.title = recipe, module, network.title
        words = vocabulary(module, network.title)
        count = self.batch * self.prompt
        tokens = [split_mix((seed + place) % 2**64) % words for place in range(count)]
        shape = (self.batch, self.prompt)
        self.tokens = torch.tensor(tokens, dtype=torch.int64).reshape(shape).to(recipe.target)
        self.mask = torch.ones_like(self.tokens)
        self.by_generate = recipe.options.get("loop") == "generate"
        if self.by_generate and not hasattr(module, "generate"):
            raise unsupported(f"loop=generate needs a module with generate(), as transformers has; "
                              f"{network.title} has none; take loop=plain")  # fmt: skip
        by = "generate() of transformers" if self.by_generate else "a plain loop"
        self.feeding = f"prompts made once on the device; tokens asked for by {by} and read back one by one"
        self.marks: list[int] = []
        self.made: list[Any] = []
        self.cache_bytes: Optional[int] = None
        self.take_generation()

    def mode(self) -> Any:
        return torch.inference_mode()

    def timed_run(self) -> int:
        self.marks, self.made = [], []
        start = time.perf_counter_ns()
        with self.recipe.autocast():
            cache = self.generated() if self.by_generate else self.looped()
        if len(self.marks) != self.new:
            raise failed(f"{self.title} made {len(self.marks)} tokens where {self.new} were asked for")
        times = [start, *self.marks]
        spans = [later - earlier for earlier, later in zip(times, times[1:])]
        self.first_token_ns.append(spans[0])
        self.later_token_ns += spans[1:]
        if self.cache_bytes is None:
            self.cache_bytes = sum(tensor.numel() * tensor.element_size() for tensor in caches_in(cache))
        return times[-1] - start

    def looped(self) -> Any:
        """The cache, after one call for the prompt and one for each further token."""
        tokens, cache = self.tokens, None
        for _ in range(self.new):
            scores, cache = self.scores_and_cache(tokens, cache)
            tokens = scores[:, -1].argmax(-1, keepdim=True)
            self.put(tokens[:, 0])
        return cache

    def generated(self) -> Any:
        """The cache, after transformers asked for the tokens."""
        settings = self.module.generation_config
        # No token ends a request early.
        settings.eos_token_id = None
        settings.pad_token_id = 0
        settings.do_sample = False
        settings.max_new_tokens = self.new
        settings.return_dict_in_generate = True
        done = self.module.generate(self.tokens, attention_mask=self.mask, use_cache=True, streamer=self)
        return named(done, CACHES)

    def scores_and_cache(self, tokens: Any, cache: Any) -> tuple[Any, Any]:
        """One call of the decoder: the scores of each position, and keys and values of all of them."""
        done = self.module(input_ids=tokens, use_cache=True, **{self.keyword: cache})
        scores, cache = named(done, ("logits",)), named(done, CACHES)
        if scores is None and isinstance(done, (tuple, list)) and len(done) > 1:
            scores, cache = done[0], done[1]
        if not torch.is_tensor(scores) or scores.dim() != 3 or cache is None:
            raise unsupported(
                f"task=generate needs logits, batch×sequence×vocabulary, and past_key_values from {self.title}; "
                "return them as transformers does, or as a pair"
            )
        return scores, cache

    def put(self, tokens: Any) -> None:
        """Takes the new token of each sequence; transformers hands over the prompt first."""
        if tokens.numel() != self.batch or (self.by_generate and tokens.dim() != 1):
            return
        self.made.append(tokens.cpu())
        self.marks.append(time.perf_counter_ns())

    def end(self) -> None:
        """Called by transformers when all tokens are made."""

    def take_generation(self) -> Optional[dict[str, Any]]:
        """What the requests since the last call took."""
        taken = None
        if hasattr(self, "first_token_ns"):
            taken = {
                "prompt_tokens": self.batch * self.prompt,
                "new_tokens": self.batch * self.new,
                "sequences": self.batch,
                "first_token_ns": self.first_token_ns,
                "later_token_ns": self.later_token_ns,
                "cache_bytes": self.cache_bytes,
            }
        self.first_token_ns: list[int] = []
        self.later_token_ns: list[int] = []
        return taken

    def outputs(self) -> list[tuple[str, Any]]:
        self.timed_run()
        return [("tokens", torch.stack(self.made, 1).numpy())]

    def finished_epochs(self) -> list[dict[str, Any]]:
        return []


def split_mix(place: int) -> int:
    """The next value of the generator SplitMix64, as in src/engines/generate.rs."""
    whole = 2**64 - 1
    value = (place + 1) * 0x9E3779B97F4A7C15 & whole
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & whole
    value = (value ^ value >> 27) * 0x94D049BB133111EB & whole
    return value ^ value >> 31


# What decoders call their keys and values.
CACHES = ("past_key_values", "cache")


def cache_keyword(module: Any, title: str) -> str:
    """What the forward of a decoder calls the keys and values that it takes."""
    names = inspect.signature(module.forward).parameters
    found = next((name for name in CACHES if name in names), None)
    if found is None:
        raise unsupported(
            f"task=generate needs past key/values: the forward of {title} takes no past_key_values, only "
            f"{', '.join(names) or 'nothing'}; give a decoder such as those of transformers"
        )
    return found


def named(done: Any, names: tuple[str, ...]) -> Any:
    """A part of what a network returned, by the first of its names that is there."""
    found = [done.get(name) if isinstance(done, dict) else getattr(done, name, None) for name in names]
    return next((part for part in found if part is not None), None)


def check_positions(module: Any, prompt: int, new: int) -> None:
    config = getattr(module, "config", None)
    most = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if most and prompt + new - 1 > most:
        raise unsupported(
            f"prompt {prompt} and new {new} take {prompt + new - 1} positions, and the network has {most}; "
            f"make prompt + new − 1 at most {most}"
        )


def vocabulary(module: Any, title: str) -> int:
    """How many tokens the network knows."""
    known = getattr(getattr(module, "config", None), "vocab_size", None)
    if known:
        return int(known)
    tables = [one.num_embeddings for one in module.modules() if isinstance(one, torch.nn.Embedding)]
    if not tables:
        raise unsupported(f"{title} has no table of tokens (nn.Embedding), so no prompt can be made for it")
    return tables[0]


def caches_in(cache: Any) -> list[Any]:
    """The tensors of keys and values, of whatever kind the cache is."""
    if torch.is_tensor(cache):
        return [cache]
    if isinstance(cache, (tuple, list)):
        return [found for one in cache for found in caches_in(one)]
    for name in ("layers", "key_cache"):
        if hasattr(cache, name):
            other = getattr(cache, "value_cache", ())
            return caches_in([*getattr(cache, name), *other])
    return [tensor for name in ("keys", "values") for tensor in caches_in(getattr(cache, name, ()))]


def first_tensor(output: Any) -> Any:
    found = tensors_of(output)
    return found[0][1] if found else None


def count_classes(recipe: Recipe, module: Any, dims: list[int], title: str) -> int:
    """The number of classes of the network, from its output."""
    with torch.no_grad(), recipe.autocast():
        was_training = module.training
        scores = first_tensor(module.eval()(recipe.placed(torch.zeros([1, *dims[1:]]))))
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


# ---------------------------------------------------------------------------------------------
# What training learns from
# ---------------------------------------------------------------------------------------------


def training_data(recipe: Recipe, dims: list[int], classes: int, seed: int) -> tuple[Any, Any, str]:
    """Pictures as bytes, their classes, and how they came to be."""
    items = recipe.whole("epoch_items")
    folder = recipe.options.get("data")
    if folder:
        return pictures_of(folder, dims, classes, items)
    return made_up_pictures(dims, classes, items or EPOCH_ITEMS, seed)


def made_up_pictures(dims: list[int], classes: int, items: int, seed: int) -> tuple[Any, Any, str]:
    """Each class has a pattern under the noise, so that a network which learns shows it."""
    generator = torch.Generator().manual_seed(seed % 2**63)
    shape = dims[1:]
    patterns = torch.randint(0, 128, [classes, *shape], dtype=torch.uint8, generator=generator)
    labels = torch.randint(0, classes, [items], generator=generator)
    pictures = torch.randint(0, 128, [items, *shape], dtype=torch.uint8, generator=generator)
    pictures += patterns[labels]
    size = "×".join(map(str, shape))
    return pictures, labels, f"{items} made-up pictures {size} in {classes} classes, from memory"


def pictures_of(folder: str, dims: list[int], classes: int, items: Optional[int]) -> tuple[Any, Any, str]:
    """The pictures of a folder with a folder for each class, read before the first step."""
    if len(dims) != 4 or dims[1] != 3:
        raise unsupported(f"data={folder}: pictures need an input batch×3×height×width, not {dims}")
    try:
        image_module = importlib.import_module("PIL.Image")
    except ImportError as error:
        install = f"`{sys.executable} -m pip install pillow`"
        raise unsupported(f"reading data={folder} needs the package pillow; {install}") from error
    names, files = list_pictures(folder, classes)
    # Some of every class, and the same ones each time.
    random.Random(SEED).shuffle(files)
    files = files[:items]
    pictures = torch.empty([len(files), *dims[1:]], dtype=torch.uint8)
    for row, (path, _) in enumerate(files):
        try:
            with image_module.open(path) as image:
                small = image.convert("RGB").resize((dims[3], dims[2]))
        except OSError as error:
            raise failed(f"{path} is no picture that can be read: {error}") from error
        pictures[row] = torch.from_numpy(numpy.array(small)).permute(2, 0, 1)
    labels = torch.tensor([label for _, label in files])
    return pictures, labels, f"{len(files)} pictures of {folder} in {len(names)} classes, from memory"


def list_pictures(folder: str, classes: int) -> tuple[list[str], list[tuple[Path, int]]]:
    """The classes, and each picture with its class's number."""
    root = Path(folder)
    if not root.is_dir():
        raise unsupported(f"data={folder}: there is no such folder (from {os.getcwd()})")
    names = sorted(entry.name for entry in root.iterdir() if entry.is_dir())
    endings = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm")
    files = [
        (path, label)
        for label, name in enumerate(names)
        for path in sorted((root / name).rglob("*"))
        if path.suffix.lower() in endings
    ]
    if not files:
        raise unsupported(f"data={folder} holds no pictures; it needs a folder of them for each class")
    if len(names) > classes:
        raise unsupported(f"data={folder} has {len(names)} classes, and the network knows {classes}")
    return names, files


# ---------------------------------------------------------------------------------------------
# Warming up and measuring: what src/worker/measure.rs does
# ---------------------------------------------------------------------------------------------

MOST_RUNS = 1_000_000
CLOCK_READINGS = 1_000
# A sleep ends late, so the last bit of a wait is spent looking at the clock.
LOOK_OUT_NS = 200_000


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


def begin_together(at_ns: int | None) -> None:
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


# ---------------------------------------------------------------------------------------------
# Who else used the processors: what src/worker/company.rs does
# ---------------------------------------------------------------------------------------------


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


def company(before: Optional[dict[str, int]]) -> Optional[dict[str, int]]:
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


# ---------------------------------------------------------------------------------------------
# Memory and errors
# ---------------------------------------------------------------------------------------------

UNITS = {"": 1, "b": 1, "k": 2**10, "kib": 2**10, "kb": 10**3, "m": 2**20, "mib": 2**20, "mb": 10**6,
         "g": 2**30, "gib": 2**30, "gb": 10**9}  # fmt: skip
OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|cannot allocate memory|not enough memory|out of memory|bad_alloc|alloc_failed",
    re.I,
)


@dataclasses.dataclass
class MemoryLimit:
    """The most memory that the worker may have."""

    # How messages call it.
    called: str
    # Nothing where only the card's own memory counts.
    limit: Optional[int] = None

    def hold(self) -> None:
        if self.limit is not None:
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            # A limit that the user's login already has can be lowered, never raised.
            limit = self.limit if hard == resource.RLIM_INFINITY else min(self.limit, hard)
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))

    def lift(self) -> None:
        """Where nothing is left, not even an answer can be written."""
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def memory_limit(recipe: Recipe) -> MemoryLimit:
    """The setup's limit; without one, on a processor, the machine's memory: a network that only runs
    from swap is not measured but endured."""
    text = recipe.options.get("memory")
    if text is None and recipe.on_card:
        return MemoryLimit(f"the memory of {recipe.device}")
    if text is None:
        pages = os.sysconf("SC_PHYS_PAGES")
        return MemoryLimit("this machine's memory", pages * os.sysconf("SC_PAGE_SIZE"))
    found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([a-z]*)\s*", text.lower())
    if not found or found.group(2) not in UNITS:
        raise unsupported(f"memory={text} is no amount of memory; write bytes or for example 4GiB")
    return MemoryLimit(f"memory={text}", int(float(found.group(1)) * UNITS[found.group(2)]))


def check_room(limit: MemoryLimit) -> None:
    """Refuses a limit that PyTorch exceeds before there is any network."""
    status = Path("/proc/self/status")
    found = re.search(r"VmData:\s*(\d+) kB", status.read_text()) if status.exists() else None
    if found and limit.limit is not None and int(found.group(1)) * 1024 >= limit.limit:
        raise Refused(
            "OutOfMemory",
            f"PyTorch by itself takes {int(found.group(1)) // 1024} MiB before there is any network, "
            f"and {limit.called} allows less; allow more with memory=, or leave it out",
        )


def release_memory() -> None:
    gc.collect()
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or bool(OUT_OF_MEMORY.search(str(error)))


def refusal(error: BaseException, limit: MemoryLimit) -> Refused:
    """The message of an error for the user."""
    if isinstance(error, Refused):
        return error
    if is_out_of_memory(error):
        wanted = re.search(r"tried to allocate ([\d.]+) ?(\w+)", str(error), re.I)
        more = ""
        if wanted and wanted.group(2) == "bytes":
            more = f" for {int(wanted.group(1)) / 2**20:,.1f} MiB more"
        elif wanted:
            more = f" for {wanted.group(1)} {wanted.group(2)} more"
        sentence = f"PyTorch asked{more or ' for more'} than {limit.called} has left"
        return Refused("OutOfMemory", sentence)
    return failed(last_words(error))


def first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    # Some of torch's messages are coloured for a terminal.
    line = re.sub(r"\x1b\[[0-9;]*m", "", text.splitlines()[0])
    return line if len(line) <= 300 else f"{line[:300]}…"


def last_words(error: BaseException) -> str:
    """What a traceback ends with, and where: in the user's own code rather than in a library."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno})"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and not frame.filename.startswith("<")
    ]
    own = [frame for frame in frames if not re.search(r"site-packages|lib/python", frame.filename)]
    where = ""
    if frames:
        frame = (own or frames)[-1]
        where = f" ({frame.filename}, line {frame.lineno}, in {frame.name})"
    return f"{type(error).__name__}: {first_line(error)}{where}"


# ---------------------------------------------------------------------------------------------
# Writing a network to an ONNX file
# ---------------------------------------------------------------------------------------------


def export(recipe: Recipe, request: dict[str, Any]) -> dict[str, Any]:
    """Writes the float32 network with any batch size, and compares what ONNX Runtime makes of it."""
    missing = [name for name in ("onnx", "onnxscript") if not importlib.util.find_spec(name)]
    if missing:
        raise unsupported(
            f"writing ONNX files needs {' and '.join(missing)}; "
            f"`{sys.executable} -m pip install onnx onnxscript`"
        )
    if torch_version() < (2, 6):
        raise unsupported(f"writing ONNX files needs PyTorch 2.6 or newer, and this is {torch.__version__}")
    network = build_network(recipe, request["name"], request["model"])
    if network.kind == "script":
        raise unsupported(f"{network.title} is TorchScript, which torch.onnx.export does not take any "
                          "more; give module=MODULE:FUNCTION or a .pt2 file")  # fmt: skip
    module = network.module if network.kind == "exported" else network.module.eval()
    # Two, because a dimension of one would be taken for a constant.
    inputs = make_inputs([with_batch(spec, 2) for spec in request["inputs"]], [], SEED)
    with torch.no_grad():
        outputs = tensors_of(module(*inputs))
    names = network.output_names
    if len(names) != len(outputs):
        names = [name or f"output{place}" for place, (name, _) in enumerate(outputs)]
    try:
        write_onnx(module, inputs, request, names)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        reason = last_words(error.__cause__ or error)
        raise failed(f"torch.onnx.export did not write {network.title}: {reason}") from error
    worst, note = compare_with_onnxruntime(module, request)
    return {"worst": worst, "notes": [*network.notes, note]}


def write_onnx(module: Any, inputs: list[Any], request: dict[str, Any], names: list[str]) -> None:
    torch.onnx.export(
        module,
        tuple(inputs),
        request["to"],
        dynamo=True,
        # The oldest that this exporter writes, and so what most engines read.
        opset_version=18,
        external_data=False,
        verbose=False,
        input_names=[spec["name"] for spec in request["inputs"]],
        output_names=names,
        dynamic_shapes=tuple({0: torch.export.Dim("batch")} for _ in inputs),
    )


def with_batch(spec: dict[str, Any], batch: int) -> dict[str, Any]:
    return {**spec, "dims": [batch, *spec["dims"][1:]]}


def compare_with_onnxruntime(module: Any, request: dict[str, Any]) -> tuple[Optional[float], str]:
    """The largest difference between the outputs, at a batch size that was not exported."""
    try:
        onnxruntime = importlib.import_module("onnxruntime")
    except ImportError:
        return None, "not compared with the original, because this Python has no onnxruntime"
    specs = [with_batch(spec, 3) for spec in request["inputs"]]
    inputs = make_inputs(specs, [], SEED)
    session = onnxruntime.InferenceSession(request["to"], providers=["CPUExecutionProvider"])
    fed = {spec["name"]: tensor.numpy() for spec, tensor in zip(specs, inputs)}
    found = session.run(None, fed)
    with torch.no_grad():
        wanted = [to_host(tensor) for _, tensor in tensors_of(module(*inputs))]
    pairs = zip(found, wanted)
    worst = max(float(numpy.max(numpy.abs(a.astype("float64") - b), initial=0)) for a, b in pairs)
    if not math.isfinite(worst):
        return None, "outputs hold numbers that are none (NaN or infinite), in one or in both"
    largest = max(float(numpy.max(numpy.abs(array), initial=0)) for array in wanted)
    version = onnxruntime.__version__
    return worst, f"ONNX Runtime {version} differs by up to {worst:.2g} in outputs up to {largest:.3g}"


# ---------------------------------------------------------------------------------------------
# Requests
# ---------------------------------------------------------------------------------------------


def read_request(line: str) -> tuple[str, Any]:
    try:
        return next(iter(json.loads(line).items()))
    except (ValueError, AttributeError, StopIteration) as error:
        raise failed(f"an invalid request: {error}") from error


def spaced(samples: Any) -> str:
    return " ".join(map(str, samples))


# Setup, sizes of the dimensions, and the batch that it is a share of.
CaseKey = tuple[int, tuple[tuple[str, int], ...], Optional[int]]

# Runs under the profiler, and before it.
PROFILE_RUNS = 10
PROFILE_WARM_UP = 3
# Requests to a language model under the profiler, and the new tokens of each.
PROFILE_REQUESTS = 2
PROFILE_TOKENS = 8


class Worker:
    """What the worker holds: a network, and the cases that were opened of it."""

    def __init__(self) -> None:
        self.recipe: Optional[Recipe] = None
        self.network: Optional[Network] = None
        self.module: Any = None
        self.cases: dict[CaseKey, Any] = {}
        self.limit = MemoryLimit("this machine's memory")
        self.handlers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "Probe": self.probe,
            "Load": self.load,
            "Open": self.open,
            "WarmUp": self.warm_up,
            "Measure": self.measure,
            "Outputs": self.outputs,
            "Save": self.save,
            "Profile": self.profile,
            "Export": self.export,
            "Close": self.close,
        }

    def answer(self, line: str) -> str:
        """The reply to a line, whatever happens on the way to it."""
        try:
            kind, what = read_request(line)
            if kind not in self.handlers:
                raise unsupported(f"the worker for PyTorch does not answer {kind}")
            return json.dumps(self.handlers[kind](what), allow_nan=False)
        except (Exception, SystemExit) as error:
            self.limit.lift()
            refused = refusal(error, self.limit)
            reply = {"Refused": {refused.kind: refused.sentence}}
            if not isinstance(error, Refused):
                traceback.print_exc()
            del refused
        # Outside the handler, where the error and the frames that it holds are gone.
        release_memory()
        self.limit.hold()
        return json.dumps(reply)

    def probe(self, _request: dict[str, Any]) -> dict[str, Any]:
        import_torch()
        kind = "rocm" if torch.version.hip else "cuda"
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return {
            "Probed": {
                "version": engine_name(),
                "library": None,
                "devices": ["cpu", *(f"{kind}:{place}" for place in range(count))],
                "providers": [],
                "lacks": lacks(),
            }
        }

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        recipe = read_recipe(request["setup"])
        if recipe.options.get("deterministic") == "true":
            # Read once, when a card's library begins.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        library_ns = import_torch()
        start = time.perf_counter_ns()
        self.limit = memory_limit(recipe)
        check_room(self.limit)
        self.limit.hold()
        check_possible(recipe)
        notes = set_globals(recipe)
        network = build_network(recipe, request["name"], request["model"])
        self.module = prepare(recipe, network)
        self.recipe, self.network = recipe, network
        if recipe.on_card:
            torch.cuda.synchronize()
        load_ns = time.perf_counter_ns() - start
        # Existing objects stay: later collections need not scan all of torch again.
        gc.collect()
        gc.freeze()
        report = {
            "engine": engine_name(),
            "library": torch.__file__,
            "threads": torch.get_num_threads(),
            "start_ns": 0,
            "library_ns": library_ns,
            "load_ns": load_ns,
            "empty_run_ns": empty_run_ns(),
            "clock_ns": clock_ns(),
            "own_weights": network.own_weights,
            "notes": notes + network.notes,
        }
        return {"Loaded": report}

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        recipe, network = self.recipe, self.network
        if recipe is None or network is None:
            raise failed("no model was loaded")
        specs, seed = request["inputs"], request["seed"]
        self.reset_device_peak()
        start = time.perf_counter_ns()
        case: Any
        if recipe.trains:
            case = Training(recipe, network, specs, seed)
        elif recipe.generates:
            if not request.get("generate"):
                raise failed("nothing is said of what requests ask for")
            case = Requests(recipe, network, self.module, request["generate"], seed)
        else:
            inputs = make_inputs(specs, request.get("feed") or [], seed)
            start = time.perf_counter_ns()
            case = Inference(recipe, self.module, inputs, network.output_names)
        open_ns = time.perf_counter_ns() - start
        start = time.perf_counter_ns()
        # Waits for its end, and is timed by the host's clock: compiling happens on the host.
        self.first_run(case, specs)
        first_run_ns = time.perf_counter_ns() - start
        self.cases[key_of(request)] = case
        feeding = case.feeding
        if not recipe.trains and not request.get("feed"):
            feeding = "; ".join(filter(None, [feeding, fills_text(specs)]))
        opened = {"open_ns": open_ns, "first_run_ns": first_run_ns, "feeding": feeding}
        return {"Opened": {**opened, "peak_bytes": None, **self.device_peak()}}

    def first_run(self, case: Any, specs: list[dict[str, Any]]) -> None:
        try:
            with case.mode():
                case.timed_run()
        except AssertionError as error:
            # A guard of the program that was saved.
            if self.network is None or self.network.kind != "exported":
                raise
            dims = ", ".join(str(spec["dims"]) for spec in specs)
            raise unsupported(
                f"{self.network.title} was not exported for inputs of {dims}: {first_line(error)}; "
                'export it with dynamic_shapes=({0: torch.export.Dim("batch")},)'
            ) from error

    def reset_device_peak(self) -> None:
        if self.recipe is not None and self.recipe.on_card:
            torch.cuda.reset_peak_memory_stats()

    def device_peak(self) -> dict[str, int]:
        """The most of the card's memory that torch had in use since it was last reset."""
        if self.recipe is None or not self.recipe.on_card:
            return {}
        return {"device_peak_bytes": torch.cuda.max_memory_allocated()}

    @contextlib.contextmanager
    def running(self, request: dict[str, Any]) -> Iterator[Any]:
        """A case that was opened; one that runs out of memory is dropped."""
        key = key_of(request)
        if key not in self.cases:
            raise failed("this case was not opened")
        try:
            with self.cases[key].mode():
                yield self.cases[key]
        except Exception as error:
            if is_out_of_memory(error):
                self.cases.pop(key, None)
            raise

    def warm_up(self, request: dict[str, Any]) -> dict[str, Any]:
        with self.running(request) as case, undisturbed():
            return {"Warm": warm_up(case, request["rule"], request.get("limit"))}

    def measure(self, request: dict[str, Any]) -> dict[str, Any]:
        self.reset_device_peak()
        with self.running(request) as case, undisturbed():
            before = counters()
            done = measure_round(case, request["rule"])
            measured = {
                "started_monotonic_ns": done.started_monotonic_ns,
                "spent_ns": done.spent_ns,
                "samples_ns": spaced(done.samples_ns),
                "company": company(before),
                **self.device_peak(),
            }
            columns = zip(case.part_names, zip(*done.parts_ns))
            parts = [{"name": name, "samples_ns": spaced(column)} for name, column in columns]
            epochs = case.finished_epochs()
            tokens = generation_document(case.take_generation(), done.samples_ns)
        found = {"parts": parts, "epochs": epochs, "generation": tokens}
        measured.update({key: value for key, value in found.items() if value})
        return {"Measured": measured}

    def outputs(self, request: dict[str, Any]) -> dict[str, Any]:
        with self.running(request) as case:
            return {"Outputs": [output_document(name, array) for name, array in case.outputs()]}

    def save(self, request: dict[str, Any]) -> dict[str, Any]:
        paths = []
        with self.running(request) as case:
            for place_, (_, array) in enumerate(case.outputs()):
                path = os.path.join(request["folder"], f"{place_}.npy")
                numpy.save(path, array)
                paths.append(path)
        return {"Saved": paths}

    def profile(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs a few times under torch's profiler, and leaves its trace in a folder."""
        self.load(request)
        case_key = {"setup": 0, "point": {"batch": 0}}
        runs, warm_up = PROFILE_RUNS, PROFILE_WARM_UP
        asked = request.get("generate")
        if asked:
            # Whole requests, with a prompt and a few tokens each.
            request = {**request, "generate": {**asked, "new": min(asked["new"], PROFILE_TOKENS)}}
            runs, warm_up = PROFILE_REQUESTS, 1
        self.open({**request, "case": case_key})
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self.recipe is not None and self.recipe.on_card:
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        path = os.path.join(request["folder"], "torch.json")
        with self.running({"case": case_key}) as case:
            for _ in range(warm_up):
                case.timed_run()
            # Shapes say what each operator has to do.
            watched = torch.profiler.profile(
                activities=activities, record_shapes=True, profile_memory=True, acc_events=True
            )
            case.watched = True
            with watched as seen:
                began_ns = time.monotonic_ns()
                for number in range(runs):
                    with torch.profiler.record_function(f"run {number + 1}"):
                        case.timed_run()
            seen.export_chrome_trace(path)
        return {"Profiled": {"files": [path], "runs": runs, "began_ns": began_ns}}

    def export(self, request: dict[str, Any]) -> dict[str, Any]:
        recipe = read_recipe(request["setup"])
        import_torch()
        # The network itself is written, regardless of how a setup runs it.
        options = {key: value for key, value in recipe.options.items() if key == "module"}
        plain = Recipe("cpu", "cpu", frozenset(["eager"]), options)
        return {"Exported": export(plain, request)}

    def close(self, request: dict[str, Any]) -> str:
        self.cases.pop(key_of(request), None)
        if not self.cases and "torch._dynamo" in sys.modules:
            # Compiled code is kept by the compiler and not by the case.
            torch._dynamo.reset()
        release_memory()
        return "Closed"


def generation_document(taken: Optional[dict[str, Any]], samples_ns: list[int]) -> Optional[dict[str, Any]]:
    """The tokens of a round. A request that had to wait has its first token so much later: its sample counts
    from the arrival, and the tokens of a request add up to its sample."""
    if not taken:
        return None
    later = taken["later_token_ns"]
    each = len(later) // max(1, len(samples_ns))
    first = [
        max(0, sample - sum(later[place * each : (place + 1) * each]))
        for place, sample in enumerate(samples_ns)
    ]
    return {**taken, "first_token_ns": spaced(first), "later_token_ns": spaced(later)}


def key_of(request: dict[str, Any]) -> CaseKey:
    """A case: setup, sizes, and what batch it is a share of where several workers share one."""
    case = request["case"]
    return case["setup"], tuple(sorted(case["point"].items())), case.get("whole")


# ---------------------------------------------------------------------------------------------
# The process
# ---------------------------------------------------------------------------------------------


def private_streams() -> tuple[Any, Any]:
    """The protocol's two streams, which nothing else can reach: whatever torch, the user's code or a
    process of theirs prints goes to standard error, and whatever they read finds its end at once."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def depend_on_parent() -> None:
    """Should the parent be killed, the kernel takes this process along, whatever it is doing. Where
    memory runs out all the same, this process is to go, and not the user's editor."""
    with contextlib.suppress(OSError, AttributeError):
        pr_set_pdeathsig, sigkill = 1, 9
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, sigkill)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def main() -> None:
    requests, replies = private_streams()
    depend_on_parent()
    replies.write(json.dumps({"protocol": PROTOCOL, "program": PROGRAM, "pid": os.getpid()}) + "\n")
    replies.flush()
    worker = Worker()
    for line in requests:
        replies.write(worker.answer(line) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
