"""The loops that people write around ONNX Runtime in Python, for engine_room.rs to compare with.

Arguments: the model, its input's name, and the input's dimensions. Each line of standard input,
`WAY WAKE_UP_RUNS MIN_SAMPLES MIN_NS`, is answered by a line with the samples in nanoseconds as JSON;
the ways are `run` and `iobinding`.
"""

import json
import sys
import time

import numpy
import onnxruntime


def measure(call, wake_up_runs, min_samples, min_ns):
    clock = time.perf_counter_ns
    for _ in range(wake_up_runs):
        call()
    samples = []
    spent = 0
    while len(samples) < min_samples or spent < min_ns:
        start = clock()
        call()
        sample = clock() - start
        samples.append(sample)
        spent += sample
    return samples


def ways(path, name, dims):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    array = numpy.random.default_rng(1).standard_normal(dims, dtype=numpy.float32)
    feed = {name: array}
    binding = session.io_binding()
    binding.bind_cpu_input(name, array)
    for output in session.get_outputs():
        binding.bind_output(output.name)
    return {
        "run": lambda: session.run(None, feed),
        "iobinding": lambda: session.run_with_iobinding(binding),
    }


def main():
    path, name, *dims = sys.argv[1:]
    calls = ways(path, name, [int(dim) for dim in dims])
    print(json.dumps(onnxruntime.__version__), flush=True)
    for line in sys.stdin:
        way, *amounts = line.split()
        samples = measure(calls[way], *(int(amount) for amount in amounts))
        print(json.dumps(samples), flush=True)


main()
