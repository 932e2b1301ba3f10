"""Scripts in the database with people who review their facts and questions, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import campaign_actions as campaigns
from annotation.corpora.import_file import import_path
from annotation.models import Assignment, Campaign, Corpus, Record
from annotation.work import task_actions as labelling
from tests import factories
from tests.suites.long_dialogue.examples import script


def brought(folder: Path, *dialogues: dict[str, Any], name: str = "loaf") -> Corpus:
    """Import scripts in the native format; by default the example."""
    path = folder / f"{name}-{len(list(folder.iterdir()))}.jsonl"
    path.write_text("".join(json.dumps(dialogue) + "\n" for dialogue in dialogues or (script(),)))
    import_path(path=path, name=path.name, format="jsonl", corpus=name, into=False, by=None)
    return Corpus.objects.get(name=name)


def opened(corpus: Corpus, scheme: str, *people: User, **told: Any) -> Campaign:
    """Set up a campaign and open it."""
    researcher = factories.user(researcher=True)
    name = f"review {Campaign.objects.count()}"
    told = {"raters_per_item": len(people)} | told
    made = campaigns.create(by=researcher, name=name, corpus=corpus, scheme=scheme, annotators=people, **told)
    campaigns.open(by=researcher, campaign=made)
    return Campaign.objects.get(pk=made.pk)


def answer(campaign: Campaign, person: User, **answers: dict[str, Any]) -> list[str]:
    """Work through a campaign, with answers by the record's key; return the keys in the order shown."""
    order: list[str] = []
    _, hold = labelling.start(by=person, campaign=campaign.pk)
    while hold is not None:
        item = Assignment.objects.select_related("task__item__record").get(pk=hold.assignment).task.item
        assert item is not None
        assert item.record is not None
        order.append(item.record.key)
        told = {str(item.pk): answers[item.record.key]}
        after = labelling.submit(by=person, campaign=campaign.pk, assignment=hold.assignment, answers=told)
        hold = after.next
    return order


def record(key: str) -> Record:
    """Return the record of a key."""
    return Record.objects.get(key=key)
