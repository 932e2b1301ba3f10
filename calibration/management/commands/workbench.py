"""`manage.py workbench`: drafts of judges, tried on dev items beside people's answers."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from calibration.errors import CalibrationError
from calibration.management import benches as named
from calibration.management import searches
from calibration.models import ForAdjudication
from calibration.workbench import as_json, checks, marks
from calibration.workbench.sheets import sheets
from calibration.workbench.versions import differences, side_by_side
from config.commands import DatabaseCommand
from jobs.errors import JobError
from jobs.models import Run
from judges.drafts import actions, benches
from judges.drafts.benches import begun_from, options_of, parent_of, picked, wording_from
from judges.management.run_options import needs_told
from judges.models import Bench, Draft
from judges.runs.lookup import Drive, endpoint_named, selection_of


class Command(DatabaseCommand):
    """The workbench without pages: what is listed is one JSON object a line, the rest one object."""

    help = (
        "Try drafts of judges on dev items, see how they agree with people, keep what is good. Nothing of a "
        "draft becomes a label before it is kept. `try` and `check --ask` do the work themselves, beside any "
        "workers that run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the subcommands."""
        searches.add_options(named.add_options(parser))

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
        bench, begin = named.bench_named(options["bench"]), options["begin"]
        start = begun_from(bench, begin)
        variant = start["variant"] if options["variant"] is None else options["variant"]
        wording = wording_from(bench, begin, named.texts_of(options))
        draft = actions.write(
            by=None,
            bench=bench,
            wording=picked(bench, variant, wording, named.examples_of(options)),
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
        self._say(as_json.draft(named.draft_numbered(bench, draft.number)))

    def _drive(self, started: list[Run], options: dict[str, Any]) -> None:
        bar = None if options["quiet"] else sys.stderr
        if not Drive(started, wait=options["wait"], bar_to=bar).to_the_end():
            raise CommandError("Interrupted. The same command again goes on from here.", returncode=130)

    def _one(self, options: dict[str, Any]) -> Draft:
        return named.draft_numbered(named.bench_named(options["bench"]), options["draft"])

    def _show(self, options: dict[str, Any]) -> None:
        self._say(as_json.draft(self._one(options)))

    def _keep(self, options: dict[str, Any]) -> None:
        kept = actions.keep(by=None, draft=self._one(options), name=options["name"], note=options["note"])
        self._say({"draft": kept.number, "version": kept.kept, "rater": kept.asker.name})

    def _discard(self, options: dict[str, Any]) -> None:
        self._say({"draft": actions.discard(by=None, draft=self._one(options)).number, "discarded": True})

    def _disagreements(self, options: dict[str, Any]) -> None:
        bench = named.bench_named(options["bench"])
        judged = named.judged_keyed(bench, options["judged"])
        asked = {name: options[name] for name in ("question", "direction", "system")}
        for one in differences(sheets(bench, [judged]), judged, **asked):
            self._say(as_json.difference(one, judged))

    def _mark(self, options: dict[str, Any]) -> None:
        bench = named.bench_named(options["bench"])
        made = marks.mark(
            by=None,
            bench=bench,
            judged=named.judged_keyed(bench, options["judged"]),
            item=named.item_keyed(bench, options["item"]),
            question=named.question_keyed(bench, options["question"]),
            verdict=options["verdict"],
            note=options["note"],
        )
        sent = marks.send_to_adjudication(by=None, mark=made) if options["adjudicate"] else None
        self._say({"mark": made.pk, "verdict": made.verdict, "adjudication": sent.pk if sent else None})

    def _marks(self, options: dict[str, Any]) -> None:
        text = marks.written(named.bench_named(options["bench"]), options["format"])
        self.stdout.write(text, ending="")

    def _versions(self, options: dict[str, Any]) -> None:
        self._say(as_json.side_by_side(side_by_side(named.bench_named(options["bench"]), options["key"])))

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
        self._say(searches.propose(options))

    def _proposals(self, options: dict[str, Any]) -> None:
        self._say(searches.proposals(options))
