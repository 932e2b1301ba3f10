"""From nothing to ComperDial with simulated people: personas, conversations, ratings, a release check.

Everything that people and systems say is put together by rule, so that what the study recovers can be
compared with what was planted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Assignment, Corpus
from annotation.work import labels
from annotation.work.leases import Hold
from annotation.work.screens import Screen
from demo import loading, personas
from demo.raters import uniform
from demo.study import Answer, work_through
from suites.collecting import persona_actions
from suites.collecting.models import Persona, PersonaSet
from suites.collecting.persona_actions import Status

# Personas: drawn, reviewed by two people, and grouped into dialogues without turns.

REVIEWERS = ("simulated-rosa", "simulated-rolf")
OVERLOOKED = 0.3
"""Chance that the second reviewer overlooks what a rule has flagged."""
SEED = 41


def cast(*, by: User, name: str, count: int, uses: int = 1, seed: int = SEED) -> Corpus:
    """Draw personas, have two simulated people review them, and return dialogues between those that passed.

    The first reviewer leaves out every sentence that is flagged; the second overlooks some. On what divides
    the two, the researcher decides.
    """
    persona_set = persona_actions.draw_set(
        by=by, inventory=personas.load(by=by), name=f"{name}, personas", count=count, seed=seed
    )
    campaign = persona_actions.create_review(by=by, persona_set=persona_set)
    reviewers = [simulated_person(person) for person in REVIEWERS]
    for person in reviewers:
        campaigns.add_member(by=by, campaign=campaign, user=person)
    campaigns.open(by=by, campaign=campaign)
    for place, person in enumerate(reviewers):
        work_through(person, campaign, _review(persona_set, overlooked=OVERLOOKED * place))
    applied = persona_actions.apply_reviews(by=by, persona_set=persona_set)
    for persona, _reason in applied.undecided:
        persona_actions.decide(
            by=by, persona=persona, status=Status.CORRECTED, sentences=_without_flagged(persona)
        )
    return persona_actions.make_dialogues(
        by=by, persona_set=persona_set, name=name, uses=uses, seed=seed
    ).corpus


def simulated_person(name: str) -> User:
    """Return the account of a simulated person, whose answers are marked as simulated."""
    user = loading.simulated(name)
    labels.rater_of_person(user=user, simulated=True)
    return user


def _review(persona_set: PersonaSet, *, overlooked: float) -> Answer:
    """Return the answer function of a reviewer who overlooks flags with some chance."""
    drafts = {persona.key: persona for persona in persona_set.personas.all()}

    def answer(hold: Hold, _screen: Screen) -> dict[str, Any]:
        task = Assignment.objects.select_related("task__item__continuation__dialogue").get(pk=hold.assignment)
        item = task.task.item
        assert item is not None
        persona = drafts[item.continuation.dialogue.key]
        is_seen = persona.flags and uniform(SEED, "flag", persona.key) >= overlooked
        if not is_seen:
            return {"consistent": 1, "negative": 0}
        text = "\n".join(_without_flagged(persona))
        return {"consistent": 0, "corrected_text": text, "negative": 0}

    return answer


def _without_flagged(persona: Persona) -> list[str]:
    """Return a persona's sentences without the last of those that contradict each other."""
    flagged = {max(flag["sentences"]) for flag in persona.flags}
    return [sentence for place, sentence in enumerate(persona.original) if place not in flagged]


# What people say in a conversation: a small grammar that uses their persona, but never quotes it.

OPENINGS = (
    "Hello! Nice to meet you.",
    "Hi, how are you today?",
    "Good to meet you!",
    "Hey, I hope you are well.",
)
REACTIONS = (
    "Oh, that sounds good.",
    "I would never have guessed that!",
    "Really? Tell me more some time.",
    "That must be hard at times.",
    "A friend of mine says the same.",
    "How nice to hear that.",
)
SHARES = (
    "As for me, {fact}, more or less.",
    "To be honest, {fact}, and I like it that way.",
    "You may laugh, but {fact}, believe it or not.",
    "Well, {fact}, since you ask.",
)
QUESTIONS = (
    "And what do you do all day?",
    "What made you happy this week?",
    "Do you live alone?",
    "What would you do with a free year?",
    "Who taught you that?",
    "Where do you go on Sundays?",
)
GOODBYES = ("It was lovely to talk with you.", "I have to go, but this was fun.", "Take care, and thank you!")


def utterance(persona: Sequence[str], number: int, total: int, *, seed: object) -> str:
    """Return the turn `number` of `total` of somebody with a persona; the same seed says the same.

    No sentence of the persona stands in it as it is, so that a byte of one in what the partner receives is a
    leak.
    """

    def pick(phrases: Sequence[str], subject: str) -> str:
        return phrases[int(uniform(SEED, subject, str(seed), str(number)) * len(phrases))]

    facts = [_clause(sentence) for sentence in persona[2:]] or ["there is not much to tell"]
    share = pick(SHARES, "share").format(fact=facts[(number // 2) % len(facts)])
    if number <= 2:
        return f"{pick(OPENINGS, 'opening')} {share}"
    if number > total - 2:
        return f"{pick(REACTIONS, 'reaction')} {share} {pick(GOODBYES, 'goodbye')}"
    return f"{pick(REACTIONS, 'reaction')} {share} {pick(QUESTIONS, 'question')}"


def _clause(sentence: str) -> str:
    """Return a sentence as a part of another one."""
    text = sentence.strip().rstrip(".!?")
    is_own_name = text.startswith(("I ", "I'"))
    return text if is_own_name else text[:1].lower() + text[1:]
