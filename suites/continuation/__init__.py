"""Continuations: generators that write what comes next, their productions, and the making of benchmarks."""
