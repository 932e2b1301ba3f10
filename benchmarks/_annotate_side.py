"""Annotators of one of two checkouts measured in turns (see `annotate --against`): the working folder's.

Reads lines of (annotators, seconds) and answers each with one JSON object. Uses nothing of `annotate` that
older versions lack.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(tasks: int, turns: int) -> None:
    """Create a campaign, print `ready`, and run one measurement per input line until the input ends."""
    sys.path[0] = str(Path.cwd())  # not this file's folder, which has a module named statistics
    from benchmarks import _home, annotate

    with _home.home():
        campaign = annotate._campaign(tasks, turns)
        sessions = annotate._people(campaign, 21)
        with _home.web() as port:
            people = [annotate.Annotator(port, campaign, *session) for session in sessions]
            annotate._measure(people[1:], 2.0)
            print("ready", flush=True)
            for line in sys.stdin:
                many, seconds = line.split()
                chosen = people[:1] if many == "1" else people[1:]
                print(json.dumps(annotate._measure(chosen, float(seconds))), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
