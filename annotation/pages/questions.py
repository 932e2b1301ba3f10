"""The page Questions of a corpus: what questions are made of, its sets, and what is asked when and why."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.errors import QuestionsRefused
from annotation.models import Corpus, QuestionSet
from annotation.question_sets import applying, job, reading
from annotation.question_sets.figures import SOURCES, figures_of, table2
from annotation.question_sets.relations import table_of, version_of
from annotation.question_sets.words import dropped_told, rule_told, type_told
from annotation.scripts.quiz import POLICIES
from annotation.scripts.records import FACT, QUESTION
from config.permissions import researcher_only
from jobs.actions import active_job
from jobs.models import Job

SHOWN = 50
USES_SHOWN = 100
ROOM = {"active_room": "corpora"}
POLICIES_TOLD = {
    "body": "unanswerable: “I don't know” is right",
    "appendix": "not asked at all",
}
FILTERS = ("text", "source", "hops", "relation", "type", "answerable", "status")


class MakeForm(forms.Form):
    """How a question set is made."""

    name = forms.CharField(
        max_length=60, label="Name", help_text="The same name again replaces a set that nothing used."
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, initial=0, label="Seed", help_text="Of choices and their order."
    )
    policy = forms.ChoiceField(
        choices=[(policy, POLICIES_TOLD[policy]) for policy in POLICIES],
        label="A quiz question before its evidence is",
        help_text="The paper's text says the first, its appendix the second. Reports name which was used.",
    )
    presence = forms.BooleanField(
        required=False,
        initial=True,
        label="The main character knows only what was said where it was",
        help_text="Without, all that was said counts as known.",
    )


@require_http_methods(["GET", "POST"])
@researcher_only
def questions(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: a corpus's question sets, the facts and questions they are made of, and making one."""
    corpus = access.corpus(pk)
    form = MakeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        assert isinstance(request.user, User)
        try:
            done = job.make(corpus=corpus, by=request.user, **form.cleaned_data)
        except QuestionsRefused as refused:
            form.add_error(refused.field if refused.field in form.fields else None, str(refused))
        else:
            return _made(request, corpus, done)
    status = 422 if form.errors else 200
    return render(request, "questions/list.html", _overview(corpus, form), status=status)


def _made(request: HttpRequest, corpus: Corpus, done: Any) -> HttpResponse:
    if isinstance(done, Job):
        messages.info(request, "The questions are being made. This page shows how far that is.")
        return redirect("questions", corpus.pk)
    told = "made" if done.created else "there already, made of the same: nothing changed"
    messages.success(request, f"The set {done.set} is {told}.")
    return redirect("question-set", corpus.pk, done.set.pk)


def _overview(corpus: Corpus, form: MakeForm) -> dict[str, Any]:
    sets = list(corpus.question_sets.order_by("name", "-version"))
    for one in sets:
        figures_of(one)
    return {
        "corpus": corpus,
        "sets": sets,
        "form": form,
        "has_scripts": corpus.dialogues.filter(script__isnull=False).exists(),
        "kinds": [_kind(corpus, FACT), _kind(corpus, QUESTION)],
        "relations": len(table_of(corpus)),
        "relations_version": version_of(corpus),
        "job": active_job(job.KIND, job.subject(corpus)),
        "last_job": Job.objects.filter(kind=job.KIND, subject=job.subject(corpus)).order_by("-pk").first(),
        **ROOM,
    }


def _kind(corpus: Corpus, kind: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "counts": reading.counts(corpus, kind),
        "campaigns": list(reading.review_campaigns(corpus, kind)[:5]),
    }


@require_GET
@researcher_only
def question_set(request: HttpRequest, pk: int, one: int) -> HttpResponse:
    """Researchers: a set in numbers, and its questions, narrowed as the address says."""
    found = access.question_set(pk, one)
    figures = figures_of(found)
    asked = {name: request.GET.get(name, "").replace("\0", "").strip()[:200] for name in FILTERS}
    page = Paginator(reading.questions_of(found, asked), SHOWN).get_page(request.GET.get("page"))
    return render(
        request,
        "questions/set.html",
        {
            "corpus": found.corpus,
            "set": found,
            "figures": figures,
            "table": table2(figures),
            "types": [
                {
                    **row,
                    "told": type_told(row["type"]),
                    "title": SOURCES.get((row["source"], row["hops"]), ""),
                }
                for row in figures["rows"]
            ],
            "dropped": [(dropped_told(name), n) for name, n in figures.get("dropped", {}).items()],
            "excluded": [(rule_told(name), n) for name, n in figures.get("excluded", {}).items()],
            "policy_told": POLICIES_TOLD.get(found.options.get("policy", ""), ""),
            "asked": asked,
            "filters": _filters(found),
            "page": page,
            "rows": reading.with_uses(found, page),
            "query": urlencode({key: value for key, value in asked.items() if value}) + "&",
            "searched": any(asked.values()),
            **ROOM,
        },
    )


def _filters(found: QuestionSet) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return the choices of the filters: name, label, and values with their titles."""
    sources = sorted({row["source"] for row in found.figures["rows"]})
    hops = sorted({row["hops"] for row in found.figures["rows"]})
    return [
        ("source", "From", [(key, {"quiz": "the quiz", "tkg": "facts"}.get(key, key)) for key in sources]),
        ("hops", "Hops", [(str(key), str(key)) for key in hops]),
        ("type", "Type", [(key, key.replace("_", " ")) for key in reading.types_of(found)]),
        ("answerable", "Asked", [("yes", "answerable"), ("no", "unanswerable")]),
        ("relation", "Relation", [(key, key) for key in table_of(found.corpus)]),
    ]


@require_GET
@researcher_only
def question(request: HttpRequest, pk: int, one: int, record: int) -> HttpResponse:
    """Researchers: a question of a set with every session in which it is asked: key, type, and why."""
    found = access.question_set(pk, one)
    asked = access.record(pk, record)
    uses = reading.uses_of(found, asked)
    if asked.kind != QUESTION or not uses.exists():
        raise Http404
    page = Paginator(uses, USES_SHOWN).get_page(request.GET.get("page"))
    sessions = reading.sessions_of(asked)
    numbers = {session["id"]: number for number, session in enumerate(sessions, start=1)}
    context = {
        "corpus": found.corpus,
        "set": found,
        "record": asked,
        "evidence": [(numbers.get(name), name) for name in asked.content.get("evidence", [])],
        "styles": sorted(asked.content.get("styles", {}).items()),
        "facts": reading.standing(found.corpus, FACT).filter(
            dialogue=asked.dialogue, key__in=asked.content.get("facts", [])
        ),
        "page": page,
        "rows": [reading.use_told(use, asked, sessions) for use in page],
        "query": "",
        **ROOM,
    }
    return render(request, "questions/question.html", context)


@require_http_methods(["GET", "POST"])
@researcher_only
def reviews(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Researchers: what taking over the reviews of facts or questions would come to; and taking them over."""
    corpus = access.corpus(pk)
    if kind not in (FACT, QUESTION):
        raise Http404
    if request.method == "POST":
        assert isinstance(request.user, User)
        done = applying.apply(corpus=corpus, kind=kind, by=request.user).counts
        messages.success(
            request,
            f"{done['accepted']:,} accepted, {done['corrected']:,} corrected, {done['rejected']:,} rejected; "
            f"{done['undecided']:,} undecided.",
        )
        return redirect("question-records", pk, kind)
    told = applying.preview(corpus, kind)
    context = {
        "corpus": corpus,
        "kind": kind,
        "told": told,
        "changes": told.counts["accepted"] + told.counts["corrected"] + told.counts["rejected"],
        "open": [one for one in told.reviewed if one.outcome.standing == "undecided"][:SHOWN],
        "campaigns": reading.review_campaigns(corpus, kind),
        **ROOM,
    }
    return render(request, "questions/reviews.html", context)
