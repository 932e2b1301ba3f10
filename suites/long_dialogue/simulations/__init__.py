"""Simulations: a system is asked the questions of a set while it hears a script."""
