"""The pages of corpora: all of them, one with its search, its splits, and its deletion."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote_plus

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.corpora import parts, searching, splits
from annotation.corpora import reading as browsing
from annotation.corpora.actions import set_families
from annotation.corpora.openings import openings
from annotation.deletion import job as deletion
from annotation.errors import DeletionRefused, FamilyRefused, SplitRefused
from annotation.labels import counts as label_counts
from annotation.models import Corpus, Upload, turn_numbers
from config.long_lists import LongPaginator
from config.permissions import administrator_only, researcher_only
from jobs import actions as jobs
from jobs.models import Job

ROOM = {"active_room": "corpora"}
SHOWN = 50


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@require_GET
@researcher_only
def corpora(request: HttpRequest) -> HttpResponse:
    """Researchers: all corpora, and imports of theirs that have not ended."""
    page = Paginator(Corpus.objects.order_by("name"), SHOWN).get_page(request.GET.get("page"))
    counted = browsing.counts(list(page))
    under_way = Upload.objects.filter(by=_user(request), job__state__in=jobs.ACTIVE)
    rows = [(corpus, counted[corpus.pk]) for corpus in page]
    return render(request, "corpora/list.html", {"page": page, "rows": rows, "under_way": under_way, **ROOM})


@require_GET
@researcher_only
def corpus(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: one corpus, with its dialogues or the turns that a search finds."""
    found = access.corpus_named(name)
    search = {
        key: request.GET.get(key, "").replace("\0", "").strip() for key in ("text", "speaker", "system")
    }
    context = {
        "corpus": found,
        "counts": browsing.counts([found])[found.pk],
        "labels": label_counts.count(found),
        "systems": browsing.systems(found),
        "imports": found.imports.select_related("created_by"),
        "splits": _splits(found),
        "parts": parts.sizes(found),
        "has_scenarios": found.dialogues.filter(scenario__isnull=False).exists(),
        "has_scripts": found.dialogues.filter(script__isnull=False).exists(),
        "search": search,
        "query": "".join(f"{key}={quote_plus(value)}&" for key, value in search.items() if value),
        **_results(found, search, request.GET.get("page"), request.GET.get("after", "")),
        **ROOM,
    }
    return render(request, "corpora/corpus.html", context)


def _results(corpus: Corpus, search: dict[str, str], number: str | None, after: str) -> dict[str, Any]:
    """Return the turns that a search finds, else the page of dialogues."""
    if search["text"] or search["speaker"]:
        found = searching.search(corpus, **search, after=after, most=SHOWN)
        turn_numbers.number(found.turns)
        return {"found": found, "shows_turns": True}
    chosen = browsing.dialogues(corpus, system=search["system"])
    many, more = browsing.how_many(corpus, system=search["system"])
    page = LongPaginator(chosen, SHOWN, many=many, more=more).get_page(number)
    beginnings = browsing.beginnings(list(page))
    rows = [(dialogue, *beginnings.get(dialogue.pk, (0, ""))) for dialogue in page]
    return {"page": page, "rows": rows, "shows_turns": False}


def _splits(corpus: Corpus) -> list[dict[str, Any]]:
    return [
        {
            "split": split,
            "dev": split.clusters.filter(part="dev").count(),
            "test": split.clusters.filter(part="test").count(),
            "looks": split.looks.select_related("by"),
            "openings": openings(split),
        }
        for split in corpus.splits.order_by("id")
    ]


@require_POST
@researcher_only
def draw_split(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: draw dev and test from a seed, or anew while they are not used."""
    found = access.corpus_named(name)
    try:
        seed, share = int(request.POST.get("seed", "0")), float(request.POST.get("test_share", "0.5"))
        if not 0 <= seed < 2**31:
            raise ValueError
    except ValueError:
        messages.error(request, "The seed is a whole number of 0 or more, the share lies between 0 and 1.")
        return redirect("corpus", name)
    try:
        splits.draw(corpus=found, by=_user(request), seed=seed, test_share=share)
    except SplitRefused as refused:
        messages.error(request, f"Not drawn: {refused}.")
    else:
        messages.success(request, "The split is drawn. It is fixed when it is first used.")
    return redirect("corpus", name)


@require_POST
@researcher_only
def change_families(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: say of which family of models the systems of a corpus are."""
    found = access.corpus_named(name)
    named, told = request.POST.getlist("system"), request.POST.getlist("family")
    try:
        changed = set_families(by=_user(request), corpus=found, families=dict(zip(named, told, strict=False)))
    except FamilyRefused as refused:
        messages.error(request, f"Not saved: {refused}")
    else:
        messages.success(request, "The families are saved." if changed else "Nothing was changed.")
    return redirect(f"{reverse('corpus', args=[name])}#systems")


@administrator_only
def delete_corpus(request: HttpRequest, name: str) -> HttpResponse:
    """Administrators: delete a corpus with everything about it, confirmed by typing its name."""
    found = access.corpus_named(name)
    refused = ""
    if request.method == "POST":
        try:
            gone = deletion.delete_corpus(
                corpus=found, by=_user(request), confirmation=request.POST.get("confirmation", "")
            )
        except DeletionRefused as error:
            refused = str(error)
        else:
            if isinstance(gone, Job):
                messages.info(request, f"The corpus {name} is being deleted: see the list below.")
                return redirect("jobs")
            messages.success(request, f"The corpus {name} was deleted.")
            return redirect("corpora")
    context = {
        "corpus": found,
        "counts": browsing.counts([found])[found.pk],
        "labels": label_counts.count(found),
        "campaigns": found.campaigns.count(),
        "refused": refused,
        **ROOM,
    }
    return render(request, "corpora/delete.html", context, status=422 if refused else 200)
