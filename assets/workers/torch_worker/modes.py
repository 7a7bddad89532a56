"""How a network is run: prepared, compiled, traced, and with which settings of the process."""

import importlib
import os
import random
import shutil
import warnings
from typing import Any

import numpy
import torch

from .errors import last_words, unsupported
from .networks import Network
from .placing import autocast, place_module
from .recipe import MIXED, SEED, WHOLE, Recipe


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
    return module if recipe.trains else place_module(recipe, module)


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
    with torch.no_grad(), autocast(recipe, cache=False), warnings.catch_warnings():
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
