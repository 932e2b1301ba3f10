"""The tables of what writes: who, what came of it, and by which calls."""

from systems.models.production import Production, ProductionCall
from systems.models.writer import Writer

__all__ = ["Production", "ProductionCall", "Writer"]
