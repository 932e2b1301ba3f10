"""Command line: `python -m benchmarks NAME [--json]` prints a benchmark's figures as a last line of JSON."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path


def main(argv: list[str]) -> int:
    """Run the named benchmark; an unknown name gives one line on stderr."""
    names = sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.name[0] != "_")
    if not argv or argv[0] not in names:
        print(f"name a benchmark: {', '.join(names)}", file=sys.stderr)
        return 2
    figures = importlib.import_module(f"benchmarks.{argv[0]}").run([a for a in argv[1:] if a != "--json"])
    if "--json" not in argv:
        headline = figures["headline"]
        wanted = f"goal {headline['goal']}, {headline['better']} is better"
        print(f"{headline['name']}: {headline['value']} ({wanted})")
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
