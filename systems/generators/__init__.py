"""The generators, one file each, in one table."""

from systems.generators.base import Done, Failed, Generator, Reply, Setting, Settings, State, WrongSettings
from systems.generators.cocoeval_continuation import CocoevalContinuation

_LISTED: tuple[Generator, ...] = (CocoevalContinuation(),)
GENERATORS: dict[str, Generator] = {generator.key: generator for generator in _LISTED}

__all__ = [
    "GENERATORS",
    "Done",
    "Failed",
    "Generator",
    "Reply",
    "Setting",
    "Settings",
    "State",
    "WrongSettings",
]
