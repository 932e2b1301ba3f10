"""The set-up behind make: quick when there is nothing to do, clear when it cannot go on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config.setup import packages, system
from config.setup.common import SetupError
from config.setup.progress import Progress
from tests.platform.running import PROJECT


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout whose environment was completed."""
    venv = tmp_path / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").touch()
    (tmp_path / "requirements.lock").write_text("# a comment\ntorch==2.0\nother==1\n")
    for name, value in {"PROJECT": tmp_path, "VENV": venv, "PYTHON": venv / "bin" / "python"}.items():
        monkeypatch.setattr(packages, name, value)
    monkeypatch.setattr(packages, "LOCK", tmp_path / "requirements.lock")
    packages.stamp().write_text(packages.wanted())
    return tmp_path


def test_nothing_is_installed_when_the_lock_has_not_changed(checkout, monkeypatch):
    monkeypatch.setattr(packages, "install_packages", lambda: pytest.fail("installed again"))
    packages.install()


def test_a_changed_lock_is_installed(checkout, monkeypatch):
    (checkout / "requirements.lock").write_text("torch==2.1\n")
    done = []
    monkeypatch.setattr(packages, "make_venv", lambda: done.append("venv"))
    monkeypatch.setattr(packages, "install_packages", lambda: done.append("packages"))
    packages.install()
    assert done == ["venv", "packages"]
    assert packages.is_installed()


def test_an_environment_that_was_moved_is_not_taken_for_complete(checkout, monkeypatch):
    moved = checkout / "moved"
    (checkout / ".venv").rename(moved)
    monkeypatch.setattr(packages, "VENV", moved)
    assert not packages.is_installed()


@pytest.mark.parametrize(("gpu", "asked"), [(False, ["torch==2.0+cpu"]), (True, [])])
def test_without_a_gpu_pytorch_comes_first_and_for_the_cpu(checkout, monkeypatch, gpu, asked):
    calls = []
    monkeypatch.setattr(packages, "pip", lambda arguments, quiet=False: calls.append(arguments) or 0)
    monkeypatch.setattr(packages, "has_nvidia", lambda: gpu)
    monkeypatch.setattr(packages.sys, "platform", "linux")
    packages.install_packages()
    assert [call[-1] for call in calls[:-1]] == asked
    assert calls[-1] == ["--requirement", str(checkout / "requirements.lock")]


def test_where_no_cpu_build_is_offered_the_default_follows_and_it_is_said(checkout, monkeypatch, capsys):
    monkeypatch.setattr(packages, "pip", lambda arguments, quiet=False: 1 if "+cpu" in arguments[-1] else 0)
    monkeypatch.setattr(packages, "has_nvidia", lambda: False)
    monkeypatch.setattr(packages.sys, "platform", "linux")
    packages.install_packages()
    assert "CONCORD_TORCH_INDEX" in capsys.readouterr().out


def test_what_the_tests_lack_fails_where_nothing_may_be_skipped(monkeypatch, capsys):
    monkeypatch.setattr(system.shutil, "which", lambda name: None)
    monkeypatch.setattr(system, "apt_install", lambda names, what: False)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(SetupError, match="install chromium and redis-server"):
        system.install_test_programs()
    monkeypatch.delenv("CI")
    system.install_test_programs()
    assert "install chromium and redis-server" in capsys.readouterr().out


def test_pip_is_told_of_in_few_words():
    progress = Progress()
    progress.read("Collecting torch==2.0 (from -r requirements.lock (line 2))")
    assert progress.doing == "found 1, now torch==2.0"
    progress.read("Downloading torch-2.0-cp311-cp311-manylinux_2_28_x86_64.whl (180.0 MB)")
    assert progress.doing == "found 1, downloading torch"
    progress.read("Installing collected packages: torch, other")
    assert progress.doing == "unpacking"


def test_an_unknown_target_is_told_in_one_line():
    command = [sys.executable, str(PROJECT / "config" / "bootstrap.py"), "fly"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == "Unknown target fly: choose one of demo, up, test, check, seed, bench.\n"
