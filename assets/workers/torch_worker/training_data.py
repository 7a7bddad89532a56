"""The pictures that training learns from."""

import importlib
import os
import random
import sys
from pathlib import Path
from typing import Any, Optional

import numpy
import torch

from .errors import failed, unsupported
from .recipe import SEED, Recipe

# Default number of pictures in an epoch.
EPOCH_ITEMS = 512


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
