"""Campaigns of form `write`: their plan, what they need of campaign and corpus, and their tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db import connection, models, transaction

from annotation.campaigns import campaign_actions
from annotation.campaigns.choice import refused
from annotation.campaigns.settings import Setting, check_values, refuse
from annotation.corpora import exclusion
from annotation.hooks import CampaignForm
from annotation.models import Campaign, Corpus
from annotation.schemes.definitions import SchemeDefinition
from annotation.work import leases
from annotation.work.leases import Seat
from suites.collecting.models import WritingPlan


class PlanSetting(Setting):
    """A setting of the plan of a campaign's written responses."""

    model: ClassVar[type[models.Model]] = WritingPlan


PLAN_SETTINGS = {
    setting.name: setting
    for setting in (
        PlanSetting("personas", "What writers learn of the speakers", subject="Writers learn"),
        PlanSetting("most_characters", "Most characters of a response", bounds=(1, 10_000), required=True),
        PlanSetting(
            "show_real",
            "Show writers what they wrote beside the real replies",
            "Each once theirs is sent. The dialogue before the next point has the real replies anyway.",
        ),
    )
}
UNUSED = {
    "side_by_side": "Members write, so no responses stand beside each other.",
    "sample_apart": "Nobody has answered yet about what members write.",
    "review": "No judge has answered yet about what members write.",
    "apart_judge": "No judge has answered yet about what members write.",
}
"""Settings of campaigns that have no meaning for written responses, with the reason."""

GUIDELINES = """\
You read the beginning of a conversation and write what one of the two people says next. Then you see how \
the conversation really went on, and write the next reply of the same person, until its end.

Write as that person would: fit the persona, answer what was just said, and keep the conversation going. \
Write what you would write in a chat, in one or two sentences, in the language of the conversation.

Do not copy from other people or from a language model."""

NO_QUESTIONS = SchemeDefinition(
    key="written_responses",
    version=1,
    title="Written responses",
    item_kind="dialogue",
    unit="continuation",
    introduction="Members write; nothing is asked about what they wrote.",
    questions=(),
    guidelines=GUIDELINES,
    source="Concord, for the human responses of ComperDial",
)

# Dialogues of at least two speakers, whose second one has a persona: those that systems can answer in.
ANSWERABLE = r"""
  FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = 'self'
  JOIN LATERAL (
    SELECT u.speaker FROM annotation_turn u
     WHERE u.continuation_id = c.id AND coalesce(u.extra ->> 'act', '') = ''
       AND u.text ~ '[^[:space:]\u00ad\u200b-\u200f\u2060-\u206f\ufeff]'
     GROUP BY u.speaker ORDER BY min(u.position) OFFSET 1 LIMIT 1) second ON true
 WHERE d.corpus_id = %(corpus)s AND d.id <> ALL(%(excluded)s::bigint[])
   AND d.scenario IS NULL AND d.script IS NULL
   AND EXISTS (SELECT 1 FROM jsonb_array_elements(d.participants) p
                WHERE p.value ->> 'id' = second.speaker
                  AND jsonb_array_length(coalesce(p.value -> 'profile', '[]')) > 0)
   AND NOT EXISTS (SELECT 1 FROM annotation_continuation o WHERE o.dialogue_id = d.id AND o.key = %(key)s)
"""
COUNT = f"SELECT count(*) {ANSWERABLE}"
MAKE = f"""
INSERT INTO annotation_continuation (dialogue_id, key, system_id, mode, trial, condition)
SELECT d.id, %(key)s, c.system_id, 'static', 0, '{{}}' {ANSWERABLE} ORDER BY d.id
"""


@transaction.atomic
def create(
    *,
    by: User,
    name: str,
    corpus: Corpus,
    plan: Mapping[str, Any],
    raters_per_item: int = 2,
    scheme: str = "",
    annotators: Iterable[User] = (),
    guidelines: str | None = None,
    consent: str = "",
    **options: Any,
) -> Campaign:
    """Create a draft campaign in which `raters_per_item` members each write responses to a dialogue.

    `plan` has values of PLAN_SETTINGS. Nothing is asked about what members write: `scheme` is for campaigns
    with training or tests, whose key tasks ask its questions. `options` are other settings of the campaign.
    Without `guidelines` those of GUIDELINES are used. Raises CampaignRefused.
    """
    row = WritingPlan(**plan)
    check_values(row, PLAN_SETTINGS)
    campaign = campaign_actions.create(
        by=by,
        name=name,
        corpus=corpus,
        scheme=scheme,
        annotators=annotators,
        guidelines=GUIDELINES if guidelines is None else guidelines,
        consent=consent,
        shows=(),
        form=Campaign.Form.WRITE,
        raters_per_item=raters_per_item,
        **options,
    )
    if not count(campaign):
        refuse(
            "corpus",
            f"No dialogue of {corpus.name} has two speakers, the second of whom has a persona (profile).",
        )
    row.campaign = campaign
    row.save()
    return campaign


def check(campaign: Campaign) -> None:
    """Refuse settings that do not fit written responses."""
    if refused(campaign.scheme_version):
        refuse("scheme", "This scheme is about conversations, but members write single responses.")
    if campaign.shows:
        refuse("shows", "Writers see the dialogue and the personas, as systems do, and nothing beside them.")
    for name, reason in UNUSED.items():
        if getattr(campaign, name):
            refuse(name, reason)


def make(campaign: Campaign) -> int:
    """Give each dialogue that people can answer in an empty continuation of the campaign; return how many."""
    return _run(MAKE, campaign, fetch=False)


def count(campaign: Campaign) -> int:
    """Return the number of continuations that `make` would create."""
    return _run(COUNT, campaign, fetch=True)


def _run(query: str, campaign: Campaign, *, fetch: bool) -> int:
    with connection.cursor() as cursor:
        excluded = exclusion.excluded_ids(campaign.corpus, campaign.exclude)
        values: dict[str, Any] = {"corpus": campaign.corpus_id, "key": campaign.own_key}
        cursor.execute(query, values | {"excluded": excluded})
        return int(cursor.fetchone()[0] if fetch else cursor.rowcount)


def copy(source: Campaign, target: Campaign) -> None:
    """Give a copied campaign the same plan."""
    values = {name: getattr(source.writing_plan, name) for name in PLAN_SETTINGS}
    WritingPlan.objects.create(campaign=target, **values)


def has_work(seat: Seat) -> bool:
    """Whether a member is writing, or a dialogue is left for them."""
    return bool(seat.leased) or leases.has_free(seat)


FORMS = {Campaign.Form.WRITE: CampaignForm("write", check, make, count, copy, has_work, NO_QUESTIONS)}
