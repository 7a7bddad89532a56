"""Tables as frames of pandas or polars, whichever is installed, else as lists of dictionaries."""

import csv
import importlib
import importlib.util
import re
import struct
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

from ._program import PowerbandError

LIBRARIES = ("pandas", "polars")


def library(wanted: Optional[str]) -> Optional[Any]:
    """The module that makes frames: the wanted one, else one that is in use, else one that is installed."""
    if wanted == "list":
        return None
    if wanted is not None and wanted not in LIBRARIES:
        raise PowerbandError(f"frames={wanted!r} is not known; there are pandas, polars and list")
    found = [wanted] if wanted else [name for name in LIBRARIES if sys.modules.get(name)]
    found = found or [name for name in LIBRARIES if importlib.util.find_spec(name)]
    if not found:
        return None
    try:
        return importlib.import_module(found[0])
    except ImportError as error:
        raise PowerbandError(f"{found[0]} cannot be imported: {error}") from error


def frame(rows: List[Dict[str, Any]], wanted: Optional[str]) -> Any:
    """A frame of rows."""
    module = library(wanted)
    if module is None:
        return rows
    if module.__name__ == "polars":
        return module.DataFrame(rows, infer_schema_length=None)
    return module.DataFrame(rows)


NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def read_csv(path: Path, wanted: Optional[str]) -> Any:
    """A frame of a table that the program wrote."""
    module = library(wanted)
    if module is None:
        with open(path, newline="", encoding="utf-8") as file:
            return [{name: value(text) for name, text in row.items()} for row in csv.DictReader(file)]
    if module.__name__ == "polars":
        return module.read_csv(path, infer_schema_length=None)
    return module.read_csv(path)


def value(text: str) -> Any:
    """A cell: a number where it is one, and nothing where it is empty."""
    if not NUMBER.fullmatch(text):
        return text or None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def samples(path: Path, cases: List[Dict[str, Any]], wanted: Optional[str]) -> Any:
    """A frame of an array of samples: case, round, sample and nanoseconds, with what is known of each case."""
    module = library(wanted)
    if module is None or not importlib.util.find_spec("numpy"):
        with open(path, "rb") as file:
            content = file.read()
        begin = 10 + struct.unpack_from("<H", content, 8)[0]
        rows = struct.iter_unpack("<4q", memoryview(content)[begin:])
        return frame(
            [{**cases[case], "round": number, "sample": sample, "ns": ns} for case, number, sample, ns in rows], wanted
        )
    import numpy

    array = numpy.load(path)
    place = array[:, 0]
    columns: Dict[str, Any] = {}
    for name in cases[0] if cases else {}:
        values = [case[name] for case in cases]
        of_cases = texts(module, values) if isinstance(values[0], str) else numpy.array(values)
        columns[name] = of_cases[place]
    columns.update(round=array[:, 1], sample=array[:, 2], ns=array[:, 3])
    return module.DataFrame(columns)


def texts(module: Any, values: List[str]) -> Any:
    """Texts that a column can repeat a million times."""
    if module.__name__ == "pandas":
        return module.Categorical(values)
    return module.Series(values, dtype=module.Categorical)
