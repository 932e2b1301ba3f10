"""Judges of the demo that ask the fake model: an endpoint, two prompts, and a run of each on the dev part."""

from __future__ import annotations

from dataclasses import replace

from django.contrib.auth.models import User

from annotation.corpora import splits
from annotation.models import Corpus, Split
from demo.fake_model.serving import MODEL
from jobs.endpoints import actions as endpoints
from jobs.fake_models import ENDPOINT
from jobs.models import Endpoint, Run
from judges.models import Prompt
from judges.prompt_versions import actions as prompts
from judges.prompt_versions import finding
from judges.rating import actions as rating
from judges.rating.plans import Judge
from judges.rating.selection import Selection

CORPUS = "Trying out judges"
BUILT_IN = "cpdscore_simple_without_reference"
OWN = "replies as people see them"
SENTENCE = "Compare it with what a thoughtful person would have said here."
"""What the fake model's error model `ordinary` takes for a better instruction."""


def endpoint(url: str, *, by: User) -> Endpoint:
    """Return the endpoint of a fake model that answers at a base URL; the same one at every start."""
    fields = {"name": ENDPOINT, "base_url": url, "model": MODEL, "allow_private": True, "active": True}
    fields |= {"price_in": 0, "price_out": 0}
    found = Endpoint.objects.filter(name=ENDPOINT).first()
    if found is not None and all(getattr(found, name) == value for name, value in fields.items()):
        return found
    return endpoints.save(by=by, fields=fields, endpoint=found)


def has_moved(url: str) -> bool:
    """Whether the demo's fake model answered at another address before."""
    return Endpoint.objects.filter(name=ENDPOINT).exclude(base_url=url).exists()


def split(corpus: Corpus, *, by: User) -> Split:
    """Return the corpus's split, drawn where there is none."""
    return splits.lock_of(corpus) or splits.draw(corpus=corpus, by=by)


def own_prompt(*, by: User) -> str:
    """Return the reference of the demo's own prompt: the built-in one and a sentence more."""
    found = Prompt.objects.filter(name=OWN).first()
    if found is None:
        built_in = finding.find(BUILT_IN)
        wording = replace(built_in.wording, system=f"{built_in.wording.system}\n\n{SENTENCE}")
        prompts.create(
            by=by,
            name=OWN,
            protocol=built_in.protocol,
            variant=built_in.variant,
            wording=wording,
            description="The built-in prompt with one sentence more, to compare the two.",
            parent=built_in.ref,
        )
    return f"{OWN}@1"


def runs(url: str, *, by: User) -> list[Run]:
    """Start a run of both prompts over the dev part; one that is done is not done again."""
    corpus = Corpus.objects.get(name=CORPUS)
    asked = endpoint(url, by=by)
    selection = Selection(corpus, split=split(corpus, by=by), part="dev")
    judges = (Judge("cpdscore_simple", endpoint=asked), Judge(prompt=own_prompt(by=by), endpoint=asked))
    return [rating.start(by=by, plan=judge.plan(), selection=selection) for judge in judges]
