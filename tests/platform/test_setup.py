"""The setup behind make: quick if there is nothing to do, clear if it cannot continue."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from config.setup import common, lock, packages
from config.setup.common import ELSEWHERE, FORBIDDEN, VENV, SetupError, keep_bytecode
from config.setup.packages import Progress
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
    packages.stamp().write_text(packages.expected_stamp())
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
    monkeypatch.setenv("CONCORD_TORCH_INDEX", "https://index.example")
    monkeypatch.setattr(packages, "pip", lambda arguments, quiet=False: calls.append(arguments) or 0)
    monkeypatch.setattr(packages, "has_nvidia", lambda: gpu)
    monkeypatch.setattr(packages.sys, "platform", "linux")
    packages.install_packages()
    assert [call[-1] for call in calls[:-1]] == asked
    assert calls[-1] == [
        "--require-hashes",
        "--no-deps",
        "--requirement",
        str(checkout / "requirements.lock"),
    ]


def test_without_an_index_the_lock_has_to_know_the_cpu_builds_hash(checkout, monkeypatch):
    calls = []
    monkeypatch.delenv("CONCORD_TORCH_INDEX", raising=False)
    monkeypatch.setattr(packages, "CPU_BUILDS", {"2.0": ("aa",)})
    monkeypatch.setattr(packages, "pip", lambda arguments, quiet=False: calls.append(arguments) or 0)
    monkeypatch.setattr(packages, "has_nvidia", lambda: False)
    monkeypatch.setattr(packages.sys, "platform", "linux")
    packages.install_packages()
    first, _ = calls
    assert first[0] == "--require-hashes"
    assert Path(first[-1]).read_text() == "torch==2.0+cpu --hash=sha256:aa\n"


def test_where_no_cpu_build_is_offered_the_default_follows_and_it_is_said(checkout, monkeypatch, capsys):
    monkeypatch.setattr(
        packages, "pip", lambda arguments, quiet=False: int(Path(arguments[-1]).name == "torch-cpu.txt")
    )
    monkeypatch.setattr(packages, "has_nvidia", lambda: False)
    monkeypatch.setattr(packages.sys, "platform", "linux")
    packages.install_packages()
    assert "CONCORD_TORCH_INDEX" in capsys.readouterr().out


def test_cudas_packages_follow_pytorchs_default_build_alone(checkout, monkeypatch):
    calls = []
    monkeypatch.setattr(packages, "pip", lambda arguments, quiet=False: calls.append(arguments) or 0)
    monkeypatch.setattr(packages, "has_nvidia", lambda: True)
    monkeypatch.setattr(packages.sys, "platform", "linux")
    installed = checkout / ".venv" / "lib" / "python3.11" / "site-packages"
    (installed / "torch-2.0+cpu.dist-info").mkdir(parents=True)
    packages.install_packages()
    assert [Path(call[-1]).name for call in calls] == ["requirements.lock"]
    (installed / "torch-2.0.dist-info").mkdir()
    packages.install_packages()
    assert [Path(call[-1]).name for call in calls[1:]] == ["requirements.lock", "requirements-cuda.lock"]


@pytest.mark.parametrize("path", [lock.LOCK, lock.CUDA_LOCK], ids=lambda path: path.name)
def test_every_locked_version_is_exact_and_has_hashes(path):
    for name, entry in lock.entries(path.read_text().partition("\n")[2]).items():
        assert re.match(r"[\w.-]+(\[[\w,]+\])?==[\w.]+", entry), name
        assert "--hash=sha256:" in entry, name


def test_the_lock_knows_pytorchs_builds_for_the_cpu():
    entry = lock.entries(lock.LOCK.read_text())["torch"]
    version = entry.partition("==")[2].split()[0]
    assert all(digest in entry for digest in lock.CPU_BUILDS[version])


def test_hashes_are_written_beside_versions_and_cudas_packages_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "LOCK", tmp_path / "requirements.lock")
    monkeypatch.setattr(lock, "CUDA_LOCK", tmp_path / "requirements-cuda.lock")
    monkeypatch.setattr(lock, "HEAD", {lock.LOCK: "# all", lock.CUDA_LOCK: "# more"})
    monkeypatch.setattr(lock, "CPU_BUILDS", {"2.0": ("cc",)})
    compiled = "torch==2.0 \\\n    --hash=sha256:aa\n"
    compiled += "nvidia-nccl==1 ; sys_platform == 'linux' \\\n    --hash=sha256:bb\n"
    lock.write(["torch==2.0"], lock.entries(compiled))
    assert lock.LOCK.read_text() == "# all\ntorch==2.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:cc\n"
    assert lock.CUDA_LOCK.read_text().startswith("# more\nnvidia-nccl==1 ;")
    with pytest.raises(SystemExit, match="needed: other"):
        lock.write(["torch==2.0"], lock.entries(compiled + "other==1 \\\n    --hash=sha256:dd\n"))


def test_what_the_tests_lack_fails_where_nothing_may_be_skipped(monkeypatch, capsys):
    monkeypatch.setattr(common.shutil, "which", lambda name: None)
    monkeypatch.setattr(common, "apt_install", lambda names, what: False)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(SetupError, match="install chromium and redis-server"):
        common.install_test_programs()
    monkeypatch.delenv("CI")
    common.install_test_programs()
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
    targets = "demo, up, test, test-all, check, seed, bench, client"
    assert done.stdout == f"Unknown target fly: choose one of {targets}.\n"


def test_without_node_the_check_of_style_sheets_is_left_out_and_said(monkeypatch, capsys):
    monkeypatch.setattr(packages.shutil, "which", lambda name: None)
    monkeypatch.setattr(packages, "apt_install", lambda names, what: pytest.fail("nobody asked for Node"))
    monkeypatch.delenv("CI", raising=False)
    assert packages.formatter() is None
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert "install nodejs and npm" in line
    assert "left out" in line


def test_where_no_check_may_be_left_out_node_is_installed_or_it_fails(monkeypatch):
    asked = []
    monkeypatch.setattr(packages.shutil, "which", lambda name: None)
    monkeypatch.setattr(packages, "apt_install", lambda names, what: asked.append(names))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(SetupError, match="install nodejs and npm"):
        packages.formatter()
    assert asked == [["nodejs", "npm"]]


def test_the_formatter_is_installed_once_for_a_version_of_the_lock(tmp_path, monkeypatch):
    calls = []
    place = tmp_path / "node_modules" / "prettier"
    place.mkdir(parents=True)
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": {packages.NAME: {"version": "2"}}}))

    def npm(command, **options):
        calls.append(command[1])
        (place / "package.json").write_text('{"version": "2"}')
        return subprocess.CompletedProcess(command, 0, b"")

    monkeypatch.setattr(packages, "PROJECT", tmp_path)
    monkeypatch.setattr(packages.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(packages.subprocess, "run", npm)
    assert [packages.formatter(), packages.formatter()] == [["/bin/node", str(packages.COMMAND)]] * 2
    assert calls == ["ci"]


def test_the_formatters_lock_has_a_hash_for_everything_and_names_no_registry():
    packages = json.loads((PROJECT / "package-lock.json").read_text())["packages"]
    assert [name for name, entry in packages.items() if name and "integrity" not in entry] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, {}),
        ({FORBIDDEN: "1"}, {ELSEWHERE: str(VENV / "bytecode")}),
        ({FORBIDDEN: "1", ELSEWHERE: "/somewhere"}, {FORBIDDEN: "1", ELSEWHERE: "/somewhere"}),
        ({ELSEWHERE: "/somewhere"}, {ELSEWHERE: "/somewhere"}),
    ],
    ids=["as usual", "forbidden", "forbidden everywhere", "elsewhere"],
)
def test_bytecode_that_may_not_lie_beside_the_sources_is_kept_in_the_environment(monkeypatch, given, kept):
    monkeypatch.setattr(os, "environ", dict(given))
    monkeypatch.setattr(sys, "dont_write_bytecode", FORBIDDEN in given)
    monkeypatch.setattr(sys, "pycache_prefix", given.get(ELSEWHERE))
    keep_bytecode()
    assert os.environ == kept
    assert sys.pycache_prefix == kept.get(ELSEWHERE)
    assert sys.dont_write_bytecode == (FORBIDDEN in kept)
