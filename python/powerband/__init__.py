"""Sessions of Powerband in Python, and loops of Python as cases of a session.

    import powerband

    session = powerband.read("r50.ron")       # or any file that `powerband import` opens
    session.cases                             # a frame of pandas or polars, whichever is installed

    with powerband.measure("my loop", batch=32) as m:
        for x in batches:
            with m.run():
                step(x)
            if m.done:
                break
    m.session

    powerband.compare(before, after)          # two functions in turns, and the verdict

Everything is computed by the program `powerband`, which the same package installs.
"""

from ._measure import Measurement, compare, measure
from ._program import PowerbandError
from ._session import Comparison, Session, read

__all__ = ["Comparison", "Measurement", "PowerbandError", "Session", "compare", "measure", "read"]
