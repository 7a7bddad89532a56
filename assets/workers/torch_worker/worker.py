"""Replies to requests, whatever goes wrong in them."""

import importlib
import json
import time
import traceback
from typing import Any

from .errors import Refused, failed, unsupported
from .importing import import_torch
from .memory import MemoryLimit, refusal, release_memory
from .recipe import read_recipe


class Worker:
    """Reads requests, and hands them to `Handlers`, which is imported once PyTorch is."""

    def __init__(self) -> None:
        self.handlers: Any = None

    def answer(self, line: str) -> str:
        """The reply to a line, whatever happens on the way to it."""
        try:
            return json.dumps(self.reply(*read_request(line)), allow_nan=False)
        except (Exception, SystemExit) as error:
            self.limit.lift()
            refused = refusal(error, self.limit)
            reply = {"Refused": {refused.kind: refused.sentence}}
            if not isinstance(error, Refused):
                traceback.print_exc()
            del refused
        # Outside the handler, where the error and the frames that it holds are gone.
        release_memory()
        self.limit.hold()
        return json.dumps(reply)

    def reply(self, kind: str, request: dict[str, Any]) -> Any:
        if "setup" in request:
            # A setup that contradicts itself is refused before PyTorch is imported, which takes seconds.
            request["recipe"] = read_recipe(request["setup"])
        start = time.perf_counter_ns()
        import_torch()
        if self.handlers is None:
            self.handlers = importlib.import_module(".handlers", __package__).Handlers()
        request["library_ns"] = time.perf_counter_ns() - start
        handler = self.handlers.by_kind.get(kind)
        if handler is None:
            raise unsupported(f"the worker for PyTorch does not answer {kind}")
        return handler(request)

    @property
    def limit(self) -> MemoryLimit:
        return self.handlers.limit if self.handlers else MemoryLimit("this machine's memory")


def read_request(line: str) -> tuple[str, Any]:
    try:
        return next(iter(json.loads(line).items()))
    except (ValueError, AttributeError, StopIteration) as error:
        raise failed(f"an invalid request: {error}") from error
