"""An upgrade that is cut off anywhere leaves the database as it was, and can be started again."""

from __future__ import annotations

import subprocess
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from config.upgrade import upgrading
from config.upgrade.chain import ChainExecutor
from config.upgrade.upgrading import UpgradeError, needs_upgrade, upgrade
from tests.platform.running import MANAGE, environment, wait_until
from tests.upgrade.catalog import catalog
from tests.upgrade.databases import rows

WAITING = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"


@pytest.mark.slow
def test_cut_off_after_a_step_nothing_has_changed(old, monkeypatch) -> None:
    before = rows(), catalog()
    executor = ChainExecutor(connection)
    steps = len(executor.migration_plan(executor.end()))
    for number in (1, steps // 2, steps):
        with monkeypatch.context() as patch:
            left = iter(range(number - 1))
            after = ChainExecutor._after

            def cut(self, action, *rest, left=left, after=after) -> None:
                after(self, action, *rest)
                if action == "apply_success" and next(left, None) is None:
                    raise KeyboardInterrupt

            patch.setattr(ChainExecutor, "_after", cut)
            with pytest.raises(KeyboardInterrupt):
                upgrade(connection)
        assert needs_upgrade(connection)
    with monkeypatch.context() as patch:
        patch.setattr(upgrading, "INITIAL", [("annotation", None)])
        with pytest.raises(UpgradeError, match=r"^Nothing was changed: .*null value"):
            upgrade(connection)
    assert (rows(), catalog()) == before
    assert upgrade(connection)


def url(name: str) -> str:
    given = connection.settings_dict
    return f"postgres://{given['USER']}@{quote(given['HOST'], safe='')}:{given['PORT']}/{name}"


@pytest.mark.slow
def test_a_killed_process_is_recovered(old) -> None:
    before = rows()
    command = [*MANAGE, "migrate", "--no-input"]
    where = environment(settings.HOME, DATABASE_URL=url(old))
    with psycopg.connect(url(old)) as reader:  # its look at the log holds up one of the last steps
        reader.execute("SELECT count(*) FROM annotation_event")
        with psycopg.connect(url(old), autocommit=True) as looker:
            process = subprocess.Popen(command, env=where, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            wait_until(lambda: looker.execute(WAITING, [old]).fetchone())
            process.kill()
            process.communicate()
    assert needs_upgrade(connection)
    assert rows() == before
    again = subprocess.run(command, env=where, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    connection.close()
    assert not needs_upgrade(connection)
    columns = before["annotation_label"][0].keys()
    kept = [{column: row[column] for column in columns} for row in rows()["annotation_label"]]
    assert kept == before["annotation_label"]


def test_a_database_in_use_is_left_alone_with_a_line_that_says_so(old, monkeypatch) -> None:
    monkeypatch.setattr(upgrading, "PATIENCE", "200ms")
    with psycopg.connect(url(old)) as reader:
        reader.execute("SELECT count(*) FROM annotation_event")
        with pytest.raises(UpgradeError, match=r"in use\. Stop the web server and the workers first"):
            upgrade(connection)
    assert upgrade(connection)
