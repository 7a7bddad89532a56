"""The device, the numbers and the order in memory that a setup wants of tensors and modules."""

import contextlib
from typing import Any

import torch

from .recipe import MIXED, WHOLE, Recipe


def dtype_of(recipe: Recipe) -> Any:
    """The type of weights and inputs."""
    return getattr(torch, WHOLE.get(recipe.numbers or "", "float32"))


def autocast(recipe: Recipe, cache: bool = True) -> Any:
    """Mixed precision, or nothing where the setup does not ask for it."""
    if recipe.numbers not in MIXED:
        return contextlib.nullcontext()
    kind = torch.device(recipe.target).type
    return torch.autocast(kind, getattr(torch, MIXED[recipe.numbers]), cache_enabled=cache)


def place_tensor(recipe: Recipe, tensor: Any) -> Any:
    if tensor.is_floating_point() and recipe.numbers in WHOLE:
        tensor = tensor.to(dtype_of(recipe))
    if "channels-last" in recipe.words and tensor.dim() == 4:
        tensor = tensor.contiguous(memory_format=torch.channels_last)
    return tensor.to(recipe.target)


def place_module(recipe: Recipe, module: Any) -> Any:
    if recipe.numbers in WHOLE:
        module = module.to(dtype=dtype_of(recipe))
    if "channels-last" in recipe.words:
        module = module.to(memory_format=torch.channels_last)
    return module.to(recipe.target)
