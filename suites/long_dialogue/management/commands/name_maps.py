"""`manage.py name_maps`: other names for the people of a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.errors import ScriptRefused
from annotation.formats.fields import decode
from annotation.formats.source import ImportProblem
from annotation.management.commands._scripts import add_script, by_name, listed, script_named
from annotation.script_records import NameMap
from config.commands import DatabaseCommand
from suites.long_dialogue.editing.name_maps import CAST, KINDS, as_dict, make_names, maps_of, save_names


class Command(DatabaseCommand):
    """`manage.py name_maps --corpus C --dialogue D [--make anonymised --seed 0 | --file FILE]`"""

    help = (
        "List the name maps of a script, one JSON object a line. --make adds the next version of a kind from "
        'a seed, --file one that somebody wrote: {"kind", "pairs": [[in the script, becomes]], "kept"}. '
        "Versions are never changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the script, and what a map is made from."""
        add_script(parser)
        way = parser.add_mutually_exclusive_group()
        way.add_argument("--make", choices=KINDS, help="make the next version of this kind")
        way.add_argument("--file", help="keep what a JSON file says as the next version")
        way.add_argument("--show", metavar="KIND:VERSION", help="list this one alone")
        parser.add_argument("--seed", type=int, default=0, help="for --make (default: 0)")
        parser.add_argument(
            "--cast", default="", help=f"whose names are swapped, with commas (default: {CAST} who say most)"
        )
        parser.add_argument(
            "--gender", action="append", metavar="NAME=female|male|neutral", help="may be repeated"
        )
        parser.add_argument(
            "--alias", action="append", metavar="NAME=NICK,NICK", help="further names; may be repeated"
        )
        parser.add_argument(
            "--keep", action="append", default=[], metavar="TEXT", help="stays as it is; may be repeated"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Make or keep a map and print it, or list those that there are."""
        found = script_named(options["corpus"], options["dialogue"])
        try:
            if options["make"]:
                aliases = by_name("--alias", options["alias"])
                self._print(
                    make_names(
                        dialogue=found,
                        kind=options["make"],
                        seed=options["seed"],
                        cast=listed(options["cast"]),
                        kept=options["keep"],
                        genders=by_name("--gender", options["gender"]),
                        aliases={name: listed(told) for name, told in aliases.items()},
                        by=None,
                    )
                )
            elif options["file"]:
                self._print(save_names(dialogue=found, by=None, **_written(options["file"])))
            else:
                self._list(maps_of(found), options["show"])
        except ScriptRefused as refused:
            raise CommandError(str(refused)) from None

    def _list(self, maps: tuple[NameMap, ...], shown: str | None) -> None:
        told = [one for one in maps if shown in (None, f"{one.kind}:{one.version}")]
        if shown and not told:
            raise CommandError(f"There are no names {shown!r}.")
        for one in told:
            self._print(one)

    def _print(self, names: NameMap) -> None:
        self.stdout.write(json.dumps(as_dict(names), ensure_ascii=False))


def _written(file: str) -> dict[str, Any]:
    """Return what a file says of a map; raise CommandError where it has another form."""
    try:
        told = decode(Path(file).read_bytes())
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
    except ImportProblem as problem:
        raise CommandError(f"{file}: {problem}.") from None
    told = told if isinstance(told, dict) else {}
    pairs, kept = told.get("pairs"), told.get("kept", [])
    if not isinstance(pairs, list) or not all(map(_is_pair, pairs)) or not _are_texts(kept):
        raise CommandError(
            f'{file} is not like {{"kind": "swapped", "pairs": [["Ana", "Eva"]], "kept": []}}.'
        )
    return {"kind": str(told.get("kind", "")), "pairs": [(old, new) for old, new in pairs], "kept": kept}


def _is_pair(pair: Any) -> bool:
    return _are_texts(pair) and len(pair) == 2


def _are_texts(told: Any) -> bool:
    return isinstance(told, list) and all(isinstance(text, str) for text in told)
