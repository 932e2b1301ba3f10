"""The generators, one file each, in one table."""

from systems.benchmarks.cleaning import CocoevalCleaning
from systems.benchmarks.metadata import CocoevalMetadata
from systems.benchmarks.summary import CocoevalSummary
from systems.generators.base import Done, Failed, Generator, Reply, Setting, Settings, State, WrongSettings

_LISTED: tuple[Generator, ...] = (
    CocoevalCleaning(),
    CocoevalMetadata(),
    CocoevalSummary(),
)
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
