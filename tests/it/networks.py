"""A decoder with a cache against the same decoder without one: prints the largest difference of the logits,
and the largest of the logits. Arguments: the file without a past, the file with one, words that it knows."""

import sys

import numpy
import onnxruntime

whole, cached = (onnxruntime.InferenceSession(path) for path in sys.argv[1:3])
random = numpy.random.default_rng(1)
batch, length, padding = 2, 17, 3
ids = random.integers(0, int(sys.argv[3]), (batch, length))
# The second text is shorter, and padded in front.
mask = numpy.ones((batch, length), numpy.int64)
mask[1, :padding] = 0
positions = numpy.maximum(numpy.cumsum(mask, 1) - 1, 0)
feed = {"input_ids": ids, "attention_mask": mask, "position_ids": positions}
expected = whole.run(["logits"], feed)[0]

names = [port.name for port in cached.get_inputs() if port.name.startswith("past")]
heads, width = cached.get_inputs()[3].shape[1], cached.get_inputs()[3].shape[3]
past = {name: numpy.zeros((batch, heads, 0, width), numpy.float32) for name in names}
seen, found = 0, []
for new in (9, 1, 1, 4, 1, 1):
    end = seen + new
    feed = {
        "input_ids": ids[:, seen:end],
        "attention_mask": mask[:, :end],
        "position_ids": positions[:, seen:end],
    }
    logits, *present = cached.run(None, {**feed, **past})
    past = dict(zip(names, present))
    found.append(logits)
    seen = end
difference = numpy.abs(numpy.concatenate(found, 1) - expected)
# What stands at the places of padding means nothing.
difference[1, :padding] = 0
print(difference.max(), numpy.abs(expected).max())
