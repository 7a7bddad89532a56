"""The most memory that the worker may have and had, and errors where that is not enough."""

import contextlib
import dataclasses
import gc
import os
import re
import resource
import sys
from pathlib import Path
from typing import Optional

from .errors import Refused, failed, last_words, unsupported
from .recipe import Recipe

UNITS = {"": 1, "b": 1, "k": 2**10, "kib": 2**10, "kb": 10**3, "m": 2**20, "mib": 2**20, "mb": 10**6,
         "g": 2**30, "gib": 2**30, "gb": 10**9}  # fmt: skip
OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|cannot allocate memory|not enough memory|out of memory|bad_alloc|alloc_failed",
    re.I,
)


@dataclasses.dataclass
class MemoryLimit:
    """The most memory that the worker may have."""

    # How messages call it.
    called: str
    # Nothing where only the card's own memory counts.
    limit: Optional[int] = None

    def hold(self) -> None:
        if self.limit is not None:
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            # A limit that the user's login already has can be lowered, never raised.
            limit = self.limit if hard == resource.RLIM_INFINITY else min(self.limit, hard)
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))

    def lift(self) -> None:
        """Where nothing is left, not even an answer can be written."""
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def memory_limit(recipe: Recipe) -> MemoryLimit:
    """The setup's limit; without one, on a processor, the machine's memory: a network that only runs
    from swap is not measured but endured."""
    text = recipe.options.get("memory")
    if text is None and recipe.on_card:
        return MemoryLimit(f"the memory of {recipe.device}")
    if text is None:
        pages = os.sysconf("SC_PHYS_PAGES")
        return MemoryLimit("this machine's memory", pages * os.sysconf("SC_PAGE_SIZE"))
    found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([a-z]*)\s*", text.lower())
    if not found or found.group(2) not in UNITS:
        raise unsupported(f"memory={text} is no amount of memory; write bytes or for example 4GiB")
    return MemoryLimit(f"memory={text}", int(float(found.group(1)) * UNITS[found.group(2)]))


def check_room(limit: MemoryLimit) -> None:
    """Refuses a limit that PyTorch exceeds before there is any network."""
    status = Path("/proc/self/status")
    found = re.search(r"VmData:\s*(\d+) kB", status.read_text()) if status.exists() else None
    if found and limit.limit is not None and int(found.group(1)) * 1024 >= limit.limit:
        raise Refused(
            "OutOfMemory",
            f"PyTorch by itself takes {int(found.group(1)) // 1024} MiB before there is any network, "
            f"and {limit.called} allows less; allow more with memory=, or leave it out",
        )


def release_memory() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or bool(OUT_OF_MEMORY.search(str(error)))


def refusal(error: BaseException, limit: MemoryLimit) -> Refused:
    """The message of an error for the user."""
    if isinstance(error, Refused):
        return error
    if is_out_of_memory(error):
        wanted = re.search(r"tried to allocate ([\d.]+) ?(\w+)", str(error), re.I)
        more = ""
        if wanted and wanted.group(2) == "bytes":
            more = f" for {int(wanted.group(1)) / 2**20:,.1f} MiB more"
        elif wanted:
            more = f" for {wanted.group(1)} {wanted.group(2)} more"
        sentence = f"PyTorch asked{more or ' for more'} than {limit.called} has left"
        return Refused("OutOfMemory", sentence)
    return failed(last_words(error))


def forget_peak() -> None:
    """The peak begins anew from what there is now: loading is none of a case's memory."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_bytes() -> Optional[int]:
    status = Path("/proc/self/status")
    text = status.read_text(encoding="ascii", errors="replace") if status.exists() else ""
    found = re.search(r"VmHWM:\s*(\d+) kB", text)
    return int(found.group(1)) * 1024 if found else None
