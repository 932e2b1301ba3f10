"""What can be set in a campaign beside what is asked, within which bounds, and until when."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NoReturn, TypedDict

from annotation.campaigns import reviewed, sampling
from annotation.errors import CampaignRefused
from annotation.models import Campaign
from annotation.models.corpora import Corpus, System
from annotation.text import views
from annotation.text.views import Blind

MOST_RATERS = 100
NAME_LIMIT = 120
LONGEST_LEASE = 60 * 24 * 7
MOST = 2**31 - 1
ALWAYS = (
    *("name", "lease_minutes", "deadline", "most_tasks", "most_tasks_a_day"),
    *("raters_per_item", "overlap_raters", "overlap_share", "overlap_tasks"),
    *("revise_hours", "unseen_check", "shows_agreement", "next_batch", "join_proof"),
)
"""What may change once a campaign was opened; raters only upwards."""
UPWARDS = {
    "raters_per_item": "Raters per item",
    "overlap_raters": "The raters of the part that has more",
    "overlap_share": "The share that has more raters",
    "overlap_tasks": "The number of tasks that have more raters",
}
BOUNDS = {
    "raters_per_item": (1, MOST_RATERS, "Raters per item must be"),
    "lease_minutes": (1, LONGEST_LEASE, "A lease lasts between 1 minute and a week: its minutes must be"),
    "seed": (0, MOST, "The seed must be"),
    "overlap_raters": (2, MOST_RATERS, "The raters of the part that has more must be"),
    "overlap_tasks": (1, MOST, "The number of tasks that have more raters must be"),
    "sample_dialogues": (1, MOST, "The number of dialogues drawn must be"),
    "sample_records": (1, MOST, "The number of facts or questions drawn must be"),
    "batch_size": (1, MOST, "The tasks of a batch must be"),
    "ranked": (3, 10, "How many a ranking puts into an order must be"),
    "most_comparisons": (1, MOST, "The number of comparisons drawn must be"),
    "most_tasks": (1, MOST, "The most tasks of a person must be"),
    "most_tasks_a_day": (1, MOST, "The most tasks of a person in a day must be"),
    "revise_hours": (0, MOST, "The hours for which a submission may be revised must be"),
}


class Settings(TypedDict, total=False):
    """The settings of a campaign that are numbers, choices and times; `Campaign` says what they mean."""

    raters_per_item: int
    lease_minutes: int
    seed: int
    part: str
    overlap_raters: int | None
    overlap_share: float | None
    overlap_tasks: int | None
    sample_dialogues: int | None
    sample_by: str
    record_status: str
    sample_records: int | None
    sample_apart: float | None
    task_order: str
    order_by: str
    apart_judge: str
    balance_by: str
    batch_size: int | None
    next_batch: str
    deadline: datetime | None
    most_tasks: int | None
    most_tasks_a_day: int | None
    compares: str
    compared: str
    baseline: System | None
    ranked: int
    most_comparisons: int | None
    side_by_side: bool
    revise_hours: int | None
    unseen_check: str
    shows_agreement: bool
    join_proof: str


def refuse(field: str, why: str) -> NoReturn:
    """Raise CampaignRefused about one field."""
    error = CampaignRefused(why)
    error.field = field
    raise error


def check(campaign: Campaign) -> None:
    """Refuse a campaign whose settings make no sense, alone or together. It need not be saved yet."""
    for field, (least, most, message) in BOUNDS.items():
        value = getattr(campaign, field)
        if value is not None and not least <= value <= most:
            refuse(field, f"{message} between {least:,} and {most:,}.")
    if campaign.part not in Campaign.Part.values:
        refuse("part", "A campaign's part is training, or empty for all but training.")
    if campaign.part and not campaign.corpus.has_training:
        refuse("part", f"No dialogue of {campaign.corpus.name} is in training.")
    _check_overlap(campaign)
    for refusal in (sampling.order_refusal, sampling.balance_refusal, reviewed.refusal):
        if (wrong := refusal(campaign)) is not None:
            refuse(*wrong)
    _check_comparing(campaign)
    if campaign.next_batch not in Campaign.NextBatch.values:
        refuse("next_batch", f"The next batch opens by one of {', '.join(Campaign.NextBatch.values)}.")
    if campaign.unseen_check not in Campaign.Seeing.values:
        refuse("unseen_check", f"The check of unseen turns is one of {', '.join(Campaign.Seeing.values)}.")
    if campaign.join_proof not in Campaign.JoinProof.values:
        refuse("join_proof", f"The proof of a participant is one of {', '.join(Campaign.JoinProof.values)}.")
    if campaign.sample_apart is not None and not 0 < campaign.sample_apart <= 1:
        refuse("sample_apart", "How far judge and people are apart lies above 0 and is at most 1.")
    if campaign.sample_apart is not None and not campaign.apart_judge:
        refuse("apart_judge", "Say which judge is compared with people: items are sampled by it.")
    if campaign.sample_by and campaign.sample_dialogues is None:
        refuse("sample_dialogues", "Say how many dialogues are drawn, or draw by nothing.")
    if campaign.sample_by and (why := sampling.refusal(campaign.corpus, campaign.sample_by)):
        refuse("sample_by", why)


def _check_comparing(campaign: Campaign) -> None:
    for field, choices in (("compares", Campaign.Compares), ("compared", Campaign.Compared)):
        if getattr(campaign, field) not in choices.values:
            refuse(field, f"Write one of {', '.join(choices.values)}.")
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
    if share is not None and not 0 < share <= 1:
        refuse(
            "overlap_share", "The share that has more raters lies above 0 and is at most 1 (0.1 is a tenth)."
        )
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
    """Refuse what can no longer change, or only upwards, since tasks were made. `campaign` is as it was."""
    for field, value in changes.items():
        before = getattr(campaign, field, None)
        if field not in ALWAYS:
            name = field.replace("_", " ")
            refuse(
                field,
                f"The {name} of a campaign that was opened stays as it is. Copy the campaign to change it.",
            )
        shrinks = field in UPWARDS and before is not None and (value is None or value < before)
        if shrinks and not _other_measure(changes, field):
            refuse(field, f"{UPWARDS[field]} can only grow once there are tasks: now {before:g}.")


def refuse_keyed(campaign: Campaign, changes: dict[str, Any]) -> None:
    """Refuse to ask something else, or about another corpus, where tasks have an answer key."""
    field = next((field for field in ("scheme", "corpus") if field in changes), None)
    if field is not None and campaign.key_tasks.exists():
        refuse(field, f"Tasks have a key for what is asked now. Retire these before the {field} changes.")


def _other_measure(changes: dict[str, Any], field: str) -> bool:
    """Whether the part is said as a number instead of a share, or the other way round.

    It never shrinks by that: who was drawn stays drawn.
    """
    other = {"overlap_share": "overlap_tasks", "overlap_tasks": "overlap_share"}.get(field)
    return other is not None and changes.get(field, 0) is None and changes.get(other) is not None


def checked_name(name: str, corpus: Corpus, but: int | None = None) -> str:
    """Return a name that a campaign may have, stripped; `but` is the campaign that has it already."""
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
    """Refuse what annotators would read that names a system so distinctively that nothing else is meant."""
    for system in corpus.systems.all() if text else ():
        if Blind(system.name).spoken(text) != text:
            refuse(field, f"{phrase} the system “{system.name}”, which annotators must not learn.")


def allowed(shows: Any) -> list[str]:
    """Return what is shown beside the turns, checked."""
    try:
        return list(views.checked(shows))
    except ValueError as error:
        refuse("shows", str(error))
