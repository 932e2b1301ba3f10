"""Shared fixtures for tests of metrics: the small embedding model, loaded once, and the published figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judges.metrics import Embedder, Tools


@pytest.fixture(scope="session")
def minilm() -> Tools:
    """Return tools with the packaged all-MiniLM-L6-v2."""
    return Tools(embed=Embedder())


@pytest.fixture(scope="session")
def parity(shared_data: Path) -> Path:
    """Return the folder with MPCEval's inputs and the outputs of its published code."""
    folder = shared_data / "mpceval_parity"
    if not folder.is_dir():
        pytest.skip(f"the folder {folder} is absent")
    return folder


@pytest.fixture(scope="session")
def published(parity: Path) -> Callable[[str], dict[str, Any]]:
    """Return a reader of the published code's output files, by conversation id."""

    def read(name: str) -> dict[str, Any]:
        lines = (parity / "outputs" / f"{name}.jsonl").read_text().splitlines()
        found = map(json.loads, lines)
        return {one.get("dialogue_id") or one["conversation_id"]: one for one in found}

    return read
