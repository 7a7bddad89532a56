"""Powerband's worker for PyTorch: runs networks, trains them, and times each run.

It speaks the protocol of `crates/worker/src/protocol.rs`: one JSON document a line, itself first, then one
reply to each request. Times are whole nanoseconds; points in time are on the monotonic clock, which is what
`time.perf_counter_ns` and `time.monotonic_ns` read on Linux.

Needs Python 3.9 and, once a model is loaded, PyTorch and NumPy. `worker.py` imports PyTorch, and what needs it, only
after the first line is out, so that a Python without it can say that it has none.
"""
