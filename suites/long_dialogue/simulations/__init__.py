"""Simulations: a system answers the questions of a set while it hears a script."""
