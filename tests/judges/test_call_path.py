"""A judge call passes through few files, so the code is easy to follow."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from config.settings import BASE_DIR
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)

ROOMS = ("config", "jobs", "annotation", "judges", "calibration", "suites")
MOST = 30


@contextmanager
def traced(files: set[str]) -> Iterator[None]:
    """Note the files whose functions are called, in this thread and those it starts."""

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def test_a_call_passes_from_its_queue_to_its_labels_through_few_files() -> None:
    files: set[str] = set()
    with FakeLLM() as fake:
        endpoint, corpus = endpoint_of(fake), small_corpus(1)
        begin(corpus, Judge("cpdscore_simple", endpoint=endpoint))
        assert finish().done, "what is loaded at the first call is no part of its path"
        requests = fake.requests.total()
        begin(corpus, Judge("cpdscore_simple", endpoint=endpoint, parameters={"temperature": 0.5}))
        with traced(files):
            assert finish().done
        assert fake.requests.total() == 2 * requests, "no reply is taken from the cache"
    paths = {Path(file).relative_to(BASE_DIR) for file in files if file.startswith(f"{BASE_DIR}/")}
    own = sorted(str(path) for path in paths if path.parts[0] in ROOMS)
    assert len(own) <= MOST, own
