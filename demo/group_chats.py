"""Scenarios of the demo: the public set with its split by family, and the short script for visitors."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from django.contrib.auth.models import User

from annotation.corpora import splits
from annotation.corpora.import_staging import ImportResult
from annotation.models import Campaign, Corpus
from demo import loading, scenarios
from suites.continuation.productions.dialogues import Dialogues
from suites.group_chat import baselines
from suites.group_chat import schemes as decisions
from suites.group_chat.baselines import Baseline

SET = loading.DemoCorpus("Scenarios", scenarios.SET, {})
SHORT = loading.DemoCorpus("Demo group chat", scenarios.SHORT, {})
CORPORA = (SHORT, SET)
PLAY = loading.DemoCampaign("Demo: play the agent", SHORT.name, decisions.HUMAN.key)
"""A visitor decides at every point of the short script and its control."""
PLAYERS = 20
"""Maximum number of visitors who may play."""
AGENTS = ("always_silent", "always_speak", "mention_rule")
"""Baseline agents with decisions in the demo."""


def load(corpus: loading.DemoCorpus, *, by: User) -> ImportResult:
    """Import a corpus of scenarios; split the public set as its sources say, unless it has a split."""
    result = loading.dialogues(corpus, by=by)
    stored = Corpus.objects.get(name=corpus.name)
    parts = scenarios.parts(corpus.file)
    if len(set(parts.values())) > 1 and splits.lock_of(stored) is None:
        splits.draw(corpus=stored, by=by, seed=seed_of(parts), test_share=share_of(parts))
    return result


def play(*, by: User, annotators: Iterable[User]) -> Campaign:
    """Return the campaign in which visitors play the agent, created and opened if missing."""
    return loading.campaign(PLAY, by=by, annotators=annotators, raters_per_item=PLAYERS)


def agents(*, by: User) -> list[baselines.Played]:
    """Let the baseline agents decide in the short script; existing decisions stay as they are."""
    corpus = Corpus.objects.get(name=SHORT.name)
    return [baselines.play(by=by, baseline=Baseline(key), dialogues=Dialogues(corpus)) for key in AGENTS]


def seed_of(parts: dict[str, str]) -> int:
    """Return the first seed whose draw gives each family the part named in its source.

    With it the demo's split can be drawn again like any other split.
    """
    share = share_of(parts)
    return next(seed for seed in count() if splits.choose(parts, seed=seed, test_share=share) == parts)


def share_of(parts: dict[str, str]) -> float:
    """Return the share of families in the test part, between 0 and 1."""
    return sum(part == "test" for part in parts.values()) / len(parts)
