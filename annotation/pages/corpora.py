"""Pages of corpora: list, import, one corpus with search, splits and deletion, and its dialogues."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings as site
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation import access, hooks
from annotation.campaigns import progress as campaign_progress
from annotation.corpora import deletion, dialogue_view, exclusion, queries, splits, uploads
from annotation.corpora.copy_without_turns import MOST_COPIED, USUAL, copy_without_turns
from annotation.corpora.properties import LONGEST as FAMILY_LIMIT
from annotation.corpora.properties import set_families, set_has_marks
from annotation.corpora.splits import openings
from annotation.errors import DeletionRefused, ExclusionRefused, FamilyRefused, SplitRefused
from annotation.formats.source import ImportProblem
from annotation.models import Campaign, Continuation, Corpus, Dialogue, Turn, turn_numbers
from annotation.models.corpora import Upload
from annotation.pages.imports import FileForm
from annotation.people import links
from annotation.records import SELF
from annotation.text.context import Names
from annotation.text.display import language_tag
from annotation.work import labels
from annotation.work.notes import notes_of_turns as of_turns
from config.files import row_id
from config.listing import Column, Listing, natural
from config.lists import LongPaginator
from config.permissions import administrator_only, is_administrator, researcher_only, user_of
from jobs import job_actions as jobs
from jobs.endpoints import ownership
from jobs.models import Job


@dataclass(frozen=True, slots=True)
class FirstStep:
    """A step with a sentence and a button; `href` is empty while an earlier step has to come first."""

    title: str
    sentence: str
    action: str
    href: str
    is_done: bool


def first_steps(user: User) -> list[FirstStep]:
    """Return the steps that the user may do; none once all of them are done."""
    people = [_people()] if is_administrator(user) else []
    endpoint = [_endpoint(user)] if ownership.may_add(user) else []
    corpus = Corpus.objects.order_by("-pk").first()
    steps = [*people, *endpoint, _data(corpus), _campaign(corpus)]
    return [] if all(step.is_done for step in steps) else steps


def _people() -> FirstStep:
    colleagues = User.objects.filter(is_active=True, participant=None)
    return FirstStep(
        "Invite people",
        "Each person gets a link that works once, and makes their own account with it.",
        "Invite people",
        f"{reverse('people')}#invite",
        colleagues.count() > 1 or links.open_invitations().exists(),
    )


def _endpoint(user: User) -> FirstStep:
    return FirstStep(
        "Add an endpoint",
        "Judges ask a model on any server with an OpenAI-compatible API: a provider’s, or your own.",
        "Add an endpoint",
        reverse("endpoints"),
        ownership.usable_by(user).exists(),
    )


def _data(corpus: Corpus | None) -> FirstStep:
    return FirstStep(
        "Import dialogues",
        "A table, chats or transcripts. To look around first, load examples with make seed.",
        "Import a file",
        reverse("import-corpus"),
        corpus is not None,
    )


def _campaign(corpus: Corpus | None) -> FirstStep:
    return FirstStep(
        "Ask people to rate",
        "A campaign asks your questions about the dialogues, one task after another.",
        "New campaign",
        f"{reverse('new-campaign')}?corpus={corpus.pk}" if corpus else "",
        Campaign.objects.exists(),
    )


# The page of one dialogue: transcript, continuations, answers.

TURNS_SHOWN = 400


@require_GET
@researcher_only
def dialogue(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: show a dialogue with one of its continuations, by default its own turns."""
    dialogue_row = access.dialogue(pk)
    own_page = hooks.own_pages(dialogue_row)
    if own_page is not None and request.GET.get("continuation", SELF) == SELF:
        return _to_own_page(request, dialogue_row, own_page.page)
    parts = list(
        dialogue_row.continuations.written()
        .select_related("system")
        .annotate(length=Count("turns"))
        .order_by("id")
    )
    own = next((part for part in parts if part.key == SELF), None)
    continuation = _selected_continuation(parts, request.GET.get("continuation"), own)
    turn_asked, index = _counted(request, "turn", least=1), _counted(request, "index", least=0)
    number = request.GET.get("page")
    if turn_asked and number is None:
        number = str((turn_asked - 1) // TURNS_SHOWN + 1)
    page = _history(dialogue_row, own).get_page(number)
    turns = (
        [] if continuation is None or continuation is own else list(continuation.turns.order_by("position"))
    )
    turn_numbers.number([*page, *turns])
    speakers = dialogue_view.speakers(dialogue_row, [*page, *turns])
    history = dialogue_view.lines(dialogue_row, list(page), speakers, requested=index)
    lines = dialogue_view.lines(dialogue_row, turns, speakers, requested=index)
    judged = history if continuation is own else lines
    anchor = f"turn-{turn_asked}"
    rated = next((line.position for line in judged if line.anchor == anchor), None)
    in_history = next((line.position for line in history if line.anchor == anchor), None)
    unopened = splits.unopened(dialogue_row.corpus).values_list("cluster", flat=True)
    locked = splits.is_locked(dialogue_row, set(unopened))
    answers = [] if locked or continuation is None else dialogue_view.answers(continuation)
    context = {
        "dialogue": dialogue_row,
        "corpus": dialogue_row.corpus,
        "language": language_tag(dialogue_row.language),
        "parts": parts,
        "shown": continuation,
        "page": page,
        "own_shown": continuation is own,
        "n_own": own.length if own else 0,
        "rated": rated,
        "rated_own": in_history if rated is None or continuation is own else None,
        "history_anchored": continuation is None
        or continuation is own
        or continuation.mode == Continuation.Mode.ROLLOUT,
        "history": history,
        "lines": lines,
        "about": _about(dialogue_row, speakers),
        "actions": _actions(dialogue_row, continuation, is_own=continuation is own),
        "has_marks": any(is_mark for line in [*history, *lines] for _, is_mark in line.pieces),
        "has_given": any(line.given for line in [*history, *lines]),
        "numbers": {line.position + 1: line.number for line in judged},
        "anchors": {line.position + 1: line.anchor for line in judged},
        "locked": locked,
        "noted": {} if locked else of_turns([turn.pk for turn in (*page, *turns)]),
        "turn_links": {} if locked or continuation is None else _links(dialogue_row, continuation),
        "answers": [entry for entry in answers if not entry.is_unset],
        "unset": dialogue_view.unset(answers),
        "n_unset": sum(entry.is_unset for entry in answers),
        "kinds": (kinds := [k for k in dialogue_view.KINDS.values() if any(k in a.by_kind for a in answers)]),
        "answer_headings": [kind.capitalize() for kind in kinds],
    }
    return render(request, "corpora/dialogue.html", context)


def _to_own_page(request: HttpRequest, dialogue_row: Dialogue, page: str) -> HttpResponse:
    """Redirect to the page for dialogues of its kind, at the turn in the link."""
    address = reverse(page, args=[dialogue_row.corpus_id, dialogue_row.pk])
    number = _counted(request, "turn", least=1)
    return redirect(f"{address}?turn={number}#turn-{number}" if number else address)


def _history(dialogue_row: Dialogue, own: Any) -> Paginator[Turn]:
    """Return the dialogue's own turns in pages; no turns where another page shows them."""
    turns = Turn.objects.filter(continuation=own).order_by("position")
    is_shown = own is not None and hooks.own_pages(dialogue_row) is None
    pages = Paginator(turns if is_shown else turns.none(), TURNS_SHOWN)
    pages.count = own.length if is_shown else 0  # saves a query
    return pages


def _counted(request: HttpRequest, name: str, *, least: int) -> int | None:
    """Return the number of a link's parameter, None where it has none.

    `turn` is the turn's number that annotators see; `index` is its position in the continuation, from 0,
    which distinguishes static turns with the same number.
    """
    text = request.GET.get(name, "")
    number = 0 if text == "0" else row_id(text)
    return number if number is not None and least <= number < 10**6 else None


def _selected_continuation(
    parts: Sequence[Continuation], key: str | None, own: Continuation | None
) -> Continuation | None:
    """Return the continuation to show, None where the dialogue has none at all."""
    if key:
        match = next((part for part in parts if part.key == key), None)
        if match is None:
            raise Http404
        return match
    return own or next(iter(parts), None)


def _links(dialogue: Dialogue, continuation: Continuation) -> dict[int, tuple[str, str]]:
    """Return the links that suites add to turns, by turn id: text and address."""
    return {
        turn: link for of_turns in hooks.LINK_TURNS for turn, link in of_turns(dialogue, continuation).items()
    }


def _actions(dialogue: Dialogue, continuation: Continuation | None, *, is_own: bool) -> list[tuple[str, str]]:
    """Return the links of a dialogue's page: text and address."""
    links = []
    if continuation is not None:
        address = reverse("transcripts")
        links.append(
            ("Export transcript", f"{address}?corpus={dialogue.corpus_id}&continuation={continuation.pk}")
        )
    if queries.may_share([dialogue.pk]):
        query = "" if is_own or continuation is None else f"?{urlencode({'continuation': continuation.key})}"
        links.append(("Compare outputs", reverse("compare", args=[dialogue.pk]) + query))
    if continuation is not None and dialogue_view.has_metrics(continuation):
        links.append(("Metric values", reverse("profile-continuation", args=[continuation.pk])))
    return links


class StoredFact(NamedTuple):
    """A person, the agenda or a piece of metadata of a dialogue, with what is stored about it."""

    term: str
    lines: list[str]
    role: str = ""
    colour: str = ""
    is_agent: bool = False


def _about(dialogue: Dialogue, names: Names) -> list[StoredFact]:
    facts = []
    for person in dialogue.participants:
        aliases = ", ".join(person.get("aliases") or ())
        extra = _display_value(person["extra"]) if person.get("extra") else ""
        lines = [
            " · ".join(person.get("profile") or ()),
            f"also called: {aliases}" if aliases else "",
            extra,
        ]
        facts.append(
            StoredFact(
                term=names.of(person["id"]),
                lines=[line for line in lines if line],
                role=person.get("role") or "",
                colour=f"s{names.colour(person['id'])}",
                is_agent=bool(person.get("agent")),
            )
        )
    if dialogue.agenda:
        facts.append(StoredFact("Agenda", [point["text"] for point in dialogue.agenda["items"]]))
    return facts + [StoredFact(key, [_display_value(value)]) for key, value in dialogue.metadata.items()]


def _display_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Copies of a corpus's dialogues without turns, from the page of the corpus.


@require_POST
@researcher_only
def copy(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: copy dialogues with their people and topics, without turns, into a new corpus."""
    corpus_row = access.corpus_named(name)
    new = request.POST.get("name", "").strip()
    try:
        numbers = {key: _parse_count(request, key) for key in ("first", "min_turns", "max_turns")}
        exclude = request.POST.get("exclude", "").strip()
        result = copy_without_turns(
            by=user_of(request), corpus=corpus_row, name=new, exclude=exclude, **numbers
        )
    except ImportProblem as problem:
        messages.error(request, f"Not copied: {problem}.")
        return redirect("corpus-settings", name)
    notes = "".join(f" {note}." for note in result.notes)
    messages.success(request, f"{result.dialogues:,} dialogues were copied without their turns.{notes}")
    return redirect("corpus", result.corpus)


def _parse_count(request: HttpRequest, name: str) -> int:
    text = request.POST.get(name, "").strip() or "0"
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ImportProblem(f"{text[:20]!r} is not a number", field=name)
    return int(text)


PAGE_SIZE = 50
CORPORA = Listing(
    Column("Corpus", natural("name")),
    Column("Dialogues", queries.sum_of_counts("dialogues"), is_numeric=True),
    Column("Turns", queries.sum_of_counts("turns"), is_numeric=True),
    Column("Items to rate", queries.sum_of_counts("items"), is_numeric=True),
    Column("Ratings of campaigns"),
    Column("Since", "created_at"),
    search=("name",),
)
DIALOGUES = Listing(
    Column("Dialogue", natural("key")),
    Column("Part", "part"),
    Column("Own turns", is_numeric=True),
    Column("About", "summary"),
    Column("People"),
    size=PAGE_SIZE,
)
MOST_WAITING = 10
"""Newest files that are listed while they are not imported."""
STEPS_COOKIE, STEPS_DAYS = "concord_first_steps", 400
"""Cookie of a browser in which the first steps are hidden, and the days for which it holds."""


@require_GET
@researcher_only
def corpora(request: HttpRequest) -> HttpResponse:
    """Researchers: list all corpora, own imports that have not ended, and the first steps."""
    page = CORPORA.page(request, Corpus.objects.order_by("name"))
    counted = queries.counts(list(page))
    own = Upload.objects.filter(by=user_of(request), job__state__in=jobs.ACTIVE)
    own |= uploads.waiting_uploads().filter(by=user_of(request))
    own_uploads = list(own.order_by("-pk"))
    ratings = campaign_progress.of_corpora([corpus.pk for corpus in page])
    rows = [(corpus, counted[corpus.pk], *ratings.get(corpus.pk, (0, 0))) for corpus in page]
    context = {
        "page": page,
        "rows": rows,
        "under_way": [upload for upload in own_uploads if upload.job_id],
        "waiting": [upload for upload in own_uploads if not upload.job_id][:MOST_WAITING],
        "steps": [] if STEPS_COOKIE in request.COOKIES else first_steps(user_of(request)),
        "form": FileForm(),
        "limit": site.UPLOAD_LIMIT_BYTES,
    }
    return render(request, "corpora/list.html", context)


@require_POST
@researcher_only
def hide_first_steps(request: HttpRequest) -> HttpResponse:
    """Researchers: hide the first steps in this browser."""
    response = redirect("corpora")
    response.set_cookie(STEPS_COOKIE, "hidden", max_age=STEPS_DAYS * 86_400, samesite="Lax", httponly=True)
    return response


@require_GET
@researcher_only
def dialogues(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: the dialogues of a corpus, or the turns found by a search."""
    corpus_row = access.corpus_named(name)
    search = {
        key: request.GET.get(key, "").replace("\0", "").strip() for key in ("text", "speaker", "system")
    }
    context = {
        "corpus": corpus_row,
        "counts": queries.counts([corpus_row])[corpus_row.pk],
        "labels": labels.count_labels(corpus_row),
        "systems": queries.systems(corpus_row),
        "search": search,
        **_results(request, corpus_row, search),
    }
    return render(request, "corpora/dialogues.html", context)


@require_GET
@researcher_only
def left_out(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: the dialogues that an exclusion, such as objection>=1, leaves out, and the reasons."""
    corpus_row = access.corpus_named(name)
    text = request.GET.get("exclude", "").replace("\0", "").strip()
    result, refusal = None, ""
    try:
        exclusion.check(corpus_row, text)
        result = exclusion.left_out(corpus_row, text)
    except ExclusionRefused as error:
        refusal = str(error)
    page = Paginator(result.visible if result else [], PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "corpus": corpus_row,
        "exclude": text,
        "hint": exclusion.HELP,
        "result": result and result.as_json(),
        "refusal": refusal,
        "page": page,
    }
    return render(request, "corpora/left_out.html", context)


@require_GET
@researcher_only
def settings(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: source and licence of a corpus, its files, parts and systems; copies and deletion."""
    corpus_row = access.corpus_named(name)
    context = {
        "corpus": corpus_row,
        "systems": queries.systems(corpus_row),
        "imports": corpus_row.imports.select_related("created_by"),
        "splits": _splits(corpus_row),
        "seen": len(splits.seen_by_benches(corpus_row)),
        "parts": splits.sizes(corpus_row),
        "family_limit": FAMILY_LIMIT,
        "copied": {"most": MOST_COPIED, "usual": USUAL},
    }
    return render(request, "corpora/settings.html", context)


def _results(request: HttpRequest, corpus: Corpus, search: dict[str, str]) -> dict[str, Any]:
    """Return the turns found by a search, else a page of dialogues."""
    if search["text"] or search["speaker"]:
        after = request.GET.get("after", "")
        matches = queries.search(corpus, **search, after=after, most=PAGE_SIZE)
        turn_numbers.number(matches.turns)
        return {"found": matches, "shows_turns": True}
    rows_of = queries.dialogues(corpus, system=search["system"])
    many, more = queries.count_dialogues(corpus, system=search["system"])
    parts = splits.sizes(corpus)
    pages = LongPaginator(rows_of, PAGE_SIZE, many=many, more=more)
    page = DIALOGUES.page(request, rows_of, unsorted=pages, without=() if parts else ("Part",))
    beginnings = queries.beginnings(list(page))
    rows = [(dialogue, *beginnings.get(dialogue.pk, (0, ""))) for dialogue in page]
    return {"page": page, "rows": rows, "parts": parts, "shows_turns": False}


def _splits(corpus: Corpus) -> list[dict[str, Any]]:
    return [
        {
            "split": split,
            "dev": split.clusters.filter(part="dev").count(),
            "test": split.clusters.filter(part="test").count(),
            "looks": split.looks.select_related("by"),
            "openings": openings(split),
        }
        for split in splits.splits_of(corpus)
    ]


@require_POST
@researcher_only
def draw_split(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: draw dev and test from a seed, or redraw them while unused."""
    corpus_row = access.corpus_named(name)
    try:
        seed, share = int(request.POST.get("seed", "0")), float(request.POST.get("test_share", "0.5"))
    except ValueError:
        messages.error(request, f"Not drawn: {splits.BOUNDS}.")
        return redirect("corpus-settings", name)
    try:
        split = splits.draw(corpus=corpus_row, by=user_of(request), seed=seed, test_share=share)
    except SplitRefused as refused:
        messages.error(request, f"Not drawn: {refused}.")
    else:
        dev, test = (len(splits.clusters(split=split, part=part)) for part in ("dev", "test"))
        messages.success(
            request, f"The split is drawn: {dev} clusters in dev, {test} in test. Its first use fixes it."
        )
    return redirect("corpus-settings", name)


@require_POST
@researcher_only
def change_families(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: set the model families of a corpus's systems."""
    corpus_row = access.corpus_named(name)
    systems, families = request.POST.getlist("system"), request.POST.getlist("family")
    try:
        changed = set_families(
            by=user_of(request), corpus=corpus_row, families=dict(zip(systems, families, strict=False))
        )
    except FamilyRefused as refused:
        messages.error(request, f"Not saved: {refused}")
    else:
        messages.success(request, "The families are saved." if changed else "Nothing was changed.")
    return redirect(f"{reverse('corpus-settings', args=[name])}#systems")


@require_POST
@researcher_only
def change_marks(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: set whether a corpus's texts have transcription marks."""
    corpus_row = access.corpus_named(name)
    changed = set_has_marks(by=user_of(request), corpus=corpus_row, has_marks="has_marks" in request.POST)
    messages.success(request, "Saved." if changed else "Nothing was changed.")
    return redirect("corpus-settings", name)


@administrator_only
def delete_corpus(request: HttpRequest, name: str) -> HttpResponse:
    """Administrators: delete a corpus with everything about it, confirmed by typing its name."""
    corpus_row = access.corpus_named(name)
    refused = ""
    if request.method == "POST":
        try:
            gone = deletion.start_deletion(
                corpus=corpus_row, by=user_of(request), confirmation=request.POST.get("confirmation", "")
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
        "corpus": corpus_row,
        "counts": queries.counts([corpus_row])[corpus_row.pk],
        "labels": labels.count_labels(corpus_row),
        "campaigns": corpus_row.campaigns.count(),
        "problems": [refused[:1].upper() + refused[1:]] if refused else [],
    }
    return render(request, "corpora/delete.html", context, status=422 if refused else 200)
