"""What each request does."""

import contextlib
import gc
import itertools
import os
import sys
import time
from typing import Any, Callable, Iterator, Optional

import numpy
import torch

from .availability import check_possible, engine_name, lacks
from .cpu_contention import contention_since, counters
from .errors import failed, first_line, unsupported
from .export import export
from .generation import Generation, generation_document
from .inference import Inference
from .measuring import clock_ns, empty_run_ns, measure_round, spaced, undisturbed, warm_up
from .memory import (
    MemoryLimit,
    check_room,
    forget_peak,
    is_out_of_memory,
    memory_limit,
    peak_bytes,
    release_memory,
)
from .modes import prepare, set_globals
from .networks import Network, build_network
from .recipe import Recipe
from .tensors import fills_text, make_inputs, output_document
from .training import Training

# Setup, sizes of the dimensions, and the batch that it is a share of.
CaseKey = tuple[int, tuple[tuple[str, int], ...], Optional[int]]
# Runs under the profiler, and before it; no further one begins after so many seconds.
PROFILE_RUNS = 10
PROFILE_WARM_UP = 3
PROFILE_S = 20.0
PROFILE_WARM_UP_S = 5.0
# Requests to a language model under the profiler, and the new tokens of each.
PROFILE_REQUESTS = 2
PROFILE_TOKENS = 8


def while_short(run: Callable[[], Any], least: int, most: int, limit_s: float) -> int:
    """Runs as often as wanted, and at least so often where that takes too long; how often it was."""
    began = time.monotonic()
    done = 0
    while done < least or (done < most and time.monotonic() - began < limit_s):
        run()
        done += 1
    return done


class Handlers:
    """A network, the cases that were opened of it, and what requests do with them."""

    def __init__(self) -> None:
        self.recipe: Optional[Recipe] = None
        self.network: Optional[Network] = None
        self.module: Any = None
        self.cases: dict[CaseKey, Any] = {}
        self.has_opened = False
        self.limit = MemoryLimit("this machine's memory")
        self.by_kind: dict[str, Callable[[dict[str, Any]], Any]] = {
            "Probe": self.probe,
            "Load": self.load,
            "Open": self.open,
            "WarmUp": self.warm_up,
            "Measure": self.measure,
            "Outputs": self.outputs,
            "Save": self.save,
            "Profile": self.profile,
            "Export": self.export,
            "Close": self.close,
        }

    def probe(self, _request: dict[str, Any]) -> dict[str, Any]:
        kind = "rocm" if torch.version.hip else "cuda"
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return {
            "Probed": {
                "version": engine_name(),
                "library": None,
                "devices": ["cpu", *(f"{kind}:{place}" for place in range(count))],
                "providers": [],
                "lacks": lacks(),
            }
        }

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        recipe = request["recipe"]
        if recipe.options.get("deterministic") == "true":
            # Read once, when a card's library begins.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        start = time.perf_counter_ns()
        self.limit = memory_limit(recipe)
        check_room(self.limit)
        self.limit.hold()
        check_possible(recipe)
        notes = set_globals(recipe)
        network = build_network(recipe, request["name"], request["model"])
        self.module = prepare(recipe, network)
        self.recipe, self.network = recipe, network
        if recipe.on_card:
            torch.cuda.synchronize()
        load_ns = time.perf_counter_ns() - start
        # Existing objects stay: later collections need not scan all of torch again.
        gc.collect()
        gc.freeze()
        report = {
            "engine": engine_name(),
            "library": torch.__file__,
            "threads": torch.get_num_threads(),
            "start_ns": 0,
            "library_ns": request["library_ns"],
            "load_ns": load_ns,
            "empty_run_ns": empty_run_ns(),
            "clock_ns": clock_ns(),
            "own_weights": network.own_weights,
            "notes": notes + network.notes,
        }
        return {"Loaded": report}

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        recipe, network = self.recipe, self.network
        if recipe is None or network is None:
            raise failed("no model was loaded")
        specs, seed = request["inputs"], request["seed"]
        if not self.has_opened:
            self.has_opened = True
            forget_peak()
        self.reset_device_peak()
        start = time.perf_counter_ns()
        case: Any
        if recipe.trains:
            case = Training(recipe, network, specs, seed)
        elif recipe.generates:
            if not request.get("generate"):
                raise failed("nothing is said of what requests ask for")
            case = Generation(recipe, network, self.module, request["generate"], seed)
        else:
            inputs = make_inputs(specs, request.get("feed") or [], seed)
            start = time.perf_counter_ns()
            case = Inference(recipe, self.module, inputs, network.output_names)
        open_ns = time.perf_counter_ns() - start
        start = time.perf_counter_ns()
        # Waits for its end, and is timed by the host's clock: compiling happens on the host.
        self.first_run(case, specs)
        first_run_ns = time.perf_counter_ns() - start
        self.cases[key_of(request)] = case
        feeding = case.feeding
        if not recipe.trains and not request.get("feed"):
            feeding = "; ".join(filter(None, [feeding, fills_text(specs)]))
        opened = {"open_ns": open_ns, "first_run_ns": first_run_ns, "feeding": feeding}
        return {"Opened": {**opened, "peak_bytes": peak_bytes(), **self.device_peak()}}

    def first_run(self, case: Any, specs: list[dict[str, Any]]) -> None:
        try:
            with case.mode():
                case.timed_run()
        except AssertionError as error:
            # A guard of the program that was saved.
            if self.network is None or self.network.kind != "exported":
                raise
            dims = ", ".join(str(spec["dims"]) for spec in specs)
            raise unsupported(
                f"{self.network.title} was not exported for inputs of {dims}: {first_line(error)}; "
                'export it with dynamic_shapes=({0: torch.export.Dim("batch")},)'
            ) from error

    def reset_device_peak(self) -> None:
        if self.recipe is not None and self.recipe.on_card:
            torch.cuda.reset_peak_memory_stats()

    def device_peak(self) -> dict[str, int]:
        """The most of the card's memory that torch had in use since it was last reset."""
        if self.recipe is None or not self.recipe.on_card:
            return {}
        return {"device_peak_bytes": torch.cuda.max_memory_allocated()}

    @contextlib.contextmanager
    def running(self, request: dict[str, Any]) -> Iterator[Any]:
        """A case that was opened; one that runs out of memory is dropped."""
        key = key_of(request)
        if key not in self.cases:
            raise failed("this case was not opened")
        try:
            with self.cases[key].mode():
                yield self.cases[key]
        except Exception as error:
            if is_out_of_memory(error):
                self.cases.pop(key, None)
            raise

    def warm_up(self, request: dict[str, Any]) -> dict[str, Any]:
        with self.running(request) as case, undisturbed():
            return {"Warm": warm_up(case, request["rule"], request.get("limit"))}

    def measure(self, request: dict[str, Any]) -> dict[str, Any]:
        self.reset_device_peak()
        with self.running(request) as case, undisturbed():
            before = counters()
            done = measure_round(case, request["rule"])
            measured = {
                "started_monotonic_ns": done.started_monotonic_ns,
                "spent_ns": done.spent_ns,
                "samples_ns": spaced(done.samples_ns),
                "company": contention_since(before),
                **self.device_peak(),
            }
            columns = zip(case.part_names, zip(*done.parts_ns))
            parts = [{"name": name, "samples_ns": spaced(column)} for name, column in columns]
            epochs = case.finished_epochs()
            tokens = generation_document(case.take_generation(), done.samples_ns)
        found = {"parts": parts, "epochs": epochs, "generation": tokens}
        measured.update({key: value for key, value in found.items() if value})
        return {"Measured": measured}

    def outputs(self, request: dict[str, Any]) -> dict[str, Any]:
        with self.running(request) as case:
            return {"Outputs": [output_document(name, array) for name, array in case.outputs()]}

    def save(self, request: dict[str, Any]) -> dict[str, Any]:
        paths = []
        with self.running(request) as case:
            for place_, (_, array) in enumerate(case.outputs()):
                path = os.path.join(request["folder"], f"{place_}.npy")
                numpy.save(path, array)
                paths.append(path)
        return {"Saved": paths}

    def profile(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs a few times under torch's profiler, and leaves its trace in a folder."""
        self.load(request)
        case_key = {"setup": 0, "point": {"batch": 0}}
        runs, warm_up = PROFILE_RUNS, PROFILE_WARM_UP
        asked = request.get("generate")
        if asked:
            # Whole requests, with a prompt and a few tokens each.
            request = {**request, "generate": {**asked, "new": min(asked["new"], PROFILE_TOKENS)}}
            runs, warm_up = PROFILE_REQUESTS, 1
        self.open({**request, "case": case_key})
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self.recipe is not None and self.recipe.on_card:
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        path = os.path.join(request["folder"], "torch.json")
        with self.running({"case": case_key}) as case:
            while_short(case.timed_run, 1, warm_up, PROFILE_WARM_UP_S)
            # Shapes say what each operator has to do.
            watched = torch.profiler.profile(
                activities=activities, record_shapes=True, profile_memory=True, acc_events=True
            )
            case.watched = True
            with watched as seen:
                began_ns = time.monotonic_ns()
                numbers = itertools.count(1)

                def named_run() -> None:
                    with torch.profiler.record_function(f"run {next(numbers)}"):
                        case.timed_run()

                runs = while_short(named_run, min(2, runs), runs, PROFILE_S)
            seen.export_chrome_trace(path)
        return {"Profiled": {"files": [path], "runs": runs, "began_ns": began_ns}}

    def export(self, request: dict[str, Any]) -> dict[str, Any]:
        # The network itself is written, regardless of how a setup runs it.
        options = {key: value for key, value in request["recipe"].options.items() if key == "module"}
        plain = Recipe("cpu", "cpu", frozenset(["eager"]), options)
        return {"Exported": export(plain, request)}

    def close(self, request: dict[str, Any]) -> str:
        self.cases.pop(key_of(request), None)
        if not self.cases and "torch._dynamo" in sys.modules:
            # Compiled code is kept by the compiler and not by the case.
            torch._dynamo.reset()
        release_memory()
        return "Closed"


def key_of(request: dict[str, Any]) -> CaseKey:
    """A case: setup, sizes, and what batch it is a share of where several workers share one."""
    case = request["case"]
    return case["setup"], tuple(sorted(case["point"].items())), case.get("whole")
