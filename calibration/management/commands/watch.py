"""How far a campaign is, printed once or for as long as one watches."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rest_framework.renderers import JSONRenderer

from annotation.models import Attempt, Campaign
from calibration.campaign_checks import Person
from calibration.campaign_progress import BY, Watch, choices, watch
from calibration.reports.figures import worded
from calibration.statistics import Result
from config.commands import DatabaseCommand

LEAST_SECONDS = 1


class Command(DatabaseCommand):
    """`manage.py watch CAMPAIGN [--follow SECONDS]`"""

    help = (
        "Print how far a campaign is, by annotator and by system, language or stratum, and how far its "
        "people agree so far. With --follow it is printed again whenever something has changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Campaign, form, how long."""
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("--by", choices=list(BY), default="", help="progress by this (system)")
        parser.add_argument(
            "--question", default="", metavar="KEY", help="the question whose raters are told"
        )
        parser.add_argument(
            "--everyone", action="store_true", help="agreement counts who is left out of gold, too"
        )
        parser.add_argument("--json", action="store_true", help="as one JSON object a look")
        parser.add_argument("--follow", type=float, metavar="SECONDS", help="look again after this time")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print; exit with one line on a mistake."""
        campaign = Campaign.objects.select_related("corpus", "scheme_version__scheme").filter(
            name=options["campaign"]
        )
        found = campaign.first()
        if found is None:
            raise CommandError(
                f"There is no campaign {options['campaign']!r}: see `manage.py campaigns list`."
            )
        if options["by"] and options["by"] not in choices(found):
            raise CommandError(
                f"{found.name} has no {options['by']} to tell by: say system, or leave --by out."
            )
        if options["follow"] is not None and options["follow"] < LEAST_SECONDS:
            raise CommandError(f"--follow takes {LEAST_SECONDS} second or more.")
        last = ""
        while True:
            asked = {name: options[name] for name in ("by", "question", "everyone")}
            text = self._told(watch(found, **asked), options["json"])
            if _without_times(text) != last:
                self.stdout.write(text)
                self.stdout.flush()
            last = _without_times(text)
            if options["follow"] is None:
                return
            time.sleep(options["follow"])
            found.refresh_from_db()

    def _told(self, seen: Watch, as_json: bool) -> str:
        if as_json:
            return JSONRenderer().render(seen.as_json()).decode()
        return "\n".join(_lines(seen))


def _without_times(text: str) -> str:
    """Return what is said, whenever it was read."""
    if not text.startswith("{"):
        return text.partition("\n")[2]
    told = json.loads(text)
    return json.dumps({name: value for name, value in told.items() if name not in ("at", "agreed_at")})


def _lines(seen: Watch) -> Iterable[str]:
    far, agreed = seen.progress, seen.agreement
    counts = far.counts
    yield f"{seen.campaign.name} ({seen.campaign.state}), {seen.at:%Y-%m-%d %H:%M:%S} UTC"
    yield (
        f"{counts.submitted:,} of {counts.slots:,} ratings in over {counts.tasks:,} tasks; "
        f"{counts.held} held, {counts.skipped} skipped, {counts.flagged} flagged"
    )
    if far.forecast.left and far.forecast.days is not None:
        left, a_day, days = far.forecast.left, far.forecast.a_day, far.forecast.days
        yield f"{left:,} to come: about {days:.1f} days at {a_day:.1f} a day"
    for row in far.strata:
        yield f"  {far.by} {row.name}: {row.submitted:,} of {row.slots:,}"
    for one in far.annotators:
        pace = "" if one.taken is None else f", {(one.attended or one.taken):.0f} s a task"
        yield f"  {one.name}: {one.submitted:,} in, {one.held} held, {one.skipped} skipped{pace}"
    for person in seen.checks:
        yield f"  {person.name}: {_checked(person)}"
    if seen.left_out:
        names = ", ".join(f"{one.name} ({one.why})" for one in seen.left_out)
        yield f"Left out of gold{', and counted here' if seen.everyone else ' and of agreement'}: {names}"
    if agreed.too_many:
        yield f"{agreed.labels:,} answers are too many to compute while you wait: make a study's report."
    for found in agreed.agreed:
        yield f"  {found.question.ref}: {found.reason or '; '.join(map(_figure, found.results))}"


def _checked(person: Person) -> str:
    tries = ", ".join(_tried(attempt) for attempt in person.tries)
    told = [person.state, *([f"test {tries}"] if tries else [])]
    for name, n, share in (
        ("checks", person.n_checks, person.score),
        ("repeats", person.n_repeats, person.same),
    ):
        if share.value is not None:
            told.append(f"{n} {name}: {share.value:.0%} {'right' if name == 'checks' else 'the same'}")
    return ", ".join(told)


def _tried(attempt: Attempt) -> str:
    if attempt.score is None:
        return "under way"
    return f"{attempt.score:.0%} {'passed' if attempt.passed else 'not passed'}"


def _figure(result: Result) -> str:
    name = worded(result.name).name
    if result.value is None:
        return f"{name} {result.status} ({result.reason})"
    interval = "" if result.low is None else f" [{result.low:.2f}, {result.high:.2f}]"
    return f"{name} {result.value:.3f}{interval}, {result.n_items} items, {result.n_raters} people"
