"""What is said of errors. Sentences are read by the user: they say what happened and what helps."""

import re
import traceback
from pathlib import Path

# Frames in here say nothing of what went wrong.
PACKAGE = Path(__file__).parent


class Refused(Exception):
    """A request that is not done. `kind` is the name that the protocol has for the reason."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence


def unsupported(sentence: str) -> Refused:
    return Refused("Unsupported", sentence)


def failed(sentence: str) -> Refused:
    return Refused("Failed", sentence)


def first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    # Some of torch's messages are coloured for a terminal.
    line = re.sub(r"\x1b\[[0-9;]*m", "", text.splitlines()[0])
    return line if len(line) <= 300 else f"{line[:300]}…"


def last_words(error: BaseException) -> str:
    """What a traceback ends with, and where: in the user's own code rather than in a library."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno})"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent != PACKAGE and not frame.filename.startswith("<")
    ]
    own = [frame for frame in frames if not re.search(r"site-packages|lib/python", frame.filename)]
    where = ""
    if frames:
        frame = (own or frames)[-1]
        where = f" ({frame.filename}, line {frame.lineno}, in {frame.name})"
    return f"{type(error).__name__}: {first_line(error)}{where}"
