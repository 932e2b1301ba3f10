"""The benchmark of conversations, in its quick form: it kills processes, and every turn arrives once."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.conf import settings

pytestmark = pytest.mark.exhaustive


def test_it_reports_its_figures_and_nothing_is_lost() -> None:
    command = [sys.executable, "-m", "benchmarks", "collecting", "--quick", "--json"]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    assert (figures["dialogues"], figures["finished"], figures["turns"]) == (3, 3, 3 * 8)
    assert (figures["web_kills"], figures["worker_kills"]) == (1, 1)
    for name in ("lost", "doubled", "wrong_order", "persona_leaks", "name_leaks", "abandoned_or_open"):
        assert figures[name] == 0, name
    assert figures["headline"]["value"] == figures["delivery_p95_ms"] > 0
    assert figures["annotators_beside_open_conversations"]["event_streams"] == 6
