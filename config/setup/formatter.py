"""prettier, which formats style sheets and scripts: the one program of `make check` that needs Node.

`package-lock.json` pins it by its hash; npm puts it into `node_modules/`, with axe-core, by which the browser
tests look for barriers on pages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess

from config.setup.common import PROJECT, SetupError, apt_install, say

NAME = "node_modules/prettier"
COMMAND = PROJECT / NAME / "bin" / "prettier.cjs"


def formatter() -> list[str] | None:
    """Return the command that runs prettier, installed where needed; None, said in a line, if it cannot.

    With CI=true Node is installed where it is missing, and nothing may be left out: SetupError instead.
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
    """Why there is no Node; empty where there is."""
    missing = [package for package, name in (("nodejs", "node"), ("npm", "npm")) if not shutil.which(name)]
    if missing and not (_is_ci() and apt_install(missing, "Node for prettier")):
        return f"Missing for prettier: install {' and '.join(missing)} with your package manager"
    return ""


def _package_obstacle() -> str:
    """Why the locked version of prettier is not in place; empty where it is."""
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
        said = done.stdout.decode(errors="replace").strip().splitlines() or ["no message"]
        return f"npm could not install prettier ({said[0]})"
    return ""


def _is_in_place() -> bool:
    """Whether all packages of the lock are there in their versions."""
    locked = json.loads((PROJECT / "package-lock.json").read_text())["packages"]
    return all(_version_of(name) == told["version"] for name, told in locked.items() if name)


def _version_of(name: str) -> str | None:
    file = PROJECT / name / "package.json"
    return str(json.loads(file.read_text())["version"]) if file.exists() else None


def _is_ci() -> bool:
    return os.environ.get("CI") == "true"
