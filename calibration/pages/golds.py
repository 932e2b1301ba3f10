"""Gold labels: the list, a new derivation, and one with its labels and downloads.

For researchers; for a campaign also those who manage it.
"""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods

from annotation.corpora import splits
from annotation.corpora.splits import TRAINING
from annotation.models import Campaign, Item, Question, SchemeVersion, turn_numbers
from annotation.schemes.definitions import UNSCALED
from calibration import access
from calibration.access import (
    gold_researcher_only,
    may_see,
    place_of,
    place_researcher_only,
    visible_to,
)
from calibration.errors import CalibrationError, GoldRuleError
from calibration.exports.downloads import GOLD, Order
from calibration.exports.writing import FORMATS
from calibration.gold import export as gold_export
from calibration.gold.derivation import (
    Preview,
    changes_of,
    counts_everybody,
    default_rule_of,
    described,
    gold_or_job,
    preview_gold,
)
from calibration.gold.difference import STATUSES, comparable, difference, shared_questions
from calibration.gold.export import findings_of
from calibration.gold.rules import RULES, Option, Rule, known_options, label, limits, rules_with
from calibration.models import Gold, GoldLabel
from calibration.pages.exports import answer, file_addresses, taken_by
from calibration.ratings.scope import Census, offered, scope_of
from calibration.reports.names import names_in
from config.files import row_id
from config.lists import LongPaginator
from config.permissions import is_researcher
from jobs.models.job import Job

# Comparison of two golds: how many items differ, how far, and which. For users who may see both.

PAGE = 50


@require_GET
@gold_researcher_only
def compared(request: HttpRequest, pk: int) -> HttpResponse:
    """Comparison of a gold with another one of the same corpus and questions, named by `with`."""
    number = row_id(request.GET.get("with", ""))
    if number is None:
        return redirect("gold", pk)
    try:
        gold_difference = difference(access.gold(pk), _other(request, number))
    except CalibrationError as refused:
        return _refused(request, pk, refused)
    status = request.GET.get("show", "")
    status = status if status in STATUSES else "different"
    key = request.GET.get("question")
    question = next((row.question for row in gold_difference.questions if row.question.key == key), None)
    page = Paginator(gold_difference.rows(status, question), PAGE).get_page(request.GET.get("page"))
    narrowed: dict[str, Any] = {"with": number, "show": status} | (
        {"question": question.key} if question else {}
    )
    context = {
        "found": gold_difference,
        "first": described(gold_difference.first),
        "second": described(gold_difference.second),
        "meaning": STATUSES[status],
        "pair": urlencode({"with": number}),
        "files": file_addresses("gold-difference-file", pk),
        "status": status,
        "asked": question,
        "page": page,
        "rows": _with_items(list(page)),
        "split": splits.lock_of(gold_difference.first.corpus),
        "query": f"{urlencode(narrowed)}&",
    }
    return render(request, "calibration/gold_difference.html", context)


def _other(request: HttpRequest, number: int) -> Gold:
    if not may_see(request.user, Gold.objects.all(), number):
        raise PermissionDenied
    return access.gold(number)


def _refused(request: HttpRequest, pk: int, refused: CalibrationError) -> HttpResponse:
    messages.error(request, f"Not compared: {refused}.")
    return redirect("gold", pk)


def _with_items(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of a difference with their items and turn numbers."""
    related = ("continuation__dialogue", "turn")
    items = Item.objects.select_related(*related).in_bulk({row["item_id"] for row in rows})
    turn_numbers.number(item.turn for item in items.values())
    return [row | {"place": items[row["item_id"]]} for row in rows]


@require_http_methods(["GET", "POST"])
@gold_researcher_only
def file(request: HttpRequest, pk: int, form: str) -> HttpResponse | StreamingHttpResponse:
    """Two golds side by side as a file; the test part is exported by POST only."""
    first, number = access.gold(pk), row_id(request.GET.get("with", ""))
    if form not in FORMATS or number is None:
        raise Http404
    second = _other(request, number)
    try:
        shared_questions(first, second)
    except CalibrationError as refused:
        return _refused(request, pk, refused)
    export_part = taken_by(request, first.corpus, first)
    if export_part is None:
        return redirect(f"{reverse('gold-difference', args=[pk])}?with={number}")
    return answer(request, Order(GOLD, first.corpus, first.campaign, export_part, form, first, other=second))


# Form of new gold labels, built from the table of rules and options.


def _line(rule: Rule) -> str:
    """Return the form's text for a rule: its choice, and the questions and raters it needs."""
    raters = "" if rule.raters_needed == "any" else f"; raters: {rule.raters_needed}"
    split = "; the corpus is split" if rule.learns_on_dev is True else ""
    return f"{rule.title}: {rule.explanation}. Takes {rule.needs}{raters}{split}."


class GoldForm(forms.Form):
    """Settings of new gold labels: questions, rule and raters."""

    scheme = forms.ChoiceField(label="Questions of")
    rule = forms.ChoiceField(
        choices=lambda: [(rule.key, _line(rule)) for rule in RULES.values()],
        widget=forms.RadioSelect,
        initial="majority",
    )
    raters = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all people."
    )

    def __init__(self, *args: Any, counted: Census, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        questions = [
            q
            for q in counted.questions.values()
            if q.level not in UNSCALED and not q.scheme.startswith("metric:")
        ]
        if questions:
            self.fields["rule"].initial = default_rule_of(counted, questions[0].scheme)
        schemes = {q.scheme: f"{q.scheme_title} ({q.scheme})" for q in questions}
        for name, choices in (
            ("scheme", list(schemes.items())),
            (
                "raters",
                [(r.name, r.choice) for r in counted.raters.values() if r.kind != "metric"],
            ),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
        for name, option in known_options().items():
            self.fields[name] = _field(name, option)

    def rule_options(self) -> list[dict[str, Any]]:
        """Return the option fields, each with the rules that have the option."""
        return [
            {"field": self[name], "rules": " ".join(rule.key for rule in rules_with(name))}
            for name in known_options()
        ]

    def version(self) -> SchemeVersion:
        """Return the selected scheme version."""
        key, number = self.cleaned_data["scheme"].rsplit("@", 1)
        return SchemeVersion.objects.select_related("scheme").get(scheme__key=key, version=int(number))

    def choice(self) -> str:
        """Return the selection as text, so that a confirmation applies to exactly this selection."""
        values = (self.cleaned_data[name] for name in ("scheme", "rule", "raters"))
        return json.dumps([*values, self.options()], sort_keys=True)

    def clean(self) -> dict[str, Any]:
        """Check the options of the selected rule; those of other rules are ignored."""
        if rule := RULES.get(self.cleaned_data.get("rule", "")):
            for name in rule.options:
                if value := self.cleaned_data.get(name):
                    try:
                        rule.options[name].read(name, value)
                    except GoldRuleError as error:
                        self.add_error(name, str(error))
        return self.cleaned_data

    def options(self) -> dict[str, str]:
        """Return the options of the selected rule; empty ones are left to their defaults."""
        own = RULES[self.cleaned_data["rule"]].options
        return {name: self.cleaned_data[name] for name in own if self.cleaned_data[name]}

    def arguments(self) -> dict[str, Any]:
        """Return the selection as arguments of `calibration.gold.derivation.gold_or_job`."""
        selection = {name: self.cleaned_data[name] for name in ("rule", "raters")}
        return selection | {"scheme_version": self.version(), "options": self.options()}


def _field(name: str, option: Option) -> forms.Field:
    """Return the form field of an option; the selected rule checks its value."""
    how: dict[str, Any] = {"label": label(name), "required": False, "initial": option.default}
    if not option.is_number:
        return forms.ChoiceField(choices=list(option.choices.items()), help_text=option.help, **how)
    step = "1" if isinstance(option.default, int) else "any"
    bounds = {"min": f"{option.low:g}", "max": f"{option.high:.15g}", "step": step}
    return forms.CharField(
        max_length=40,
        widget=forms.NumberInput(attrs=bounds),
        help_text=f"{option.help} From {limits(option)}.",
        **how,
    )


MOST_OTHERS = 100
"""Maximum number of other golds offered for comparison, newest first."""


@require_GET
@place_researcher_only
def index(request: HttpRequest) -> HttpResponse:
    """The gold labels of a campaign, newest first; a corpus has a page of its own for all of them."""
    corpus, campaign = place_of(request)
    if campaign is None:
        return redirect("corpus-gold", corpus.name) if corpus else redirect("corpora")
    golds = campaign.golds.select_related("corpus", "campaign", "scheme_version__scheme", "created_by")
    page = Paginator(golds.order_by("-pk"), 50).get_page(request.GET.get("page"))
    descriptions = [described(gold) for gold in page]
    context = {"page": page, "shown": descriptions, "corpus": corpus, "campaign": campaign}
    return render(request, "calibration/golds.html", context)


@place_researcher_only
def new(request: HttpRequest) -> HttpResponse:
    """Choose a corpus or campaign, then the settings of its gold."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return redirect("corpora")
    part = TRAINING if request.GET.get("part") == TRAINING else ""
    counted = offered(scope_of(corpus, campaign, part))
    form = GoldForm(request.POST or None, counted=counted)
    before = None
    if request.method == "POST" and form.is_valid():
        user: Any = request.user
        choice = {"corpus": corpus, "campaign": campaign, "part": part} | form.arguments()
        try:
            if request.POST.get("confirmed") != form.choice():
                before = _gaps(preview_gold(**choice))
            if before is None:
                return _derived(request, campaign, gold_or_job(**choice, by=user))
        except CalibrationError as error:
            form.add_error(None, str(error))
    context = {
        "form": form,
        "corpus": corpus,
        "campaign": campaign,
        "counted": counted,
        "before": before,
        "part": part,
    }
    return render(request, "calibration/new_gold.html", context, status=422 if form.errors else 200)


def _gaps(counted: Preview) -> Preview | None:
    """Return the preview if some items would have no value, or if their number is unknown."""
    return counted if counted.without or counted.unknown else None


def _derived(request: HttpRequest, campaign: Campaign | None, gold: Gold | Job) -> HttpResponse:
    """Redirect to new gold labels, or to the list in which the job that makes them appears."""
    if isinstance(gold, Gold):
        return redirect("gold", gold.pk)
    messages.info(request, "The gold labels are being made: see the list below.")
    if campaign is not None and not is_researcher(request.user):
        return redirect(f"{reverse('golds')}?campaign={campaign.pk}")
    return redirect("jobs")


@require_GET
@gold_researcher_only
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """One derivation: its rule, its certainty, and its labels; with `only`, those without a value."""
    gold = access.gold(pk)
    only_without = request.GET.get("only") == "without"
    labels, many = gold.labels.order_by("pk"), gold.n
    if only_without:
        labels, many = labels.exclude(reason=""), gold.without
    n_all = many
    hidden = splits.unopened(gold.corpus).values("cluster")
    if hidden.exists():
        labels = labels.exclude(splits.within(hidden, "item__"))
        many = labels.count()
    rows = GoldLabel.objects.select_related("item__continuation__dialogue", "item__turn", "question")
    page = LongPaginator(labels, 50, many=many, rows=rows).get_page(request.GET.get("page"))
    turn_numbers.number(label.item.turn for label in page)
    question_rows = Question.objects.filter(pk__in=gold.counts).order_by("position")
    questions = [
        {"question": question, "n": n, "without": without}
        for question in question_rows
        for n, without in [gold.counts[str(question.pk)]]
    ]
    changes = changes_of(gold)
    context = {
        "gold": gold,
        "files": file_addresses("gold-file", gold.pk),
        "n_locked": n_all - page.paginator.count,
        "changes": changes,
        "again": _again(gold) if changes else [],
        "page": page,
        "questions": questions,
        "described": described(gold),
        "has_sources": "fallback" in gold.options or bool(gold.options.get("adjudicators")),
        "findings": findings_of(gold),
        "names": names_in(gold.corpus),
        "others": [described(other) for other in visible_to(request.user, comparable(gold))[:MOST_OTHERS]],
        "split": None if gold.is_of_training else splits.lock_of(gold.corpus),
        "provenance": gold_export.provenance(gold),
        "only_without": only_without,
        "exports": gold.exports.select_related("created_by")[:10],
    }
    return render(request, "calibration/gold.html", context)


def _again(gold: Gold) -> list[tuple[str, str]]:
    """Return the form fields to make a gold anew; if all people counted, new people do, too."""
    version = gold.scheme_version
    raters = [] if counts_everybody(gold) else gold.options["raters"]
    own = [(name, str(gold.options[name])) for name, _ in described(gold).options]
    fields = [("scheme", f"{version.scheme.key}@{version.version}"), ("rule", gold.rule), *own]
    return [*fields, *(("raters", name) for name in raters)]


@require_http_methods(["GET", "POST"])
@gold_researcher_only
def download(request: HttpRequest, pk: int, form: str) -> HttpResponse | StreamingHttpResponse:
    """A derivation's labels as a file; the test part is exported by POST only."""
    gold = access.gold(pk)
    if form not in FORMATS:
        raise Http404
    export_part = taken_by(request, gold.corpus, gold)
    if export_part is None:
        return redirect("gold", pk)
    return answer(request, Order(GOLD, gold.corpus, gold.campaign, export_part, form, gold))


@require_GET
@gold_researcher_only
def provenance(request: HttpRequest, pk: int) -> HttpResponse:
    """Provenance of a derivation, as JSON."""
    content = json.dumps(gold_export.provenance(access.gold(pk)), indent=2, ensure_ascii=False) + "\n"
    response = HttpResponse(content, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="gold-{pk}-provenance.json"'
    return response
