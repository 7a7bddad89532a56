"""Importing PyTorch and NumPy, or saying why they cannot be."""

import importlib
import sys

from .errors import last_words, unsupported


def import_torch() -> None:
    for name in ("torch", "numpy"):
        try:
            importlib.import_module(name)
        except (Exception, SystemExit) as error:
            raise unsupported(cannot_import(name, error)) from error


def cannot_import(name: str, error: BaseException) -> str:
    title = {"torch": "PyTorch", "numpy": "NumPy"}[name]
    packages = {"torch": "torch torchvision numpy", "numpy": "numpy"}[name]
    python = sys.executable
    install = f"install it with `{python} -m pip install {packages}`, or name another with python="
    if isinstance(error, ModuleNotFoundError) and error.name == name:
        return f"this Python ({python}) has no {title} ({error}); {install}"
    return f"the {title} of this Python ({python}) does not load ({last_words(error)}); {install}"
