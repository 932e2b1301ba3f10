"""The judge workbench: benches, and drafts that are written, run, kept or discarded on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST

from annotation.corpora import splits
from annotation.models import Campaign, Corpus, Item, Question, turn_numbers
from calibration import access
from calibration.access import place_of
from calibration.errors import CalibrationError
from calibration.models import Mark
from calibration.ratings.scope import offered, scope_of
from calibration.reports.charts import inline_svg
from calibration.studies.disagreements import lines_of, named_value
from calibration.workbench import as_json, checks, marks
from calibration.workbench import sheets as showing
from calibration.workbench.checks import own_systems
from calibration.workbench.sheets import Judged, Sheet, items_of, judged_on, sheets
from calibration.workbench.versions import (
    DIRECTIONS,
    Difference,
    differences,
    item_systems,
    line_of_drafts,
    side_by_side,
    systems_of,
)
from config.files import row_id
from config.permissions import researcher_only, user_of
from config.templatetags.concord import num
from jobs.endpoints.parameter_inputs import WithParameters, form_field
from jobs.endpoints.parameters import PARAMETERS
from jobs.errors import JobError
from jobs.models import Endpoint
from judges.drafts import benches, draft_actions
from judges.drafts.benches import begun_from, options_of, parent_of, picked, text_of, versions_for
from judges.errors import JudgeError
from judges.models import Bench, Draft
from judges.pages.forms import NEED, need_fields, needs_of, scheme_choices
from judges.pages.prompts import RULE_TITLES, EditorForm, pick_fields, picking
from judges.pages.runs import offer_endpoints, sync_endpoints
from judges.prompts.examples import BadKeys
from judges.prompts.prompt_actions import LONGEST_NAME, LONGEST_NOTE
from judges.prompts.requests import COUNTED
from judges.prompts.versions import Version
from judges.protocols import PROTOCOLS, Asking, Wording
from judges.protocols.g_eval import PROBABILITIES, SAMPLES
from judges.protocols.rubric import EXPECTED, JSON, LINE
from judges.runs.estimates import Estimate
from judges.runs.material import asked_on, drafts_of
from judges.runs.plans import BUDGET

# Forms of the workbench: a new bench, and the text and settings of a draft.

HOW_A_RUBRIC_ASKS = {
    JSON: "all questions at once, each answer explained (json)",
    LINE: "one question a call, the value alone (line)",
    EXPECTED: "one question a call, the value expected under the tokens' probabilities (expected)",
    PROBABILITIES: "G-Eval: the score expected under the tokens' probabilities (probabilities)",
    SAMPLES: "G-Eval: the mean of twenty samples (samples)",
}


class BenchForm(forms.Form):
    """Settings of a new bench."""

    name = forms.CharField(max_length=benches.LONGEST_NAME, help_text="How you find it again.")
    protocol = forms.ChoiceField(
        label="Protocol",
        help_text="A rubric and G-Eval ask the questions of any scheme, the other protocols their own.",
    )
    scheme = forms.ChoiceField(
        required=False,
        label="Questions",
    )
    variant = forms.ChoiceField(
        required=False,
        label="How it asks",
        choices=list(HOW_A_RUBRIC_ASKS.items()),
        help_text="Drafts of the bench may ask otherwise where that answers the same questions.",
    )
    include_self = forms.BooleanField(
        required=False,
        label="Also rate the original turns",
        help_text="Of dialogues that have continuations; of all others they are there anyway.",
    )
    seed = form_field(benches.SEED, required=True, initial=0)

    def __init__(self, *args: Any, corpus: Corpus, campaign: Campaign | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asking = [protocol for protocol in PROTOCOLS.values() if isinstance(protocol, Asking)]
        schemes = scheme_choices()
        own = [("", "the campaign's own")] if campaign else schemes[:1]
        _choose(
            self, "protocol", [(protocol.key, f"{protocol.title} ({protocol.key})") for protocol in asking]
        )
        _choose(self, "scheme", [*own, *schemes[1:]])
        self.fields["name"].initial = _free_name(campaign.name if campaign else corpus.name)
        self.fields["protocol"].initial = "rubric"
        if campaign is None:
            answered = (question.scheme for question in offered(scope_of(corpus, None)).questions.values())
            own_names = [name for ref in answered for name in (ref, ref.partition("@")[0])]
            values = dict(schemes)
            self.fields["scheme"].initial = next((name for name in own_names if name in values), "")

    def settings(self) -> list[forms.BoundField]:
        """Return the fields that rarely change."""
        return [self["include_self"], self["seed"]]

    def clean(self) -> dict[str, Any]:
        """Clear the variant of another protocol than the chosen one."""
        data = super().clean() or {}
        protocol = PROTOCOLS.get(data.get("protocol", ""))
        if protocol is not None and data.get("variant") not in protocol.variants:
            data["variant"] = ""
        return data


def _free_name(place: str) -> str:
    """Return the first name for a bench over a corpus or campaign that no bench has."""
    used = set(Bench.objects.values_list("name", flat=True))
    names = (f"{place[: benches.LONGEST_NAME - 8]}, bench {number}" for number in count(1))
    return next(name for name in names if name not in used)


EXAMPLES = "examples_"
"""Prefix of the names of the fields that pick examples."""


class WithExamples(forms.Form):
    """Fields to pick a draft's worked examples anew: those of `prompts` without a corpus."""

    examples_rule = forms.ChoiceField(
        required=False,
        label="Pick",
        choices=[("", "no others"), *RULE_TITLES],
        help_text="From dev of this bench's corpus alone; they take the place of those that it has.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update({f"{EXAMPLES}{name}": field for name, field in pick_fields().items()})

    def examples(self) -> list[forms.BoundField]:
        """Return the fields."""
        return [self[name] for name in self.fields if name.startswith(EXAMPLES)]

    def has_examples(self) -> bool:
        """Whether examples are to be picked."""
        return "examples_rule" in self.fields and bool(self["examples_rule"].value())

    def example_options(self) -> dict[str, Any]:
        """Return the settings for picking examples, as `judges.drafts.benches.picked` expects them."""
        return picking(self.cleaned_data, EXAMPLES) if "examples_rule" in self.fields else {}

    def refuse(self, error: JobError) -> None:
        """Show an error at the field that caused it."""
        self.add_error("examples_keys" if isinstance(error, BadKeys) else None, str(error))


class DraftForm(WithExamples, WithParameters, EditorForm):
    """A draft: the prompt editor, its endpoint, and its settings. `begin` names its starting point."""

    begin = forms.CharField(widget=forms.HiddenInput, required=False)
    variant = forms.ChoiceField(required=False)
    endpoint = forms.ModelChoiceField(Endpoint.objects.filter(active=True), empty_label="Choose an endpoint")
    samples = form_field(draft_actions.SAMPLES, required=True, initial=1)
    budget = form_field(BUDGET, help_text="")

    def __init__(self, *args: Any, bench: Bench, begin: str, **kwargs: Any) -> None:
        self.bench = bench
        begun, variants = text_of(bench, begin), benches.variants(bench)
        super().__init__(*args, base=replace(begun, variant=_variant(args, begun, variants)), **kwargs)
        del self.fields["note"]
        _choose(
            self, "variant", [(variant, variant.replace("_", " ") or "as always") for variant in variants]
        )
        if len(variants) < 2:
            self.fields["variant"].widget = forms.HiddenInput()
        self.protocol = benches.protocol_of(bench, self.base.variant)
        drafts = drafts_of(bench.corpus, self.protocol) if self.protocol.needs else ()
        self.fields.update(need_fields(self.protocol, drafts))
        if self.protocol.needs:  # other judges' answers cannot be shown in examples
            for name in [name for name in self.fields if name.startswith(EXAMPLES)]:
                del self.fields[name]

    def needs(self) -> list[forms.BoundField]:
        """Return the fields that select the answers this text reads: the steps before it."""
        return [self[name] for name in self.fields if name.startswith(NEED)]

    def parts(self) -> tuple[str, ...]:
        """Return the parts that are sent in a call each; empty if one call covers everything."""
        parts = self.protocol.parts(self.base.variant)
        return parts if len(parts) > 1 else ()

    def wording(self) -> Wording:
        """Return the text as entered; a reply form that the variant lacks is replaced by its first."""
        wording = super().wording()
        return (
            wording
            if wording.form in self.protocol.forms_of(self.base.variant)
            else replace(wording, form="")
        )

    def draft(self) -> dict[str, Any]:
        """Return the arguments of `judges.drafts.draft_actions.write` besides bench and user."""
        data = self.cleaned_data
        sent = {name: data[name] for name in PARAMETERS if name in data}
        return {
            "wording": picked(self.bench, data["variant"], self.wording(), self.example_options()),
            "variant": data["variant"],
            "endpoint": data["endpoint"],
            "options": options_of(sent | {"budget": data["budget"], "needs": needs_of(data)}),
            "parent": parent_of(self.bench, data["begin"]),
        }


def _choose(form: forms.Form, name: str, choices: list[tuple[str, str]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


def _variant(args: tuple[Any, ...], begun: Version, variants: list[str]) -> str:
    """Return the form's variant: the submitted one, else that of its starting point."""
    sent: Mapping[str, Any] = args[0] if args and args[0] else {}
    requested = sent.get("variant", begun.variant)
    if begun.variant not in variants:
        raise JudgeError(f"{begun.ref} asks as {begun.variant}; this bench as {' or '.join(variants)}.")
    return requested if requested in variants else begun.variant


PAGE = 10
MOST_APART = 10
"""Number of disagreements above the items of a draft."""
HOW_MANY: dict[str, int | None] = {"5": 5, "20": 20, "all": None}
UNASKED = 20
"""Maximum number of calls that need no confirmation, at an endpoint that the bench has used before."""


@researcher_only
def new_bench(request: HttpRequest) -> HttpResponse:
    """Researchers: open a bench on a corpus or campaign."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return redirect("corpora")
    form = BenchForm(request.POST or None, corpus=corpus, campaign=campaign)
    try:
        if request.method == "POST" and form.is_valid():
            opened = benches.open_bench(
                by=user_of(request), corpus=corpus, campaign=campaign, **form.cleaned_data
            )
            return redirect("bench", opened.pk)
    except JobError as error:
        form.add_error(None, str(error))
    context = {"corpus": corpus, "campaign": campaign, "form": form, "split": splits.lock_of(corpus)}
    return render(request, "workbench/new.html", context, status=422 if form.errors else 200)


@researcher_only
def bench(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the text on the left, the items with a draft's and people's answers on the right.

    POST writes the draft and runs it on some items; for many calls, or a new endpoint, it first shows what
    will be sent where.
    """
    about = access.bench(pk)
    sync_endpoints(request)
    if request.method == "POST":
        return _try(request, about)
    draft = _displayed_draft(about, request.GET.get("draft", ""))
    begin = request.GET.get("from") or (f"draft-{draft.number}" if draft else "")
    return _page(request, about, draft, _form(request, about, begin))


def _form(request: HttpRequest, about: Bench, begin: str, data: Any = None) -> DraftForm:
    """Return the editor; an unknown starting point is replaced by Concord's own text."""
    try:
        form = DraftForm(data, initial=begun_from(about, begin), bench=about, begin=begin)
    except JobError as error:
        messages.error(request, str(error))
        form = DraftForm(data, initial=begun_from(about, ""), bench=about, begin="")
    offer_endpoints(request, form)
    return form


def _try(request: HttpRequest, about: Bench) -> HttpResponse:
    form = _form(request, about, request.POST.get("begin", ""), request.POST)
    requested, key = request.POST.get("items", ""), request.POST.get("item", "")
    draft = None
    if form.is_valid() and (requested in HOW_MANY or "show" in request.POST):
        samples = form.cleaned_data["samples"]
        try:
            if "show" in request.POST:
                requests = draft_actions.requests_of(about, key, later=user_of(request), **form.draft())
                return _page(request, about, None, form, requests=requests, counted=COUNTED, key=key)
            draft = draft_actions.write(by=user_of(request), bench=about, **form.draft())
            if estimate := _to_confirm(request, draft, HOW_MANY[requested], samples):
                return _page(request, about, draft, form, asked=estimate, wanted=requested, written=draft)
            draft_actions.run(by=user_of(request), draft=draft, targets=HOW_MANY[requested], samples=samples)
            return redirect(f"{_address(draft)}#the-results")
        except JobError as error:
            form.refuse(error)
    return _page(request, about, draft, form, status=422)


def _to_confirm(request: HttpRequest, draft: Draft, targets: int | None, samples: int) -> Estimate | None:
    """Return the estimate if the user should confirm it first."""
    if "confirmed" in request.POST:
        return None
    estimate = draft_actions.estimate(draft, targets, samples)
    return estimate if estimate.calls > UNASKED or not draft_actions.is_known(draft) else None


def _page(
    request: HttpRequest,
    about: Bench,
    draft: Draft | None,
    form: DraftForm,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    context = {
        "bench": about,
        "form": form,
        **_starts(about, draft),
        "steps": _steps(about),
        "one": benches.unit(about)[0],
        "unit": benches.unit(about)[1],
        "everything": _everything(about),
        "how_many": HOW_MANY,
        **more,
    }
    if draft is not None and not more:
        context |= _panel(request, about, draft)
    return render(request, "workbench/bench.html", context, status=status)


def _starts(about: Bench, draft: Draft | None) -> dict[str, Any]:
    """Return the drafts and versions whose text a new draft may begin with, and the current one."""
    drafts = list(about.drafts.filter(of=None, search_text=None, discarded_at=None))
    versions = versions_for(about)
    starts = [
        *(
            (f"draft-{row.number}", f"{row.name} (draft {row.number})" if row.kept else row.name)
            for row in drafts
        ),
        *((row.ref, f"{row.ref}, comes with Concord" if row.is_built_in else row.ref) for row in versions),
    ]
    first = versions[0].ref if versions else ""
    return {"drafts": drafts, "starts": starts, "start": f"draft-{draft.number}" if draft else first}


def _everything(about: Bench) -> str:
    """Return the label of the button that runs a draft on every target of dev."""
    n, (single, several) = benches.available(about), benches.unit(about)
    return f"On the one {single} of dev" if n == 1 else f"On all {n:,} {several} of dev"


def _steps(about: Bench) -> list[Bench]:
    """Return the benches for the answers that a bench's protocol reads."""
    needs = benches.protocol_of(about).needs
    others = Bench.objects.filter(corpus=about.corpus).exclude(pk=about.pk).order_by("name")
    return [other for other in others if any(need.question in asked_on(other) for need in needs)]


@require_GET
@researcher_only
def draft_panel(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Researchers: only the items of a draft, reloaded while replies arrive."""
    about = access.bench(pk)
    context = _panel(request, about, access.draft(about, number)) | {"bench": about}
    return render(request, "workbench/_draft.html", context)


def _panel(request: HttpRequest, about: Bench, draft: Draft) -> dict[str, Any]:
    judged = Judged(draft.name, draft.asker, draft)
    targets = about.targets.filter(position__lt=draft.targets).order_by("position")
    page = Paginator(targets, PAGE).get_page(request.GET.get("page"))
    tried = as_json.tried(draft)
    context: dict[str, Any] = {
        "draft": draft,
        "tried": tried,
        "judged": judged,
        "page": page,
        "longest_name": LONGEST_NAME,
        "longest_note": LONGEST_NOTE,
        "one": benches.unit(about)[0],
        "unit": benches.unit(about)[1],
    }
    try:
        context["cards"] = showing.cards(about, judged, list(page))
        read = sheets(about, [judged])
        context["figures"] = [_figure_row(row) for row in showing.agreement(read, judged)]
        apart = differences(read, judged)
        context |= {"n_apart": len(apart), "apart": _rows_of(about, judged, apart[:MOST_APART])}
        if not tried.active and (chart := line_of_drafts(about)):
            context |= {"line": chart, "svg": mark_safe(inline_svg(chart))}
        context["unanswered"] = showing.unanswered(read)
    except CalibrationError as error:
        context["refused"] = str(error)
    return context


def _figure_row(row: showing.Agreement) -> dict[str, Any]:
    """Return a figure of a draft's agreement as a row of the table of figures."""
    calls = f"{row.reading.samples} of {row.reading.calls} calls" if row.reading.samples else ""
    against = "" if row.against == "people" else f"against {row.against}"
    note = ", ".join(filter(None, (calls, against)))
    return {"question": row.question.title, "title": row.title, "note": note, "result": row.result}


@require_POST
@researcher_only
def draft_act(request: HttpRequest, pk: int, number: int, verb: str) -> HttpResponse:
    """Researchers: cancel a draft, retry its failed calls, keep it as a version or discard it."""
    draft = access.draft(access.bench(pk), number)
    by = user_of(request)
    try:
        if verb == "keep":
            name, note = request.POST.get("name", ""), request.POST.get("note", "")
            version = draft_actions.keep(by=by, draft=draft, name=name, note=note)
            messages.success(request, f"Kept as {version.kept}: its answers are labels of that judge now.")
        elif verb == "discard":
            draft_actions.discard(by=by, draft=draft)
            messages.info(request, f"Draft {draft.number} was thrown away. It stays counted as tried.")
            return redirect("bench", pk)
        elif verb in draft_actions.VERBS:
            draft_actions.VERBS[verb](by=by, draft=draft)
        else:
            raise Http404
    except JobError as error:
        messages.error(request, str(error))
    return redirect(_address(draft))


def _displayed_draft(about: Bench, number: str) -> Draft | None:
    """Return the draft named in a URL, else the latest that was run."""
    if number.isdecimal() and number.isascii() and len(number) < 10:
        return access.draft(about, int(number))
    latest = (
        about.drafts.filter(of=None, search_text=None, discarded_at=None, targets__gt=0)
        .order_by("-pk")
        .first()
    )
    return access.draft(about, latest.number) if latest else None


def _address(draft: Draft) -> str:
    return f"{reverse('bench', args=[draft.bench_id])}?draft={draft.number}"


# Checks of a draft: findings, and the cost of further calls. Researchers only.


@researcher_only
def bench_checks(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: findings of a draft's checks; POST starts a check once its cost was confirmed."""
    bench = access.bench(pk)
    drafts = [judged.draft for judged in judged_on(bench) if judged.draft is not None]
    draft = _draft(bench, drafts, request)
    context: dict[str, Any] = {"bench": bench, "drafts": drafts, "draft": draft}
    if draft is None:
        return render(request, "workbench/checks.html", context)
    if request.method == "POST":
        key = request.POST.get("check", "")
        try:
            if "confirmed" in request.POST:
                checks.start(by=user_of(request), draft=draft, key=key)
                return redirect(f"{reverse('bench-checks', args=[pk])}?draft={draft.number}#{key}")
            context |= {"asked": checks.cost(draft, key), "asked_for": key}
        except (CalibrationError, JobError) as error:
            messages.error(request, str(error))
    own = request.GET.getlist("own") or own_systems(draft)
    try:
        findings = [checks.finding(draft, key, own=own) for key in checks.CHECKS]
        context["findings"] = [(finding, _check_rows(finding)) for finding in findings]
    except CalibrationError as error:
        messages.error(request, str(error))
    context |= {
        "systems": [(name, name in own) for name in sorted(set(item_systems(list(items_of(bench)))))],
        "active": _active(draft),
    }
    return render(request, "workbench/checks.html", context)


def _check_rows(finding: checks.Finding) -> list[dict[str, Any]]:
    """Return a check's figures as rows of the table of figures."""
    return [
        {
            "question": row.question,
            "title": row.title,
            "note": row.about,
            "result": row.result,
            "not_asked": [f"{row.not_asked:,}"],
        }
        for row in finding.figures
    ]


def _draft(bench: Bench, drafts: list[Draft], request: HttpRequest) -> Draft | None:
    number = row_id(request.POST.get("draft", "") or request.GET.get("draft", ""))
    if number is not None:
        return access.draft(bench, number)
    return access.draft(bench, drafts[0].number) if drafts else None


def _active(draft: Draft) -> bool:
    """Whether calls of a check are active."""
    return any(
        as_json.tried(candidate).active
        for candidate in [draft, *draft.checks.select_related("bench", "rater")]
    )


# Comparison of a bench's versions and drafts. Researchers only.


@require_GET
@researcher_only
def bench_versions(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: every version and draft tried here, each compared with a reference."""
    bench = access.bench(pk)
    context: dict[str, Any] = {"bench": bench}
    try:
        context["found"] = side_by_side(bench, request.GET.get("with", ""))
    except CalibrationError as error:
        return render(request, "workbench/versions.html", context | {"refused": str(error)}, status=422)
    return render(request, "workbench/versions.html", context)


# Disagreements between drafts and people on a bench, with marks.

FILTERS = ("judged", "question", "direction", "system")


@require_GET
@researcher_only
def bench_differences(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: a judge's differences from people, largest first, with marks of who is wrong."""
    bench = access.bench(pk)
    judged = judged_on(bench)
    key = request.GET.get("judged", "")
    selected = access.judged(judged, key) if judged or key else None
    filters = {name: request.GET.get(name, "") for name in FILTERS[1:]}
    context: dict[str, Any] = {"bench": bench, "judged": judged, "chosen": selected, "asked": filters}
    status = 200
    try:
        sheet_list = sheets(bench, [selected] if selected else [])
        rows = differences(sheet_list, selected, **filters) if selected else []
        context |= _differences_context(request, bench, selected, sheet_list, rows)
    except CalibrationError as error:
        context["refused"], status = str(error), 422
    return render(request, "workbench/differences.html", context, status=status)


def _differences_context(
    request: HttpRequest,
    bench: Bench,
    selected: Judged | None,
    sheet_list: list[Sheet],
    rows: list[Difference],
) -> dict[str, Any]:
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    return {
        "page": page,
        "here": request.get_full_path(),
        "questions": [sheet.question for sheet in sheet_list],
        "systems": systems_of(sheet_list),
        "directions": DIRECTIONS,
        "counts": marks.counts(bench),
        "marked": [
            ("keep-judged", selected.key if selected else ""),
            *((f"keep-{name}", request.GET.get(name, "")) for name in FILTERS[1:]),
            ("keep-page", page.number),
        ],
        "longest_note": marks.LONGEST,
        "verdicts": [pair for pair in Mark.Verdict.choices if pair[0] != Mark.Verdict.WITHDRAWN],
        "rows": _rows_of(bench, selected, list(page)) if selected else [],
    }


def _rows_of(bench: Bench, judged: Judged, rows: list[Difference]) -> list[dict[str, Any]]:
    """Return differences with their items and lines, the answers and reasons of both sides, and marks."""
    related = ("continuation__dialogue__corpus", "continuation__system", "turn")
    items = Item.objects.select_related(*related).in_bulk([difference.item for difference in rows])
    turn_numbers.number(item.turn for item in items.values())
    lines, current = lines_of(list(items.values())), marks.current_marks(bench)
    why, reasons = showing.explanations(judged, items), showing.reasons_of_people(bench, items)
    return [
        {
            "difference": difference,
            "question": difference.sheet.question,
            "note_id": f"note-{difference.item}-{difference.sheet.question.id}",
            "judge_name": _judge_name(difference, judged),
            "item": items[difference.item],
            "lines": lines[difference.item],
            "people": [
                (name, value, reasons.get((difference.item, difference.sheet.question.key, name), ""))
                for name, value in _people_answers(difference)
            ],
            "judge": _judge(difference, judged),
            "why": why.get((difference.item, difference.sheet.question.key), ""),
            "mark": current.get((difference.item, difference.sheet.question.id, judged.key)),
        }
        for difference in rows
    ]


def _people_answers(difference: Difference) -> list[tuple[str, str]]:
    ratings = difference.sheet.ratings
    return [
        (
            ratings.raters[j],
            named_value(difference.sheet.question, ratings, float(ratings.values[difference.row, j])),
        )
        for j in ratings.of_kind("human")
        if ratings.values[difference.row, j] == ratings.values[difference.row, j]
    ]


def _judge_name(difference: Difference, judged: Judged) -> str:
    """Return a judge's name, with how far it is from people where answers have an order."""
    if not difference.direction:
        return judged.name
    return f"{judged.name}, {difference.direction}, {num(difference.distance, 2)} apart on average"


def _judge(difference: Difference, judged: Judged) -> str:
    values = difference.sheet.of(judged)[0].values
    return named_value(difference.sheet.question, difference.sheet.ratings, float(values[difference.row]))


@require_POST
@researcher_only
def bench_mark(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: mark who is wrong, withdraw the mark, or send the item to adjudication."""
    bench, by = access.bench(pk), user_of(request)
    if not (key := request.POST.get("judged", "")):
        raise Http404
    judged = access.judged(judged_on(bench), key)
    item = get_object_or_404(Item, pk=row_id(request.POST.get("item", "")) or 0)
    question = get_object_or_404(Question, pk=row_id(request.POST.get("question", "")) or 0)
    verdict, note = request.POST.get("verdict", ""), request.POST.get("note", "").strip()
    try:
        if verdict == "adjudicate":
            current = marks.current_marks(bench).get((item.pk, question.pk, judged.key))
            if current is None:
                raise Http404
            marks.send_to_adjudication(by=by, mark=current)
            messages.success(request, "It waits for adjudication.")
        else:
            marks.mark(
                by=by, bench=bench, judged=judged, item=item, question=question, verdict=verdict, note=note
            )
    except CalibrationError as error:
        messages.error(request, str(error))
    filters = {name: request.POST.get(f"keep-{name}", "") for name in (*FILTERS, "page")}
    query = urlencode({name: value for name, value in filters.items() if value})
    return redirect(f"{reverse('bench-differences', args=[pk])}?{query}#item-{item.pk}-{question.pk}")


@require_GET
@researcher_only
def bench_marks(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """Researchers: the marks of a bench as CSV or JSON."""
    bench = access.bench(pk)
    if form not in marks.FORMS:
        raise Http404
    kind = f"{marks.FORMS[form]}; charset=utf-8"
    response = HttpResponse(marks.render_marks(bench, form), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="bench-{bench.pk}-marks.{form}"'
    return response
