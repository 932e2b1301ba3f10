"""Pages of the Answers report of long-dialogue agents, its files, and single answers. Researchers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.corpora import exclusion, splits
from annotation.models import Corpus, QuestionSet
from annotation.text.display import language_tag
from calibration.errors import CalibrationError
from config.permissions import researcher_only, user_of
from suites.long_dialogue.answers import answers as one_answer
from suites.long_dialogue.answers.answers import (
    NARROWED,
    ShownSession,
    has_answers,
    judge_named,
    judges_of,
    listing,
)
from suites.long_dialogue.answers.renderings import CHARTS, RENDERINGS, view_of
from suites.long_dialogue.answers.report import compute, open_test
from suites.long_dialogue.answers.rows import (
    LAYOUTS,
    REPORT,
    SCRIPT,
    SYSTEM,
    AnswerRow,
    read,
    settings_of,
)
from suites.pages import judge_choices
from suites.reports import open_test_answer, query_values, report_file

NAMES = ("by", "score", "judge", "set", "layout", "part", "resamples", "seed", "level", "exclude")
"""Query parameters of the report."""
LAYOUT_WORDS = {
    "report": "all figures",
    "table2": "table 2: the questions",
    "table3": "table 3: model by memory",
    "table4": "table 4: names",
}
SCORES = (("strict", "a letter (strict)"), ("lenient", "an option's text, too (lenient)"))
PAGE = 50


@require_GET
@researcher_only
def answers(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the report with the form of its query, or the reason why there is none."""
    corpus = access.corpus(pk)
    query_texts = query_values(request, NAMES)
    context = _form(corpus, query_texts)
    status = 200
    if context["is_possible"]:
        try:
            report = compute(query=read(query_texts, corpus), by=user_of(request))
            context |= view_of(report, reverse("answers-list", args=[corpus.pk]))
        except CalibrationError as refused:
            context["refused"] = str(refused)
            status = 422 if query_texts else 200
    return render(request, "long_dialogue/answers.html", context, status=status)


@require_GET
@researcher_only
def answers_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """Researchers: the report as CSV, Markdown, LaTeX, HTML or JSON, or a chart as SVG or PNG."""
    corpus = access.corpus(pk)
    query_texts = query_values(request, NAMES)
    return report_file(
        request,
        form,
        f"answers-{corpus.pk}",
        lambda: compute(query=read(query_texts, corpus), by=user_of(request)),
        RENDERINGS,
        CHARTS,
    )


@require_POST
@researcher_only
def answers_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: log a look at test with its purpose, and show the report of the test part."""
    corpus = access.corpus(pk)
    query_texts = {"judge": query_values(request, NAMES).get("judge", "")}
    return open_test_answer(
        request,
        reverse("answers", args=[corpus.pk]),
        lambda purpose: open_test(query=read(query_texts, corpus), by=user_of(request), purpose=purpose),
    )


@require_GET
@researcher_only
def answers_list(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: single answers, filtered by system, outcome, class, source and evidence."""
    corpus = access.corpus(pk)
    query_texts = query_values(request, NAMES)
    filters = {key: request.GET.get(key, "").replace("\0", "") for key in ("system", *NARROWED)}
    context: dict[str, Any] = {
        "corpus": corpus,
        "selected": query_texts,
        "filters": filters,
        "judges": judge_choices(corpus, judges_of(corpus)),
        "filter_choices": [(key, list(values), filters[key]) for key, values in NARROWED.items()],
    }
    try:
        answer_listing = listing(read(query_texts, corpus), filters)
    except CalibrationError as refused:
        return render(
            request, "long_dialogue/answers_list.html", context | {"refused": str(refused)}, status=422
        )
    page = Paginator(answer_listing.rows, PAGE).get_page(request.GET.get("page"))
    context |= {
        "listing": answer_listing,
        "page": page,
        "differ": answer_listing.differ,
        "lines": [
            (row, _condition(row, answer_listing.differ), _outcome(row, answer_listing.query.rule))
            for row in page
        ],
    }
    return render(request, "long_dialogue/answers_list.html", context)


@require_GET
@researcher_only
def answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: an answer with its question, reply, key with the reasons, and retrieved entries."""
    item = access.answer(pk)
    judge = request.GET.get("judge", "").replace("\0", "")
    context: dict[str, Any] = {"corpus": item.corpus, "item": item, "judge": judge}
    try:
        answer_view = one_answer.view(item, judge_named(item.corpus, judge))
    except CalibrationError as refused:
        return render(request, "long_dialogue/answer.html", context | {"refused": str(refused)}, status=422)
    context |= {
        "answer": answer_view,
        "evidence": "; ".join(map(_session, answer_view.evidence)),
        "retrieved": "; ".join(map(_session, answer_view.retrieved)),
        "dialogue": item.continuation.dialogue,
        "language": language_tag(item.continuation.dialogue.language),
        "judges": judge_choices(item.corpus, judges_of(item.corpus)),
        "strict": None if answer_view.opinions is None else _outcome(answer_view.row, "strict"),
        "lenient": None if answer_view.opinions is None else _outcome(answer_view.row, "lenient"),
    }
    return render(request, "long_dialogue/answer.html", context)


def _session(session: ShownSession) -> str:
    """Return a session's number, with its date and place where they are known."""
    about = ", ".join(filter(None, (str(session.date or ""), session.place)))
    return f"session {session.number} ({about})" if about else f"session {session.number}"


def _condition(row: AnswerRow, differ: Sequence[str]) -> str:
    """Describe an answer's values of the settings in which the listed answers differ."""
    return ", ".join(f"{key} {value}" for key in differ if (value := row.place.condition.get(key)))


def _outcome(row: AnswerRow, rule: Any) -> tuple[str, str]:
    """Describe the outcome of an answer, with the tone of its badge."""
    right = row.right(rule)
    if right is None:
        return row.why or "open", "warn"
    text = "right" if right else "wrong"
    if row.undecided:
        text = "undecided, so wrong"
    elif row.outcome in ("late", "ambiguous", "none"):
        text = {"none": "no letter"}.get(row.outcome, row.outcome) + ", so wrong"
    return text, "good" if right else ""


def _form(corpus: Corpus, query_texts: dict[str, str]) -> dict[str, Any]:
    """Return the context of the form: its choices and the selected values."""
    return {
        "corpus": corpus,
        "selected": {"layout": REPORT, "score": "strict", **query_texts},
        "exclude": query_texts.get("exclude", ""),
        "exclude_hint": exclusion.HELP,
        "split": splits.lock_of(corpus),
        "is_possible": has_answers(corpus),
        "files": reverse("answers-file", args=[corpus.pk, "csv"]).removesuffix("csv"),
        "address": reverse("answers-test", args=[corpus.pk]),
        "settings": [SYSTEM, SCRIPT, *settings_of(corpus)],
        "layouts": [(key, LAYOUT_WORDS[key]) for key in LAYOUTS],
        "scores": SCORES,
        "judges": judge_choices(corpus, judges_of(corpus)),
        "sets": sorted(set(QuestionSet.objects.filter(corpus=corpus).values_list("name", flat=True))),
        "forms": RENDERINGS.values(),
    }
