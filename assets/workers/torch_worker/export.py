"""Writing a network to an ONNX file."""

import importlib
import importlib.util
import math
import sys
from typing import Any, Optional

import numpy
import torch

from .availability import torch_version
from .errors import failed, last_words, unsupported
from .memory import is_out_of_memory
from .networks import build_network
from .recipe import SEED, Recipe
from .tensors import make_inputs, tensors_of, to_host


def export(recipe: Recipe, request: dict[str, Any]) -> dict[str, Any]:
    """Writes the float32 network with any batch size, and compares what ONNX Runtime makes of it."""
    missing = [name for name in ("onnx", "onnxscript") if not importlib.util.find_spec(name)]
    if missing:
        raise unsupported(
            f"writing ONNX files needs {' and '.join(missing)}; `{sys.executable} -m pip install onnx onnxscript`"
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
