"""`python3 -m config.setup.lock`: write the hashes of all files of the locked versions into the locks.

Edit versions in requirements.lock as plain `name==version` lines, then run this. It needs `uv`, which it
installs in a separate folder. Additional packages of PyTorch's default build on Linux go to
requirements-cuda.lock.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from config.setup.common import PROJECT

LOCK, CUDA_LOCK = PROJECT / "requirements.lock", PROJECT / "requirements-cuda.lock"
# PyTorch's CPU builds are not on the registry; these are the known ones, by release.
CPU_BUILDS = {"2.13.0": ("6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b",)}
CUDA = re.compile(r"(nvidia|cuda|triton)\b")
# Needed only on systems that Concord does not support.
ELSEWHERE = {"colorama", "tzdata", "httpx2-jsfetch"}
HEAD = {
    LOCK: "# Exact versions for running and for testing Concord. Written by: python3 -m config.setup.lock",
    CUDA_LOCK: "# What PyTorch's default build for Linux needs besides, for NVIDIA GPUs.",
}


def pins(text: str) -> list[str]:
    """Return the `name==version` of each package of a lock, with its marker, without its hashes."""
    lines = (line for line in text.splitlines() if line and line[0] not in "# ")
    return [line.rstrip("\\").strip() for line in lines]


def name_of(pin: str) -> str:
    """Return a package's name, normalised as on the registry."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[=]", pin)[0].strip()).lower()


def entries(compiled: str) -> dict[str, str]:
    """Return each package's lines in the output of `uv pip compile`, by name."""
    parts = re.split(r"^(?=[A-Za-z0-9])", compiled, flags=re.MULTILINE)
    return {name_of(part): part.rstrip() for part in parts if part.strip()}


def with_cpu_builds(entry: str) -> str:
    """Return PyTorch's lines with the hashes of its CPU builds."""
    version = entry.partition("==")[2].split()[0]
    hashes = (f"    --hash=sha256:{digest}" for digest in CPU_BUILDS.get(version, ()))
    return " \\\n".join([entry, *hashes])


def write(locked: list[str], entry_by_name: dict[str, str]) -> None:
    """Write both locks."""
    entry_by_name["torch"] = with_cpu_builds(entry_by_name["torch"])
    locked_names = {name_of(pin) for pin in locked}
    cuda = [entry for name, entry in entry_by_name.items() if name not in locked_names and CUDA.match(name)]
    plain = [entry for name, entry in entry_by_name.items() if name in locked_names]
    strange = (
        entry_by_name.keys() - locked_names - ELSEWHERE - {name for name in entry_by_name if CUDA.match(name)}
    )
    if strange:
        sys.exit(f"Not in requirements.lock but needed: {', '.join(sorted(strange))}. Add them, pinned.")
    for path, lines in ((LOCK, plain), (CUDA_LOCK, cuda)):
        path.write_text("\n".join([HEAD[path], *sorted(lines, key=str.lower)]) + "\n")


def main() -> None:
    """Compile and write the locks."""
    locked = pins(LOCK.read_text())
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        programs = Path(folder) / "bin"
        subprocess.run([programs / "pip", "install", "--quiet", "uv"], check=True)
        source, target = Path(folder) / "lock.in", Path(folder) / "lock.out"
        source.write_text("\n".join(locked) + "\n")
        options = [
            "--universal",
            "--python-version",
            "3.11",
            "--generate-hashes",
            "--no-annotate",
            "--no-header",
        ]
        subprocess.run(
            [programs / "uv", "pip", "compile", "--quiet", *options, source, "-o", target], check=True
        )
        write(locked, entries(target.read_text()))


if __name__ == "__main__":
    main()
