"""Settings of a campaign, each declared once: form, API, checks and docs follow `SETTINGS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, NoReturn

from django.db import models

from annotation.campaigns import allocation, review_queue, reviewed, sampling
from annotation.corpora import exclusion, queries
from annotation.errors import CampaignRefused, ExclusionRefused
from annotation.hooks import CAMPAIGN_FORMS
from annotation.kinds import TURN
from annotation.models import Campaign
from annotation.models.campaigns import NAME_LIMIT
from annotation.models.corpora import Corpus
from annotation.text import views
from annotation.text.views import Blind

MOST_RATERS = 100
MOST = 2**31 - 1
MOST_COMPARISONS = 100_000


class When(StrEnum):
    """Condition under which a setting may change."""

    DRAFT = "while the campaign is a draft"
    ALWAYS = "at any time"
    UPWARDS = "only upwards once the campaign was opened"


@dataclass(frozen=True)
class Setting:
    """A setting of a campaign; its type, choices and default are those of the column with its name.

    `bounds` are the minimum and maximum of a number; `above` excludes the minimum. `subject` is the start of
    the error message for a value (by default the label). `options` returns the values, as (value, title), of
    a setting whose values depend on the corpus. The page hides a setting that does not apply (`applies`) to
    the corpus or has fewer than two options there, and needs a value where `required`; elsewhere an empty
    value is the default.
    """

    model: ClassVar[type[models.Model]] = Campaign

    name: str
    label: str
    help: str = ""
    bounds: tuple[int, int] | None = None
    above: bool = False
    when: When = When.DRAFT
    subject: str = ""
    required: bool = False
    options: Callable[[Corpus], list[tuple[str, str]]] | None = None
    applies: Callable[[Corpus], bool] = lambda corpus: True

    @property
    def column(self) -> models.Field[Any, Any]:
        """Column of the setting."""
        column = self.model._meta.get_field(self.name)
        assert isinstance(column, models.Field)
        return column

    @property
    def is_share(self) -> bool:
        """Whether the setting is a share instead of a whole number."""
        return isinstance(self.column, models.FloatField)

    @property
    def choices(self) -> list[str]:
        """Values of a setting with fixed choices."""
        return [value for value, _ in self.column.flatchoices]

    @property
    def description(self) -> str:
        """Description in sentences, for the API document."""
        return f"{self.label}. {self.help}".strip()

    @property
    def refusal(self) -> str:
        """Error message for a value out of bounds or outside the choices; '' without bounds and choices."""
        if self.choices:
            values = [value for value in self.choices if value]
            one_of = f"one of {', '.join(values)}" if len(values) > 1 else values[0]
            return f"{self.subject or f'{self.label}:'} {one_of}{', or empty' if '' in self.choices else ''}."
        if self.bounds is None:
            return ""
        subject, (least, most) = self.subject or self.label, self.bounds
        if self.above:
            return f"{subject} lies above {least} and is at most {most} (0.1 is a tenth)."
        example = " (0.8 is 80%)" if self.is_share else ""
        return f"{subject} must be between {least:,} and {most:,}{example}."

    @property
    def error_messages(self) -> dict[str, str]:
        """Error messages of a form field or serializer field, by error code."""
        codes = ("min_value", "max_value", "invalid_choice")
        return dict.fromkeys(codes, self.refusal) if self.refusal else {}

    def allows(self, value: Any) -> bool:
        """Whether a value is within the bounds, or one of the choices; always true for None (no value)."""
        if value is None:
            return True
        if self.choices:
            return value in self.choices
        if self.bounds is None:
            return True
        least, most = self.bounds
        return least <= value <= most and not (self.above and value == least)


class Group(NamedTuple):
    """Settings that the page shows together, under one title."""

    title: str
    settings: tuple[Setting, ...]
    note: str = ""


def _balances(corpus: Corpus) -> list[tuple[str, str]]:
    return [("", "Nothing"), *sampling.choices(corpus)[1:]]


def _order_fields(corpus: Corpus) -> list[tuple[str, str]]:
    return [("", "None"), *sampling.order_fields(corpus)]


def _speakers(corpus: Corpus) -> list[tuple[str, str]]:
    return [(name, name) for name in queries.speakers(corpus)]


def _judges(corpus: Corpus) -> list[tuple[str, str]]:
    return [("", "None"), *sampling.order_judges(corpus).items()]


def _reviewing_judges(corpus: Corpus) -> list[tuple[str, str]]:
    return list(sampling.order_judges(corpus).items())


GROUPS = {
    "systems": Group(
        "Systems",
        (
            Setting(
                "part",
                "Part",
                "Training dialogues are rated where they are chosen, and then alone.",
                subject="A campaign's part is",
                applies=lambda corpus: corpus.has_training,
            ),
            Setting(
                "include_self",
                "Also rate the original turns",
                "They are rated anyway where a dialogue has nothing else.",
            ),
            Setting(
                "side_by_side",
                "Show all systems' responses to one point on one screen",
                "Each is asked the same, in an order drawn for each annotator. For static continuations.",
            ),
        ),
    ),
    "speakers": Group(
        "Speakers",
        (
            Setting(
                "speakers",
                "Speakers whose turns are rated",
                "For questions about turns; the others' turns are context. None chosen means all of them.",
                options=_speakers,
            ),
        ),
    ),
    "comparisons": Group(
        "Pairs and rankings",
        (
            Setting(
                "compares",
                "Which are compared",
                "Of the chosen systems. Those that the corpus lacks are made when you save.",
            ),
            Setting("baseline", "The one that the others are compared with"),
            Setting("compared", "What stands beside each other"),
            Setting("ranked", "How many a ranking puts into an order", bounds=(3, 10)),
            Setting(
                "most_comparisons",
                "Ask about some of them: how many",
                "Drawn by the seed. Empty: about all of them.",
                bounds=(1, MOST_COMPARISONS),
                subject="The number of comparisons drawn",
            ),
        ),
        "For schemes that compare: which two are shown side by side, or which several are put into an order.",
    ),
    "records": Group(
        "Facts and questions of scripts",
        (
            Setting(
                "record_status",
                "Which facts or questions",
                "Of scripts, one a task. Those that a correction replaced are never asked about.",
                applies=lambda corpus: corpus.has_scripts,
            ),
            Setting(
                "sample_records",
                "Ask about a sample of them: how many",
                "Drawn by the seed when the campaign opens, and not again. Empty: about all of them.",
                bounds=(1, MOST),
                subject="The number of facts or questions drawn",
                applies=lambda corpus: corpus.has_scripts,
            ),
        ),
    ),
    "sample": Group(
        "A sample of the dialogues",
        (
            Setting(
                "sample_dialogues",
                "Ask about a sample: how many dialogues",
                "Drawn by the seed when the campaign opens, and not again. Empty: about all dialogues.",
                bounds=(1, MOST),
                subject="The number of dialogues drawn",
            ),
            Setting(
                "sample_by",
                "Draw in proportion to",
                "Each stratum has the same share of the sample as of the corpus.",
                options=sampling.choices,
            ),
            Setting(
                "sample_apart",
                "Only where the judge and people are apart, by at least",
                "A share of the scale: 0.25 is one step of five. Choose the judge below, under the order.",
                bounds=(0, 1),
                above=True,
                subject="How far judge and people are apart",
            ),
        ),
    ),
    "exclusion": Group(
        "Dialogues left out by an answer",
        (
            Setting(
                "exclude",
                exclusion.LABEL,
                exclusion.HELP,
                applies=exclusion.is_possible,
            ),
        ),
        "As of the moment at which tasks are made. Tasks that exist stay, whatever people answer later.",
    ),
    "review": Group(
        "A review queue: drawn by what a judge said",
        (
            Setting(
                "review",
                "Draw items by the answers of",
                "Judges appear here once they have rated the corpus. Annotators do not see their answers.",
                options=_reviewing_judges,
            ),
        ),
        "Every item belongs to the first stratum that fits. Each item of a stratum is drawn with the same "
        "known probability, so that reports can speak of all of them.",
    ),
    "order": Group(
        "The order of the tasks",
        (
            Setting("task_order", "Order of tasks", subject="The order of tasks is"),
            Setting(
                "order_by",
                "Which number, for the order by priority",
                "Dialogues without one come last, in the drawn order.",
                options=_order_fields,
            ),
            Setting(
                "apart_judge",
                "The judge that is compared with people",
                "Judges appear here once they have rated the corpus. Annotators do not see this.",
                options=_judges,
            ),
            Setting(
                "balance_by",
                "Balance each annotator's work over",
                "The next task is of the kind they have done least so far. Annotators do not see this.",
                options=_balances,
            ),
        ),
    ),
    "raters": Group(
        "Raters",
        (
            Setting(
                "raters_per_item",
                "Raters per item",
                bounds=(1, MOST_RATERS),
                when=When.UPWARDS,
                required=True,
            ),
        ),
    ),
    "overlap": Group(
        "More raters for a part of the tasks",
        (
            Setting(
                "overlap_raters",
                "Raters of that part",
                "For example 5 where all others have 2. The seed draws which. Empty: all alike.",
                bounds=(2, MOST_RATERS),
                when=When.UPWARDS,
                subject="The raters of the part that has more",
            ),
            Setting(
                "overlap_share",
                "How large it is",
                "A share of the tasks: 0.1 is a tenth.",
                bounds=(0, 1),
                above=True,
                when=When.UPWARDS,
                subject="The share that has more raters",
            ),
            Setting(
                "overlap_tasks",
                "Or how many tasks it has",
                bounds=(1, MOST),
                when=When.UPWARDS,
                subject="The number of tasks that have more raters",
            ),
        ),
    ),
    "batches": Group(
        "Batches",
        (
            Setting(
                "batch_size",
                "Tasks of a batch",
                "Annotators get tasks of open batches only; one opens with the campaign. Empty: none.",
                bounds=(1, MOST),
                subject="The tasks of a batch",
            ),
            Setting(
                "next_batch", "When another one opens", when=When.ALWAYS, subject="The next batch opens by"
            ),
        ),
    ),
    "limits": Group(
        "Deadline and limits",
        (
            Setting(
                "deadline",
                "Deadline",
                "Afterwards nothing is handed out or accepted; drafts are kept. Empty: none.",
                when=When.ALWAYS,
            ),
            Setting(
                "most_tasks",
                "Most tasks a person may submit",
                bounds=(1, MOST),
                when=When.ALWAYS,
                subject="The most tasks of a person",
            ),
            Setting(
                "most_tasks_a_day",
                "Most tasks a person may submit in a day (UTC)",
                bounds=(1, MOST),
                when=When.ALWAYS,
                subject="The most tasks of a person in a day",
            ),
        ),
    ),
    "annotators": Group(
        "What annotators may do and see",
        (
            Setting(
                "revise_hours",
                "Hours for which a submission may be revised",
                "Empty: as long as the campaign is open. 0: never. Returned tasks are redone.",
                bounds=(0, MOST),
                when=When.ALWAYS,
                subject="The hours for which a submission may be revised",
            ),
            Setting(
                "unseen_check",
                "Ask before a submit about turns that were never on screen",
                when=When.ALWAYS,
                subject="The check of unseen turns is",
            ),
            Setting(
                "shows_agreement",
                "Annotators see how far they agree with others",
                "On tasks that all their raters have finished, once there are enough of them.",
                when=When.ALWAYS,
            ),
            Setting(
                "join_proof",
                "Proof of identity of participants who join by a link",
                "Ids of platforms can be guessed or read from an address.",
                when=When.ALWAYS,
                subject="The proof of a participant is",
            ),
        ),
    ),
    "more": Group(
        "More",
        (
            Setting(
                "lease_minutes",
                "Minutes a task is held",
                "An untouched task goes back to the others after this time; its draft is kept.",
                bounds=(1, 60 * 24 * 7),
                when=When.ALWAYS,
                subject="A lease lasts between 1 minute and a week: its minutes",
                required=True,
            ),
            Setting(
                "seed",
                "Seed",
                "The same seed gives the same order, the same sample and the same part with more raters.",
                bounds=(0, MOST),
                subject="The seed",
                required=True,
            ),
        ),
    ),
}
SETTINGS = {setting.name: setting for group in GROUPS.values() for setting in group.settings}
CHANGEABLE = {"name", *(name for name, setting in SETTINGS.items() if setting.when != When.DRAFT)}
"""Settings that may still change once a campaign was opened."""


def refuse(field: str, why: str) -> NoReturn:
    """Raise CampaignRefused for a field."""
    error = CampaignRefused(why)
    error.field = field
    raise error


def check_values(row: models.Model, settings: Mapping[str, Setting] = SETTINGS) -> None:
    """Refuse a setting whose value is out of bounds or outside its choices."""
    for name, setting in settings.items():
        if not setting.allows(getattr(row, name)):
            refuse(name, setting.refusal)


def check(campaign: Campaign) -> None:
    """Refuse a campaign with invalid settings, alone or in combination. The campaign may be unsaved."""
    check_values(campaign)
    if campaign.part and not campaign.corpus.has_training:
        refuse("part", f"No dialogue of {campaign.corpus.name} is in training.")
    _check_speakers(campaign)
    _check_exclusion(campaign)
    _check_overlap(campaign)
    for refusal in (sampling.order_refusal, sampling.balance_refusal, reviewed.refusal):
        if (wrong := refusal(campaign)) is not None:
            refuse(*wrong)
    _check_baseline(campaign)
    _check_review(campaign)
    if campaign.sample_apart is not None and not campaign.apart_judge:
        refuse("apart_judge", "Say which judge is compared with people: items are sampled by it.")
    if campaign.sample_by and campaign.sample_dialogues is None:
        refuse("sample_dialogues", "Say how many dialogues are drawn, or draw by nothing.")
    if campaign.sample_by and (why := sampling.refusal(campaign.corpus, campaign.sample_by)):
        refuse("sample_by", why)
    if campaign.form != Campaign.Form.RATING:
        CAMPAIGN_FORMS[campaign.form].check(campaign)


def _check_speakers(campaign: Campaign) -> None:
    if not campaign.speakers:
        return
    if campaign.scheme_version.item_kind != TURN.key or campaign.side_by_side:
        refuse("speakers", "Speakers are chosen for questions about single turns: choose none here.")
    if unknown := queries.unknown_speakers(campaign.corpus, campaign.speakers):
        refuse("speakers", f"Nobody speaks as “{unknown[0][:80]}” in {campaign.corpus.name}.")


def _check_exclusion(campaign: Campaign) -> None:
    try:
        exclusion.check(campaign.corpus, campaign.exclude)
    except ExclusionRefused as error:
        reason = str(error)
        refuse("exclude", f"{reason[0].upper()}{reason[1:]}.")


def _check_review(campaign: Campaign) -> None:
    if campaign.review is None:
        return
    if why := review_queue.refusal(campaign):
        refuse("review", why)
    judges = sampling.order_judges(campaign.corpus)
    if unknown := [name for name in allocation.parse(campaign.review).judges if name not in judges]:
        hint = f"Those that have: {', '.join(judges)[:500]}." if judges else "Run one over it first."
        refuse("review", f"No judge “{unknown[0][:120]}” has answered about {campaign.corpus.name}. {hint}")


def _check_baseline(campaign: Campaign) -> None:
    by_baseline = campaign.compares == Campaign.Compares.BASELINE
    if by_baseline and campaign.baseline is None:
        refuse("baseline", "Say with which system the others are compared.")
    if campaign.baseline is not None and not by_baseline:
        refuse(
            "baseline", "Only comparisons with one system have that system: choose “baseline”, or no system."
        )
    if campaign.baseline is not None and campaign.baseline.corpus_id != campaign.corpus_id:
        refuse("baseline", f"{campaign.baseline.name} is not a system of {campaign.corpus.name}.")


def _check_overlap(campaign: Campaign) -> None:
    share, tasks, raters = campaign.overlap_share, campaign.overlap_tasks, campaign.overlap_raters
    if share is not None and tasks is not None:
        refuse("overlap_tasks", "Say either which share or how many tasks have more raters, not both.")
    if raters is None and (share is not None or tasks is not None):
        refuse("overlap_raters", "Say how many raters that part of the tasks has.")
    if raters is not None and share is None and tasks is None:
        refuse("overlap_share", "Say which share of the tasks, or how many, have more raters.")
    if raters is not None and raters <= campaign.raters_per_item:
        refuse(
            "overlap_raters", f"That part needs more raters than all tasks have ({campaign.raters_per_item})."
        )


def refuse_fixed(campaign: Campaign, changes: dict[str, Any]) -> None:
    """Refuse changes of fixed settings, and decreases of settings that may only grow, once tasks exist.

    `campaign` has the values before the changes.
    """
    for field, value in changes.items():
        if field not in CHANGEABLE:
            name = field.replace("_", " ")
            refuse(
                field,
                f"The {name} of an opened campaign cannot change. Duplicate the campaign to change it.",
            )
        setting = SETTINGS.get(field)
        if setting is None or setting.when != When.UPWARDS:
            continue
        before = getattr(campaign, field)
        shrinks = before is not None and (value is None or value < before)
        if shrinks and not _other_measure(changes, field):
            subject = setting.subject or setting.label
            refuse(field, f"{subject} can only grow once there are tasks: now {before:g}.")


def refuse_keyed(campaign: Campaign, changes: dict[str, Any]) -> None:
    """Refuse another scheme or another corpus where tasks have an answer key."""
    field = next((field for field in ("scheme", "corpus") if field in changes), None)
    if field is not None and campaign.key_tasks.exists():
        refuse(field, f"Tasks have a key for what is asked now. Retire these before the {field} changes.")


def _other_measure(changes: dict[str, Any], field: str) -> bool:
    """Whether the part with more raters changes from a share to a number of tasks, or the reverse.

    The part never shrinks by this: tasks that were drawn stay drawn.
    """
    other = {"overlap_share": "overlap_tasks", "overlap_tasks": "overlap_share"}.get(field)
    return other is not None and changes.get(field, 0) is None and changes.get(other) is not None


def checked_name(name: str, corpus: Corpus, but: int | None = None) -> str:
    """Return a valid, stripped campaign name; `but` is the id of the campaign that may have it already."""
    name = name.strip()
    if not name:
        refuse("name", "Give the campaign a name.")
    if len(name) > NAME_LIMIT:
        refuse("name", f"A name has at most {NAME_LIMIT} characters.")
    if Campaign.objects.filter(name=name).exclude(pk=but or 0).exists():
        refuse("name", f"There is a campaign “{name}” already. Choose another name.")
    check_blind(corpus, "name", "The name of the campaign names", name)
    return name


def check_blind(corpus: Corpus, field: str, phrase: str, text: str) -> None:
    """Refuse a text for annotators that names a system distinctively enough to mean nothing else."""
    for system in corpus.systems.all() if text else ():
        if Blind(system.name).spoken(text) != text:
            refuse(field, f"{phrase} the system “{system.name}”, which annotators must not learn.")


def allowed(shows: Any) -> list[str]:
    """Check and return the names of the data shown beside the turns."""
    try:
        return list(views.checked(shows))
    except ValueError as error:
        refuse("shows", str(error))
