"""What produces continuations: generators, and the makers of benchmarks."""
