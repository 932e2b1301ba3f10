"""`manage.py prompts`: list, show, save, copy, compare, export and import prompts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.corpora.splits import TRAINING
from annotation.text.yaml_tree import MOST_BYTES
from config.commands import DatabaseCommand, acts_of
from jobs.endpoints.parameter_inputs import add_parameters, parameters_from_options
from jobs.errors import JobError
from judges.management.run_options import add_exclude, add_needs, needs_from_options
from judges.models import PromptVersion
from judges.prompts import files, prompt_actions, requests, versions
from judges.prompts.examples import RULES, USUAL, Pick
from judges.runs.lookup import corpus_named, endpoint_named
from judges.runs.plans import Judge

SCHEME = "whose questions a rubric asks, where its prompt is for no scheme: key or key@version"


class Command(DatabaseCommand):
    """Runs one subcommand for prompts; with --json the last line is one JSON value."""

    help = (
        "Prompts of judges: list them, show a version, save the next one from a file, copy, compare, pick "
        "worked examples, export, import, archive, delete, or show the exact request about an item. A "
        "version is named NAME@NUMBER; NAME alone is its newest."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands, each with its arguments."""
        act = acts_of(parser)
        act("list", "all prompts: name, protocol, newest version, judges")
        act("show", "a version's text", "version")
        save = act("save", "the next version of a prompt, from a Markdown file or its own two", "name")
        save.add_argument("--file", help="a file of `prompts export`; - reads it from the input")
        for part in ("system", "user"):
            save.add_argument(f"--{part}", metavar="FILE", help=f"a file with the {part} part")
        save.add_argument("--from", dest="parent", metavar="NUMBER", type=int, help="its parent (the newest)")
        save.add_argument("--note", default="", help="why")
        copy = act("copy", "a prompt of one's own with a version's text", "version", "name")
        copy.add_argument("--description", default="")
        act("diff", "what two versions differ by, line by line", "first", "second")
        examples = act("examples", "worked examples for a version, saved as the next one", "version")
        _add_picking(examples)
        export = act("export", "a prompt with its versions as YAML, or one version as Markdown", "version")
        export.add_argument("--form", choices=list(files.FORMS), default="yaml")
        export.add_argument("--output", metavar="FILE", help="where to; without it, to the output")
        load = act("import", "a prompt from a file; - reads it from the input", "file")
        load.add_argument("--name", default="", help="under another name than its own")
        act("archive", "take a prompt off the lists of what can be run", "name")
        act("restore", "put it back", "name")
        act("delete", "delete a version that no judge has used", "version")
        _add_request(act("request", "the exact request about an item; nothing is sent", "version"))

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the subcommand and print its result."""
        doing: Callable[[dict[str, Any]], Any] = getattr(self, f"_{options['act']}")
        try:
            result = doing(options)
        except JobError as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False))

    def _say(self, options: dict[str, Any], text: str) -> None:
        if not options["json"]:
            self.stdout.write(text)

    def _list(self, options: dict[str, Any]) -> Any:
        prompts = [prompt.as_json() for prompt in (*versions.own(), *versions.coming_with_concord())]
        for prompt in prompts:
            extra = ", built in" if prompt["built_in"] else ", archived" if prompt["archived"] else ""
            about = " ".join(filter(None, (prompt["protocol"], prompt["variant"])))
            self._say(
                options, f"{prompt['name']}@{prompt['newest']}  {about}  {prompt['judges']} judges{extra}"
            )
        return prompts

    def _show(self, options: dict[str, Any]) -> Any:
        version = versions.find(options["version"])
        self._say(options, files.as_markdown(version))
        return versions.as_json(version)

    def _save(self, options: dict[str, Any]) -> Any:
        ref = options["name"] + (f"@{options['parent']}" if options["parent"] else "")
        base = versions.find(ref)
        wording = base.wording
        if options["file"]:
            wording = files.read(_read_bytes(options["file"])).versions[-1].wording
        if options["system"]:
            wording = replace(wording, system=_read_text(options["system"]))
        if options["user"]:
            wording = replace(wording, user=_read_text(options["user"]))
        prompt = prompt_actions.own_version(base).prompt
        prompt_version = prompt_actions.add_version(
            by=None, prompt=prompt, wording=wording, parent=base.ref, note=options["note"]
        )
        return self._report_saved(options, prompt_version)

    def _report_saved(self, options: dict[str, Any], prompt_version: PromptVersion) -> Any:
        version = versions.find(f"{prompt_version.prompt.name}@{prompt_version.number}")
        self._say(options, f"{version.ref} is saved.")
        return versions.as_json(version)

    def _copy(self, options: dict[str, Any]) -> Any:
        version = versions.find(options["version"])
        description = options["description"]
        prompt_version = prompt_actions.copy(
            by=None, version=version, name=options["name"], description=description
        )
        return self._report_saved(options, prompt_version)

    def _diff(self, options: dict[str, Any]) -> Any:
        first, second = versions.find(options["first"]), versions.find(options["second"])
        parts = versions.difference(first.wording, second.wording)
        for part in parts:
            self._say(options, f"=== {part.name} ===")
            for row in part.rows:
                self._say(options, "\n".join(_diff_lines(row)))
        return {part.name: [row.as_json() for row in part.rows] for part in parts}

    def _examples(self, options: dict[str, Any]) -> Any:
        criteria = Pick(
            corpus_named(options["corpus"]),
            options["rule"],
            options["n"],
            tuple(options["item"]),
            options["judge"],
            options["seed"],
            options["whole_corpus"],
            options["scheme"],
            options["part"],
            exclude=options["exclude"],
        )
        version = versions.find(options["version"])
        prompt_version = prompt_actions.add_examples(
            by=None, version=version, criteria=criteria, note=options["note"]
        )
        return self._report_saved(options, prompt_version)

    def _export(self, options: dict[str, Any]) -> Any:
        version = versions.find(options["version"])
        text, _ = files.export(version, options["form"])
        if options["output"]:
            try:
                Path(options["output"]).write_text(text, encoding="utf-8")
            except OSError as error:
                raise CommandError(f"{options['output']}: {error.strerror}.") from None
        else:
            self._say(options, text)
        return {"version": version.ref, "form": options["form"], "text": text}

    def _import(self, options: dict[str, Any]) -> Any:
        prompt_versions = prompt_actions.import_file(
            by=None, content=_read_bytes(options["file"]), name=options["name"]
        )
        refs = [f"{row.prompt.name}@{row.number}" for row in prompt_versions]
        self._say(options, f"Imported: {', '.join(refs) or 'nothing, all of it was there already'}.")
        return {"versions": refs}

    def _archive(self, options: dict[str, Any]) -> Any:
        version = versions.find(options["name"])
        prompt = prompt_actions.archive(
            by=None,
            prompt=prompt_actions.own_version(version).prompt,
            archived=options["act"] == "archive",
        )
        self._say(options, f"{prompt.name} is {'archived' if prompt.archived else 'back'}.")
        return {"name": prompt.name, "archived": prompt.archived}

    _restore = _archive

    def _delete(self, options: dict[str, Any]) -> Any:
        version = versions.find(options["version"])
        prompt_actions.delete(by=None, version=prompt_actions.own_version(version))
        self._say(options, f"{version.ref} is deleted.")
        return {"deleted": version.ref}

    def _request(self, options: dict[str, Any]) -> Any:
        version = versions.find(options["version"])
        judge = Judge(
            prompt=version.ref,
            endpoint=endpoint_named(options["endpoint"]) if options["endpoint"] else None,
            shows=tuple(options["show"]),
            parameters=parameters_from_options(options),
            budget=options["budget"],
            scheme=options["scheme"],
            needs=needs_from_options(options),
        )
        item = requests.item_or_any(corpus_named(options["corpus"]), options["item"], judge.asks().covers)
        previews = requests.requests(judge, item)
        for preview in previews:
            self._say(options, preview.readable or f"Nothing would be sent: {preview.unasked}.")
            flags = f" Flags: {'; '.join(preview.flags)}." if preview.flags else ""
            self.stderr.write(
                f"{preview.item}: about {preview.tokens_in:,} tokens to read ({requests.COUNTED}), about "
                f"{preview.tokens_out:,} to write, cost {preview.price}.{flags}"
            )
        return [preview.as_json() for preview in previews]


def _add_picking(parser: CommandParser) -> None:
    rules = "; ".join(f"{key}: {explanation}" for key, explanation in RULES.items())
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--rule", choices=list(RULES), required=True, help=rules)
    parser.add_argument("--n", type=int, default=USUAL, help=f"examples in a call ({USUAL})")
    parser.add_argument("--item", action="append", default=[], metavar="KEY", help="by hand; may be repeated")
    parser.add_argument("--scheme", default="", help=SCHEME)
    parser.add_argument("--judge", default="", help="most_disagreed: between this judge and the people")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--whole-corpus", action="store_true", help="it has no split, and all of it is for development"
    )
    parser.add_argument("--part", choices=[TRAINING], default="", help="from training instead of dev")
    add_exclude(parser)
    parser.add_argument("--note", default="", help="why")


def _add_request(parser: CommandParser) -> None:
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--item", default="", metavar="KEY", help="its key; any item of dev without one")
    parser.add_argument("--scheme", default="", help=SCHEME)
    add_needs(parser)
    parser.add_argument("--endpoint", default="", help="whose model and prices")
    add_parameters(parser)
    parser.add_argument("--budget", type=int, help="most characters of a prompt")
    parser.add_argument("--show", action="append", default=[], metavar="NAME", help="shown beside the usual")


def _diff_lines(row: versions.Row) -> list[str]:
    if row.skipped:
        return [f"  ... {row.skipped} lines alike"]
    if row.same and row.left:
        return [f"  {row.left.text}"]
    lines = [f"- {row.left.text}"] if row.left else []
    return lines + ([f"+ {row.right.text}"] if row.right else [])


def _read_bytes(name: str) -> bytes:
    """Return the content of a file, or of standard input for `-`; raise CommandError if it is unreadable."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}.") from None


def _read_text(name: str) -> str:
    try:
        return _read_bytes(name).decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n")
    except UnicodeDecodeError:
        raise CommandError(f"{name} is not in UTF-8.") from None
