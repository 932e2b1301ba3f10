"""The virtual environment `.venv` and the packages of the lock in it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from config.setup.common import PROJECT, PYTHON, VENV, SetupError, apt_install, say
from config.setup.lock import CPU_BUILDS, CUDA_LOCK, pins

# prettier, the formatter of style sheets and scripts: the only program of `make check` that needs Node.
#
# `package-lock.json` pins it by hash; npm installs it into `node_modules/`, with axe-core, which the browser
# tests use for accessibility checks.

NAME = "node_modules/prettier"
COMMAND = PROJECT / NAME / "bin" / "prettier.cjs"


def formatter() -> list[str] | None:
    """Return the command of prettier, installed if needed; print a line and return None if that fails.

    With CI=true Node is installed if missing, and nothing may be skipped: SetupError instead.
    """
    obstacle = _node_obstacle() or _package_obstacle()
    node = shutil.which("node")
    if not obstacle and node:
        return [node, str(COMMAND)]
    if _is_ci():
        raise SetupError(f"{obstacle}; with CI=true no check may be left out.")
    say(f"{obstacle}; the check of style sheets and scripts is left out.")
    return None


def _node_obstacle() -> str:
    """Return why Node is missing; empty if it is installed."""
    missing = [package for package, name in (("nodejs", "node"), ("npm", "npm")) if not shutil.which(name)]
    if missing and not (_is_ci() and apt_install(missing, "Node for prettier")):
        return f"Missing for prettier: install {' and '.join(missing)} with your package manager"
    return ""


def _package_obstacle() -> str:
    """Return why the locked version of prettier is missing; empty if it is installed."""
    if _is_in_place():
        return ""
    npm = str(shutil.which("npm"))
    say("Installing prettier...")
    done = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--loglevel=error"],
        cwd=PROJECT,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        output_lines = done.stdout.decode(errors="replace").strip().splitlines() or ["no message"]
        return f"npm could not install prettier ({output_lines[0]})"
    return ""


def _is_in_place() -> bool:
    """Whether all packages of the lock are installed in their versions."""
    locked = json.loads((PROJECT / "package-lock.json").read_text())["packages"]
    return all(_version_of(name) == package["version"] for name, package in locked.items() if name)


def _version_of(name: str) -> str | None:
    file = PROJECT / name / "package.json"
    return str(json.loads(file.read_text())["version"]) if file.exists() else None


def _is_ci() -> bool:
    return os.environ.get("CI") == "true"


# Condenses pip's output to a few lines.

EVERY = 5.0


class Progress:
    """Prints pip's progress every few seconds, so that no step is silent."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.started = time.monotonic()
        self.looked_up = 0
        self.doing = "starting pip"

    def read(self, line: str) -> None:
        """Parse a line of pip's output."""
        word, _, rest = line.partition(" ")
        name = rest.partition(" (")[0]
        if word == "Collecting":
            self.looked_up += 1
            self.doing = f"found {self.looked_up}, now {name}"
        elif word == "Downloading":
            self.doing = f"found {self.looked_up}, downloading {name.rpartition('/')[2].partition('-')[0]}"
        elif word == "Installing":
            self.doing = "unpacking"

    def tick(self) -> None:
        """Print the state until done."""
        while not self.done.wait(EVERY):
            unpacked = f", {_unpacked()} unpacked" if self.doing == "unpacking" else ""
            say(f"  {time.monotonic() - self.started:3.0f} s: {self.doing}{unpacked}")


def _unpacked() -> int:
    """Return the number of installed packages."""
    return sum(1 for _ in VENV.glob("lib/python*/site-packages/*.dist-info"))


LOCK = PROJECT / "requirements.lock"
OLDEST = (3, 11)


def right_python() -> str:
    """Return the path of a sufficiently new Python; SetupError if there is none."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in (13, 12, 11):
        path = shutil.which(f"python3.{minor}")
        if path:
            return path
    raise SetupError(
        f"Concord needs Python 3.11 or newer, this is {sys.version.split()[0]}: install python3.11."
    )


def install() -> None:
    """Make `.venv` match the lock exactly; one comparison if it already does."""
    handle = os.open(PROJECT, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        if not is_installed():
            started = time.monotonic()
            make_venv()
            install_packages()
            stamp().write_text(expected_stamp())
            say(f"Installed in {time.monotonic() - started:.0f} s.")
    except PermissionError as error:
        raise SetupError(
            f"Cannot write to {error.filename}: make the checkout writable or copy it."
        ) from error
    except OSError as error:
        raise SetupError(f"Set-up failed: {error}") from error
    finally:
        os.close(handle)


def is_installed() -> bool:
    """Whether the environment was completed for this lock, this path and a Python that still exists."""
    return stamp().exists() and stamp().read_text() == expected_stamp() and PYTHON.exists()


def stamp() -> Path:
    """Return the file that records the completed state of `.venv`."""
    return VENV / "concord.stamp"


def expected_stamp() -> str:
    """Return the expected stamp: the lock's content and the path (an environment cannot be moved)."""
    return f"{hashlib.sha256(LOCK.read_bytes()).hexdigest()}\n{VENV}\n"


def make_venv() -> None:
    """Create `.venv`, anew if the existing one does not run or was created for another path."""
    stamp_matches = stamp().exists() and stamp().read_text().splitlines()[1:] == [str(VENV)]
    if PYTHON.exists() and (stamp_matches or _pip_works()):
        return
    say("Creating .venv...")
    shutil.rmtree(VENV, ignore_errors=True)
    done = _make_venv()
    if done.returncode and apt_install(["python3-venv"], "Python's venv module"):
        done = _make_venv()
    if done.returncode:
        raise SetupError(
            "Python cannot create a virtual environment: install python3-venv (apt) and try again."
        )


def _make_venv() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [right_python(), "-m", "venv", str(VENV)], check=False, capture_output=True, text=True
    )


def _pip_works() -> bool:
    version_check = subprocess.run(
        [str(PYTHON), "-m", "pip", "--version"], check=False, capture_output=True, text=True
    )
    return version_check.returncode == 0 and str(VENV) in version_check.stdout


def install_packages() -> None:
    """Install the lock; every file must have a hash in the lock.

    On Linux without an NVIDIA GPU, PyTorch's CPU build is preferred. The lock is complete, so nothing else is
    installed.
    """
    pinned = pins(LOCK.read_text())
    torch = next(pin for pin in pinned if pin.startswith("torch=="))
    if sys.platform.startswith("linux") and not has_nvidia() and not has_torch(torch):
        install_cpu_build(torch)
    say(f"Installing {len(pinned)} packages...")
    locks = [LOCK]
    for lock in locks:
        if pip(["--require-hashes", "--no-deps", "--requirement", str(lock)]):
            raise SetupError("Installing the packages failed: see the lines above; `make` again resumes.")
        if lock == LOCK and needs_cuda(torch):
            locks.append(CUDA_LOCK)


def install_cpu_build(torch: str) -> None:
    """Install PyTorch's CPU build if one is offered; print a line if not.

    pip prefers a file whose hash an index provides, which is the default build, so the CPU build is installed
    first and by name. An index set by the user vouches for its own files; otherwise the lock must contain the
    hash.
    """
    say("Installing PyTorch for the CPU...")
    index = os.environ.get("CONCORD_TORCH_INDEX")
    if index:
        refused = pip(["--index-url", index, "--no-deps", f"{torch}+cpu"])
    else:
        requirements_file = VENV / "torch-cpu.txt"
        hashes = (f"--hash=sha256:{digest}" for digest in CPU_BUILDS.get(torch.partition("==")[2], ()))
        requirements_file.write_text(" ".join([f"{torch}+cpu", *hashes]) + "\n")
        refused = pip(["--require-hashes", "--no-deps", "--requirement", str(requirements_file)], quiet=True)
    if refused:
        say(
            "No CPU build of PyTorch is offered here, so the default build with its CUDA packages (gigabytes)"
        )
        say("follows. To avoid that, stop and set CONCORD_TORCH_INDEX as docs/install.md says.")


def needs_cuda(torch: str) -> bool:
    """Whether PyTorch's default build is installed, which on Linux does not load without CUDA's packages."""
    version = torch.partition("==")[2]
    return sys.platform.startswith("linux") and any(
        VENV.glob(f"lib/python*/site-packages/torch-{version}.dist-info")
    )


def has_torch(torch: str) -> bool:
    """Whether the locked release of PyTorch is installed, in any build."""
    version = torch.partition("==")[2]
    pattern = f"lib/python*/site-packages/torch-{version}*.dist-info"
    return any(VENV.glob(pattern))


def has_nvidia() -> bool:
    """Whether this machine has an NVIDIA GPU with its driver."""
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def pip(arguments: list[str], *, quiet: bool = False) -> int:
    """Run `pip install` with a progress line every few seconds. Returns its status."""
    # Python compiles modules on import; compiling every installed file would double the time.
    options = ["--no-compile", "--progress-bar", "off", "--disable-pip-version-check"]
    command = [str(PYTHON), "-m", "pip", "install", *options]
    process = subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    progress = Progress()
    ticker = threading.Thread(target=progress.tick, daemon=True)
    ticker.start()
    problems = []
    for line in process.stdout or ():
        progress.read(line.strip())
        if line.startswith("ERROR"):
            problems.append(line.strip())
    status = process.wait()
    progress.done.set()
    ticker.join()
    if status and not quiet:
        for line in problems or ["pip ended without saying why."]:
            say(f"  {line}")
    return status
