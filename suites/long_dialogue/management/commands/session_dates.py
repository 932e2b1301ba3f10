"""`manage.py session_dates`: the sessions of a script, and changing what is said of them."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from annotation.errors import ScriptRefused
from annotation.management.commands._scripts import add_script, by_name, listed, script_named
from annotation.models import Dialogue
from config.commands import DatabaseCommand
from suites.long_dialogue.editing import sessions as reading
from suites.long_dialogue.editing.sessions import REASONS, change_session, versions_of, warnings_of


class Command(DatabaseCommand):
    """`manage.py session_dates --corpus C --dialogue D [--set s01=1994-09-23 --kind talk --reason ...]`"""

    help = (
        "List the sessions of a script: number, id, date, place, turns, who is there, and whether the main "
        "character hears it. --set, --place and --present change sessions, by id, all of them or none: each "
        "change is a version with its reason, and question sets that ask about the script are marked."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the script, and the changes."""
        add_script(parser)
        parser.add_argument(
            "--set", action="append", metavar="ID=DATE", help="1994-09-22, 1994-09 or 1994; may be repeated"
        )
        parser.add_argument("--place", action="append", metavar="ID=PLACE", help="may be repeated")
        parser.add_argument(
            "--present",
            action="append",
            metavar="ID=NAME,NAME",
            help="who is there without speaking; nobody: ID=",
        )
        kinds = "; ".join(f"{key}: {label}" for key, label in REASONS.items())
        parser.add_argument("--kind", choices=list(REASONS), default="other", help=kinds)
        parser.add_argument("--reason", default="", help="why, in words; needed with the kind `other`")
        parser.add_argument("--versions", metavar="ID", help="list what was said of one session")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        """Change what is to be changed, then list."""
        found = script_named(options["corpus"], options["dialogue"])
        changes = _changes(options)
        if changes:
            self._change(found, changes, options)
        elif options["versions"]:
            self._versions(found, options["versions"], options["json"])
        else:
            self._list(found, options["json"])

    @transaction.atomic
    def _change(self, found: Dialogue, changes: dict[str, dict[str, Any]], options: dict[str, Any]) -> None:
        stale: dict[str, str] = {}
        for session, change in changes.items():
            try:
                changed = change_session(
                    dialogue=found,
                    session=session,
                    kind=options["kind"],
                    reason=options["reason"],
                    by=None,
                    **change,
                )
            except ScriptRefused as refused:
                raise CommandError(f"{session}: {refused} Nothing is changed.") from None
            stale |= {str(one): one.stale for one in changed.stale}
            told = {"session": session, "version": changed.version.version, **changed.version.content}
            self.stdout.write(json.dumps(told, ensure_ascii=False))
        for warning in warnings_of(reading.overview(found).script):
            self.stderr.write(warning)
        for name, why in stale.items():
            self.stderr.write(f"Question set {name}: {why}")

    def _versions(self, found: Dialogue, session: str, as_json: bool) -> None:
        sessions = {one.id: one for one in reading.overview(found).script.sessions}
        if session not in sessions:
            raise CommandError(f"There is no session {session!r}.")
        for version in versions_of(found, sessions[session]):
            told = {name: version[name] for name in ("version", "date", "place", "present", "kind", "reason")}
            told |= {"by": version["by"], "at": version["at"].isoformat()}
            if as_json:
                self.stdout.write(json.dumps(told, ensure_ascii=False))
            else:
                why = ": ".join(filter(None, (version["told"], version["reason"])))
                self.stdout.write(f"{version['version']}  {version['date']}  {version['place']}  {why}")

    def _list(self, found: Dialogue, as_json: bool) -> None:
        seen = reading.overview(found)
        counts = reading.records_of(found, [row.session.id for row in seen.rows])
        for row in seen.rows:
            if as_json:
                told = reading.as_dict(row, counts[row.session.id])
                self.stdout.write(json.dumps(told, ensure_ascii=False))
            else:
                there = ", ".join(seen.called(person) for person in row.people)
                heard = "" if row.heard else "  (not heard)"
                session = row.session
                self.stdout.write(
                    f"{row.number:>4}  {session.id}  {session.date}  {session.place or '-'}  "
                    f"{row.turns} turns  {there}{heard}"
                )
        for warning in warnings_of(seen.script):
            self.stderr.write(warning)


def _changes(options: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what is to be changed, by the session's id."""
    changes: dict[str, dict[str, Any]] = {}
    for option, name in (("set", "date"), ("place", "place"), ("present", "present")):
        for session, value in by_name(f"--{option}", options[option]).items():
            told: Any = listed(value) if name == "present" else value
            changes.setdefault(session, {})[name] = told
    return changes
