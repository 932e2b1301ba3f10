"""Benchmarks: each module has `run(argv) -> dict`; run one with `python -m benchmarks NAME --json`."""
