"""From nothing to ComperDial with simulated people: personas, conversations, ratings, a release check.

Everything that people and systems say is put together by rule, so that what the study recovers can be
compared with what was planted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Campaign, Corpus, Task
from annotation.schemes.ratings import LOW
from annotation.work import labels
from annotation.work.leases import Hold
from annotation.work.screens import Screen
from calibration.studies import study_actions as studies
from demo import loading, personas, raters
from demo.fake_model.role import QUALITY, planted_number
from demo.raters import SimulatedRater, uniform
from demo.study import Answer, work_through
from jobs import runs
from jobs.endpoints import endpoint_actions as endpoints
from jobs.models import Endpoint, Run
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from suites.collecting import (
    chat_actions,
    chat_dialogues,
    chat_lobby,
    chat_plans,
    persona_actions,
    writing_actions,
    writing_plans,
)
from suites.collecting.models import Chat, Persona, PersonaSet
from suites.collecting.persona_actions import Status
from suites.continuation.productions import production_actions as generating
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation

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
        item = Task.objects.select_related("item__continuation__dialogue").get(pk=hold.task).item
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


# The whole chain. Each step uses the actions that pages and the API use.

NAME = "Demo chats"
FIXED = "ComperDial (demo)"
PEOPLE = 12
"""Personas, and people who talk."""
TALKERS = (5, 5, 4, 5, 4)
"""Qualities among which that of each turn of a conversation is drawn."""
WRITERS = {"simulated-wim": (5, 5, 4, 5, 4), "simulated-wanda": (4, 4, 5, 4, 3)}
"""People who write responses, with the qualities among which each of theirs is drawn."""
MODELS = ("fake-able", "fake-plain", "fake-clumsy")
"""Models of the three systems; the fake model's error model says how good their responses are."""
RATERS = (
    raters.rater(11, attention=0.05, suspicion=0.5, severity=0.0, noise=0.4),
    raters.rater(12, attention=0.0, suspicion=0.8, severity=0.3, noise=0.5),
    raters.rater(13, attention=0.0, suspicion=1.0, severity=-0.3, noise=0.5),
    raters.rater(14, attention=-0.1, suspicion=1.0, severity=0.1, noise=0.7),
    raters.rater(15, attention=0.0, suspicion=1.2, severity=-0.1, noise=0.6),
    raters.rater(16, attention=-0.05, suspicion=1.5, severity=0.0, noise=0.8),
)
RELEASE = ("simulated-rhea", "simulated-rick", "simulated-rita", "simulated-rory")
"""People of the release check; the third objects to one dialogue."""
OBJECTED, REASON = "dialogue-2", "Turn 3: somebody says where they live."
EXCLUDE = "objection>=1"
TURNS, DIALOGUES = "comperdial_turn", "comperdial_dialogue"
OVERALL = "overall"
METRICS = ("word_f1", "rouge_l", "meteor")
SAMPLES = 3
STUDIES: dict[str, dict[str, Any]] = {
    f"{FIXED}: turn labels": {
        "questions": [{"question": f"{TURNS}/{OVERALL}"}],
        "level": ["turn", "dialogue", "system"],
        "samples": ["first", "mean"],
    },
    f"{FIXED}: dialogue labels": {
        "questions": [
            {
                "question": f"{DIALOGUES}/{OVERALL}",
                "answered_by": [{"question": f"{TURNS}/{OVERALL}", "aggregate": "mean", "missing": "skip"}],
            }
        ],
        "level": ["dialogue", "system"],
    },
}
"""Definitions of the studies: the first has tables 3 and 4 of the paper, the second table 5."""


def load(*, by: User, endpoint: Endpoint) -> Corpus:
    """Run the chain and return the corpus of fixed dialogues, with responses, ratings, studies and check.

    Nothing is done if the corpus exists.
    """
    if (existing := Corpus.objects.filter(name=FIXED).first()) is not None:
        return existing
    corpus = cast(by=by, name=NAME, count=PEOPLE)
    campaign = chats(by=by, corpus=corpus)
    fixed = chat_dialogues.make_dialogues(by=by, campaign=campaign, name=FIXED).corpus
    check_release(fixed, by=by)
    write(fixed, by=by)
    respond(fixed, by=by, endpoint=endpoint)
    rate(fixed, by=by)
    judge(fixed, by=by, endpoint=endpoint)
    for name, definition in STUDIES.items():
        study = studies.create(name=name, corpus=fixed, definition=definition, by=by)
        studies.compute(study=study, part="all", by=by)
    return fixed


def _finish(run: Run) -> None:
    """Drive a run to its end, however long it takes, next to any workers."""
    while run.state in runs.ACTIVE:
        loading.finish(run)


def chats(*, by: User, corpus: Corpus) -> Campaign:
    """Have simulated people hold every dialogue of a corpus without turns, and answer about it."""
    members = [simulated_person(f"simulated-talker-{number + 1:02}") for number in range(PEOPLE)]
    campaign = chat_plans.create(
        by=by,
        name=f"{corpus.name}: talks",
        corpus=corpus,
        scheme=DIALOGUES,
        plan={},
        annotators=members,
    )
    campaigns.open(by=by, campaign=campaign)
    while {chat_lobby.wait(by=member, campaign=campaign.pk).state for member in members} != {"nothing"}:
        for chat in Chat.objects.filter(campaign=campaign, state=Chat.State.OPEN):
            _hold(chat)
        for member in members:
            work_through(member, campaign, lambda _hold, _screen: {OVERALL: 4})
    return campaign


def _hold(chat: Chat) -> None:
    """Let the people of a conversation write in turn until its end."""
    seats = {
        seat.number: seat for seat in chat.seats.select_related("user", "chat__task__continuation__dialogue")
    }
    total, dialogue = chat.campaign.chat_plan.turns, chat.task.continuation.dialogue.key
    for number in range(1, total + 1):
        seat = seats[2 - number % 2]
        assert seat.user is not None
        text = utterance(chat_actions.persona(seat), number, total, seed=dialogue)
        text = f"{text} {{quality {_quality(TALKERS, dialogue, number)}}}"
        chat_actions.send(by=seat.user, chat=chat.pk, text=text, key=f"turn-{number}")


def _quality(qualities: Sequence[int], author: str, number: int) -> int:
    """Return the planted quality of what a person writes, drawn from theirs."""
    return qualities[int(uniform(SEED, "quality", author, str(number)) * len(qualities))]


def respond(corpus: Corpus, *, by: User, endpoint: Endpoint) -> None:
    """Have three systems write a response at each point of the second speaker."""
    administrator = User.objects.filter(is_superuser=True).earliest("pk")
    for model in MODELS:
        fields = {"name": f"{model} of the demo", "base_url": endpoint.base_url, "model": model}
        own = endpoints.save(
            by=administrator,
            fields={**fields, "allow_private": True, "active": True, "price_in": 0, "price_out": 0},
            endpoint=Endpoint.objects.filter(name=fields["name"]).first(),
        )
        _finish(
            generating.start(
                by=by, generation=Generation("comperdial_response", own), dialogues=Dialogues(corpus)
            )
        )


def write(corpus: Corpus, *, by: User) -> None:
    """Have two simulated people write a response at each point at which the systems do."""
    members = {simulated_person(name): qualities for name, qualities in WRITERS.items()}
    campaign = writing_plans.create(
        by=by, name=f"{corpus.name}: written responses", corpus=corpus, plan={}, annotators=list(members)
    )
    campaigns.open(by=by, campaign=campaign)
    for member, qualities in members.items():
        while (place := writing_actions.start(by=member, campaign=campaign.pk)).writing is not None:
            writing = place.writing
            dialogue = Task.objects.get(assignments=writing.assignment).continuation.dialogue.key
            seed = f"{member.username} {dialogue}"
            text = utterance(writing.persona[1:], 2 * writing.number, 2 * writing.total, seed=seed)
            quality = _quality(qualities, seed, writing.number)
            writing_actions.send(
                by=member,
                campaign=campaign.pk,
                assignment=writing.assignment,
                number=writing.number,
                text=f"{text} {{quality {quality}}}",
            )


def rate(corpus: Corpus, *, by: User) -> None:
    """Have six simulated people rate every response, and all responses of a system to a dialogue."""
    for scheme in (TURNS, DIALOGUES):
        people = {f"simulated-rater-{rater.seed}": rater for rater in RATERS}
        users = {name: simulated_person(name) for name in people}
        campaign = campaigns.create(
            by=by,
            name=f"{corpus.name}: {scheme}",
            corpus=corpus,
            scheme=scheme,
            raters_per_item=len(people),
            annotators=list(users.values()),
        )
        campaigns.open(by=by, campaign=campaign)
        for name, rater in people.items():
            work_through(users[name], campaign, _ratings(rater))


def _ratings(rater: SimulatedRater) -> Answer:
    """Return the answer function of somebody who sees the quality of responses with errors."""

    def answer(hold: Hold, _screen: Screen) -> dict[str, Any]:
        rows = Task.objects.select_related(
            "item__continuation__dialogue", "item__continuation__system", "item__turn"
        )
        item = rows.get(pk=hold.task).item
        assert item is not None
        key = f"{item.continuation.dialogue.key}/{item.continuation.system.name}"
        if item.turn is not None:
            return {OVERALL: rater.rates(f"{key}/{item.turn.position}", OVERALL, planted([item.turn.text]))}
        texts = item.continuation.turns.filter(given=False).values_list("text", flat=True)
        value = rater.rates(key, OVERALL, planted(list(texts)))
        aspects = raters.ASPECTS if value <= LOW else ()
        return {OVERALL: value, **{f"low_{name}": int(rater.marks(key, name, False)) for name in aspects}}

    return answer


def planted(texts: Sequence[str]) -> float:
    """Return the mean planted quality of responses, from 1 to 5."""
    qualities = [planted_number(text, QUALITY) for text in texts]
    return sum(quality or 3 for quality in qualities) / len(qualities)


def judge(corpus: Corpus, *, by: User, endpoint: Endpoint) -> None:
    """Run two judges of responses three times each, one of dialogues on their answers, and metrics."""
    simple = Judge("cpdscore_simple", "with_reference", endpoint=endpoint)
    detail = Judge("cpdscore_detail", endpoint=endpoint)
    for turn_judge in (simple, detail):
        plan = turn_judge.plan()
        _finish(run_actions.start(by=by, plan=plan, selection=Selection(corpus, samples=SAMPLES)))
    whole = Judge("cpdscore_dialogue", endpoint=endpoint, needs={"turn_scores": plan.rater.name})
    _finish(run_actions.start(by=by, plan=whole.plan(), selection=Selection(corpus)))
    for run in run_actions.start_metrics(by=by, keys=METRICS, selection=Selection(corpus), in_jobs=False):
        assert isinstance(run, Run)
        _finish(run)


def check_release(corpus: Corpus, *, by: User) -> None:
    """Have four simulated people check the dialogues; the third objects to one of them."""
    reviewers = [simulated_person(name) for name in RELEASE]
    campaign = campaigns.create(
        by=by,
        name=f"{corpus.name}: release check",
        corpus=corpus,
        scheme="ethics",
        raters_per_item=len(reviewers),
        annotators=reviewers,
    )
    campaigns.open(by=by, campaign=campaign)
    for number, person in enumerate(reviewers):
        work_through(person, campaign, _objections(objects=number == 2))


def _objections(*, objects: bool) -> Answer:
    def answer(hold: Hold, _screen: Screen) -> dict[str, Any]:
        item = Task.objects.select_related("item__continuation__dialogue").get(pk=hold.task).item
        assert item is not None
        if objects and item.continuation.dialogue.key == OBJECTED:
            return {"objection": 1, "reason": REASON}
        return {"objection": 0}

    return answer
