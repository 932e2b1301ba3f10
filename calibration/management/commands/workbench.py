"""`manage.py workbench`: drafts of judges, tried on dev items beside people's answers."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Item, Question
from calibration.errors import CalibrationError
from calibration.models import ForAdjudication, Mark, Search
from calibration.workbench import as_json, checks, marks, searches
from calibration.workbench.checks import CHECKS
from calibration.workbench.marks import FORMS, item_keys
from calibration.workbench.sheets import Judged, items_of, judged_on, sheets
from calibration.workbench.versions import DIRECTIONS, differences, side_by_side
from config.commands import DatabaseCommand
from jobs.calls.queue import work_slice as ask
from jobs.endpoints.parameter_inputs import add_parameters, parameters_from_options
from jobs.errors import JobError
from jobs.kinds import CALLS, JOBS
from jobs.models import Job, Run
from jobs.queue import jobs as steps
from jobs.queue.worker import Heart
from judges.drafts import actions, benches
from judges.drafts.benches import SEARCH, USUAL, begun_from, options_of, parent_of, picked, wording_from
from judges.management.run_options import add_needs, needs_told
from judges.models import Bench, Draft
from judges.prompts import versions
from judges.prompts.examples import RULES
from judges.runs.lookup import Drive, endpoint_named, selection_of

# What the command `workbench` shares: finding what is named, and its subcommands' options.

ITEMS = ("5", "20", "all")


def add_options(parser: CommandParser) -> Any:
    """Add the subcommands and their options; return what takes more of them."""
    parts = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    parts.add_parser("list", help="all benches, one JSON object a line")
    opening = parts.add_parser("open", help="open a bench on the dev part of a corpus or campaign")
    opening.add_argument("bench", metavar="NAME")
    opening.add_argument("--protocol", required=True)
    place = opening.add_mutually_exclusive_group(required=True)
    place.add_argument("--corpus", default="", help="name of a corpus")
    place.add_argument("--campaign", default="", help="name of a campaign")
    opening.add_argument("--scheme", default="", help="whose questions a rubric asks: KEY or KEY@VERSION")
    opening.add_argument("--variant", default="", help="how a rubric asks: json (its first), line, expected")
    opening.add_argument(
        "--include-self", action="store_true", help="dialogues' own turns, too, where they have continuations"
    )
    opening.add_argument("--seed", type=int, default=0, help="decides which dev items come first (0)")
    _add_try(parts.add_parser("try", help="write a draft and try it on the bench's first items"))
    for name, help_text in (
        ("show", "a draft: how far, agreement so far, answers"),
        ("keep", "keep a draft as a version; its answers become labels"),
        ("discard", "throw a draft away; it stays counted"),
    ):
        part = _of_draft(parts.add_parser(name, help=help_text))
        if name == "keep":
            part.add_argument(
                "--name", default="", help="of the prompt: a new one, or one that gets a version"
            )
            part.add_argument("--note", default="")
    _add_findings(parts)
    return parts


def _add_try(part: CommandParser) -> None:
    part.add_argument("bench", metavar="NAME")
    part.add_argument("--from", dest="begin", default="", metavar="REF", help="draft-3 or NAME@NUMBER")
    part.add_argument("--system", metavar="FILE", help="the system part; else that of what it begins from")
    part.add_argument("--user", metavar="FILE", help="the user part; else that of what it begins from")
    part.add_argument("--variant", default=None)
    part.add_argument("--endpoint", required=True, help="name of an endpoint")
    part.add_argument("--items", choices=ITEMS, default="5", help="how many (5)")
    part.add_argument("--samples", type=int, default=1)
    part.add_argument("--budget", type=int, help="most characters of a prompt")
    part.add_argument("--examples", choices=list(RULES), default="", help="pick worked examples by this rule")
    part.add_argument("--examples-n", type=int, default=USUAL, help=f"examples in a call ({USUAL})")
    part.add_argument(
        "--example", action="append", default=[], metavar="KEY", help="an item picked by_hand; again for more"
    )
    part.add_argument("--examples-judge", default="", help="for most_disagreed: a judge (between people)")
    part.add_argument("--examples-seed", type=int, default=0)
    add_parameters(part)
    add_needs(part, drafts=True)
    _working(part)


def examples_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a draft's worked examples are to be picked."""
    rest = {name: options[f"examples_{name}"] for name in ("n", "judge", "seed")}
    return rest | {"rule": options["examples"], "items": options["example"]}


def _working(part: CommandParser) -> None:
    part.add_argument("--estimate", action="store_true", help="say what it takes and stop")
    part.add_argument("--wait", action="store_true", help="leave the work to the running workers")
    part.add_argument("--quiet", action="store_true", help="no progress bar")


def _of_draft(part: CommandParser) -> CommandParser:
    part.add_argument("bench", metavar="NAME")
    part.add_argument("draft", type=int, metavar="DRAFT", help="a draft's number")
    return part


def _add_findings(parts: Any) -> None:
    listing = parts.add_parser(
        "disagreements", help="where a draft and people disagree, one JSON object a line"
    )
    listing.add_argument("bench", metavar="NAME")
    listing.add_argument("--judged", default="", metavar="KEY", help="draft-3 or judge-17 (the latest draft)")
    listing.add_argument("--question", default="", metavar="KEY")
    listing.add_argument("--direction", choices=DIRECTIONS, default="")
    listing.add_argument("--system", default="")
    marking = parts.add_parser("mark", help="say who is wrong about an item; `withdrawn` takes it back")
    for name in ("bench", "judged", "item", "question"):
        marking.add_argument(name, metavar=name.upper())
    marking.add_argument("verdict", choices=Mark.Verdict.values)
    marking.add_argument("--note", default="")
    marking.add_argument("--adjudicate", action="store_true", help="send it on to adjudication")
    marks = parts.add_parser("marks", help="the marks of a bench")
    marks.add_argument("bench", metavar="NAME")
    marks.add_argument("--format", choices=list(FORMS), default="csv")
    beside = parts.add_parser("versions", help="all versions and drafts side by side, as JSON")
    beside.add_argument("bench", metavar="NAME")
    beside.add_argument("--with", dest="key", default="", metavar="KEY", help="draft-3 or judge-17")
    checking = _of_draft(parts.add_parser("check", help="what a check of a draft finds, as JSON"))
    checking.add_argument("check", choices=list(CHECKS))
    checking.add_argument("--own", action="append", default=[], metavar="SYSTEM", help="of the own family")
    checking.add_argument("--ask", action="store_true", help="ask what it needs first")
    _working(checking)
    waiting = parts.add_parser("adjudication", help="what waits for adjudication, one JSON object a line")
    waiting.add_argument("--withdraw", type=int, metavar="ID", help="take one off the list")


def bench_named(name: str) -> Bench:
    """Return a bench by its name."""
    found = Bench.objects.select_related("corpus", "campaign", "split").filter(name=name).first()
    if found is None:
        names = ", ".join(Bench.objects.values_list("name", flat=True)[:10])
        raise CommandError(f"There is no bench {name!r}; there are: {names or 'none yet'}.")
    return found


def draft_numbered(bench: Bench, number: int) -> Draft:
    """Return a draft of a bench."""
    rows = bench.drafts.select_related("bench", "rater", "kept_rater", "text", "endpoint")
    found = rows.filter(number=number).first()
    if found is None:
        raise CommandError(f"The bench {bench.name} has no draft {number}.")
    return found


def judged_keyed(bench: Bench, key: str) -> Judged:
    """Return who is judged on a bench: by key, or the latest draft."""
    found = next((one for one in judged_on(bench) if key in ("", one.key)), None)
    if found is None:
        raise CommandError(f"The bench {bench.name} has nobody {key!r} who was tried.")
    return found


def item_keyed(bench: Bench, key: str) -> Item:
    """Return an item of a bench by its key."""
    named = item_keys(list(items_of(bench)))
    found = next((pk for pk, one in named.items() if one == key), None)
    if found is None:
        raise CommandError(f"The bench {bench.name} has no item {key!r}.")
    return Item.objects.get(pk=found)


def question_keyed(bench: Bench, key: str) -> Question:
    """Return a question of a bench by its key."""
    found = Question.objects.filter(pk__in=bench.questions.values(), key=key).first()
    if found is None:
        raise CommandError(
            f"The bench {bench.name} has no question {key!r}; it has {', '.join(bench.questions)}."
        )
    return found


def texts_of(options: dict[str, Any]) -> dict[str, str]:
    """Return the parts of a text that files give."""
    found = {}
    for name in ("system", "user"):
        if path := options[name]:
            try:
                found[name] = Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"{path} cannot be read: {error}") from None
    return found


# `manage.py workbench propose`: a model proposes texts for a judge; the work of both queues is done here.

DEFAULTS = {"rounds": 8, "few": 5, "most_calls": 1000}
_PAUSE = 0.5


def add_search_options(parts: Any) -> None:
    """Add the subcommands `propose` and `proposals`."""
    part: CommandParser = parts.add_parser(
        "propose", help="let a model propose better texts, measured on dialogues that it has not seen"
    )
    part.add_argument("bench", metavar="NAME")
    part.add_argument("--from", dest="begin", required=True, metavar="REF", help="the version it begins with")
    part.add_argument("--name", default="", help="the prompt that the proposals go into")
    part.add_argument("--endpoint", required=True, help="where the judge is asked")
    part.add_argument("--improver", required=True, help="the endpoint where proposals are asked for")
    for name, default in DEFAULTS.items():
        part.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    part.add_argument("--most-cost", default="", help="in the endpoints' currency")
    part.add_argument("--seed", type=int, default=0)
    part.add_argument("--wait", action="store_true", help="leave the work to the running workers")
    add_parameters(part, of="judge")
    add_parameters(part, of="improver")
    add_needs(part)
    listing = parts.add_parser("proposals", help="a search with its texts, as JSON; cancel, resume or adopt")
    listing.add_argument("search", type=int, metavar="SEARCH", help="a search's number")
    listing.add_argument("--adopt", type=int, metavar="TEXT", help="adopt this text")
    listing.add_argument("--cancel", action="store_true")
    listing.add_argument("--resume", action="store_true")


def propose(options: dict[str, Any]) -> dict[str, Any]:
    """Start a search, bring it to its end, and return it as plain data."""
    search = searches.start(
        by=None,
        bench=bench_named(options["bench"]),
        version=versions.find(options["begin"]),
        name=options["name"],
        endpoint=endpoint_named(options["endpoint"]),
        improver=endpoint_named(options["improver"]),
        most_cost=_money(options["most_cost"]),
        seed=options["seed"],
        options={"needs": needs_told(options), "parameters": parameters_from_options(options, of="judge")},
        improver_parameters=parameters_from_options(options, of="improver"),
        **{name: options[name] for name in DEFAULTS},
    )
    to_the_end(search, wait=options["wait"])
    return searches.as_json(Search.objects.get(pk=search.pk))


def proposals(options: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked to a search, and return it as plain data."""
    search = Search.objects.select_related("bench__split", "prompt").filter(pk=options["search"]).first()
    if search is None:
        raise CommandError(f"There is no search {options['search']}.")
    for verb, act in searches.VERBS.items():
        if options[verb]:
            search = act(by=None, search=search)
    if options["adopt"] is not None:
        text = search.texts.select_related("version__prompt").filter(number=options["adopt"]).first()
        if text is None:
            raise CommandError(f"Search {search.pk} has no text {options['adopt']}.")
        searches.adopt(by=None, text=text)
    return searches.as_json(search)


def to_the_end(search: Search, *, wait: bool, pause: Callable[[float], None] = time.sleep) -> None:
    """Work until a search has ended, or waits for a run that ended without its answers."""
    with Heart(JOBS) as stepping, Heart(CALLS) as asking:
        while True:
            search.refresh_from_db()
            if not search.active or searches.state_of(search).stuck:
                return
            if wait or not _work(search, stepping, asking):
                pause(_PAUSE)


def _work(search: Search, stepping: Heart, asking: Heart) -> bool:
    """Take what there is to do of a search; return whether there was anything."""
    waiting = Job.objects.filter(kind=SEARCH, params__search=search.pk, state=Job.State.QUEUED)
    mine = list(waiting.values_list("pk", flat=True))
    job = steps.claim(worker=stepping.name, only=mine) if mine else None
    if job is not None:
        stepping.hold([job.pk])
        try:
            steps.do(job, worker=stepping.name)
        finally:
            stepping.let_go([job.pk])
    runs = list(searches.runs_of(search).values_list("pk", flat=True))
    counts = ask(CALLS, seconds=60, heart=asking, only=runs) if runs else None
    return job is not None or bool(counts and counts.done + counts.failed)


def _money(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError(f"--most-cost: {text!r} is not an amount of money.") from None


class Command(DatabaseCommand):
    """The workbench without pages: what is listed is one JSON object a line, the rest one object."""

    help = (
        "Try drafts of judges on dev items, see how they agree with people, keep what is good. Nothing of a "
        "draft becomes a label before it is kept. `try` and `check --ask` do the work themselves, beside any "
        "workers that run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        add_search_options(add_options(parser))

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was asked; exit with one line on a mistake."""
        try:
            getattr(self, f"_{options['what']}")(options)
        except (CalibrationError, JobError) as error:
            raise CommandError(str(error)) from error

    def _say(self, found: Any) -> None:
        self.stdout.write(json.dumps(found, ensure_ascii=False, default=str))

    def _list(self, options: dict[str, Any]) -> None:
        for bench in Bench.objects.select_related("corpus", "campaign", "split"):
            self._say(as_json.bench(bench))

    def _open(self, options: dict[str, Any]) -> None:
        place = selection_of(corpus=options["corpus"], campaign=options["campaign"])
        made = benches.open_bench(
            by=None,
            name=options["bench"],
            protocol=options["protocol"],
            corpus=place.corpus,
            campaign=place.campaign,
            seed=options["seed"],
            scheme=options["scheme"],
            variant=options["variant"],
            include_self=options["include_self"],
        )
        self._say(as_json.bench(made))

    def _try(self, options: dict[str, Any]) -> None:
        bench, begin = bench_named(options["bench"]), options["begin"]
        start = begun_from(bench, begin)
        variant = start["variant"] if options["variant"] is None else options["variant"]
        wording = wording_from(bench, begin, texts_of(options))
        draft = actions.write(
            by=None,
            bench=bench,
            wording=picked(bench, variant, wording, examples_of(options)),
            variant=variant,
            endpoint=endpoint_named(options["endpoint"]),
            options=options_of(options | {"needs": needs_told(options)}),
            parent=parent_of(bench, begin),
        )
        targets = None if options["items"] == "all" else int(options["items"])
        asked = actions.estimate(draft, targets, options["samples"])
        self.stderr.write(asked.sentence())
        if options["estimate"]:
            self._say({"draft": draft.number, "estimate": asked.as_json()})
            return
        self._drive([actions.run(by=None, draft=draft, targets=targets, samples=options["samples"])], options)
        self._say(as_json.draft(draft_numbered(bench, draft.number)))

    def _drive(self, started: list[Run], options: dict[str, Any]) -> None:
        bar = None if options["quiet"] else sys.stderr
        if not Drive(started, wait=options["wait"], bar_to=bar).to_the_end():
            raise CommandError("Interrupted. The same command again goes on from here.", returncode=130)

    def _one(self, options: dict[str, Any]) -> Draft:
        return draft_numbered(bench_named(options["bench"]), options["draft"])

    def _show(self, options: dict[str, Any]) -> None:
        self._say(as_json.draft(self._one(options)))

    def _keep(self, options: dict[str, Any]) -> None:
        kept = actions.keep(by=None, draft=self._one(options), name=options["name"], note=options["note"])
        self._say({"draft": kept.number, "version": kept.kept, "rater": kept.asker.name})

    def _discard(self, options: dict[str, Any]) -> None:
        self._say({"draft": actions.discard(by=None, draft=self._one(options)).number, "discarded": True})

    def _disagreements(self, options: dict[str, Any]) -> None:
        bench = bench_named(options["bench"])
        judged = judged_keyed(bench, options["judged"])
        asked = {name: options[name] for name in ("question", "direction", "system")}
        for one in differences(sheets(bench, [judged]), judged, **asked):
            self._say(as_json.difference(one, judged))

    def _mark(self, options: dict[str, Any]) -> None:
        bench = bench_named(options["bench"])
        made = marks.mark(
            by=None,
            bench=bench,
            judged=judged_keyed(bench, options["judged"]),
            item=item_keyed(bench, options["item"]),
            question=question_keyed(bench, options["question"]),
            verdict=options["verdict"],
            note=options["note"],
        )
        sent = marks.send_to_adjudication(by=None, mark=made) if options["adjudicate"] else None
        self._say({"mark": made.pk, "verdict": made.verdict, "adjudication": sent.pk if sent else None})

    def _marks(self, options: dict[str, Any]) -> None:
        text = marks.render_marks(bench_named(options["bench"]), options["format"])
        self.stdout.write(text, ending="")

    def _versions(self, options: dict[str, Any]) -> None:
        self._say(as_json.side_by_side(side_by_side(bench_named(options["bench"]), options["key"])))

    def _check(self, options: dict[str, Any]) -> None:
        draft, key = self._one(options), options["check"]
        if options["ask"] or options["estimate"]:
            asked = checks.cost(draft, key)
            self.stderr.write(asked.sentence())
            if options["estimate"]:
                self._say({"estimate": asked.as_json()})
                return
            runs = [actions.run_of(one) for one in checks.start(by=None, draft=draft, key=key)]
            self._drive([run for run in runs if run is not None], options)
            draft = self._one(options)
        self._say(as_json.finding(checks.finding(draft, key, own=options["own"])))

    def _adjudication(self, options: dict[str, Any]) -> None:
        if (pk := options["withdraw"]) is not None:
            row = ForAdjudication.objects.filter(pk=pk).first()
            if row is None:
                raise CommandError(f"Nothing numbered {pk} waits for adjudication.")
            marks.withdraw(by=None, row=row)
        for one in as_json.waiting(list(marks.waiting())):
            self._say(one)

    def _propose(self, options: dict[str, Any]) -> None:
        self._say(propose(options))

    def _proposals(self, options: dict[str, Any]) -> None:
        self._say(proposals(options))
