"""The core starts without the suites. `make test` runs all core tests without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str, suites: str = "") -> str:
    """Return what a program says that runs with some suites alone; its exit status must be 0."""
    own = {"PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "CONCORD_TEST_HOME", "CONCORD_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in own}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment | {"CONCORD_SUITES": suites},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "suites", ["continuation", "continuation,group_chat", "continuation,long_dialogue", "collecting"]
)
def test_each_suite_is_left_out_by_itself(suites: str) -> None:
    code = "from config.urls import api; from jobs.kinds import KINDS, kind_of; [*map(kind_of, KINDS)]"
    run("-c", f"import django; django.setup(); {code}", suites=suites)


@pytest.mark.exhaustive
def test_nothing_of_a_suite_is_loaded_without_it() -> None:
    code = (
        "import sys, django; django.setup(); import config.urls\n"
        "from jobs.kinds import KINDS, kind_of, sweeps\n"
        "[*map(kind_of, KINDS)], sweeps(); print([n for n in sys.modules if n.startswith('suites.')])"
    )
    assert run("-c", code).strip() == "[]"
