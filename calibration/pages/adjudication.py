"""Pages of adjudication: the adjudicator's case, and the researcher's rounds, cases and files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.errors import AnswerRefused
from annotation.models import Campaign, Corpus, turn_numbers
from annotation.models.schemes import SchemeVersion
from annotation.pages import work
from annotation.pages.work import transcript
from annotation.scheme_store import questionnaire_of
from annotation.work.checking import parse
from annotation.work.labels import pseudonyms_of_people as of_people
from annotation.work.shortcuts import ADJUDICATION
from calibration import access
from calibration.access import place_of
from calibration.adjudication import agreement, decisions
from calibration.adjudication import rounds as actions
from calibration.adjudication import rounds as reading
from calibration.adjudication.cases import (
    CONFIDENCE_RULES,
    MOST_CONTROL,
    TITLES,
    locked_clusters,
    questions_with_answers,
    raters_scope,
)
from calibration.adjudication.decisions import number_of
from calibration.adjudication.rounds import (
    LEASE_MINUTES,
    LONGEST_NAME,
    MOST_SEED,
    TERMS,
    USUAL_LEASE,
    Plan,
)
from calibration.errors import AdjudicationRefused, CalibrationError, NotYours
from calibration.gold.rules import RULES
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationRound
from calibration.ratings.scope import census, question_choices
from calibration.reports.names import Names, names_in
from calibration.workbench import marks
from config.files import file_response
from config.listing import Column, Listing
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import form_field
from judges.pages.forms import ExclusionForm

# The adjudicator's pages: rounds waiting for them, and the current case.
#
# Only adjudicators of the round have access; others get 404, as for a round that does not exist.


@require_GET
def my_adjudication(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: the open rounds in which they may decide."""
    by = user_of(request)
    rounds = [
        (adjudication_round, reading.mine(adjudication_round, by))
        for adjudication_round in reading.waiting_for(by)
    ]
    return render(request, "adjudication/mine.html", {"rounds": rounds})


@require_GET
@cache_control(no_store=True)  # Back shows the next case, not a decided one
def adjudicate(request: HttpRequest, pk: int) -> HttpResponse:
    """Adjudicators: the current case, or a note that none is left."""
    by = user_of(request)
    adjudication_round = access.own_round(by, pk)
    try:
        decision = decisions.next_case(by=by, adjudication_round=adjudication_round)
    except AdjudicationRefused as error:
        return _nothing(request, adjudication_round, str(error))
    return _nothing(request, adjudication_round) if decision is None else _page(request, by, decision)


@require_http_methods(["GET", "POST"])
@cache_control(no_store=True)
def adjudicate_case(request: HttpRequest, pk: int, decision: int) -> HttpResponse:
    """Adjudicators: one of their own cases, to decide or to decide anew."""
    by = user_of(request)
    access.own_round(by, pk)
    try:
        current = decisions.in_hand(by, decision)
    except NotYours as error:
        raise Http404 from error
    if current.round_id != pk:
        raise Http404
    if request.method == "GET":
        return _page(request, by, current)
    posted = _posted_decision(request, current.case)
    try:
        decisions.decide(by=by, decision=decision, **posted)
    except AdjudicationRefused as error:
        return _page(request, by, current, posted, str(error))
    return redirect("adjudicate", pk)


@require_POST
def adjudicate_draft(request: HttpRequest, pk: int, decision: int) -> HttpResponse:
    """Adjudicators: save the draft of one of their own cases."""
    by = user_of(request)
    access.own_round(by, pk)
    try:
        version = decisions.save_draft(by=by, decision=decision, draft=parse(request.body))
    except AdjudicationRefused as error:
        refusal = {"error": str(error), "code": error.code, **error.details()}
        return JsonResponse(refusal, status=error.status)
    except AnswerRefused as error:
        return JsonResponse({"error": str(error), "code": error.code}, status=error.status)
    return JsonResponse({"version": version})


@require_POST
def adjudicate_pass(request: HttpRequest, pk: int, decision: int) -> HttpResponse:
    """Adjudicators: pass a case on to somebody else, with a reason."""
    by = user_of(request)
    access.own_round(by, pk)
    try:
        decisions.pass_on(by=by, decision=decision, reason=request.POST.get("reason", ""))
    except NotYours as error:
        raise Http404 from error
    except AdjudicationRefused as error:
        messages.error(request, str(error))
        return redirect("adjudicate-case", pk, decision)
    return redirect("adjudicate", pk)


def _posted_decision(request: HttpRequest, case: AdjudicationCase) -> dict[str, Any]:
    """Return the form's answer: a value of the scale by its index, or the text entered."""
    choice, values = request.POST.get("choice", ""), _values(case)
    answer: Any = None
    if values and choice.isascii() and choice.isdigit() and len(choice) < 6:
        answer = values[int(choice)] if int(choice) < len(values) else None
    elif not values and choice != "cannot":
        text = request.POST.get("value", "").strip()
        answer = text if case.question.level in ("nominal", "text") else number_of(text)
    return {"answer": answer, "cannot": choice == "cannot", "reason": request.POST.get("reason", "")}


def _page(
    request: HttpRequest,
    by: User,
    decision: AdjudicationDecision,
    posted: dict[str, Any] | None = None,
    refused: str = "",
) -> HttpResponse:
    case, adjudication_round = decision.case, decision.round
    entered = posted or _draft_or_decision(decision)
    last = adjudication_round.decisions.filter(adjudicator=by, state=decision.State.DECIDED).exclude(
        pk=decision.pk
    )
    if decision.decided_at:
        last = last.filter(decided_at__lt=decision.decided_at)
    before = last.order_by("-decided_at").first()
    plan = questionnaire_of(adjudication_round.scheme_version_id)
    controls = [control_shown for section in work.sections(plan) for control_shown in section.controls]
    control = next(
        control_shown for control_shown in controls if control_shown.question.id == case.question_id
    )
    progress = reading.progress(adjudication_round)
    context = {
        "round": adjudication_round,
        "held": decision,
        "case": case,
        "control": control,
        "choices": work.choices(replace(control.question, values=tuple(_values(case)))),
        "chosen": "cannot" if entered.get("cannot") else _place(case, entered.get("answer")),
        "value": "" if entered.get("answer") is None else entered.get("answer"),
        "reason": entered.get("reason") or "",
        "said": reading.said_about(adjudication_round, case),
        "transcript": _transcript(adjudication_round, case),
        "progress": progress,
        "done": progress.cases - progress.waiting,
        "before": before,
        "refused": refused,
        "typical": decisions.TYPICAL,
        "longest_reason": decisions.LONGEST_REASON,
        "shortcuts": ADJUDICATION,
        "guidelines": adjudication_round.campaign.guidelines.order_by("-version").first()
        if adjudication_round.campaign
        else None,
        "state": {"decision": decision.pk, "version": decision.revision, "values": _values(case)},
    }
    return render(request, "adjudication/decide.html", context, status=422 if refused else 200)


def _draft_or_decision(decision: AdjudicationDecision) -> dict[str, Any]:
    """Return the draft of a case, else its current decision."""
    if decision.draft:
        return dict(decision.draft)
    if decision.state == decision.State.DECIDED and decision.label is not None:
        label = decision.label
        return {"answer": label.value, "cannot": bool(label.missing), "reason": label.explanation}
    return {}


def _place(case: AdjudicationCase, answer: Any) -> str:
    """Return the index of a value on the scale, as used in the form."""
    values = _values(case)
    return str(values.index(answer)) if answer is not None and answer in values else ""


def _values(case: AdjudicationCase) -> list[Any]:
    """Return the values to choose from; empty if a number or text is entered."""
    return list(case.question.values) or ([0, 1] if case.question.level == "binary" else [])


def _transcript(adjudication_round: AdjudicationRound, case: AdjudicationCase) -> str:
    """Return the markup of the transcript as annotators see it, with the case's item highlighted."""
    return re.sub(
        rf'<li class="turn item"([^>]* data-item="{case.item.public}")',
        r'<li class="turn item here" id="here" aria-current="true"\1',
        transcript(reading.screen_of(adjudication_round, case)),
        count=1,
    )


def _nothing(request: HttpRequest, adjudication_round: AdjudicationRound, why: str = "") -> HttpResponse:
    progress = reading.progress(adjudication_round)
    if not why and progress.waiting:
        why = (
            "What is left is in other hands, you passed it on, or you rated it yourself: "
            "somebody else decides on it."
        )
    context = {"round": adjudication_round, "why": why or "All cases are decided.", "progress": progress}
    return render(request, "adjudication/nothing.html", context | {"home": reverse("my-adjudication")})


# Form of a new round of adjudication: rules with thresholds, adjudicators, and their view.

SWITCHES = ("no_majority", "flagged", "commented", "marked", "everything")
BOUNDS = ("spread", "judge_apart", "confidence")


class AdjudicationForm(ExclusionForm):
    """Settings of a round: its labels, the rules that pick cases, and the terms of deciding."""

    name = forms.CharField(max_length=LONGEST_NAME)
    scheme = forms.ChoiceField(label="Questions of")
    questions = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all of the scheme."
    )
    no_majority = forms.BooleanField(
        required=False, initial=True, label="No answer has more than half of the people"
    )
    spread = forms.FloatField(
        required=False,
        label="People’s answers lie at least this far apart",
        help_text="In units of the scale, for questions whose answers have an order. Empty: off.",
    )
    flagged = forms.BooleanField(required=False, label="An annotator flagged the task")
    commented = forms.BooleanField(required=False, label="An annotator left a comment on the task")
    judge = forms.ChoiceField(required=False, label="This judge says otherwise than the people")
    judge_apart = forms.FloatField(
        required=False,
        label="… by at least",
        help_text="From the people’s mean, in units of the scale; categories: another than the majority.",
    )
    confidence_rule = forms.ChoiceField(
        required=False,
        label="By this rule of gold labels",
        choices=[(key, RULES[key].title) for key in CONFIDENCE_RULES],
    )
    confidence = forms.FloatField(
        required=False, label="… the answer is at most so sure", help_text="0 to 1. Empty: off."
    )
    marked = forms.BooleanField(required=False, label="Marked for adjudication on a page of disagreements")
    everything = forms.BooleanField(required=False, label="Everything that people answered")
    combine = forms.ChoiceField(
        label="An item is a case where",
        choices=[("any", "one of the rules picks it"), ("all", "all of the rules pick it")],
    )
    control = forms.IntegerField(
        min_value=0,
        max_value=MOST_CONTROL,
        initial=0,
        label="For control, per question",
        help_text="Items on which all people agree, drawn by the seed: are they wrong together?",
    )
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=0)
    adjudicators = forms.ChoiceField(
        label="Each case is decided by", choices=[("1", "one adjudicator"), ("2", "two, who must agree")]
    )
    lease_minutes = form_field(LEASE_MINUTES, required=True, initial=USUAL_LEASE)
    own_items = forms.BooleanField(
        required=False, label="Adjudicators may decide on items that they rated themselves"
    )
    shows_names = forms.BooleanField(required=False, label="Adjudicators see who answered")
    shows_systems = forms.BooleanField(required=False, label="Adjudicators see which system is rated")
    takes_locked = forms.BooleanField(
        required=False,
        label="Also the test part, which nobody has opened",
        help_text="Judges neither pick nor are shown there, and agreement leaves it out.",
    )

    def __init__(self, *args: Any, corpus: Corpus, campaign: Campaign | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        self.offer_exclusion(corpus)
        questions = questions_with_answers(corpus, campaign)
        counted = census(raters_scope(corpus, campaign))
        self._offer("scheme", {q.scheme: f"{q.scheme_title} ({q.scheme})" for q in questions})
        self._offer("questions", dict(question_choices(questions)))
        judges = {r.name: r.choice for r in counted.raters.values() if r.kind == "judge"}
        self._offer("judge", {"": "none", **judges})
        if not judges:
            del self.fields["judge"], self.fields["judge_apart"]
        if not locked_clusters(corpus):
            del self.fields["takes_locked"]
        if "name" not in self.data:
            self.initial["name"] = f"{(campaign or corpus).name}, adjudication"[:LONGEST_NAME]

    def _offer(self, name: str, choices: dict[str, str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices.items())

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Fields by heading, except the question checkboxes, which are placed separately."""
        names_by_heading = {
            "Which items": (*SWITCHES[:1], "spread", "flagged", "commented", "judge", "judge_apart")
            + ("confidence_rule", "confidence", "marked", "everything", "combine", "control")
            + ("seed", "exclude"),
            "Who decides, and what they see": (*TERMS, "takes_locked"),
        }
        return [
            (heading, [self[name] for name in names if name in self.fields])
            for heading, names in names_by_heading.items()
        ]

    def plan(self) -> Plan:
        """Return the plan of the round."""
        data = self.cleaned_data
        key, number = data["scheme"].rsplit("@", 1)
        version = SchemeVersion.objects.select_related("scheme").get(scheme__key=key, version=int(number))
        rules: dict[str, Any] = {name: data[name] for name in SWITCHES if data.get(name)}
        rules |= {name: data[name] for name in BOUNDS if data.get(name) is not None}
        rules |= {name: data[name] for name in ("judge", "combine", "control", "exclude") if data.get(name)}
        rules |= {"confidence_rule": data["confidence_rule"]} if data.get("confidence") is not None else {}
        if data["questions"]:
            rules["questions"] = [ref.removeprefix(f"{data['scheme']}/") for ref in data["questions"]]
        return Plan(self.corpus, self.campaign, version, rules, data["seed"], bool(data.get("takes_locked")))

    def how(self) -> dict[str, Any]:
        """Return the terms on which cases are decided."""
        data = self.cleaned_data
        return {name: data[name] for name in TERMS} | {"adjudicators": int(data["adjudicators"])}


PAGE = 25
MARKED = Listing(
    Column("Item"),
    Column("Question"),
    Column("Why", "reason"),
    Column("By", "created_by__username"),
    Column("Actions", is_hidden=True),
    size=PAGE,
)


@require_GET
@researcher_only
def adjudication(request: HttpRequest) -> HttpResponse:
    """Researchers: the rounds of a corpus or campaign, and items marked for adjudication, latest first."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return redirect("corpora")
    place = {"campaign": campaign} if campaign else {"corpus": corpus}
    rounds = reading.rounds().filter(**place)
    waiting = marks.waiting().filter(item__continuation__dialogue__corpus=corpus)
    page = MARKED.page(request, waiting)
    turn_numbers.number(row.item.turn for row in page)
    context = {"page": page, "rounds": rounds, "corpus": corpus, "campaign": campaign}
    return render(request, "adjudication/list.html", context)


@require_POST
@researcher_only
def withdraw_adjudication(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: remove a marked item from the list."""
    row = access.for_adjudication(pk)
    corpus = row.item.continuation.dialogue.corpus_id
    marks.withdraw(by=user_of(request), row=row)
    return redirect(f"{reverse('adjudication')}?corpus={corpus}")


@researcher_only
def new(request: HttpRequest) -> HttpResponse:
    """Researchers: choose rules, preview their picks, and begin a round."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return redirect("corpora")
    form = AdjudicationForm(request.POST or None, corpus=corpus, campaign=campaign)
    context: dict[str, Any] = {"form": form, "corpus": corpus, "campaign": campaign}
    if request.method == "POST" and form.is_valid():
        try:
            if request.POST.get("act") == "begin":
                new_round = actions.begin(
                    by=user_of(request), name=form.cleaned_data["name"], plan=form.plan(), **form.how()
                )
                return redirect("adjudication-round", new_round.pk)
            context["drawn"] = actions.preview(form.plan())
        except CalibrationError as error:
            form.add_error(None, str(error))
    return render(request, "adjudication/new.html", context, status=422 if form.errors else 200)


@require_GET
@researcher_only
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the progress of a round, its cases, and the raters' agreement with the decisions."""
    adjudication_round = access.adjudication_round(pk)
    return render(request, "adjudication/round.html", _round(request, adjudication_round))


def _round(request: HttpRequest, adjudication_round: AdjudicationRound) -> dict[str, Any]:
    state, rule = request.GET.get("state", ""), request.GET.get("rule", "")
    page = Paginator(reading.cases(adjudication_round, state, rule), PAGE).get_page(request.GET.get("page"))
    rows = reading.numbered(list(page))
    names, progress = names_in(adjudication_round.corpus), reading.progress(adjudication_round)
    return {
        "round": adjudication_round,
        "progress": progress,
        "page": page,
        "rows": [(case, reading.state_of(case), reading.why(case)) for case in rows],
        "states": reading.STATES,
        "state": state,
        "rule": rule,
        "facts": _facts(adjudication_round, progress, names),
        "names": names,
        "report": _report(adjudication_round),
        "warning": agreement.WARNING,
        "files": [
            (f"{table.capitalize()}, {form.upper()}", table, form)
            for table in decisions.TABLES
            for form in decisions.FORMS
        ],
        "draws": adjudication_round.draws.order_by("number"),
    }


def _report(adjudication_round: AdjudicationRound) -> agreement.Report | str:
    """Return the raters' agreement with the decisions, or why there is none."""
    try:
        return agreement.report(adjudication_round)
    except CalibrationError as error:
        return str(error)


def _facts(row: AdjudicationRound, progress: reading.Progress, names: Names) -> list[tuple[str, Any]]:
    """Return what is to know of a round as pairs of term and value; those without a value do not apply."""
    two, in_hand = row.adjudicators == 2, f" ({progress.held:,} in hand)" if progress.held else ""
    deciding = "two adjudicators, who must agree" if two else "one adjudicator"
    names_text = "who answered" if row.shows_names else "raters by pseudonym"
    rules = _rules(row, names)
    return [
        ("Decided differently", f"{progress.differ:,}" if two else ""),
        ("Waiting", f"{progress.waiting:,}{in_hand}"),
        ("Questions of", row.scheme_version.name),
        ("Each case", f"{deciding}{', also of items that they rated' if row.own_items else ''}"),
        ("Shown", f"{names_text}{', the system' if row.shows_systems else ''}"),
        *(("Rule", f"{title}: {bound}" if bound else title) for title, bound in rules),
        ("Seed", str(row.seed)),
        ("Test part", "taken, while nobody has opened it" if row.takes_locked else ""),
    ]


def _rules(adjudication_round: AdjudicationRound, names: Names) -> list[tuple[str, str]]:
    """Return a round's rules with their thresholds, in words."""
    rules = adjudication_round.rules
    rule, most = rules.get("confidence_rule", "dawid_skene"), rules.get("confidence", 0)
    bounds = {
        "spread": f"{rules.get('spread', 0):g} or more",
        "judge": f"{names.short(rules.get('judge', ''))}, {rules.get('judge_apart', 0):g} or more",
        "confidence": f"{rule}, at most {most:g}",
        "control": f"{rules.get('control', 0):,} a question",
    }
    return [(title, bounds.get(key, "")) for key, title in TITLES.items() if rules.get(key)]


@require_POST
@researcher_only
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: top up, close or reopen a round."""
    adjudication_round, by, verb = (
        access.adjudication_round(pk),
        user_of(request),
        request.POST.get("verb", ""),
    )
    if verb not in actions.VERBS:
        raise Http404
    try:
        n = actions.VERBS[verb](by=by, adjudication_round=adjudication_round)
        if verb == "top-up":
            message = f"{n:,} case{'' if n == 1 else 's'} added."
            messages.success(request, message if n else "Nothing new: the rules pick no more.")
    except CalibrationError as error:
        messages.error(request, str(error))
    return redirect("adjudication-round", pk)


@require_GET
@researcher_only
def file(request: HttpRequest, pk: int, what: str, form: str) -> FileResponse:
    """Researchers: a round's queue or decisions as CSV or JSONL."""
    adjudication_round = access.adjudication_round(pk)
    if what not in decisions.TABLES or form not in decisions.FORMS:
        raise Http404
    lines, name = decisions.write_table(adjudication_round, what, form), f"round-{pk}-{what}.{form}"
    return file_response(lines, media_type=decisions.FORMS[form], name=name)


@require_POST
@researcher_only
def import_decisions(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: import decisions made elsewhere, as the researcher's own."""
    adjudication_round, sent = access.adjudication_round(pk), request.FILES.get("file")
    try:
        if sent is None or isinstance(sent, list):
            raise AdjudicationRefused("Choose a file first: CSV or JSONL.")
        n = decisions.import_decisions(
            by=user_of(request),
            adjudication_round=adjudication_round,
            content=sent.read(decisions.LARGEST_FILE + 1),
            name=str(sent.name or ""),
        )
        messages.success(request, f"{n:,} new decision{'' if n == 1 else 's'}.")
    except CalibrationError as error:
        messages.error(request, str(error))
    return redirect("adjudication-round", pk)


@require_GET
@researcher_only
def case(request: HttpRequest, pk: int, case: int) -> HttpResponse:
    """Researchers: one case with raters' answers, its decisions, and the reasons."""
    adjudication_round = access.adjudication_round(pk)
    adjudication_case = access.adjudication_case(adjudication_round, case)
    reading.numbered([adjudication_case])
    history = reading.history(adjudication_round, adjudication_case)
    context = {
        "round": adjudication_round,
        "case": adjudication_case,
        "locked": history.locked,
        "state": reading.STATES[reading.state_of(adjudication_case)],
        "why": reading.why(adjudication_case),
        "said": history.answers,
        "longest_reason": decisions.LONGEST_REASON,
        "decisions": _decided(history.decisions, adjudication_round.corpus_id),
    }
    return render(request, "adjudication/case.html", context)


def _decided(
    case_decisions: Sequence[AdjudicationDecision], corpus: int
) -> list[tuple[AdjudicationDecision, str, str]]:
    """Return decisions, each with its value in words and the adjudicator's pseudonym."""
    names = of_people({decision.adjudicator_id for decision in case_decisions}, corpus)
    worded = [(decision, decision.label.value) for decision in case_decisions if decision.label]
    return [
        (decision, reading.worded(decision.case.question, value), names[decision.adjudicator_id])
        for decision, value in worded
    ]


@require_POST
@researcher_only
def withdraw_decision(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: withdraw a decision, with a reason; its case waits again."""
    decision = access.adjudication_decision(pk)
    try:
        decisions.withdraw(by=user_of(request), decision=decision, reason=request.POST.get("reason", ""))
        messages.success(request, "The decision is withdrawn; the case waits again.")
    except CalibrationError as error:
        messages.error(request, str(error))
    return redirect("adjudication-case", decision.round_id, decision.case_id)
