"""Rounds of adjudication as researchers see them: the list, a new one, one with its cases, files, a case."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.corpora import splits
from annotation.models import Campaign, Corpus, SchemeVersion, turn_numbers
from annotation.pages.campaigns import choose
from annotation.work.labels import pseudonyms_of_people as of_people
from calibration import access
from calibration.adjudication import actions, agreement, deciding, files, reading
from calibration.adjudication.actions import MOST_SEED, Plan
from calibration.adjudication.material import TITLES, locked_clusters, questions_with_answers, raters_scope
from calibration.adjudication.settings import CONFIDENCE_RULES, MOST_CONTROL
from calibration.errors import AdjudicationRefused, CalibrationError
from calibration.gold.rules import RULES
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationRound
from calibration.pages.asked import WHOSE, place_of
from calibration.reading.census import census
from calibration.workbench import marks
from config.files import file_response
from config.permissions import researcher_only
from judges.pages.runs import user_of

# The form of a new round of adjudication: rules with their bounds, who decides, and what they are shown.

SWITCHES = ("no_majority", "flagged", "commented", "marked", "everything")
BOUNDS = ("spread", "judge_apart", "confidence")
HOW = ("adjudicators", "own_items", "shows_names", "shows_systems", "lease_minutes")


class AdjudicationForm(forms.Form):
    """What a round is about, by which rules its cases are picked, and how they are decided on."""

    name = forms.CharField(max_length=120)
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
    lease_minutes = forms.IntegerField(
        min_value=1, max_value=1440, initial=30, label="Minutes that a case is held for"
    )
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
        self.corpus, self.campaign = corpus, campaign
        asked = questions_with_answers(corpus, campaign)
        counted = census(raters_scope(corpus, campaign))
        self._offer("scheme", {q.scheme: f"{q.scheme_title} ({q.scheme})" for q in asked})
        several = len({q.scheme for q in asked}) > 1
        self._offer("questions", {q.ref: f"{q.scheme}: {q.key}" if several else q.key for q in asked})
        judges = {r.name: r.name for r in counted.raters.values() if r.kind == "judge"}
        self._offer("judge", {"": "none", **judges})
        if not judges:
            del self.fields["judge"], self.fields["judge_apart"]
        if not locked_clusters(corpus):
            del self.fields["takes_locked"]
        if "name" not in self.data:
            self.initial["name"] = f"{(campaign or corpus).name}, adjudication"[:120]

    def _offer(self, name: str, choices: dict[str, str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices.items())

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields under their headings; the questions, which are several to tick, stand apart."""
        named = {
            "Which items": (*SWITCHES[:1], "spread", "flagged", "commented", "judge", "judge_apart")
            + ("confidence_rule", "confidence", "marked", "everything", "combine", "control", "seed"),
            "Who decides, and what they see": (*HOW, "takes_locked"),
        }
        return [
            (heading, [self[name] for name in names if name in self.fields])
            for heading, names in named.items()
        ]

    def plan(self) -> Plan:
        """Return what the round is to be about."""
        told = self.cleaned_data
        key, number = told["scheme"].rsplit("@", 1)
        version = SchemeVersion.objects.select_related("scheme").get(scheme__key=key, version=int(number))
        rules: dict[str, Any] = {name: told[name] for name in SWITCHES if told.get(name)}
        rules |= {name: told[name] for name in BOUNDS if told.get(name) is not None}
        rules |= {name: told[name] for name in ("judge", "combine", "control") if told.get(name)}
        rules |= {"confidence_rule": told["confidence_rule"]} if told.get("confidence") is not None else {}
        if told["questions"]:
            rules["questions"] = [ref.removeprefix(f"{told['scheme']}/") for ref in told["questions"]]
        return Plan(self.corpus, self.campaign, version, rules, told["seed"], bool(told.get("takes_locked")))

    def how(self) -> dict[str, Any]:
        """Return how its cases are decided on."""
        told = self.cleaned_data
        return {name: told[name] for name in HOW} | {"adjudicators": int(told["adjudicators"])}


ROOM = {"active_room": "golds"}
PAGE = 25


@require_GET
@researcher_only
def adjudication(request: HttpRequest) -> HttpResponse:
    """Researchers: the rounds, of one corpus or campaign where named, and what was marked, latest first."""
    corpus, campaign = place_of(request)
    found = reading.rounds()
    if campaign is not None:
        found = found.filter(campaign=campaign)
    elif corpus is not None:
        found = found.filter(corpus=corpus)
    page = Paginator(marks.waiting(), PAGE).get_page(request.GET.get("page"))
    turn_numbers.number(row.item.turn for row in page)
    context = {"page": page, "rounds": found, "corpus": corpus, "campaign": campaign}
    return render(request, "adjudication/list.html", ROOM | context)


@require_POST
@researcher_only
def withdraw_adjudication(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: take a marked item off the list."""
    marks.withdraw(by=user_of(request), row=access.for_adjudication(pk))
    return redirect("adjudication")


@researcher_only
def new(request: HttpRequest) -> HttpResponse:
    """Researchers: choose rules, look at what they pick, and begin a round."""
    corpus, campaign = place_of(request)
    if corpus is None:
        back = ("adjudication", "Adjudication")
        return choose(request, title="New round of adjudication", lead=WHOSE, back=back, room="golds")
    form = AdjudicationForm(request.POST or None, corpus=corpus, campaign=campaign)
    context: dict[str, Any] = {"form": form, "corpus": corpus, "campaign": campaign}
    if request.method == "POST" and form.is_valid():
        try:
            if request.POST.get("act") == "begin":
                made = actions.begin(
                    by=user_of(request), name=form.cleaned_data["name"], plan=form.plan(), **form.how()
                )
                return redirect("adjudication-round", made.pk)
            context["drawn"] = actions.preview(form.plan())
        except CalibrationError as error:
            form.add_error(None, str(error))
    return render(request, "adjudication/new.html", ROOM | context, status=422 if form.errors else 200)


@require_GET
@researcher_only
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: how far a round is, its cases, and what the decisions say of the raters."""
    found = access.adjudication_round(pk)
    return render(request, "adjudication/round.html", _round(request, found))


def _round(request: HttpRequest, found: AdjudicationRound) -> dict[str, Any]:
    state, rule = request.GET.get("state", ""), request.GET.get("rule", "")
    page = Paginator(reading.cases(found, state, rule), PAGE).get_page(request.GET.get("page"))
    rows = reading.numbered(list(page))
    known = TITLES | reading.STATES
    asked = {name: value for name, value in (("state", state), ("rule", rule)) if value in known}
    return ROOM | {
        "round": found,
        "progress": reading.progress(found),
        "page": page,
        "rows": [(case, reading.state_of(case), reading.why(case)) for case in rows],
        "states": reading.STATES,
        "state": state,
        "rule": rule,
        "query": "".join(f"{name}={value}&" for name, value in asked.items()),
        "rules": _rules(found),
        "report": _report(found),
        "warning": agreement.WARNING,
        "draws": found.draws.order_by("number"),
    }


def _report(found: AdjudicationRound) -> agreement.Report | str:
    """Return what the decisions say of the raters, or why that is not told."""
    try:
        return agreement.report(found)
    except CalibrationError as error:
        return str(error)


def _rules(found: AdjudicationRound) -> list[tuple[str, str]]:
    """Return a round's rules with their bounds, in words."""
    told = found.rules
    bounds = {
        "spread": f"{told.get('spread', 0):g} or more",
        "judge": f"{told.get('judge', '')}, {told.get('judge_apart', 0):g} or more",
        "confidence": f"{told.get('confidence_rule', 'dawid_skene')}, at most {told.get('confidence', 0):g}",
        "control": f"{told.get('control', 0):,} a question",
    }
    return [(title, bounds.get(key, "")) for key, title in TITLES.items() if told.get(key)]


@require_POST
@researcher_only
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: top a round up, close it, or open it again."""
    found, by, verb = access.adjudication_round(pk), user_of(request), request.POST.get("verb", "")
    try:
        if verb == "top-up":
            n = actions.top_up(by=by, found=found)
            told = f"{n:,} case{'' if n == 1 else 's'} added."
            messages.success(request, told if n else "Nothing new: the rules pick no more.")
        elif verb in actions.VERBS:
            actions.VERBS[verb](by=by, found=found)
        else:
            raise Http404
    except CalibrationError as error:
        messages.error(request, str(error))
    return redirect("adjudication-round", pk)


@require_GET
@researcher_only
def file(request: HttpRequest, pk: int, what: str, form: str) -> FileResponse:
    """Researchers: a round's queue or decisions as CSV or JSONL."""
    found = access.adjudication_round(pk)
    if what not in files.WHAT or form not in files.FORMS:
        raise Http404
    lines, name = files.written(found, what, form), f"round-{pk}-{what}.{form}"
    return file_response(lines, media_type=files.FORMS[form], name=name)


@require_POST
@researcher_only
def import_decisions(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: decisions that were made elsewhere, from a file, as the researcher's own."""
    found, sent = access.adjudication_round(pk), request.FILES.get("file")
    try:
        if sent is None or isinstance(sent, list):
            raise AdjudicationRefused("Choose a file first: CSV or JSONL.")
        if (sent.size or 0) > files.LARGEST_FILE:
            raise AdjudicationRefused(f"The file is larger than {files.LARGEST_FILE >> 20} MiB.")
        n = files.import_decisions(
            by=user_of(request), found=found, content=sent.read(), name=str(sent.name or "")
        )
        messages.success(request, f"{n:,} new decision{'' if n == 1 else 's'}.")
    except CalibrationError as error:
        messages.error(request, str(error))
    return redirect("adjudication-round", pk)


@require_GET
@researcher_only
def case(request: HttpRequest, pk: int, case: int) -> HttpResponse:
    """Researchers: one case, with what raters answered, what was decided, and why."""
    found = access.adjudication_round(pk)
    one = access.adjudication_case(found, case)
    reading.numbered([one])
    locked = splits.of_item(one.item) in locked_clusters(found.corpus)
    context = {
        "round": found,
        "case": one,
        "locked": locked,
        "state": reading.STATES[reading.state_of(one)],
        "why": reading.why(one),
        "said": [] if locked else reading.said_about(found, one),
        "decisions": [] if locked else _decided(one, found.corpus_id),
    }
    return render(request, "adjudication/case.html", ROOM | context)


def _decided(case: AdjudicationCase, corpus: int) -> list[tuple[AdjudicationDecision, str, str]]:
    """Return the decisions on a case, each with its value in words, and whose (by pseudonym) it is."""
    made = reading.decided_on(case)
    names = of_people({one.adjudicator_id for one in made}, corpus)
    worded = [(one, one.label.value) for one in made if one.label]
    return [(one, reading.worded(case.question, value), names[one.adjudicator_id]) for one, value in worded]


@require_POST
@researcher_only
def withdraw_decision(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: take a decision back, with a reason; its case waits again."""
    made = access.adjudication_decision(pk)
    try:
        deciding.withdraw(by=user_of(request), decision=made, reason=request.POST.get("reason", ""))
        messages.success(request, "The decision is withdrawn; the case waits again.")
    except CalibrationError as error:
        messages.error(request, str(error))
    return redirect("adjudication-case", made.round_id, made.case_id)
