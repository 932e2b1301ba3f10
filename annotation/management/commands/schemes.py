"""`manage.py schemes`: schemes listed, shown, checked, carried from file to database and back, compared."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation import scheme_actions, scheme_store
from annotation.errors import SchemeRefused
from annotation.kinds import KINDS
from annotation.models import Corpus, Scheme, SchemeVersion
from annotation.schemes.files import as_plain, difference, read, write
from annotation.text.yaml_tree import MOST_BYTES
from config.commands import DatabaseCommand, acts_of

FORMATS = ("yaml", "json")


class Command(DatabaseCommand):
    """Do one thing with schemes; with --json the last line is one JSON value."""

    help = (
        "Schemes: list them, show one as a file, check a file, import one, export, compare two versions, "
        "archive, or make one of the questions that a corpus's files brought. A version is named "
        "KEY@VERSION; KEY alone is its newest."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what to do, each with what it needs."""
        act = acts_of(parser)
        act("list", "all schemes: newest version, what they are about, title")
        show = act("show", "a version as a file", "scheme")
        show.add_argument("--format", choices=FORMATS, default="yaml")
        act("check", "whether a file can be asked, with every problem; - reads the input", "file")
        load = act(
            "import", "a new scheme from a file, or the next version of one; - reads the input", "file"
        )
        load.add_argument("--key", default="", help="under another key than its own")
        export = act("export", "a version as a file", "scheme")
        export.add_argument("--format", choices=FORMATS, default="yaml")
        export.add_argument("--output", metavar="FILE", required=True, help="where to")
        act("diff", "what two versions differ by", "first", "second")
        act("archive", "take a scheme off the lists of what can be asked", "scheme")
        act("restore", "put it back", "scheme")
        own = act("from-corpus", "a scheme of the questions that a corpus's files brought", "corpus")
        own.add_argument("--kind", choices=list(KINDS), default="turn", help="about which items (turn)")
        own.add_argument("--key", required=True, help="the new scheme's key")
        own.add_argument("--title", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say it."""
        doing: Callable[[dict[str, Any]], Any] = getattr(self, f"_{options['act'].replace('-', '_')}")
        try:
            told = doing(options)
        except SchemeRefused as error:
            raise CommandError("\n".join(str(one) for one in error.problems)) from None
        if options["json"]:
            self.stdout.write(json.dumps(told, ensure_ascii=False, default=str))

    def _say(self, options: dict[str, Any], text: str) -> None:
        if not options["json"]:
            self.stdout.write(text)

    def _list(self, options: dict[str, Any]) -> Any:
        found = scheme_store.schemes()
        for one in found:
            extra = ", built in" if one.built_in else ", archived" if one.archived else ""
            asked = _counted(one.questions)
            self._say(
                options, f"{one.key}@{one.newest}  {'+'.join(one.item_kinds)}  {asked}{extra}  {one.title}"
            )
        return [asdict(one) for one in found]

    def _show(self, options: dict[str, Any]) -> Any:
        version = _version(options["scheme"])
        self._say(options, _file(version, options["format"]).removesuffix("\n"))
        return scheme_store.as_json(version)

    def _check(self, options: dict[str, Any]) -> Any:
        definition = read(_bytes(options["file"]))
        self._say(options, f"{definition.key} can be asked: {_counted(len(definition.questions))}.")
        return {"ok": True, "key": definition.key, "questions": len(definition.questions)}

    def _import(self, options: dict[str, Any]) -> Any:
        definition = read(_bytes(options["file"]))
        definition = replace(definition, key=options["key"] or definition.key)
        if Scheme.objects.filter(key=definition.key).exists():
            version = scheme_actions.save(by=None, definition=definition, seen=None)
        else:
            version = scheme_actions.create(by=None, definition=definition)
        return self._stored(options, version)

    def _stored(self, options: dict[str, Any], version: SchemeVersion) -> Any:
        self._say(options, f"{version.ref} is stored.")
        return scheme_store.as_json(version)

    def _export(self, options: dict[str, Any]) -> Any:
        version = _version(options["scheme"])
        try:
            Path(options["output"]).write_text(_file(version, options["format"]), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{options['output']}: {error.strerror}.") from None
        self._say(options, f"{version.ref} is in {options['output']}.")
        return {"ref": version.ref, "output": options["output"]}

    def _diff(self, options: dict[str, Any]) -> Any:
        first, second = _version(options["first"]), _version(options["second"])
        changes = difference(scheme_store.definition_of(first), scheme_store.definition_of(second))
        for change in changes:
            self._say(options, str(change))
        if not changes:
            self._say(options, f"{first.ref} and {second.ref} ask the same.")
        return [asdict(change) | {"sentence": str(change)} for change in changes]

    def _archive(self, options: dict[str, Any]) -> Any:
        scheme = _version(options["scheme"]).scheme
        scheme = scheme_actions.archive(by=None, scheme=scheme, archived=options["act"] == "archive")
        self._say(options, f"{scheme.key} is {'archived' if scheme.archived_at else 'back'}.")
        return {"key": scheme.key, "archived": scheme.archived_at is not None}

    _restore = _archive

    def _from_corpus(self, options: dict[str, Any]) -> Any:
        corpus = Corpus.objects.filter(name=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus “{options['corpus']}”.")
        about = {name: options[name] for name in ("kind", "key", "title")}
        return self._stored(options, scheme_actions.create_from_corpus(by=None, corpus=corpus, **about))


def _counted(n: int) -> str:
    return f"{n} question{'' if n == 1 else 's'}"


def _version(ref: str) -> SchemeVersion:
    found = scheme_store.find(ref)
    if found is None:
        raise CommandError(f"There is no scheme “{ref[:120]}”: see `manage.py schemes list`.")
    return found


def _file(version: SchemeVersion, format: str) -> str:
    definition = scheme_store.definition_of(version)
    if format == "json":
        return json.dumps(as_plain(definition), ensure_ascii=False, indent=2) + "\n"
    return write(definition)


def _bytes(name: str) -> bytes:
    """Return a file's content, or the input's for `-`; raise CommandError where it cannot be read."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}.") from None
