"""Commands start the embedded database if needed, share it, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from config.embedded import logs
from config.embedded.layout import LONGEST_SOCKET_PATH, SYSTEM_STATE, layout
from tests.platform.running import MANAGE, PROJECT, environment, manage, processes, query, wait_until

CONNECT = "from django.db import connection as c; c.ensure_connection()"
USE = "from config.embedded import postgres; import os; postgres.use(os.environ['CONCORD_HOME']).ensure()"
STAY = "print('holding', flush=True); input()"


def hold(home: Path) -> subprocess.Popen[str]:
    """A program that uses the database, says so, and stays until its input ends."""
    return started(home, [sys.executable, "-c", f"{USE}; {STAY}"])


def command(home: Path) -> subprocess.Popen[str]:
    """As `hold`: a whole command, which connects."""
    return started(home, [*MANAGE, "shell", "--no-imports", "-c", f"{CONNECT}; {STAY}"])


def started(home: Path, program: list[str]) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(program, env=environment(home), cwd=PROJECT, text=True, **pipes)
    assert process.stdout.readline() == "holding\n", process.stderr.read()
    return process


def let_go(process: subprocess.Popen[str]) -> int:
    process.communicate("\n")
    return process.returncode


def test_a_command_starts_the_database_and_stops_it(home):
    done = manage(home, "showmigrations", "--plan", "--skip-checks")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: not processes(home))  # the keeper ends itself a moment after the last command


@pytest.mark.exhaustive
def test_a_command_that_needs_no_database_does_not_start_it(new_home):
    assert manage(new_home, "check", "--tag", "caches").returncode == 0
    assert not (new_home / "run").exists()
    assert not layout(new_home).root.exists()


@pytest.mark.exhaustive
def test_a_command_does_not_stop_the_database_under_another(home):
    first, second = command(home), hold(home)
    assert let_go(first) == 0
    assert query(home, "SELECT 1") == [(1,)]
    assert let_go(second) == 0
    wait_until(lambda: not processes(home))  # the keeper ends itself a moment after the last command


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive),
        pytest.param(signal.SIGINT, marks=pytest.mark.exhaustive),
        signal.SIGKILL,
    ],
)
def test_the_database_stops_after_a_command_that_was_ended_by_a_signal(home, number):
    process = command(home) if number == signal.SIGTERM else hold(home)
    process.send_signal(number)
    process.communicate()
    wait_until(lambda: not processes(home))


@pytest.mark.exhaustive
def test_two_commands_that_start_at_once_share_one_server(home):
    command = [*MANAGE, "showmigrations", "--plan", "--skip-checks"]
    both = [subprocess.Popen(command, env=environment(home), stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    wait_until(lambda: not processes(home))


def test_what_was_committed_survives_kill_9_of_the_server(home):
    process = hold(home)
    query(home, "CREATE TABLE kept AS SELECT 7 AS n")
    for victim in processes(home)["postgres"]:
        victim.kill()
    wait_until(lambda: processes(home).get("postgres"))
    let_go(process)
    other = hold(home)
    assert query(home, "SELECT n FROM kept") == [(7,)]
    let_go(other)


@pytest.mark.exhaustive
def test_a_process_file_left_behind_with_the_number_of_another_program_does_no_harm(home):
    let_go(hold(home))
    data = layout(home).data
    bystander = subprocess.Popen(["/bin/sleep", "60"], user=data.stat().st_uid)
    left = data / "postmaster.pid"
    left.write_text(f"{bystander.pid}\n{data}\n0\n5432\n{layout(home).socket}\n\n\nready\n")
    os.chown(left, data.stat().st_uid, data.stat().st_gid)
    assert let_go(hold(home)) == 0
    bystander.kill()
    bystander.wait()


@pytest.mark.exhaustive
def test_a_home_that_was_removed_and_made_again_starts_empty(new_home):
    if os.geteuid() != 0:
        pytest.skip("only root keeps data outside the home")
    process = hold(new_home)
    query(new_home, "CREATE TABLE old AS SELECT 1")
    let_go(process)
    (new_home / "instance").unlink()
    process = hold(new_home)
    assert query(new_home, "SELECT to_regclass('old')") == [(None,)]
    let_go(process)
    aside = list(SYSTEM_STATE.glob(f"{layout(new_home).digest}.removed-*"))
    assert len(aside) == 1
    subprocess.run(["rm", "-r", str(aside[0])], check=True)


def test_the_socket_of_a_deep_home_lies_where_its_address_is_short_enough():
    deep = layout(Path("/tmp") / ("x" * 200))
    assert len(os.fsencode(deep.socket / ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH


def test_a_lock_is_dropped_with_its_process(tmp_path):
    path = tmp_path / "lock"
    code = f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n"
    code += f"from pathlib import Path; from config.embedded import logs; logs.acquire(Path({str(path)!r}))\n"
    code += "print('locked', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", code], text=True, **pipes)
    assert process.stdout.readline() == "locked\n"
    assert not logs.is_free(path)
    process.kill()
    process.communicate()
    assert logs.is_free(path)
