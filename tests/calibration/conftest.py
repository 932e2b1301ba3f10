"""Shared fixtures for tests of studies and reports; each file defines its own `rated` corpus."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from calibration.models import Study
    from tests.calibration.world import World
    from tests.fake_llm import FakeLLM


Compiled = Callable[..., None]


@pytest.fixture
def compiled(tmp_path: Path) -> Compiled:
    """Compile LaTeX inside a document; the test fails if LaTeX rejects it."""
    if shutil.which("pdflatex") is None:
        pytest.skip("LaTeX is not installed")

    def compile_(body: str, *, packages: str) -> None:
        head = f"\\documentclass{{article}}\\usepackage{{{packages}}}\\begin{{document}}\n"
        (tmp_path / "t.tex").write_text(f"{head}{body}\n\\end{{document}}\n")
        command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]

    return compile_


@pytest.fixture
def study(rated: World) -> Study:
    """Return the automatic study."""
    from calibration.studies import study_actions as studies  # models load once pytest has set Django up

    return studies.automatic(corpus=rated.corpus)


@pytest.fixture
def researcher(client: Client) -> Client:
    """Return a client signed in as a researcher."""
    from tests.factories import user

    client.force_login(user(researcher=True))
    return client


@pytest.fixture
def rea(client: Client) -> Client:
    """Return a client signed in as the researcher rea."""
    from tests.factories import user

    client.force_login(user("rea", researcher=True))
    return client


@pytest.fixture
def fake(request: pytest.FixtureRequest) -> Iterator[FakeLLM]:
    """Run a fake model with the noise that the test's file sets (`NOISE`)."""
    from tests.fake_llm import FakeLLM

    with FakeLLM() as server:
        server.model.noise = getattr(request.module, "NOISE", server.model.noise)
        yield server
