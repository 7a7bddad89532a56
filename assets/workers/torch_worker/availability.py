"""What is not possible with this PyTorch on this machine, and what helps."""

import importlib
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
import warnings
from pathlib import Path
from typing import Callable, Optional

import torch

from .errors import first_line, unsupported
from .memory import is_out_of_memory
from .placing import autocast, dtype_of, place_tensor
from .recipe import MIXED, WHOLE, Recipe


def torch_version() -> tuple[int, int]:
    """Major and minor version."""
    found = re.match(r"(\d+)\.(\d+)", torch.__version__)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def engine_name() -> str:
    return f"PyTorch {torch.__version__}"


def check_possible(recipe: Recipe) -> None:
    """Refuses what this PyTorch on this machine cannot do."""
    reason = lacks_device(recipe.device)
    if not reason and recipe.compiler:
        reason = LACKS_COMPILER[recipe.compiler](recipe.on_card)
    if not reason and recipe.numbers:
        reason = lacks_numbers(recipe.numbers, recipe.target)
    if reason:
        raise unsupported(reason)


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
        with torch.inference_mode(), autocast(recipe), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = nn.Sequential(*layers).eval().to(target, dtype_of(recipe))
            done = network(place_tensor(recipe, torch.zeros(2, 3, 8, 8))).dtype == wanted
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
