"""Overview of a corpus: how far it has come from data to gold, and what is to be done next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from django.db.models import Sum
from django.urls import reverse

from annotation.campaigns import progress as campaign_progress
from annotation.corpora import queries
from annotation.models import Campaign, Corpus
from calibration.campaign_progress import Agreement, agreement_so_far
from calibration.exports import downloads
from calibration.gold import derivation
from calibration.models import Gold, Report
from calibration.ratings.scope import Census, offered, scope_of
from calibration.reports.names import names_of
from calibration.reports.snapshot import is_readable, snapshot_of
from calibration.reports.tables import VerdictTable
from calibration.reports.topics import verdict_table
from calibration.reports.wording import counted
from calibration.studies import study_actions
from jobs import runs as run_states
from jobs.models.job import Job
from jobs.models.run import Call, CallCount, Run
from jobs.progress import STILL_GROWING
from judges.drafts import DRAFT

DONE, CURRENT, OPEN = "done", "current", "open"
MOST_EVENTS = 8
"""Number of latest events shown."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step from data to gold: its figure, a note, whether it is done, and the page of its work."""

    title: str
    href: str
    text: str
    note: str
    state: str


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do next: a sentence, and the button for it."""

    sentence: str
    action: str
    href: str


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """A campaign with its submitted ratings, and all that it asks for."""

    campaign: Campaign
    submitted: int
    slots: int


@dataclass(frozen=True, slots=True)
class PastEvent:
    """Something that happened to a corpus, with its page; `by` is empty where nobody is recorded."""

    at: datetime
    text: str
    href: str
    by: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The steps of a corpus, the next one, its campaigns, and the latest figures.

    `agreement` is that of people in the campaign `agreement_of` so far; None before anybody has rated.
    `costs` are by currency, `events` the latest first.
    """

    steps: tuple[Step, ...]
    next: NextStep
    campaigns: tuple[CampaignProgress, ...]
    agreement_of: Campaign | None
    agreement: Agreement | None
    report: Report | None
    verdicts: VerdictTable | None
    costs: tuple[tuple[Decimal, str], ...]
    events: tuple[PastEvent, ...]

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "steps": [asdict(step) for step in self.steps],
            "next": asdict(self.next),
            "campaigns": [
                {
                    "id": row.campaign.pk,
                    "name": row.campaign.name,
                    "state": row.campaign.state,
                    "submitted": row.submitted,
                    "slots": row.slots,
                }
                for row in self.campaigns
            ],
            "agreement_of": self.agreement_of.pk if self.agreement_of else None,
            "agreement": [row.as_json() for row in self.agreement.agreed] if self.agreement else [],
            "report": self.report.study_id if self.report else None,
            "verdicts": [
                {"question": row.title, "rater": row.by, "verdict": row.word or row.state, "why": row.reason}
                for row in (self.verdicts.rows if self.verdicts else ())
            ],
            "costs": [{"amount": amount, "currency": currency} for amount, currency in self.costs],
            "events": [asdict(event) for event in self.events],
        }


@dataclass(frozen=True, slots=True)
class _Facts:
    corpus: Corpus
    counts: dict[str, int]
    campaigns: tuple[CampaignProgress, ...]
    labelled: Census
    runs: list[Run]
    report: Report | None
    verdicts: VerdictTable | None
    gold: Gold | None

    def raters(self, *kinds: str) -> int:
        """Return the number of raters of these kinds with labels."""
        answered = {rater for _, rater in self.labelled.counts}
        return sum(self.labelled.raters[rater].kind in kinds for rater in answered)

    @property
    def submitted(self) -> int:
        return sum(row.submitted for row in self.campaigns)

    @property
    def expected(self) -> int:
        """Ratings that are in, or still to come from campaigns that are not closed."""
        return sum(
            row.submitted if row.campaign.state == Campaign.State.CLOSED else row.slots
            for row in self.campaigns
        )

    def in_state(self, state: str) -> list[Campaign]:
        """Return the campaigns in a state that lack ratings, newest first."""
        lacking = (row.campaign for row in self.campaigns if row.submitted < row.slots or not row.slots)
        return [campaign for campaign in lacking if campaign.state == state]

    def page(self, name: str) -> str:
        """Return the address of a tab of the corpus."""
        return reverse(name, args=[self.corpus.name])

    def new(self, name: str) -> str:
        """Return the address of a form for something new about the corpus."""
        return f"{reverse(name)}?corpus={self.corpus.pk}"


def overview(corpus: Corpus) -> Overview:
    """Read the overview of a corpus. Nothing is computed for it: verdicts are those of the latest report."""
    report = Report.objects.filter(study__corpus=corpus).select_related("study__corpus").first()
    facts = _Facts(
        corpus=corpus,
        counts=queries.counts([corpus])[corpus.pk],
        campaigns=_campaigns(corpus),
        labelled=offered(scope_of(corpus, None)),
        runs=list(corpus.runs.exclude(kind=DRAFT).select_related("rater").order_by("-pk")),
        report=report,
        verdicts=_verdicts(report),
        gold=corpus.golds.first(),
    )
    steps = [_data(facts), _questions(facts), _ratings(facts), _judge(facts), _report(facts), _gold(facts)]
    begun = next((place for place, step in enumerate(steps) if step.state != DONE), None)
    if begun is not None:
        steps[begun] = replace(steps[begun], state=CURRENT)
    rated = next((row.campaign for row in facts.campaigns if row.submitted), None)
    return Overview(
        steps=tuple(steps),
        next=_next(facts),
        campaigns=facts.campaigns,
        agreement_of=rated,
        agreement=agreement_so_far(rated)[0] if rated else None,
        report=report,
        verdicts=facts.verdicts,
        costs=_costs(corpus),
        events=tuple(sorted(_events(facts), key=lambda event: event.at, reverse=True)[:MOST_EVENTS]),
    )


def _campaigns(corpus: Corpus) -> tuple[CampaignProgress, ...]:
    campaigns = corpus.campaigns.filter(archived_at=None).select_related("scheme_version__scheme")
    rows = []
    for campaign in campaigns.order_by("-pk"):
        counts = campaign_progress.counts(campaign)
        rows.append(CampaignProgress(campaign, counts.submitted, counts.slots))
    return tuple(rows)


def _verdicts(report: Report | None) -> VerdictTable | None:
    if report is None or not is_readable(report):
        return None
    return verdict_table(snapshot_of(report), names_of(report), study=report.study_id, part=report.part)


def _costs(corpus: Corpus) -> tuple[tuple[Decimal, str], ...]:
    rows = CallCount.objects.filter(run__corpus=corpus, run__endpoint__isnull=False)
    sums = rows.values_list("run__endpoint__currency").annotate(cost=Sum("cost")).order_by("-cost")
    return tuple((cost, currency) for currency, cost in sums if cost)


def _events(facts: _Facts) -> Iterator[PastEvent]:
    """Yield the latest events of each kind."""
    corpus = facts.corpus
    for file in corpus.imports.select_related("created_by").order_by("-pk")[:MOST_EVENTS]:
        text = f"Imported {file.file_name}"
        yield PastEvent(file.created_at, text, facts.page("corpus-dialogues"), str(file.created_by or ""))
    for row in facts.campaigns[:MOST_EVENTS]:
        campaign, text = row.campaign, f"Set up the campaign {row.campaign.name}"
        yield PastEvent(campaign.created_at, text, reverse("campaign", args=[campaign.pk]), "")
    for run in facts.runs[:MOST_EVENTS]:
        text = f"{run.heading}: {run.get_state_display()}"
        address, by = reverse("run", args=[run.pk]), str(run.created_by or "")
        yield PastEvent(run.finished_at or run.created_at, text, address, by)
    reports = Report.objects.filter(study__corpus=corpus).select_related("study")
    for report in reports.order_by("-pk")[:MOST_EVENTS]:
        address = reverse("report", args=[report.study_id])
        yield PastEvent(report.created_at, f"Computed the report {report.study.name}", address, "")
    for gold in corpus.golds.select_related("created_by").order_by("-pk")[:MOST_EVENTS]:
        text = f"Made {counted(gold.n, 'gold label')}"
        yield PastEvent(gold.created_at, text, reverse("gold", args=[gold.pk]), str(gold.created_by or ""))
    for export in corpus.exports.select_related("created_by").order_by("-pk")[:MOST_EVENTS]:
        text = f"Exported {export.what} as {export.format}"
        yield PastEvent(export.created_at, text, facts.new("exports"), str(export.created_by or ""))


# The steps.


def _data(facts: _Facts) -> Step:
    counts = facts.counts
    dialogues = counted(counts["dialogues"], "dialogue")
    note = f"{counted(counts['turns'], 'turn')}, {counted(counts['items'], 'item')} to rate"
    return Step("Data", facts.page("corpus-dialogues"), dialogues, note, DONE if counts["items"] else OPEN)


def _questions(facts: _Facts) -> Step:
    names = list(dict.fromkeys(row.campaign.scheme_version.name for row in facts.campaigns))
    imported = facts.labelled.questions
    state = DONE if names or imported else OPEN
    text = names[0] if names else counted(len(imported), "question") if imported else "none yet"
    note = f"and {len(names) - 1} more" if len(names) > 1 else "" if names else "imported" if imported else ""
    return Step("Questions", facts.page("corpus-annotation"), text, note, state)


def _ratings(facts: _Facts) -> Step:
    people = facts.raters("human")
    note = f"by {counted(people, 'person', 'people')}" if people else ""
    if facts.expected:
        state = DONE if facts.submitted == facts.expected else OPEN
        text = f"{facts.submitted:,} of {facts.expected:,}"
    elif facts.in_state(Campaign.State.DRAFT) and not people:
        state, text, note = OPEN, "none yet", "the campaign is a draft"
    else:
        state, text = (DONE, "imported") if people > 1 else (OPEN, "imported" if people else "none yet")
    return Step("Ratings", facts.page("corpus-annotation"), text, note, state)


def _judge(facts: _Facts) -> Step:
    machines = facts.raters("judge", "metric")
    latest = facts.runs[0] if facts.runs else None
    if latest is not None and (latest.state in STILL_GROWING or latest.state == Run.State.FAILED):
        address, state = reverse("run", args=[latest.pk]), latest.get_state_display()
        return Step("Judge", address, state, latest.heading, OPEN)
    text = counted(machines, "judge or metric", "judges and metrics") if machines else "not run"
    return Step("Judge", facts.page("corpus-judges"), text, "", DONE if machines else OPEN)


def _report(facts: _Facts) -> Step:
    if facts.report is None:
        return Step("Report", facts.page("corpus-results"), "none yet", "", OPEN)
    words = [row.word or row.state.replace("_", " ") for row in facts.verdicts.rows] if facts.verdicts else []
    text = counted(len(words), "verdict") if words else "computed"
    note = f"{facts.report.created_at:%-d %b %Y}"
    return Step("Report", reverse("report", args=[facts.report.study_id]), text, note, DONE)


def _gold(facts: _Facts) -> Step:
    if facts.gold is None:
        return Step("Gold", facts.page("corpus-gold"), "none yet", "", OPEN)
    note = f"{facts.gold.without:,} without a value" if facts.gold.without else ""
    return Step("Gold", facts.page("corpus-gold"), counted(facts.gold.n, "label"), note, DONE)


# What comes next: what has failed, else the first thing that is missing on the way from data to gold.


def _next(facts: _Facts) -> NextStep:
    if not facts.counts["items"]:
        address = f"{reverse('import-corpus')}?into={quote(facts.corpus.name)}"
        return NextStep("The corpus has no dialogues yet.", "Add a file", address)
    return _next_failure(facts) or _next_rating(facts) or _next_judge(facts) or _next_result(facts)


def _next_failure(facts: _Facts) -> NextStep | None:
    latest = facts.runs[0] if facts.runs else None
    if latest is not None and latest.state == Run.State.FAILED:
        sentence = f"The run of {latest.heading} failed{f': {latest.error}' if latest.error else '.'}"
        return NextStep(sentence, "Open the run", reverse("run", args=[latest.pk]))
    studies = list(facts.corpus.studies.values_list("pk", flat=True))
    for kind, title, own in (
        (derivation.KIND, "Making gold labels", {"params__corpus": facts.corpus.pk}),
        (study_actions.KIND, "Computing the report", {"params__study__in": studies}),
        (downloads.KIND, "An export", {"params__corpus": facts.corpus.pk}),
    ):
        job = Job.objects.filter(kind=kind, **own).order_by("-pk").first()
        if job is not None and job.state == Job.State.FAILED:
            return NextStep(f"{title} failed: {job.error}", "See the failed job", reverse("jobs"))
    return None


def _next_rating(facts: _Facts) -> NextStep | None:
    if not facts.campaigns and not facts.raters("human"):
        return NextStep("No person has rated anything yet.", "New campaign", facts.new("new-campaign"))
    drafts = facts.in_state(Campaign.State.DRAFT)
    if drafts and not facts.submitted:
        address = reverse("campaign", args=[drafts[0].pk])
        return NextStep(f"The campaign {drafts[0].name} is a draft.", "Finish and open it", address)
    if lacking := campaign_progress.lacking(facts.in_state(Campaign.State.OPEN)):
        number, missing = next(iter(lacking.items()))
        name = next(row.campaign.name for row in facts.campaigns if row.campaign.pk == number)
        sentence = f"The campaign {name} lacks {counted(missing, 'annotator')}."
        return NextStep(sentence, "Add annotators", reverse("campaign", args=[number]))
    if paused := facts.in_state(Campaign.State.PAUSED):
        sentence = f"The campaign {paused[0].name} is paused."
        return NextStep(sentence, "Open the campaign", reverse("campaign", args=[paused[0].pk]))
    return None


def _next_judge(facts: _Facts) -> NextStep | None:
    latest = facts.runs[0] if facts.runs else None
    if latest is not None and latest.state in STILL_GROWING:
        return _under_way(latest)
    if facts.raters("judge", "metric"):
        return None
    missing = facts.expected - facts.submitted
    if not facts.raters("human"):
        sentence = f"{counted(missing, 'rating')} to come. You can run a judge meanwhile."
    elif missing:
        sentence = f"{counted(missing, 'rating')} to come. You can already see whether a judge agrees."
    else:
        sentence = "People have rated: see whether a judge agrees with them."
    return NextStep(sentence, "Run a judge", facts.new("new-run"))


def _under_way(run: Run) -> NextStep:
    """Return the next step while a run is under way: to watch it, or to resume it."""
    states = run_states.by_state([run]).get(run.pk, {})
    finished, total = states.get(Call.State.DONE, 0), sum(states.values())
    address, calls = reverse("run", args=[run.pk]), f"{finished:,} of {counted(total, 'call')} done"
    if run.state == Run.State.PAUSED:
        return NextStep(f"The run of {run.heading} is paused, with {calls}.", "Open the run", address)
    return NextStep(f"{run.heading} is {run.get_state_display()}: {calls}.", "Watch the run", address)


def _next_result(facts: _Facts) -> NextStep:
    if facts.report is None:
        address = reverse("corpus-report", args=[facts.corpus.pk])
        sentence = "People and a judge have answered." if facts.raters("human") else "A judge has answered."
        return NextStep(sentence, "Read the report", address)
    if missing := facts.expected - facts.submitted:
        address = facts.page("corpus-annotation")
        return NextStep(f"{counted(missing, 'rating')} to come.", "See who is at work", address)
    if facts.gold is None:
        return NextStep("All ratings are in.", "Make gold labels", facts.new("new-gold"))
    return NextStep("The gold labels are ready.", "Export labels", facts.new("exports"))
