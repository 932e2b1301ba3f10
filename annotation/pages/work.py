"""The annotation page.

All views are for members of the campaign; others get 404, as for a campaign that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import groupby
from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import get_template
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.access import campaign_researcher_only
from annotation.errors import AnswerRefused, NoteRefused, NotTaskHolder, WorkError
from annotation.models import Assignment, Comfort, Corpus, Guidelines
from annotation.models.campaigns import Campaign
from annotation.people.preferences import comfort_of, for_page
from annotation.scheme_store import Questionnaire, ScreenQuestion, questionnaire_from, questionnaire_of
from annotation.schemes import SchemeDefinition
from annotation.schemes.definitions import (
    BOTH_BAD,
    FIRST,
    SECOND,
    TIE,
    UNSCALED,
    WORDED,
    describe_bounds,
    is_comparison,
)
from annotation.work import check_stages, messages, notes, screens, task_page
from annotation.work import task_actions as labelling
from annotation.work.checking import parse
from annotation.work.leases import Hold, Seat
from annotation.work.own_work import Progress, has_later, others_are_busy, progress, with_work
from annotation.work.screens import Screen, load, with_notes
from annotation.work.shortcuts import REASONS, shortcuts
from annotation.work.submissions import taken_back
from annotation.work.task_answers import hold_of
from annotation.work.task_page import beside, completion, own_page
from config.middleware import frames_others, stands_in_frame
from config.permissions import user_of

# Responses to refused requests of the page's script.

View = Callable[..., HttpResponse]


def as_json(view: View) -> View:
    """Turn refusals of a view into JSON: `error` for the annotator, `code` for the page's script."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except WorkError as error:
            refusal = {"error": str(error), "code": error.code, **error.details()}
            return JsonResponse(refusal, status=error.status)
        except RawPostDataException:  # a form, whose body was read for its token
            payload = {"error": "The request must be JSON.", "code": AnswerRefused.code}
            return JsonResponse(payload, status=AnswerRefused.status)

    return answered


# Controls for a scheme's questions: scales answered by digits, tags toggled by letters, texts.

ROWS_AT_MOST = 7
BRIEF = 12
"""Characters of a choice that fit into a fifth of a phone's width."""
SIDE_KEYS = {FIRST: "a", TIE: "t", SECOND: "b", BOTH_BAD: "n"}
"""Keys for the answers to a comparison; n for neither."""
HELP_PARTS = {"definition": "", "example": "For example", "not_this": "Not this"}
SESSIONS = "sessions"
OFFERED = {
    ("fact", "head"): "people",
    ("fact", "tail"): "people",
    ("fact", "relation"): "relations",
    ("question", "evidence_sessions"): SESSIONS,
}
"""List on the screen from which an answer in words may be chosen, by item kind and question key."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value to choose, with its key on the keyboard and its wording."""

    value: Any
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Control:
    """A question as shown.

    `kind` is scale, numbers (a long scale), tag, text, people, sessions, ranking or number (`hint`: the
    allowed numbers). `offers` names the list on the screen from which a text may be chosen.
    """

    question: ScreenQuestion
    kind: str
    choices: tuple[Choice, ...] = ()
    bands: tuple[tuple[str, str], ...] = ()
    help: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    offers: str = ""

    @property
    def is_brief(self) -> bool:
        """Whether a phone has room for the choices side by side."""
        return all(len(choice.text) <= BRIEF for choice in self.choices)


@dataclass(frozen=True, slots=True)
class Section:
    """Controls under one heading."""

    heading: str
    controls: list[Control] = field(default_factory=list)


def sections(plan: Questionnaire) -> list[Section]:
    """Return a plan's controls: grouped questions together, every other question on its own."""
    grouped = groupby(
        plan.questions, key=lambda question: (question.group, "" if question.group else question.key)
    )
    return [_section(list(questions)) for _, questions in grouped]


def for_browser(plan: Questionnaire) -> list[dict[str, Any]]:
    """Return the questions' data for the page's script."""
    return [
        {
            "key": control.question.key,
            "kind": control.kind,
            "wording": control.question.wording,
            "required": control.question.required,
            "shortcut": control.question.shortcut,
            "show_if": control.question.show_if,
            "values": [choice.value for choice in control.choices],
            "keys": _keys(control),
            "positive": control.question.positive,
            "evidence": control.question.evidence,
            "evidence_for": control.question.evidence_for,
            "evidence_required": control.question.evidence_required,
            "about": control.question.item_kind if plan.is_mixed else "",
        }
        for section in sections(plan)
        for control in section.controls
    ]


def _keys(control: Control) -> dict[str, Any]:
    """Return the values by key; those of a comparison by letter and also, in order, by digit."""
    keys = {choice.key: choice.value for choice in control.choices if choice.key}
    if not is_comparison(control.question.level, control.question.values):
        return keys
    return keys | {str(number): choice.value for number, choice in enumerate(control.choices, start=1)}


def choices(question: ScreenQuestion) -> tuple[Choice, ...]:
    """Return a question's choices, each with its key and wording."""
    return _choices(question, "scale")


def _section(questions: list[ScreenQuestion]) -> Section:
    return Section(questions[0].group or questions[0].wording, [_control(question) for question in questions])


def _control(question: ScreenQuestion) -> Control:
    offers = OFFERED.get((question.item_kind, question.key), "") if question.level == "text" else ""
    if question.is_tag:
        kind = "tag"
    elif offers == SESSIONS:
        kind = SESSIONS
    elif question.level in UNSCALED:
        kind = question.level
    elif question.names_people:
        kind = "people"
    elif not question.values:
        kind = "number"
    else:
        is_short = len(question.values) <= ROWS_AT_MOST or question.level == "nominal"
        kind = "scale" if is_short else "numbers"
    choices = _choices(question, kind) if kind in ("scale", "numbers") else ()
    bands = _bands(choices) if kind == "numbers" else ()
    hint = describe_bounds(question) if kind == "number" else ""
    return Control(question, kind, choices, bands, _help(question), hint, offers)


def _choices(question: ScreenQuestion, kind: str) -> tuple[Choice, ...]:
    if is_comparison(question.level, question.values):
        return tuple(
            Choice(value, SIDE_KEYS[value], question.anchors.get(value, WORDED[value].format("A", "B")))
            for value in question.values
        )
    texts = {"0": "No", "1": "Yes"} if question.level == "binary" else {}
    is_listed = kind == "scale"  # only a scale shows each value's key, so key and value may differ
    numeric = all(isinstance(value, int) and 0 <= value <= 10 for value in question.values)
    return tuple(
        Choice(
            value,
            _key(value, number, question.values, numeric) if numeric or is_listed else "",
            question.anchors.get(str(value), texts.get(str(value), str(value))),
        )
        for number, value in enumerate(question.values)
    )


def _key(value: Any, number: int, values: tuple[Any, ...], numeric: bool) -> str:
    """Return a value's digit: the value itself, 0 for ten, else its place; empty where digits run out."""
    if numeric:
        if value < 10:
            return str(value)
        return "0" if 0 not in values else ""
    return str(number + 1) if number < 9 else ""


def _bands(choices: tuple[Choice, ...]) -> tuple[tuple[str, str], ...]:
    """Return the anchors of a long scale; neighbours with the same wording form one band."""
    bands = []
    for text, group in groupby(choices, key=lambda choice: choice.text):
        values = [str(choice.value) for choice in group]
        if text != values[0]:
            bands.append((values[0] if len(values) == 1 else f"{values[0]}–{values[-1]}", text))
    return tuple(bands)


def _help(question: ScreenQuestion) -> tuple[tuple[str, str], ...]:
    entries = [(lead, question.help[part]) for part, lead in HELP_PARTS.items() if part in question.help]
    aspects = [line.partition(": ") for line in question.help.get("keep_in_mind", "").splitlines()]
    return (*entries, *((name, text) if text else ("", name) for name, _, text in aspects))


# Requests of the annotation page beside answers: notes on turns, messages to researchers.
#
# For members of the campaign, about their own tasks and threads; anything else is 404.


@require_POST
@as_json
def note(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: comment on, flag or bookmark a line of an own task; the response has the whole note."""
    access.membership(user_of(request), campaign)
    body = parse(request.body)
    own_note = notes.set_note(
        by=user_of(request),
        campaign=campaign,
        assignment=assignment,
        line=_line(body),
        comment=_text(body.get("comment")),
        flagged=_flag(body.get("flagged")),
        bookmarked=_flag(body.get("bookmarked")),
    )
    return JsonResponse(own_note.as_json())


@require_POST
@as_json
def ask(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: ask the researchers about a line of an own task, or about the task."""
    access.membership(user_of(request), campaign)
    body = parse(request.body)
    line = None if body.get("line") is None else _line(body)
    thread = messages.ask(
        by=user_of(request),
        campaign=campaign,
        assignment=assignment,
        line=line,
        text=_text(body.get("text")) or "",
    )
    return _thread(request, thread.pk, line)


@require_POST
@as_json
def answer(request: HttpRequest, campaign: int, thread: int) -> HttpResponse:
    """Members: reply in an own thread; without a text, mark the thread as read."""
    access.membership(user_of(request), campaign)
    body = parse(request.body)
    thread_row = access.own_thread(user_of(request), thread)
    text = _text(body.get("text"))
    messages.see(by=user_of(request), thread=thread_row)
    if text is not None:
        messages.answer(by=user_of(request), thread=thread_row, text=text)
    return _thread(request, thread_row.pk, None if body.get("line") is None else _line(body))


def _thread(request: HttpRequest, pk: int, line: int | None) -> HttpResponse:
    thread_row = access.own_thread(user_of(request), pk)
    viewer = user_of(request)
    return JsonResponse(messages.as_json(thread_row, viewer, annotator=viewer.get_username(), line=line))


def _line(body: dict[str, Any]) -> int:
    line = body.get("line")
    if not isinstance(line, int) or isinstance(line, bool):
        raise NoteRefused("Say which line of the transcript is meant: a whole number, counted from 1.")
    return line


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise NoteRefused("What is said about a turn is a text.")
    return value


def _flag(value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise NoteRefused("A flag or a bookmark is true or false.")
    return value


MOST_TOLD = 3
"""Maximum number of taken-back tasks that the page reports."""


@require_GET
@cache_control(no_store=True)  # so that Back shows the next task, not a submitted one
def work(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: show the current task, or go on to the campaign's own page where members write first."""
    try:
        seat, hold = labelling.start(by=user_of(request), campaign=campaign)
    except NotTaskHolder as error:
        raise Http404 from error
    if hold is None and (address := own_page(seat)):
        return redirect(address)
    return _page(request, seat, hold)


@require_GET
@cache_control(no_store=True)
def work_task(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: show an earlier own task for revision."""
    own = Assignment.objects.filter(user=user_of(request), round=0).exclude(state=Assignment.State.VOIDED)
    mine = get_object_or_404(own, pk=assignment, campaign_id=campaign)
    try:
        seat, _ = labelling.start(by=user_of(request), campaign=campaign)
    except NotTaskHolder as error:
        raise Http404 from error
    if seat.form == Campaign.Form.WRITE and mine.slot_id is not None:
        return redirect(own_page(seat) or reverse("work", args=[campaign]))
    return _page(request, seat, hold_of(mine))


@require_POST
@as_json
def save_draft(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: save the draft of an own task."""
    body = parse(request.body)
    revising = bool(body.pop("revising", False))
    version = labelling.save_draft(
        by=user_of(request),
        campaign=campaign,
        assignment=assignment,
        revising=revising,
        client=body.get("client", ""),
        based_on=_version(body.pop("based_on", None)),
        attention=_version(body.pop("attention", None)) or 0,
        draft=body,
    )
    return JsonResponse({"version": version})


@require_POST
@as_json
def submit(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: submit an own task; the response has the next one."""
    body = parse(request.body)
    answers: Any = body.get("answers")
    outcome = labelling.submit(
        by=user_of(request),
        campaign=campaign,
        assignment=assignment,
        answers=answers,
        evidence=body.get("evidence"),
        comment=str(body.get("comment") or ""),
        flagged=bool(body.get("flagged")),
        revising=bool(body.get("revising")),
        client=body.get("client"),
        based_on=_version(body.get("based_on")),
        attention=_version(body.get("attention")) or 0,
    )
    return JsonResponse(_state(user_of(request), outcome.seat, outcome.next, outcome.status))


@require_POST
@as_json
def skip(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: skip an own task; the response has the next one."""
    reason = str(parse(request.body).get("reason") or "")
    outcome = labelling.skip(by=user_of(request), campaign=campaign, assignment=assignment, reason=reason)
    return JsonResponse(_state(user_of(request), outcome.seat, outcome.next, outcome.status))


@require_POST
@as_json
def reopen(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: reopen the last submitted task, or the one before `before`, for revision."""
    before = parse(request.body).get("before")
    if before is not None and not (isinstance(before, int) and before < 2**63):
        raise NotTaskHolder("There is no earlier task of yours to go back to.")
    seat, hold = labelling.reopen(by=user_of(request), campaign=campaign, before=before)
    return JsonResponse(_state(user_of(request), seat, hold, "reopened"))


@require_POST
@as_json
def accept(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: agree to a version of the consent text, or confirm changed guidelines as read."""
    body = parse(request.body)
    version = _version(body.get("version")) or 0
    task_page.accept(by=user_of(request), campaign=campaign, what=str(body.get("what")), version=version)
    seat, hold = labelling.start(by=user_of(request), campaign=campaign)
    return JsonResponse(_state(user_of(request), seat, hold, "next"))


@require_POST
@as_json
def next_task(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: get the current task, for a page that lost or left the previous one."""
    seat, hold = labelling.start(by=user_of(request), campaign=campaign)
    return JsonResponse(_state(user_of(request), seat, hold, "next"))


@require_GET
def guidelines(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: show the current guidelines, as part of a page."""
    access.membership(user_of(request), campaign)
    text = Guidelines.objects.filter(campaign_id=campaign).order_by("-version").first()
    return render(request, "annotate/_guidelines.html", {"guidelines": text})


def _version(value: Any) -> int | None:
    """Return a version or duration sent by the page; None where it is missing or invalid."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= labelling.MOST_VERSION else None


def _page(request: HttpRequest, seat: Seat, hold: Hold | None) -> HttpResponse:
    plan, by = questionnaire_of(seat.version), user_of(request)
    context = {
        "seat": seat,
        "state": _state(by, seat, hold, "next"),
        "guidelines": Guidelines.objects.filter(pk=seat.guidelines or 0).first(),
        "base": reverse("work", args=[seat.campaign]),
        "taken_back": taken_back(by, seat.campaign)[:MOST_TOLD],
        "comfort": for_page(comfort_of(by)),
    }
    return render(request, "annotate/work.html", context | question_context(plan))


def question_context(plan: Questionnaire) -> dict[str, Any]:
    """Return the template context of a scheme's questions, for the page and its script."""
    return {
        "plan": plan,
        "about_open": plan.about_open,
        "sections": sections(plan),
        "questions": for_browser(plan),
        "shortcuts": shortcuts(plan),
        "skip_reasons": REASONS,
        "comment_limit": labelling.COMMENT_LIMIT,
        "note_limit": notes.COMMENT_LIMIT,
    }


def transcript(screen: Screen) -> str:
    """Return the markup of a task's transcript."""
    return get_template("annotate/_transcript.html").render({"screen": screen})


def _state(by: User, seat: Seat, hold: Hold | None, status: str) -> dict[str, Any]:
    """Return the data with which the page's script shows a task: markup, draft and progress."""
    state: dict[str, Any] = {
        "status": status,
        "campaign": seat.state,
        "progress": _progress(progress(seat=seat, hold=hold), seat.limits.brief),
        "limits": seat.limits.as_json(),
        "task": None,
    }
    if hold is None and seat.waits:
        context = {"waiting": task_page.waiting(seat)}
        state["html"] = get_template("annotate/_before.html").render(context)
        return state
    if hold is None and (notice := check_stages.waiting(seat)) is not None:
        about = load(notice.task, assignment=notice.number) if notice.task else None
        notice_context = {"notice": notice, "seat": seat, "screen": about}
        state["html"] = get_template("annotate/_notice.html").render(notice_context)
        return state
    if hold is None:
        busy = seat.state == "open" and not seat.limits.reached and others_are_busy(seat=seat)
        nothing = {
            "seat": seat,
            "busy": busy,
            "later": seat.state == "open" and has_later(seat=seat),
            "completion": completion(seat),
            "own_page": own_page(seat),
            "elsewhere": _elsewhere(by, seat),
        }
        state["html"] = get_template("annotate/_nothing.html").render(nothing)
        return state
    plan = questionnaire_of(seat.version)
    screen = with_notes(load(hold.task, plan.is_tagged, hold.assignment, plan.item_kinds), plan.key)
    state["html"] = transcript(screen)
    state["task"] = {
        "assignment": hold.assignment,
        "items": screen.items,
        "whole": screen.whole,
        "sides": len(screen.sides),
        "people": screen.named,
        "start_texts": screen.start_texts,
        "draft": hold.draft,
        "revising": hold.state == Assignment.State.SUBMITTED,
        "returned": hold.state == Assignment.State.RETURNED,
        "told": _researcher_note(hold),
        **beside(by=by, seat=seat, hold=hold, screen=screen),
    }
    return state


def _researcher_note(hold: Hold) -> str:
    """Return the note above a task that a researcher returned or assigned, empty for other tasks."""
    does = {"returned": "returned this task to you", "leased": "gave you this task"}
    return f"A researcher {does[hold.state]}: {hold.note}" if hold.note and hold.state in does else ""


def _elsewhere(by: User, seat: Seat) -> Campaign | None:
    """Return the oldest other campaign with work for this person; None where there is none."""
    others = with_work(user=by.pk) - {seat.campaign}
    return Campaign.objects.filter(pk__in=others).order_by("id").first() if others else None


def _progress(own_progress: Progress, bounds: str) -> dict[str, Any]:
    """Return the annotator's progress and limits in the words of the page."""
    if own_progress.left is None:
        return {
            "text": f"{own_progress.done} done",
            "time": bounds,
            "done": own_progress.done,
            "whole": own_progress.done + 1,
        }
    total = own_progress.done + own_progress.left
    time = ""
    if own_progress.minutes is not None and own_progress.left:
        minutes, hours = max(1, own_progress.minutes), round(own_progress.minutes / 60)
        time = f"about {minutes} min left" if minutes < 90 else f"about {hours} h left"
    time = " · ".join(part for part in (time, bounds) if part)
    return {
        "text": f"{own_progress.done} of {total}",
        "time": time,
        "done": own_progress.done,
        "whole": total or 1,
    }


# Previews of the annotation page: the same templates, scripts and styles, and nothing is stored.


@require_GET
@campaign_researcher_only
def campaign_preview(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: preview a campaign's first tasks as for its annotators, in a frame."""
    campaign_row = access.campaign(campaign)
    context = {
        "campaign": campaign_row,
        "number": len(screens.preview_places(campaign_row)),
        "source": reverse("campaign-preview-task", args=[campaign_row.pk, 1]),
    }
    return frames_others(render(request, "campaigns/preview.html", context))


@require_GET
@campaign_researcher_only
def campaign_preview_task(request: HttpRequest, campaign: int, number: int) -> HttpResponse:
    """Researchers: preview one of a campaign's first tasks, counted from 1, as for an annotator."""
    campaign_row = access.campaign(campaign)
    places = screens.preview_places(campaign_row)
    if not 1 <= number <= len(places):
        raise Http404
    plan = questionnaire_of(campaign_row.scheme_version_id)

    def address(place: int) -> str:
        return reverse("campaign-preview-task", args=[campaign, place]) if 1 <= place <= len(places) else ""

    return preview_page(
        request,
        name=campaign_row.name,
        plan=plan,
        screen=screens.campaign_preview(campaign_row, places[number - 1]),
        guidelines=campaign_row.guidelines.order_by("-version").first(),
        place=(number, len(places)),
        around={"previous": address(number - 1), "next": address(number + 1)},
    )


def definition_preview(
    request: HttpRequest, definition: SchemeDefinition, corpus: Corpus | None, speakers: Sequence[str] = ()
) -> HttpResponse:
    """Return the annotation page with a definition's questions, beside a corpus's dialogue or the sample.

    With `speakers`, only their turns of the dialogue are asked about.
    """
    plan = questionnaire_from(definition)
    guidelines = SimpleNamespace(text=definition.guidelines, version=definition.version)
    return preview_page(
        request,
        name=definition.title,
        plan=plan,
        screen=screens.scheme_preview(definition, corpus, speakers),
        guidelines=guidelines,
    )


def preview_page(
    request: HttpRequest,
    *,
    name: str,
    plan: Questionnaire,
    screen: Screen,
    guidelines: Any,
    place: tuple[int, int] = (1, 1),
    around: dict[str, str] | None = None,
) -> HttpResponse:
    """Return the annotation page with one screen; `place` is its number and the total.

    `guidelines` have a text and a version, or are None. `around` has the addresses `previous` and `next`.
    """
    number, total = place
    state = {
        "status": "preview",
        "campaign": Campaign.State.OPEN,
        "progress": {"text": f"{number} of {total}", "time": "", "done": number - 1, "whole": total},
    }
    task = {"assignment": 0, "items": screen.items, "whole": screen.whole, "sides": len(screen.sides)}
    task |= {"people": screen.named, "start_texts": screen.start_texts}
    task |= {"draft": {"version": 0}, "revising": False, "returned": False, "told": ""}
    end = get_template("annotate/_preview_end.html").render()
    context = {
        "seat": SimpleNamespace(name=name, campaign="preview"),
        "base": request.get_full_path(),
        "state": state | {"html": transcript(screen), "task": task},
        "guidelines": guidelines,
        "comfort": for_page(Comfort()),
        "preview": {**(around or {}), "end": state | {"html": end, "task": None}},
    }
    return stands_in_frame(render(request, "annotate/work.html", context | question_context(plan)))
