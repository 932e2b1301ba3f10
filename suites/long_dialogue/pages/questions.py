"""Pages of a corpus's questions: facts and quiz questions, question sets, uses with reasons, relations."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import access
from annotation.errors import QuestionsRefused
from annotation.formats.fields import ID_LIMIT
from annotation.models import Dialogue, QuestionSet, Record
from annotation.models.corpora import Corpus
from annotation.script_records import FACT, QUESTION
from config.files import row_id
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import form_field
from jobs.job_actions import active_job
from jobs.models import Job
from judges.pages.forms import ExclusionForm
from suites.long_dialogue.access import record_kind
from suites.long_dialogue.editing import question_editing, question_records, question_relations, question_sets
from suites.long_dialogue.editing.question_editing import TEXT_LIMIT
from suites.long_dialogue.editing.question_figures import SOURCES, figures_of, table2
from suites.long_dialogue.editing.question_records import describe_dropped, describe_rule, describe_type
from suites.long_dialogue.editing.question_relations import table_of, version_of
from suites.long_dialogue.editing.question_sets import LONGEST_NAME, SEED
from suites.long_dialogue.scripts.quiz import POLICIES
from suites.pages import add_refusal, search_values

PAGE_SIZE = 50
USES_SHOWN = 100
EVIDENCE_SHOWN = 6
POLICY_TITLES = {
    "body": "unanswerable: “I don't know” is right",
    "appendix": "not asked at all",
}
FILTERS = ("text", "source", "hops", "relation", "type", "answerable", "status")


class MakeForm(ExclusionForm):
    """Options of a new question set."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name",
        help_text="The same name again replaces a set that nothing used.",
    )
    seed = form_field(SEED, required=True, initial=0)
    policy = forms.ChoiceField(
        choices=[(policy, POLICY_TITLES[policy]) for policy in POLICIES],
        label="A quiz question before its evidence is",
        help_text="The paper's text says the first, its appendix the second. Reports name which was used.",
    )
    presence = forms.BooleanField(
        required=False,
        initial=True,
        label="The main character knows only what was said where it was",
        help_text="Without, all that was said counts as known.",
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer_exclusion(corpus)


@require_http_methods(["GET", "POST"])
@researcher_only
def questions(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the question sets of a corpus, its facts and quiz questions, and the form of a new set."""
    corpus = access.corpus(pk)
    form = MakeForm(request.POST or None, corpus=corpus)
    if request.method == "POST" and form.is_valid():
        try:
            done = question_sets.make_or_start(corpus=corpus, by=user_of(request), **form.cleaned_data)
        except QuestionsRefused as refused:
            add_refusal(form, refused)
        else:
            return _finish_making(request, corpus, done)
    status = 422 if form.errors else 200
    return render(request, "long_dialogue/questions.html", _overview(corpus, form), status=status)


def _finish_making(request: HttpRequest, corpus: Corpus, done: Any) -> HttpResponse:
    if isinstance(done, Job):
        messages.info(request, "The questions are being made. This page shows how far that is.")
        return redirect("questions", corpus.pk)
    outcome = "made" if done.created else "there already, made of the same: nothing changed"
    messages.success(request, f"The set {done.set} is {outcome}.")
    return redirect("question-set", corpus.pk, done.set.pk)


def _overview(corpus: Corpus, form: MakeForm) -> dict[str, Any]:
    sets = list(corpus.question_sets.order_by("name", "-version"))
    for question_set in sets:
        figures_of(question_set)
    return {
        "corpus": corpus,
        "sets": sets,
        "form": form,
        "has_scripts": corpus.dialogues.filter(script__isnull=False).exists(),
        "kinds": [
            (kind, title, question_records.counts(corpus, kind), REVIEW_SCHEMES[kind])
            for kind, title in KIND_TITLES.items()
        ],
        "relations": len(table_of(corpus)),
        "relations_version": version_of(corpus),
        "job": active_job(question_sets.KIND, question_sets.subject(corpus)),
        "last_job": Job.objects.filter(kind=question_sets.KIND, subject=question_sets.subject(corpus))
        .order_by("-pk")
        .first(),
    }


@require_GET
@researcher_only
def question_set(request: HttpRequest, pk: int, set_pk: int) -> HttpResponse:
    """Researchers: the figures of a set, and its questions, filtered."""
    stored_set = access.question_set(pk, set_pk)
    figures = figures_of(stored_set)
    filters = search_values(request, FILTERS)
    page = Paginator(question_records.questions_of(stored_set, filters), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    return render(
        request,
        "long_dialogue/question_set.html",
        {
            "corpus": stored_set.corpus,
            "set": stored_set,
            "figures": figures,
            "table": table2(figures),
            "types": [
                {
                    **row,
                    "meaning": describe_type(row["type"]),
                    "title": SOURCES.get((row["source"], row["hops"]), ""),
                }
                for row in figures["rows"]
            ],
            "never_asked": _never_asked(figures),
            "policy_title": POLICY_TITLES.get(stored_set.options.get("policy", ""), ""),
            "texts": [("text", "Text", filters["text"])],
            "selections": [(*choice, filters[choice[0]]) for choice in _filter_choices(stored_set)],
            "page": page,
            "rows": [
                row | {"evidence": _evidence(row["record"])}
                for row in question_records.with_uses(stored_set, page)
            ],
            "searched": any(filters.values()),
        },
    )


def _never_asked(figures: dict[str, Any]) -> list[str]:
    """Describe the questions that were dropped, and the places that were left out."""
    dropped, excluded = figures.get("dropped", {}), figures.get("excluded", {})
    return [
        *(f"{n:,} dropped: {describe_dropped(rule)}" for rule, n in dropped.items()),
        *(f"{n:,} places left out: {describe_rule(rule)}" for rule, n in excluded.items()),
    ]


def _evidence(record: Record) -> str:
    """Name the first sessions that answer a question, and whether all are needed."""
    names = record.content["evidence"]
    more = f" and {len(names) - EVIDENCE_SHOWN} more" if len(names) > EVIDENCE_SHOWN else ""
    needed = " (all)" if record.content.get("evidence_all") else ""
    return f"{', '.join(names[:EVIDENCE_SHOWN])}{more}{needed}"


def _filter_choices(question_set: QuestionSet) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return the filters of a set's questions: name, label, and values with their titles."""
    sources = sorted({row["source"] for row in question_set.figures["rows"]})
    hops = sorted({row["hops"] for row in question_set.figures["rows"]})
    return [
        ("source", "From", [(key, {"quiz": "the quiz", "tkg": "facts"}.get(key, key)) for key in sources]),
        ("hops", "Hops", [(str(key), str(key)) for key in hops]),
        ("type", "Type", [(key, key.replace("_", " ")) for key in question_records.types_of(question_set)]),
        ("answerable", "Asked", [("yes", "answerable"), ("no", "unanswerable")]),
        ("relation", "Relation", [(key, key) for key in table_of(question_set.corpus)]),
    ]


@require_GET
@researcher_only
def question(request: HttpRequest, pk: int, set_pk: int, record: int) -> HttpResponse:
    """Researchers: a question of a set with all its uses: session, key, type, and reasons."""
    question_set = access.question_set(pk, set_pk)
    question_record = access.record(pk, record)
    uses = question_records.uses_of(question_set, question_record)
    if question_record.kind != QUESTION or not uses.exists():
        raise Http404
    page = Paginator(uses, USES_SHOWN).get_page(request.GET.get("page"))
    sessions = question_records.sessions_of(question_record)
    numbers = {session["id"]: number for number, session in enumerate(sessions, start=1)}
    context = {
        "corpus": question_set.corpus,
        "set": question_set,
        "record": question_record,
        "evidence": [(numbers.get(name), name) for name in question_record.content.get("evidence", [])],
        "styles": sorted(question_record.content.get("styles", {}).items()),
        "facts": question_records.current_records(question_set.corpus, FACT).filter(
            dialogue=question_record.dialogue, key__in=question_record.content.get("facts", [])
        ),
        "page": page,
        "rows": [
            (use, _reason(use))
            for use in (question_records.describe_use(use, question_record, sessions) for use in page)
        ],
    }
    return render(request, "long_dialogue/question.html", context)


def _reason(use: dict[str, Any]) -> str:
    """Describe why a use has its key."""
    numbers = ", ".join(str(session["number"]) for session in use["why"])
    noun = "session" if len(use["why"]) == 1 else "sessions"
    return f"{noun} {numbers}: {use['rule_told']}" if numbers else str(use["rule_told"])


@require_http_methods(["GET", "POST"])
@researcher_only
def reviews(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Researchers: preview the outcome of reviews of facts or questions, and apply them."""
    corpus, kind = access.corpus(pk), record_kind(kind)
    if request.method == "POST":
        counts = question_editing.apply_reviews(corpus=corpus, kind=kind, by=user_of(request)).counts
        messages.success(
            request,
            f"{counts['accepted']:,} accepted, {counts['corrected']:,} corrected, "
            f"{counts['rejected']:,} rejected; {counts['undecided']:,} undecided.",
        )
        return redirect("question-records", pk, kind)
    preview = question_editing.preview_reviews(corpus, kind)
    context = {
        "corpus": corpus,
        "kind": kind,
        "preview": preview,
        "changes": preview.counts["accepted"] + preview.counts["corrected"] + preview.counts["rejected"],
        "title": KIND_TITLES[kind],
        "scheme": REVIEW_SCHEMES[kind],
        "undecided": [
            (reviewed, " – ".join(reviewed.record.content[name] for name in NAMED_BY[kind]))
            for reviewed in preview.reviewed
            if reviewed.outcome.decision == "undecided"
        ][:PAGE_SIZE],
        "campaigns": question_records.review_campaigns(corpus, kind),
    }
    return render(request, "long_dialogue/reviews.html", context)


# Facts and quiz questions of a corpus's scripts: listed, written, changed, decided without review.

RECORD_FILTERS = ("text", "status", "relation")
PEOPLE_LIST = {"list": "people", "dir": "auto"}
SESSIONS_LIST = {"list": "sessions"}
KIND_TITLES = {FACT: "Facts", QUESTION: "Quiz questions"}
NOUNS = {FACT: "fact", QUESTION: "quiz question"}
REVIEW_SCHEMES = {FACT: "fact_review", QUESTION: "quiz_review"}
NAMED_BY = {FACT: ("head", "relation", "tail"), QUESTION: ("text",)}
COLUMNS = {
    FACT: {"head": "Head", "relation": "Relation", "tail": "Tail", "": "Said in"},
    QUESTION: {"text": "Question", "answer": "Answer", "": "Evidence"},
}
"""Headings of a list by field of the content, and that of the sessions."""


class FactForm(forms.Form):
    """A fact written by hand."""

    head = forms.CharField(max_length=ID_LIMIT, widget=forms.TextInput(attrs=PEOPLE_LIST))
    relation = forms.ChoiceField()
    tail = forms.CharField(max_length=ID_LIMIT, widget=forms.TextInput(attrs=PEOPLE_LIST))
    session = forms.CharField(
        max_length=ID_LIMIT,
        help_text="Its id, or its number.",
        widget=forms.TextInput(attrs=SESSIONS_LIST),
    )
    turns = forms.CharField(
        max_length=200,
        required=False,
        help_text="The numbers of the turns that say it, with commas, as the script's page counts them.",
    )
    accepted = forms.BooleanField(
        required=False, label="Accepted at once, without review", help_text="The log says who did so."
    )

    def content(self) -> dict[str, Any]:
        """Return the content for `question_editing`."""
        data = self.cleaned_data
        return data | {"turns": [number for number in data["turns"].replace(",", " ").split() if number]}


class QuestionForm(forms.Form):
    """A quiz question written by hand."""

    text = forms.CharField(
        max_length=TEXT_LIMIT, label="Question", widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"})
    )
    choices = forms.CharField(
        max_length=9000,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text="Four, a line each, the answer among them. “I don't know” is offered anyway.",
    )
    answer = forms.CharField(max_length=TEXT_LIMIT, widget=forms.TextInput(attrs={"dir": "auto"}))
    evidence = forms.CharField(
        max_length=5000,
        help_text="The sessions that give the answer, by id or number, with semicolons.",
        widget=forms.TextInput(attrs=SESSIONS_LIST),
    )
    evidence_all = forms.BooleanField(required=False, label="All of these sessions are needed, not one")
    accepted = FactForm.base_fields["accepted"]

    def content(self) -> dict[str, Any]:
        """Return the content for `question_editing`."""
        data = self.cleaned_data
        return data | {"choices": data["choices"].splitlines(), "evidence": data["evidence"].split(";")}


@require_GET
@researcher_only
def records(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Researchers: a corpus's facts or quiz questions, filtered."""
    corpus, kind = access.corpus(pk), record_kind(kind)
    filters = search_values(request, RECORD_FILTERS)
    rows = question_records.narrowed(question_records.current_records(corpus, kind), filters)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    relation_table = question_relations.table_of(corpus)
    context = {
        "corpus": corpus,
        "kind": kind,
        "title": KIND_TITLES[kind],
        "counts": question_records.counts(corpus, kind),
        "noun": NOUNS[kind],
        "headings": COLUMNS[kind].values(),
        "texts": [("text", "Text", filters["text"])],
        "selections": [
            ("status", "Status", ("draft", "accepted", "rejected"), filters["status"]),
            *([("relation", "Relation", list(relation_table), filters["relation"])] if kind == FACT else []),
        ],
        "scripts": list(corpus.dialogues.filter(script__isnull=False).order_by("key")[:200]),
        "page": page,
        "rows": [
            (record, [record.content[name] for name in COLUMNS[kind] if name], _numbered(record))
            for record in page
        ],
        "searched": any(filters.values()),
    }
    return render(request, "long_dialogue/records.html", context)


def _numbered(record: Record) -> list[tuple[int, str]]:
    """Return the sessions of a record as (number, id)."""
    numbers = {session["id"]: n for n, session in enumerate(question_records.sessions_of(record), start=1)}
    about = [record.content["session"]] if record.kind == FACT else record.content.get("evidence", [])
    return [(numbers.get(name, 0), name) for name in about]


@require_http_methods(["GET", "POST"])
@researcher_only
def new_record(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Researchers: write a fact or a quiz question of a script (`dialogue`) by hand."""
    corpus, kind = access.corpus(pk), record_kind(kind)
    scripts = corpus.dialogues.filter(script__isnull=False).order_by("key")
    number = row_id(request.GET.get("dialogue", ""))
    dialogue = get_object_or_404(scripts, pk=number) if number else scripts.first()
    if dialogue is None:
        raise Http404
    form = _form(kind, corpus, request.POST or None)
    if request.method == "POST" and form.is_valid():
        content = form.content()
        accepted = bool(content.pop("accepted"))
        try:
            record = question_editing.add(
                dialogue=dialogue, kind=kind, content=content, accepted=accepted, by=user_of(request)
            )
        except QuestionsRefused as refused:
            add_refusal(form, refused)
        else:
            messages.success(request, f"The {kind} {record.key} is written.")
            return redirect("question-records", pk, kind)
    return _edit_page(request, dialogue, kind, form, None)


@require_http_methods(["GET", "POST"])
@researcher_only
def edit_record(request: HttpRequest, pk: int, record: int) -> HttpResponse:
    """Researchers: correct a fact or a quiz question; a reviewed record is superseded."""
    stored = access.record(pk, record)
    form = _form(stored.kind, stored.dialogue.corpus, request.POST or None, _initial(stored))
    del form.fields["accepted"]
    if request.method == "POST" and form.is_valid():
        try:
            changed = question_editing.change(record=stored, content=form.content(), by=user_of(request))
        except QuestionsRefused as refused:
            add_refusal(form, refused)
        else:
            outcome = "changed" if changed.pk == stored.pk else f"superseded by {changed.key}"
            messages.success(request, f"The {stored.kind} {stored.key} is {outcome}.")
            return redirect("question-records", pk, stored.kind)
    return _edit_page(request, stored.dialogue, stored.kind, form, stored)


@require_POST
@researcher_only
def decide(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Researchers: accept or reject selected drafts without review, or accept all unreviewed drafts."""
    corpus, kind = access.corpus(pk), record_kind(kind)
    record_ids = [number for text in request.POST.getlist("record") if (number := row_id(text))]
    try:
        if request.POST.get("all") == "accepted":
            done = question_editing.accept_drafts(corpus=corpus, kind=kind, by=user_of(request))
        else:
            status = request.POST.get("status", "")
            done = question_editing.decide(
                corpus=corpus, records=record_ids, status=status, by=user_of(request)
            )
    except QuestionsRefused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"{done:,} changed, without review. The log says so.")
    return redirect(f"{reverse('question-records', args=[pk, kind])}")


@require_http_methods(["GET", "POST"])
@researcher_only
def relations(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the relations of a corpus's facts, and the form of a table of its own."""
    corpus = access.corpus(pk)
    error, text = "", ""
    if request.method == "POST":
        text = request.POST.get("rows", "")
        try:
            new_rows = question_relations.replace_relations(
                corpus=corpus,
                rows=_rows(text),
                by=user_of(request),
                seen=row_id(request.POST.get("seen", "")) or 0,
            )
        except QuestionsRefused as refused:
            error = str(refused)
        else:
            message = (
                f"This is version {new_rows.version} of the relations." if new_rows else "Nothing changed."
            )
            messages.success(request, message)
            return redirect("relations", pk)
    table = question_relations.table_of(corpus)
    context = {
        "corpus": corpus,
        "table": list(table.values()),
        "version": question_relations.version_of(corpus),
        "versions": corpus.relation_tables.select_related("created_by"),
        "text": text or json.dumps(table.as_rows(), ensure_ascii=False, indent=1),
        "error": error,
    }
    return render(request, "long_dialogue/relations.html", context, status=422 if error else 200)


def _rows(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QuestionsRefused(f"This is no JSON: {error}.", field="rows") from None


def _form(kind: str, corpus: Corpus, posted: Any, initial: dict[str, Any] | None = None) -> Any:
    if kind == QUESTION:
        return QuestionForm(posted, initial=initial)
    form = FactForm(posted, initial=initial)
    form.fields["relation"].choices = [(key, key) for key in question_relations.table_of(corpus)]  # type: ignore[attr-defined]
    return form


def _initial(record: Record) -> dict[str, Any]:
    content = dict(record.content)
    if record.kind == FACT:
        return content | {"turns": ", ".join(str(place + 1) for place in content.get("turns", ()))}
    return content | {"choices": "\n".join(content["choices"]), "evidence": "; ".join(content["evidence"])}


def _edit_page(
    request: HttpRequest, dialogue: Dialogue, kind: str, form: Any, record: Record | None
) -> HttpResponse:
    context = {
        "corpus": dialogue.corpus,
        "dialogue": dialogue,
        "kind": kind,
        "title": KIND_TITLES[kind],
        "new": f"New {NOUNS[kind]}",
        "form": form,
        "record": record,
        "people": [person.get("name") or person["id"] for person in dialogue.participants],
        "sessions": [session["id"] for session in (dialogue.script or {}).get("sessions", ())],
    }
    return render(request, "long_dialogue/record.html", context, status=422 if form.errors else 200)
