"""Inputs as the protocol describes them, and outputs as it wants them."""

import math
from pathlib import Path
from typing import Any, Optional

import numpy
import torch

from .errors import failed, unsupported

# Beyond 16 MiB the supervisor takes a line for garbled; a number of an output takes up to 25 bytes.
MOST_VALUES = 600_000
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
        named: list[tuple[Optional[str], Any]] = []
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
