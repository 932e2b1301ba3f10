"""Benchmarks in the making: steps that are runs, and the corpus that is written in the end."""
