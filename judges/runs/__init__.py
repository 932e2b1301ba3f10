"""Runs of judges and metrics: raters, coverage, material, and conversion of replies to labels."""
