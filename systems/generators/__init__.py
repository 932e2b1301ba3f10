"""The generators, one file each, in one table."""

from systems.generators.base import Done, Failed, Generator, Reply, Setting, Settings, State, WrongSettings

GENERATORS: dict[str, Generator] = {generator.key: generator for generator in ()}

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
