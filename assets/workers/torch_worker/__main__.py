"""The process: it says who it is, and answers the requests that come on standard input."""

import contextlib
import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

# Python has the package's own folder here. In the one around it no file of ours stands in for a module of the user.
sys.path[0] = str(Path(__file__).parent.parent)

from torch_worker.worker import Worker  # noqa: E402

PROTOCOL = 2
PROGRAM = "powerband torch worker"


def private_streams() -> tuple[Any, Any]:
    """The protocol's two streams, which nothing else can reach: whatever torch, the user's code or a
    process of theirs prints goes to standard error, and whatever they read finds its end at once."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def depend_on_parent() -> None:
    """Should the parent be killed, the kernel takes this process along, whatever it is doing. Where
    memory runs out all the same, this process is to go, and not the user's editor."""
    with contextlib.suppress(OSError, AttributeError):
        pr_set_pdeathsig, sigkill = 1, 9
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, sigkill)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def main() -> None:
    requests, replies = private_streams()
    depend_on_parent()
    replies.write(json.dumps({"protocol": PROTOCOL, "program": PROGRAM, "pid": os.getpid()}) + "\n")
    replies.flush()
    worker = Worker()
    for line in requests:
        replies.write(worker.answer(line) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
