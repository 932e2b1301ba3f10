"""One step of a search: gone through from its beginning, as far as the answers reach.

A step takes its turn under a lock on the search's row and writes what it finds in one transaction. It asks by
putting calls into the queue, and ends; when they are answered the next step comes further. So a search holds
no worker up, and one that is killed loses nothing and pays for nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from calibration.models import Search, SearchText
from calibration.searches import HELD_BACK, actions, material
from calibration.searches.asking import Asking, Waiting
from calibration.searches.figures import Figure, figures, name_of
from jobs.errors import JobRefused
from jobs.kinds import JobKind
from jobs.models import Job
from jobs.queue.progress import Progress
from judges.drafts import steps, trials
from judges.models import PromptVersion
from judges.prompt_search.evolution import Found, OutOfBudget, Settings, evolve
from judges.prompt_versions import actions as prompts
from judges.prompt_versions import texts


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Take a search one step further; its result is {search: id, state: where it stands}."""
    with transaction.atomic():
        search = Search.objects.select_for_update().filter(pk=job.params["search"]).first()
        if search is None:
            raise JobRefused("the search was deleted with its corpus")
        if search.active:
            try:
                _step(search)
            except Waiting:
                search.save(update_fields=["state"])
        asked = search.texts.count()
    progress(asked, asked, search.state)
    return {"search": search.pk, "state": search.state}


def _step(search: Search) -> None:
    asking = Asking(search)
    first = texts.wording_of(search.text)
    asking.text_of(first)
    found = evolve(
        first=first,
        learn=material.targets_of(search, "learn"),
        choose=material.targets_of(search, "choose"),
        questions=material.questions_of(search),
        asks=asking.asks(),
        settings=Settings(search.rounds, search.few, search.most_calls, search.seed),
    )
    for one in found:
        _take_down(search, asking, one)
    search.state = Search.State.SCORING
    asking.bounds.reserved = 0
    note = _score(search, asking, found)
    measured = figures(search)
    for text in search.texts.select_related("draft__rater", "draft__text", "parent"):
        _keep(search, text, [figure for figure in measured if figure.text.pk == text.pk])
    actions.end(search, Search.State.DONE, note)


def _take_down(search: Search, asking: Asking, one: Found) -> None:
    text = asking.text_of(one.wording)
    text.parent = search.texts.filter(digest=one.parent).first() if one.parent else None
    text.score, text.cases, text.diagnosis = one.score, list(one.cases), one.diagnosis
    text.save(update_fields=["parent", "score", "cases", "diagnosis"])


def _score(search: Search, asking: Asking, found: Sequence[Found]) -> str:
    """See that the texts are asked about the held-back dialogues, the best first; say what was left out."""
    held_back = material.targets_of(search, HELD_BACK)
    tried = sorted((one for one in found[1:] if one.score is not None), key=lambda one: -(one.score or 0))
    wanted = [found[0], *tried]
    left_out = 0
    while wanted:
        try:
            asking.judge_all([one.wording for one in wanted], held_back)
        except OutOfBudget:
            wanted, left_out = wanted[:-1], left_out + 1
        else:
            break
    if not wanted:
        return "The bounds left no calls to measure anything on the held-back dialogues."
    if left_out:
        return f"The bounds left no calls to measure {left_out} of the texts on the held-back dialogues."
    return ""


def _keep(search: Search, text: SearchText, measured: Sequence[Figure]) -> None:
    """Keep a proposal as a version that nobody has adopted, with what it came from and what it is worth."""
    if text.score is not None:
        trials.note(
            bench=search.bench,
            spec=text.draft.rater.spec,
            name=f"{search.bench.name}, {name_of(text)} of search {search.pk}",
        )
    if text.parent is None:
        return
    text.version = prompts.propose(
        by=search.created_by,
        prompt=search.prompt,
        wording=texts.wording_of(text.draft.text),
        parent=_ref(text.parent, search),
        note=text.diagnosis,
        detail={
            "search": search.pk,
            "cases": text.cases,
            "score": text.score,
            "held_back": [figure.as_json() for figure in measured],
        },
    )
    text.save(update_fields=["version"])


def _ref(parent: SearchText, search: Search) -> str:
    version: PromptVersion | None = parent.version
    return search.parent if version is None else f"{search.prompt.name}@{version.number}"


JOB = JobKind(steps.SEARCH, "Search for a better prompt", run)
