"""A corpus in its release check: of five dialogues two pass, one meets an objection, two lack reviews."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Campaign, Corpus, Item, Label, Rater, System
from annotation.work import screens
from annotation.work import task_actions as labelling
from tests import factories

EXCLUDE = "objection>=1"
PASSED, LEFT_OUT = ["d0", "d1"], ["d2", "d3", "d4"]
WHY = "Turn 2 says where she lives <script>alert(1)</script>"
SYSTEM = "secret-model"


@dataclass
class World:
    """The corpus, the campaign of the check, its four reviewers and a researcher."""

    corpus: Corpus
    campaign: Campaign
    reviewers: list[User]
    researcher: User

    def review(self, person: User, *, objection: int = 0, reason: str = "") -> None:
        """Answer a person's next task."""
        _seat, hold = labelling.start(by=person, campaign=self.campaign.pk)
        assert hold is not None
        (item,) = screens.load(hold.task, assignment=hold.assignment).items
        answers: dict[str, Any] = {"objection": objection} | ({"reason": reason} if objection else {})
        labelling.submit(
            by=person,
            campaign=self.campaign.pk,
            assignment=hold.assignment,
            answers={str(item): answers},
        )

    def screen(self, person: User) -> screens.Screen:
        """Return a person's next task as its reviewers see it."""
        _seat, hold = labelling.start(by=person, campaign=self.campaign.pk)
        assert hold is not None
        return screens.with_notes(screens.load(hold.task, assignment=hold.assignment), "ethics")


def corpus_to_release(name: str = "chats", dialogues: int = 5) -> Corpus:
    """Dialogues between Ana and Ben, each with a response by a system to its last turn."""
    corpus = factories.corpus(name)
    for number in range(dialogues):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=3)
        factories.continuation(dialogue, "x", system=SYSTEM, turns=[{"text": "I like {quality 4} apples."}])
    return corpus


def world(name: str = "chats", **fields: Any) -> World:
    """Have the own turns reviewed: d2 meets one objection of four, d3 has three reviews, d4 has none."""
    corpus, researcher = corpus_to_release(name), factories.user(f"rei of {name}", researcher=True)
    reviewers = [factories.user(f"{person} of {name}") for person in ("ann", "ben", "cid", "dan")]
    campaign = factories.campaign(
        corpus,
        "ethics",
        annotators=reviewers,
        raters=4,
        systems=[System.objects.get(corpus=corpus, name="human")],
        include_self=True,
        task_order="fixed",
        by=researcher,
        **fields,
    )
    built = World(corpus, campaign, reviewers, researcher)
    for person in reviewers:
        objects = person == reviewers[2]
        for number in range(4 if person != reviewers[3] else 3):
            built.review(person, objection=int(objects and number == 2), reason=WHY)
    return built


def rate(checked: World, scheme: str = "comperdial_turn", kind: str = "turn") -> None:
    """Have two people and a judge rate the system's response in every dialogue."""
    question = factories.scheme_version(scheme).questions.get(key="overall")
    for number, (rater, of) in enumerate((("eva", "human"), ("fay", "human"), ("judge-1", "judge"))):
        row = Rater.objects.create(name=rater, kind=of, corpus=checked.corpus)
        items = Item.objects.filter(corpus=checked.corpus, kind=kind, continuation__key="x")
        Label.objects.bulk_create(
            Label(
                item=item, question=question, rater=row, occasion="imported", number=1 + (place + number) % 5
            )
            for place, item in enumerate(items.order_by("pk"))
        )
