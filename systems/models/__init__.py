"""The tables of what writes: who, what came of it, by which calls, and the benchmarks made with it."""

from systems.models.production import Benchmark, BenchmarkRun, Production, ProductionCall, Writer
from systems.models.simulation import Simulation, SimulationRun

__all__ = [
    "Benchmark",
    "BenchmarkRun",
    "Production",
    "ProductionCall",
    "Simulation",
    "SimulationRun",
    "Writer",
]
