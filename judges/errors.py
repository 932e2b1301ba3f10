"""Mistakes of those who set up judges and runs.

ValueError
  JudgeError       one line that says what is wrong and what to do
"""

from __future__ import annotations


class JudgeError(ValueError):
    """A run or an endpoint that cannot be, with one clear line for whoever asked for it."""
