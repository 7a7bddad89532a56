"""Tests of the package `powerband`: a function each, which tests/it/python.rs runs in a process of its own."""

import gc
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import types
import warnings
from pathlib import Path

import powerband
from powerband import _program

ROOT = Path(os.environ["TEST_SOURCES"])
SESSION = ROOT / "sessions/resnet50-what-limits-it.ron"
# Rounds follow one another.
AT_ONCE = {"spacing": "0s", "preset": "quick"}


def spin(n=2_000):
    return sum(range(n))


def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind, repr(error)
        said = str(error)
        assert all(word in said for word in words), said
        return error
    raise AssertionError(f"no {kind.__name__}")


def a_session_is_read_as_lists():
    # As where neither is installed.
    sys.modules["pandas"] = sys.modules["polars"] = None
    session = powerband.read(SESSION)
    assert [type(row) for row in session.cases] == [dict] * 4
    first = session.cases[0]
    assert (first["setup"], first["batch"], first["outcome"]) == ("ort:cpu", 1, "finished")
    assert first["median_ms"] == session.document["cases"][0]["latency_ms"]["median"]
    of_first = [row for row in session.samples if row["setup"] == "ort:cpu" and row["batch"] == 1]
    assert len(of_first) == first["samples"]
    assert min(row["ns"] for row in of_first) / 1e6 == first["min_ms"]
    assert len(session.samples) == sum(row["samples"] for row in session.cases)
    assert {row["profile"] for row in session.kernels} == {"ort:cpu, batch 1", "rten:cpu, batch 1"}
    longest = session.kernels[0]
    assert (longest["operators"], longest["bound"], longest["calls"]) == ("Conv", "compute", 10)
    readings = [row for row in session.telemetry if row["quantity"] == "busy_percent"]
    assert readings and all(0 <= row["value"] <= 100 for row in readings)
    assert [row["verdict"] for row in session.comparisons] == ["slower", "slower"]
    compared = session.compare(before="rten", after="ort")
    assert compared.verdict == "faster" and len(compared.pairs) == 2
    assert compared.speed_up is None, "of two cases"
    html = session._repr_html_()
    assert "</thead>\n<tbody>\n</tbody>" not in html, "a table without rows"
    assert "<table>" in html and "data:image/svg+xml," in html and "<script" not in html
    assert "<table>" in compared._repr_html_() and "faster" in str(compared)
    assert session.chart("throughput").startswith("<svg")
    assert "ResNet-50" in str(session) and "4 cases" in repr(session)
    published = powerband.read(ROOT / "sessions/published-resnet50-case-study.ron")
    assert published.telemetry == [] and published.kernels == []


def a_session_is_read_as_frames():
    plain = powerband.read(SESSION, frames="list")
    for name in ("pandas", "polars"):
        if not importlib.util.find_spec(name):
            print(f"SKIPPED: a Python with {name} (pip install {name})", file=sys.stderr)
            continue
        session = powerband.read(SESSION, frames=name)
        for table in ("cases", "samples", "kernels", "telemetry", "comparisons"):
            frame, rows = getattr(session, table), getattr(plain, table)
            assert type(frame).__module__.startswith(name), type(frame)
            assert list(frame.columns) == list(rows[0]), table
            assert len(frame) == len(rows), table
        assert list(session.cases["median_ms"]) == [row["median_ms"] for row in plain.cases]
        assert list(session.samples["ns"]) == [row["ns"] for row in plain.samples]
        assert [str(text) for text in session.samples["setup"]] == [row["setup"] for row in plain.samples]
    raises(powerband.PowerbandError, ["pandas, polars and list"], lambda: powerband.read(SESSION, frames="x").cases)


def files_of_other_tools_are_read():
    found = sorted((ROOT / "tests/fixtures/import/hyperfine").glob("*.json"))
    session = powerband.read(found[0], frames="list")
    assert len(session.cases) > 0 and session.samples[0]["ns"] > 0
    traces = sorted((ROOT / "tests/fixtures/import/onnxruntime").glob("*.json"))
    assert powerband.read(traces[0], frames="list").kernels


def what_cannot_be_read_is_a_sentence():
    error = powerband.PowerbandError
    raises(error, ["there is no file", "nonesuch.ron"], lambda: powerband.read("nonesuch.ron"))
    Path("odd.ron").write_text("(name: ")
    raises(error, ["odd.ron"], lambda: powerband.read("odd.ron"))
    Path("--help").write_text("nothing that anybody writes")
    raises(error, ["--help"], lambda: powerband.read("--help"))
    session = powerband.read(SESSION)
    raises(error, ["nonesuch"], lambda: session.compare("nonesuch.ron"))
    raises(error, ["has no setup"], lambda: session.compare(before="nonesuch"))
    raises(error, ["there is no figure"], lambda: session.chart("nonesuch"))


def a_program_that_is_missing_or_another_one_is_a_sentence():
    def with_program(path, words):
        os.environ["POWERBAND"] = str(path)
        raises(powerband.PowerbandError, words, lambda: powerband.read(SESSION))
        raises(powerband.PowerbandError, words, lambda: powerband.compare(spin, spin))

    with_program("/nonesuch/powerband", ["/nonesuch/powerband", "cannot be started"])
    with_program("/bin/true", ["/bin/true", "not the program"])
    old = Path("old").absolute()
    old.write_text("#!/bin/sh\necho powerband 0.0.1 of long ago\n")
    old.chmod(0o755)
    _program.metadata.version = lambda _name: "0.1.0"
    with_program(old, ["version 0.1.0", "powerband 0.0.1"])
    del os.environ["POWERBAND"]
    os.environ["PATH"] = "/nonesuch"
    raises(powerband.PowerbandError, ["POWERBAND", "reinstall"], lambda: powerband.read(SESSION))


def a_loop_becomes_a_case():
    apart = {"spacing": "100ms"}
    with powerband.measure("my loop", batch=32, rounds=3, out="loop.ron", frames="list", **apart) as m:
        raises(powerband.PowerbandError, ["once the measured loop was left"], lambda: m.session)
        assert gc.isenabled()
        for _ in range(10_000_000):
            with m.run():
                spin()
            if m.done:
                break
    assert gc.isenabled(), "as it was"
    [case] = m.session.cases
    assert (case["outcome"], case["batch"], case["rounds"], case["label"]) == ("finished", 32, 3, "my loop")
    samples = m.session.samples
    assert len(samples) == case["samples"] < m.runs, "those that warm up are not among them"
    assert {row["round"] for row in samples} == {0, 1, 2}
    document = m.session.document
    assert document["name"] == document["model"]["name"] == "my loop" and document["completion"] == "complete"
    assert document["setups"][0]["report"]["engine"].startswith("Python 3.")
    assert document["cases"][0]["memory"] is None, "the process that speaks for the loop is not the loop"
    assert any("one start" in warning for warning in document["warnings"])
    readings = {row["quantity"] for row in m.session.telemetry}
    assert "busy_percent" in readings, (readings, document["telemetry"])
    # Another session of the same loop has the same setup and model, and is compared with this one.
    with powerband.measure("my loop", batch=32, rounds=3, out="again.ron", frames="list", **AT_ONCE) as again:
        while not again.done:
            with again.run():
                spin()
    assert len(m.session.compare(again.session).pairs) == 1
    # The program alone cannot run it.
    more = [_program.program(), "bench", "--more", "loop.ron", "--rounds", "1", "--spacing", "0s"]
    done = subprocess.run(more, capture_output=True, text=True)
    assert done.returncode == 2, done
    raises(powerband.PowerbandError, ["no name of a loop"], lambda: powerband.measure('a"b').__enter__())
    raises(powerband.PowerbandError, ["nothing is measured yet"], lambda: powerband.measure("x").done)
    raises(powerband.PowerbandError, ["entered once"], m.__enter__)
    taken = powerband.measure("x", out="loop.ron", **AT_ONCE)
    with raises_at_exit(["loop.ron", "already"]), taken:
        assert taken.done, "the program refused to begin"


class raises_at_exit:
    def __init__(self, words):
        self.words = words

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        assert kind is powerband.PowerbandError, repr(error)
        assert all(word in str(error) for word in self.words), error
        return True


def functions_take_turns_and_get_a_verdict():
    def quick():
        time.sleep(0.001)

    def slow():
        time.sleep(0.004)

    found = powerband.compare(quick, slow, rounds=4, frames="list", **AT_ONCE)
    assert found.verdict == "slower", str(found)
    [pair] = found.pairs
    assert pair["interleaved"] and pair["rounds"] == 4
    assert found.interval[0] <= found.speed_up <= found.interval[1] < 1
    assert [case["label"] for case in found.session.cases] == ["before", "after"]
    assert "slower" in found._repr_html_() and "slower" in repr(found)
    raises(powerband.PowerbandError, ["two names"], lambda: powerband.compare(quick, slow, names=("a", "a")))


def a_run_ends_when_its_card_has():
    calls = []

    def step():
        time.sleep(0.001)
        calls.append("run")

    cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=lambda: calls.append("card"))
    sys.modules["torch"] = types.SimpleNamespace(cuda=cuda, __version__="0", get_num_threads=lambda: 1)
    with powerband.measure("on a card", rounds=2, frames="list", **AT_ONCE) as m:
        while not m.done:
            with m.run():
                step()
    assert calls == ["card", "run", "card"] * m.runs
    assert any("torch.cuda.synchronize" in warning for warning in m.session.document["warnings"])
    calls.clear()
    own = {"synchronise": lambda: calls.append("own"), **AT_ONCE}
    powerband.compare(step, step, rounds=2, **own)
    assert calls == ["own", "run", "own"] * (len(calls) // 3)


def a_loop_that_ends_early_keeps_what_was_measured():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with powerband.measure("short", rounds=1_000, frames="list", **AT_ONCE) as m:
            while not m.done and len(rounds_of(m)) < 2:
                with m.run():
                    spin(20_000)
    assert [str(one.message) for one in said if "before the plan was measured" in str(one.message)], said
    assert m.session.document["completion"] == "cancelled"
    assert m.session.cases[0]["rounds"] >= 2
    with powerband.measure("-O2", frames="list", **AT_ONCE) as nothing:
        pass
    assert nothing.session.samples == []
    with powerband.measure("once", frames="list", **AT_ONCE) as m:
        with m.run():
            spin()
    assert gc.isenabled()


def rounds_of(m):
    """The rounds that the run's journal has."""
    journals = Path(os.environ["POWERBAND_HOME"], "sessions/journals").glob("*.jsonl")
    return [line for path in journals for line in path.read_text().splitlines() if '"RoundFinished"' in line]


def ctrl_c_keeps_what_was_measured():
    # Python leaves it ignored where tests run in the background of a shell, which ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Long enough that a round is in the journal before the last one is over.
    m = powerband.measure("stopped", rounds=1_000, frames="list", **AT_ONCE)
    try:
        with m:
            while not m.done:
                with m.run():
                    spin(20_000)
                    if len(rounds_of(m)) >= 1:
                        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("it was interrupted")
    except KeyboardInterrupt:
        pass
    assert gc.isenabled()
    assert m.session.document["completion"] == "cancelled"
    assert m.session.cases[0]["rounds"] >= 1


def an_error_in_a_run_is_the_callers():
    def broken():
        raise ValueError("of the caller")

    raises(ValueError, ["of the caller"], lambda: powerband.compare(spin, broken, rounds=2, **AT_ONCE))
    assert gc.isenabled()


def a_fork_has_no_part_in_the_measurement():
    with powerband.measure("forks", rounds=2, frames="list", **AT_ONCE) as m:
        child = 0
        while not m.done:
            with m.run():
                spin()
            if m.runs == 3:
                child = os.fork()
                if child == 0:
                    refused = raises(powerband.PowerbandError, ["forked off"], lambda: m.run().__enter__())
                    # Leaves through the block of the measurement.
                    sys.exit(7 if "forked off" in str(refused) else 8)
                assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 7
            if m.runs == 5:
                # One that lives on holds nothing back.
                child = os.fork()
                if child == 0:
                    time.sleep(60)
                    os._exit(0)
    assert m.session.cases[0]["outcome"] == "finished"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def a_killed_python_ends_the_run():
    forked = subprocess.run([sys.executable, __file__, "killed_beside_a_fork"], stdout=subprocess.PIPE, text=True)
    assert forked.returncode == -signal.SIGKILL, forked
    try:
        deadline = time.monotonic() + 60
        while not Path("killed.ron").exists():
            assert time.monotonic() < deadline, "the run goes on"
            time.sleep(0.05)
    finally:
        os.kill(int(forked.stdout), signal.SIGKILL)
    session = powerband.read("killed.ron", frames="list")
    assert session.cases[0]["outcome"] != "finished" and "has ended" in session.cases[0]["reason"]


def killed_beside_a_fork():
    with powerband.measure("killed", rounds=500, out="killed.ron", **AT_ONCE) as m:
        while True:
            with m.run():
                spin()
            if m.runs == 5:
                child = os.fork()
                if child == 0:
                    os.closerange(0, 3)
                    time.sleep(100)
                    os._exit(0)
                os.write(1, str(child).encode())
                os.kill(os.getpid(), signal.SIGKILL)


def a_program_that_dies_is_a_sentence():
    m = powerband.measure("orphan", rounds=500, **AT_ONCE)
    m.__enter__()
    while m.runs < 5:
        with m.run():
            spin()
    m._running()._process.kill()
    while not m.done:
        with m.run():
            spin()
    raises(powerband.PowerbandError, [], lambda: m.__exit__(None, None, None))


def the_notebook_of_the_guide_runs():
    notebook = json.loads((ROOT / "docs/python.ipynb").read_text(encoding="utf-8"))
    os.chdir(ROOT / "docs")
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"], "outputs are stripped"
        source = "".join(cell["source"])
        exec(compile(source, "docs/python.ipynb", "exec"), names)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
