"""Overview of a corpus: how far it has come from data to gold, and what is to be done next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from django.db.models import Sum
from django.urls import reverse

from annotation.campaigns import progress as campaign_progress
from annotation.corpora import queries
from annotation.models import Campaign, Corpus
from calibration.models import Gold, Report
from calibration.ratings.scope import Census, offered, scope_of
from calibration.reports.names import names_of
from calibration.reports.snapshot import is_readable, snapshot_of
from calibration.reports.tables import VerdictTable
from calibration.reports.topics import verdict_table
from calibration.reports.wording import counted
from jobs.models.run import CallCount, Run
from jobs.progress import STILL_GROWING
from judges.drafts import DRAFT

DONE, CURRENT, OPEN = "done", "current", "open"


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
class Overview:
    """The steps of a corpus, the next one, its open campaigns, latest verdicts, and costs by currency."""

    steps: tuple[Step, ...]
    next: NextStep
    campaigns: tuple[CampaignProgress, ...]
    report: Report | None
    verdicts: VerdictTable | None
    costs: tuple[tuple[Decimal, str], ...]


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
    def slots(self) -> int:
        return sum(row.slots for row in self.campaigns)

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
    return Overview(tuple(steps), _next(facts), facts.campaigns, report, facts.verdicts, _costs(corpus))


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
    if facts.slots:
        state = DONE if facts.submitted == facts.slots else OPEN
        text = f"{facts.submitted:,} of {facts.slots:,}"
    else:
        state, text = (DONE, "imported") if people > 1 else (OPEN, "none yet")
    return Step("Ratings", facts.page("corpus-annotation"), text, note, state)


def _judge(facts: _Facts) -> Step:
    machines = facts.raters("judge", "metric")
    latest = facts.runs[0] if facts.runs else None
    if latest is not None and latest.state in STILL_GROWING:
        return Step(
            "Judge", reverse("run", args=[latest.pk]), latest.get_state_display(), latest.heading, OPEN
        )
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


# What comes next: the first thing that is missing on the way from data to gold.


def _next(facts: _Facts) -> NextStep:
    if not facts.counts["items"]:
        address = f"{reverse('import-corpus')}?into={facts.corpus.name}"
        return NextStep("The corpus has no dialogue yet.", "Add a file", address)
    return _next_rating(facts) or _next_judge(facts) or _next_result(facts)


def _next_rating(facts: _Facts) -> NextStep | None:
    if not facts.campaigns and not facts.labelled.counts:
        return NextStep("Nobody has rated anything yet.", "Ask people to rate", facts.new("new-campaign"))
    unopened = next((row.campaign for row in facts.campaigns if row.campaign.state == "draft"), None)
    if unopened is not None and not facts.submitted:
        address = reverse("campaign", args=[unopened.pk])
        return NextStep(f"The campaign {unopened.name} is a draft.", "Finish and open it", address)
    lacking = campaign_progress.lacking([row.campaign for row in facts.campaigns])
    if lacking:
        number, missing = next(iter(lacking.items()))
        sentence = f"A campaign lacks {counted(missing, 'annotator')}."
        return NextStep(sentence, "Add annotators", reverse("campaign", args=[number]))
    return None


def _next_judge(facts: _Facts) -> NextStep | None:
    if facts.raters("judge", "metric"):
        return None
    missing = facts.slots - facts.submitted
    sentence = (
        f"{counted(missing, 'rating')} to come. A judge can be tried meanwhile."
        if missing
        else ("People have rated: see whether a judge agrees with them.")
    )
    return NextStep(sentence, "Run a judge", facts.new("new-run"))


def _next_result(facts: _Facts) -> NextStep:
    if facts.report is None:
        address = reverse("corpus-report", args=[facts.corpus.pk])
        return NextStep("People and machines have answered.", "Read the report", address)
    if facts.slots > facts.submitted:
        sentence = f"{counted(facts.slots - facts.submitted, 'rating')} to come."
        return NextStep(sentence, "See who is at work", facts.page("corpus-annotation"))
    if facts.gold is None:
        return NextStep("All ratings are in.", "Make gold labels", facts.new("new-gold"))
    return NextStep("Gold labels are made.", "Export them", facts.new("exports"))
