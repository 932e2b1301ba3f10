"""Benchmarks, each a module with `run(argv) -> dict`: `python -m benchmarks NAME --json`."""
