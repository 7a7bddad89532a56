"""The program `powerband`: where it is, and what it answers."""

import functools
import json
import os
import shutil
import subprocess
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import Any, Optional

# Names the program where it is not the one that was installed with this package.
VARIABLE = "POWERBAND"


class PowerbandError(Exception):
    """Why something cannot be read or measured, in a sentence."""


@functools.lru_cache(maxsize=None)
def checked_program(named: Optional[str]) -> str:
    """The path of the program, which has to be of this package's version."""
    installed = Path(sysconfig.get_path("scripts")) / "powerband"
    path = named or (str(installed) if installed.exists() else shutil.which("powerband"))
    if path is None:
        raise PowerbandError(
            "the program powerband is not installed beside this package: reinstall the package, "
            f"or set {VARIABLE} to the path of the program"
        )
    try:
        said = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        name, version = said.stdout.split()[:2]
    except (OSError, ValueError):
        name, version = "", ""
    if name != "powerband":
        raise PowerbandError(f"{path} is not the program powerband, or cannot be started")
    try:
        own = metadata.version("powerband")
    except metadata.PackageNotFoundError:
        # Not installed, but used from its sources.
        own = version
    if own != version:
        raise PowerbandError(
            f"this package is of version {own}, and {path} is powerband {version}: install the same version of both"
        )
    return path


def program() -> str:
    """The path of the program."""
    return checked_program(os.environ.get(VARIABLE))


def reason(stderr: str) -> str:
    """Why the program failed: what it said of itself, else its last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    own = [line.partition(": ")[2] for line in lines if line.startswith(("powerband: ", "error: "))]
    return (own or lines or ["powerband failed without a word"])[-1]


def answer(*words: str) -> str:
    """What a command prints, where it is successful."""
    done = subprocess.run(
        [program(), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode != 0:
        raise PowerbandError(reason(done.stderr))
    return done.stdout


def document(*words: str) -> Any:
    """The JSON document that a command prints."""
    return json.loads(answer(*words))
