"""`python -m demo.fake_model`: the fake model until SIGTERM or Ctrl-C, without Django."""

from __future__ import annotations

import sys

from demo.fake_model.running import Trouble, arguments, run

if __name__ == "__main__":
    try:
        run(arguments().parse_args(), sys.stdout.write)
    except Trouble as trouble:
        sys.exit(f"fake_model: {trouble}")
