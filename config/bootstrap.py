"""Set-up behind `make`: from a checkout and Python to a running program. Standard library only.

`python3 config/bootstrap.py demo|up|seed|test|check|bench` installs what is missing and then does it.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VENV = PROJECT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = PROJECT / "requirements.lock"
OLDEST = (3, 11)
SILENCE = 10.0
PR_SET_PDEATHSIG = 1

CHECKS = (
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "mypy", "."]),
    ("layers", [str(VENV / "bin" / "lint-imports")]),
    ("template format", ["-m", "djlint", "templates", "--check", "--quiet"]),
    ("template lint", ["-m", "djlint", "templates", "--lint", "--quiet"]),
    ("migrations", [str(PROJECT / "manage.py"), "makemigrations", "--check", "--dry-run"]),
)


class SetupError(Exception):
    """Set-up cannot go on. The message is one line that says what to do."""


def say(line: str) -> None:
    """Show one line at once."""
    print(line, flush=True)


# --- Python and its packages


def right_python() -> str:
    """The path of a Python that is new enough; SetupError if there is none."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in (13, 12, 11):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    raise SetupError(
        f"Concord needs Python 3.11 or newer, this is {sys.version.split()[0]}: install python3.11."
    )


def install() -> None:
    """Make `.venv` hold exactly what the lock says; a comparison when it does already."""
    handle = os.open(PROJECT, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        if not is_installed():
            started = time.monotonic()
            make_venv()
            install_packages()
            stamp().write_text(wanted())
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
    """Whether the environment was completed for this lock, this place and a Python that is still there."""
    return stamp().exists() and stamp().read_text() == wanted() and PYTHON.exists()


def stamp() -> Path:
    """The file that says what `.venv` was completed for."""
    return VENV / "concord.stamp"


def wanted() -> str:
    """What the stamp must say: the lock's content and the place (an environment cannot be moved)."""
    return f"{hashlib.sha256(LOCK.read_bytes()).hexdigest()}\n{VENV}\n"


def make_venv() -> None:
    """Create `.venv`, anew if the one there does not run or was made for another place."""
    kept = stamp().exists() and stamp().read_text().splitlines()[1:] == [str(VENV)]
    if PYTHON.exists() and (kept or _pip_works()):
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
    shown = subprocess.run(
        [str(PYTHON), "-m", "pip", "--version"], check=False, capture_output=True, text=True
    )
    return shown.returncode == 0 and str(VENV) in shown.stdout


def install_packages() -> None:
    """Install the lock. On Linux without an NVIDIA GPU, PyTorch comes first, as a build without CUDA."""
    torch = next(line.strip() for line in LOCK.read_text().splitlines() if line.startswith("torch=="))
    if sys.platform.startswith("linux") and not has_nvidia() and not has_torch(torch):
        install_torch(torch)
    count = sum(1 for line in LOCK.read_text().splitlines() if line.strip() and not line.startswith("#"))
    say(f"Installing {count} packages...")
    if pip(["--requirement", str(LOCK)]):
        raise SetupError("Installing the packages failed: see the lines above; `make` again resumes.")


def install_torch(torch: str) -> None:
    """Install PyTorch's CPU build if an index offers it; else the lock brings the default build."""
    say("Installing PyTorch for the CPU...")
    index = os.environ.get("CONCORD_TORCH_INDEX")
    source = ["--index-url", index] if index else []
    if pip([*source, "--no-deps", f"{torch}+cpu"], quiet=not index):
        say(
            "No CPU build of PyTorch is offered here, so the default build with its CUDA packages (gigabytes)"
        )
        say("follows. To avoid that, stop and set CONCORD_TORCH_INDEX as docs/install.md says.")


def has_torch(torch: str) -> bool:
    """Whether the wanted release of PyTorch is installed, in any build."""
    version = torch.partition("==")[2]
    pattern = f"lib/python*/site-packages/torch-{version}*.dist-info"
    return any(VENV.glob(pattern))


def has_nvidia() -> bool:
    """Whether this machine has an NVIDIA GPU with its driver."""
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def pip(arguments: list[str], *, quiet: bool = False) -> int:
    """Run `pip install`; its steps become a line every few seconds. Returns its status."""
    command = [str(PYTHON), "-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check"]
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


class Progress:
    """Turns pip's many lines into few: what it is doing, every `SILENCE` seconds at most."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.started = time.monotonic()
        self.seen = 0
        self.doing = "starting"

    def read(self, line: str) -> None:
        """Note what a line of pip says."""
        word, _, rest = line.partition(" ")
        if word == "Collecting":
            self.seen += 1
            self.doing = f"{self.seen} looked up, now {rest}"
        elif word == "Downloading":
            self.doing = f"downloading {rest.rpartition('/')[2]}"
        elif word == "Installing":
            self.doing = "unpacking"

    def tick(self) -> None:
        """Show the state until done."""
        while not self.done.wait(SILENCE / 2):
            say(f"  {time.monotonic() - self.started:3.0f} s: {self.doing}")


# --- What only the system's package manager has


def apt_install(packages: list[str], what: str) -> bool:
    """Install Debian packages as root or through sudo; False where that is not possible."""
    apt = shutil.which("apt-get")
    root = [] if os.geteuid() == 0 else _sudo()
    if apt is None or root is None:
        return False
    say(f"Installing {what} ({', '.join(packages)})...")
    command = [*root, "env", "DEBIAN_FRONTEND=noninteractive", apt, "-qq", "-y"]
    for arguments in (["update"], ["install", "--no-install-recommends", *packages]):
        done = subprocess.run(
            [*command, *arguments], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode:
            say("  " + done.stdout.decode(errors="replace").strip().rpartition("\n")[2])
            if arguments != ["update"]:
                return False
    return True


def _sudo() -> list[str] | None:
    """How to become root without a password, if there is a way."""
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], check=False, capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


def install_test_programs() -> None:
    """Chromium and Redis for the tests; where they cannot be installed, says so and the tests skip.

    With CI=true nothing may be skipped: SetupError instead.
    """
    needs = {"chromium": ("chromium", "chromium-browser", "google-chrome"), "redis-server": ("redis-server",)}
    missing = [package for package, names in needs.items() if not any(map(shutil.which, names))]
    if missing and not apt_install(missing, "programs for the tests"):
        line = f"Missing for the tests: install {' and '.join(missing)} with your package manager"
        if os.environ.get("CI") == "true":
            raise SetupError(f"{line}; with CI=true none of them may be skipped.")
        say(f"{line}; the tests that need them are skipped.")


# --- What `make` offers


def serve(*options: str) -> None:
    """Become the supervisor. Started by make, it ends when make is killed."""
    if os.environ.get("MAKELEVEL") and sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    become([str(PROJECT / "manage.py"), "serve", *options])


def become(arguments: list[str]) -> None:
    """Replace this process by the environment's Python."""
    sys.stdout.flush()
    os.chdir(PROJECT)
    os.execv(PYTHON, [str(PYTHON), *arguments])


def test() -> None:
    """Run the test suite on all cores, four at most."""
    install_test_programs()
    cores = min(os.cpu_count() or 1, 4)
    say("Running the tests...")
    spread = ["-n", str(cores), "--dist", "loadfile"] if cores > 1 else []
    become(["-m", "pytest", *spread, *os.environ.get("ARGS", "").split()])


def check() -> None:
    """Run every check, then say which failed."""
    failed = []
    for name, command in CHECKS:
        started = time.monotonic()
        done = subprocess.run(
            [str(PYTHON), *command], cwd=PROJECT, check=False, capture_output=True, text=True
        )
        say(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {name} ({time.monotonic() - started:.1f} s)")
        if done.returncode:
            failed.append(name)
            say((done.stdout + done.stderr).rstrip())
    if failed:
        raise SetupError(f"Checks that failed: {', '.join(failed)}.")


def main(target: str) -> None:
    """Set up and do `target`."""
    if sys.version_info < OLDEST:
        os.execv(right_python(), [right_python(), *sys.argv])
    install()
    manage = str(PROJECT / "manage.py")
    actions = {
        "demo": lambda: serve("--demo"),
        "up": serve,
        "test": test,
        "check": check,
        "seed": lambda: become([manage, "load_demo"]),
        "bench": lambda: become(["-m", "benchmarks", os.environ.get("NAME") or "all"]),
    }
    if target not in actions:
        raise SetupError(f"Unknown target {target}: choose one of {', '.join(actions)}.")
    actions[target]()


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "")
    except SetupError as error:
        say(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
