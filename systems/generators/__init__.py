"""The generators, one file each, in one table."""

from systems.generators.base import Done, Failed, Generator, Reply, Setting, Settings, State, WrongSettings

_LISTED: tuple[Generator, ...] = ()
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
