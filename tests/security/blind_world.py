"""A campaign in which all facts hidden from its annotators carry a mark, and a client that looks for them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve

from annotation.corpora import splits
from annotation.models import Campaign, Continuation, Corpus, Item, Label, Turn
from annotation.people import accounts
from annotation.scheme_store import questionnaire_of
from annotation.work import check_actions, labels, messages
from annotation.work import notes as note_actions
from calibration.adjudication import rounds
from calibration.gold import derivation
from tests import factories
from tests.checks import world

ORIGIN = "zqxj"
"""Mark in every name of a system, a condition, a continuation, a dialogue, a cluster, a person or a file."""
OTHERS = "vkwp"
"""Mark in all texts of other raters: comments, notes, messages, explanations, and reasons of keys."""
TELLING = {
    *("system", "systems", "condition", "continuation", "dialogue", "cluster", "corpus", "split", "part"),
    *("trial", "gold", "occasion", "rater", "raters", "slot", "members", "mode"),
}
"""Names that no JSON response to an annotator's program may contain."""
SYSTEMS = (f"Alpha-{ORIGIN}-9b", f"Beta-{ORIGIN}")


def corpus() -> Corpus:
    """Create the corpus: nine dialogues, each answered by two systems."""
    made = factories.corpus(f"corpus {ORIGIN}")
    for number in range(9):
        talk = factories.dialogue(
            made,
            f"d{number}-{ORIGIN}",
            turns=2,
            system=f"human {ORIGIN}",
            metadata={"setting": ORIGIN, "condition": ORIGIN, "gold": ORIGIN, "split": ORIGIN},
        )
        for system in SYSTEMS:
            turns = [{"text": f"A reply to number {number}."}]
            factories.continuation(talk, f"{system}-1", system=system, turns=turns)
    Continuation.objects.exclude(key="self").update(
        condition={"prompting": ORIGIN, "model": f"fake-{ORIGIN}"}
    )
    Turn.objects.update(extra={"raw": ORIGIN})
    return made


def campaign(made: Corpus, *people: User, by: User) -> Campaign:
    """Create a campaign with consent, training, a test, hidden checks and repeats; the reasons are marked."""
    told = {"consent": "Agree.", "shows_agreement": True, "include_self": False}
    found = factories.campaign(made, by=by, annotators=people, raters=3, opened=False, name="Pilot", **told)
    question = questionnaire_of(found.scheme_version_id).by_key["overall"]
    spots = Item.objects.filter(kind="turn", continuation__key=f"{SYSTEMS[0]}-1").order_by("pk")
    for item, occasion in zip(spots, ("training", "qualification", "check", "check"), strict=False):
        check_actions.add_key(
            by=by,
            campaign=found,
            occasion=occasion,
            spot=(item.continuation_id, item.pk),
            answers={(item.pk, question.id): world.Key((5.0,))},
            explanation="It fits." if occasion == "training" else OTHERS,
        )
    check_actions.set_up(
        by=by, campaign=found, check_every=3, repeat_every=4, repeat_after=1, warn_below=0.9, least=1
    )
    factories.campaigns.open(by=by, campaign=found)
    found.refresh_from_db()
    return found


def work_of(other: User, found: Campaign, by: User) -> None:
    """Let another annotator rate everything, with a marked text in every possible place."""
    walk(asker(other), f"/work/{found.pk}/", "note/")
    given = Label.objects.filter(rater__user=other, occasion="main").select_related("assignment").first()
    assert given is not None
    assert given.assignment is not None
    found.assignments.filter(user=other).update(comment=OTHERS, flagged=True)
    place = {"by": other, "campaign": found.pk, "assignment": given.assignment_id, "line": 2}
    note_actions.set_note(**place, comment=OTHERS, flagged=True, bookmarked=True)
    messages.ask(by=other, campaign=found.pk, text=OTHERS)
    key = labels.imported_rater(corpus=found.corpus, kind="key", name=f"key {ORIGIN}")
    version = found.scheme_version
    for label in Label.objects.filter(rater__user=other, occasion="main")[:3]:
        Label.objects.create(
            item_id=label.item_id,
            question_id=label.question_id,
            rater=key,
            occasion="imported",
            number=2,
            explanation=OTHERS,
        )
    splits.draw(corpus=found.corpus, by=by)
    derivation.make(corpus=found.corpus, campaign=found, scheme_version=version, rule="majority", by=by)


def walk(who: Asker, base: str, notes: str) -> None:
    """Go from the consent text to the last task over one kind of request, using everything on the way."""
    state = who.post(f"{base}next/")
    done = 0
    while waiting := _waiting(state):
        state = who.post(f"{base}accept/", waiting)
        while state["task"] is not None:
            own = f"{base}{state['task']['assignment']}/"
            answers = {
                str(item): {"overall": 5 if done < 2 else 1 + done % 5} for item in state["task"]["items"]
            }
            if done == 3:
                who.post(f"{own}draft/", {"version": 1, "answers": answers})
                who.post(f"{own}{notes}", {"line": 1, "comment": "odd", "bookmarked": True})
            if done == 5:
                state = who.post(f"{own}skip/", {"reason": "tired"})
            else:
                state = who.post(f"{own}submit/", {"answers": answers})
            done += 1
    assert done > 12
    assert who.post(f"{base}reopen/")["task"]["revising"]


def _waiting(state: dict[str, Any]) -> dict[str, Any] | None:
    """Return the text that must be accepted, from the API or from the page's markup."""
    if state["task"] is not None:
        return None
    if "waiting" in state:
        told = state["waiting"]
        return told and {"what": told["what"], "version": told["version"]}
    pressed = re.search(r'data-what="(\w+)"\s+data-version="(\d+)"', state["html"])
    return {"what": pressed[1], "version": int(pressed[2])} if pressed else None


def round_for(judge: User, found: Campaign, by: User) -> int:
    """Begin a round of adjudication that the judge may decide; return its number."""
    accounts.give_campaign_role(by=by, campaign=found, person=judge, role="adjudicator")
    plan = rounds.Plan(found.corpus, found, found.scheme_version, {"everything": True}, takes_locked=True)
    return int(rounds.begin(by=by, name="Round", plan=plan).pk)


RANDOM = re.compile(r"[A-Za-z0-9]{32,}")
"""Random tokens, which may contain any short word by chance."""


@dataclass
class Asker:
    """Client that opens pages and sends requests, and keeps the responses by the route's name.

    `may_name` are revealing names that their JSON contains by design, without revealing values.
    """

    client: Client
    may_name: frozenset[str] = frozenset()
    told: list[tuple[str, str]] = field(default_factory=list)

    def get(self, path: str) -> str:
        return self._keep(path, self.client.get(path, follow=True))

    def post(self, path: str, body: dict[str, Any] | None = None, *, form: bool = False) -> Any:
        kind = {} if form else {"content_type": "application/json"}
        sent: Any = (body or {}) if form else json.dumps(body or {})
        text = self._keep(path, self.client.post(path, sent, follow=True, **kind))
        return text if form or not text.startswith(("{", "[")) else json.loads(text)

    def _keep(self, path: str, response: Any) -> str:
        assert response.status_code < 400, (path, response.content[:500])
        where = resolve(path.partition("?")[0])
        text = RANDOM.sub("", response.content.decode())
        heads = "\n".join(f"{name}: {value}" for name, value in response.items())
        self.told.append((str(where.url_name), f"{response.redirect_chain}\n{heads}\n{text}"))
        if response.headers.get("Content-Type", "").startswith("application/json"):
            told = {name for name in _names(json.loads(text)) if name in TELLING - self.may_name}
            assert not told, (path, told)
        return text

    @property
    def visited(self) -> set[str]:
        return {name for name, _ in self.told}

    def learned(self, mark: str) -> list[str]:
        """Return the routes whose responses contained a mark."""
        return [name for name, text in self.told if mark in text.casefold()]


def _names(told: Any) -> set[str]:
    if isinstance(told, dict):
        return set(told) | {name for value in told.values() for name in _names(value)}
    return {name for value in told for name in _names(value)} if isinstance(told, list) else set()


def asker(person: User, *may_name: str) -> Asker:
    """Return a signed-in client."""
    client = Client()
    client.force_login(person)
    return Asker(client, frozenset(may_name))
