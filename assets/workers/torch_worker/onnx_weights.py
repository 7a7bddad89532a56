"""The weights of ONNX files, read without a library."""

import math
import mmap
import os
from typing import Any, Iterator, Optional

import numpy
import torch

from .errors import failed

# ONNX's numbers for element types.
ONNX_TYPES = {1: "<f4", 6: "<i4", 7: "<i8", 10: "<f2", 11: "<f8"}
# Numbers in a state that are counted or worked out and not learned.
NOT_LEARNED = ("num_batches_tracked", "inv_freq", "position_ids", ".masked_bias", ".attn.bias")


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
