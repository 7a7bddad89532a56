"""The network of a loop that has none: an ONNX file with one node that passes its input on.

A plan measures a network. What a loop does, only its Python knows, and so a session says nothing of the loop's
operations and parameters.
"""


def field(number: int, value: "bytes | str | int") -> bytes:
    """A field of a protocol buffer."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def port(name: str) -> bytes:
    """An input or output: floats of a batch."""
    dimension = field(1, field(2, "batch"))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dimension)))


def empty_network(name: str) -> bytes:
    """The file; its hash differs by the name of the loop."""
    node = field(1, "x") + field(2, "y") + field(4, "Identity")
    graph = field(1, node) + field(2, name) + field(11, port("x")) + field(12, port("y"))
    return field(1, 8) + field(2, "powerband") + field(7, graph) + field(8, field(2, 17))
