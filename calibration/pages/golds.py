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
from django.utils.timezone import localtime
from django.views.decorators.http import require_GET, require_http_methods

from annotation.corpora import splits
from annotation.corpora.splits import TRAINING
from annotation.models import Campaign, Corpus, Item, Question, SchemeVersion, turn_numbers
from annotation.models.schemes import VERSION_TITLE
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
from calibration.gold import shares as gold_shares
from calibration.gold.derivation import (
    QUESTIONS,
    Described,
    Preview,
    changes_of,
    counts_everybody,
    described,
    gold_or_job,
    preview_gold,
)
from calibration.gold.difference import STATUSES, comparable, difference, shared_questions
from calibration.gold.export import findings_of
from calibration.gold.rules import RULES, Option, Rule, default_rule, known_options, limits
from calibration.models import Gold, GoldLabel
from calibration.pages.exports import (
    TEST_PARTS,
    answer,
    exclude_query,
    file_addresses,
    left_out_context,
    taken_by,
)
from calibration.ratings.scope import Census, offered, scope_of
from calibration.reports.names import Names, names_in
from config.files import row_id
from config.listing import Column, Listing
from config.lists import LongPaginator
from config.permissions import is_researcher, user_of
from config.templatetags.concord import moment
from jobs.models.job import Job
from judges.pages.forms import ExclusionForm

# Comparison of two golds: how many items differ, how far, and which. For users who may see both.

PAGE = 50
HEADINGS = {
    "different": "Different",
    "only_first": "First only",
    "only_second": "Second only",
    "neither": "Neither",
    "equal": "Equal",
}
"""Columns of the table of questions: statuses of items, in the order of `STATUSES`."""


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
    context = {
        "found": gold_difference,
        "first": described(gold_difference.first),
        "second": described(gold_difference.second),
        "meaning": STATUSES[status],
        "not_compared": [
            f"{', '.join(titles)} (in the {place} alone)"
            for place, titles in gold_difference.only_in.items()
            if titles
        ],
        "statuses": list(HEADINGS.values()),
        "test_parts": TEST_PARTS,
        "pair": urlencode({"with": number}),
        "files": file_addresses("gold-difference-file", pk),
        "status": status,
        "asked": question,
        "page": page,
        "rows": _with_items(list(page)),
        "split": splits.lock_of(gold_difference.first.corpus),
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
    """Return rows of a difference with their items, turn numbers, and both golds' values."""
    related = ("continuation__dialogue", "turn")
    items = Item.objects.select_related(*related).in_bulk({row["item_id"] for row in rows})
    turn_numbers.number(item.turn for item in items.values())
    return [row | {"place": items[row["item_id"]], "sides": _sides(row)} for row in rows]


def _sides(row: dict[str, Any]) -> list[list[Any]]:
    """Return number, text, reason and source of a row's two labels."""
    names = ("number", "text", "reason", "source")
    return [[row[f"{gold}_{name}"] for name in names] for gold in ("first", "second")]


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


# Form of new gold labels: a rule for each question, built from the table of rules and options.

RULE_OF = "rule_of_"
"""Prefix of the names of the fields with the rules of single questions."""
BY_SCALE = "The usual one for each question's scale"


class GoldForm(ExclusionForm):
    """Settings of new gold labels: a scheme's questions, their rules, and the raters."""

    scheme = forms.ChoiceField(label="Questions of")
    rule = forms.ChoiceField(
        label="Rule",
        required=False,
        choices=lambda: [("", BY_SCALE), *((rule.key, rule.title) for rule in RULES.values())],
    )
    raters = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="From whose answers",
        help_text="None ticked: all people.",
    )

    def __init__(self, data: Any = None, *, counted: Census, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.offer_exclusion(corpus)
        questions = [
            q
            for q in counted.questions.values()
            if q.level not in UNSCALED and not q.scheme.startswith("metric:")
        ]
        schemes = {q.scheme: f"{q.scheme_title} ({q.scheme})" for q in questions}
        for name, choices in (
            ("scheme", list(schemes.items())),
            ("raters", [(r.name, r.choice) for r in counted.raters.values() if r.kind != "metric"]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
        self.scheme_key: str = data.get("scheme") if data else next(iter(schemes), "")
        self.questions = {q.key: q for q in questions if q.scheme == self.scheme_key}
        common = RULES.get(data.get("rule", "")) if data else None
        for key, question in self.questions.items():
            fitting = [rule for rule in RULES.values() if question.level in rule.levels]
            usual = common or RULES[default_rule(question.level)]
            self.fields[f"{RULE_OF}{key}"] = forms.ChoiceField(
                label=f"Rule for {question.title}",
                required=False,
                choices=[
                    ("", f"{usual.title} (as above)"),
                    *((rule.key, rule.title) for rule in fitting),
                ],
            )
        for name, option in known_options().items():
            self.fields[name] = _field(name, option)

    def _rule_of(self, key: str) -> Rule:
        """Return the rule that is chosen for a question, by its key."""
        rule = self[f"{RULE_OF}{key}"].value() or self["rule"].value()
        return RULES.get(rule or "") or RULES[default_rule(self.questions[key].level)]

    def options_in_use(self) -> list[forms.BoundField]:
        """Return the option fields of the rules that are chosen."""
        in_use = {name for key in self.questions for name in self._rule_of(key).options}
        return [self[name] for name in known_options() if name in in_use]

    def rows(self, counted: Preview | None) -> list[dict[str, Any]]:
        """Return the questions with the field of each one's rule, the rule, and what it would choose."""
        previews = {each.question: each for each in counted.questions} if counted else {}
        return [
            {
                "question": question,
                "field": self[f"{RULE_OF}{key}"],
                "rule": self._rule_of(key),
                "preview": previews.get(key),
                "reasons": [f"{reason} ({n:,})" for reason, n in previews[key].reasons.items()]
                if key in previews
                else [],
            }
            for key, question in self.questions.items()
        ]

    def version(self) -> SchemeVersion:
        """Return the selected scheme version."""
        key, number = self.cleaned_data["scheme"].rsplit("@", 1)
        return SchemeVersion.objects.select_related("scheme").get(scheme__key=key, version=int(number))

    def clean(self) -> dict[str, Any]:
        """Check the options of the selected rules; those of other rules are ignored."""
        for name, option in known_options().items():
            value = self.cleaned_data.get(name)
            if value and self[name] in self.options_in_use():
                try:
                    option.read(name, value)
                except GoldRuleError as error:
                    self.add_error(name, str(error))
        return self.cleaned_data

    def _options(self, rule: Rule) -> dict[str, str]:
        """Return the options of a rule; empty ones are left to their defaults."""
        return {name: self.cleaned_data[name] for name in rule.options if self.cleaned_data[name]}

    def arguments(self) -> dict[str, Any]:
        """Return the selection as arguments of `calibration.gold.derivation.gold_or_job`."""
        data = self.cleaned_data
        own = {key: data[f"{RULE_OF}{key}"] for key in self.questions}
        usual = [RULES[data["rule"]]] if data["rule"] else [RULES["median"], RULES["majority"]]
        options = {name: value for rule in usual for name, value in self._options(rule).items()}
        rules = {
            key: {"rule": rule, "options": self._options(RULES[rule])} for key, rule in own.items() if rule
        }
        selection = {"rule": data["rule"], "raters": data["raters"], "scheme_version": self.version()}
        return selection | {"options": options, "rules": rules, "exclude": data.get("exclude", "")}


def _field(name: str, option: Option) -> forms.Field:
    """Return the form field of an option; the selected rule checks its value."""
    how: dict[str, Any] = {"label": name.capitalize(), "required": False, "initial": option.default}
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


PREVIEW = "preview"
"""Button that counts what the rules would choose, and stores nothing."""
MOST_OTHERS = 100
"""Maximum number of other golds offered for comparison, newest first."""

GOLDS = Listing(
    Column("Made", "created_at"),
    Column("Labels of", "campaign__name"),
    Column("Questions of", VERSION_TITLE),
    Column("Rule", "rule"),
    Column("Labels", "n", is_numeric=True),
    Column("Without value", "without", is_numeric=True),
    Column("By", "created_by__username"),
)


@require_GET
@place_researcher_only
def index(request: HttpRequest) -> HttpResponse:
    """The gold labels of a campaign, newest first; a corpus has a page of its own for all of them."""
    corpus, campaign = place_of(request)
    if campaign is None:
        return redirect("corpus-gold", corpus.name) if corpus else redirect("corpora")
    golds = campaign.golds.select_related("corpus", "campaign", "scheme_version__scheme", "created_by")
    page = GOLDS.page(request, golds.order_by("-pk"))
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
    act = request.POST.get("act", "")
    form = GoldForm(request.POST or None, counted=counted, corpus=corpus)
    place: dict[str, Any] = {"corpus": corpus, "campaign": campaign, "part": part}
    if request.method == "POST" and act != PREVIEW and form.is_valid():
        try:
            gold = gold_or_job(**place, **form.arguments(), by=user_of(request))
            return _derived(request, campaign, gold)
        except CalibrationError as error:
            form.add_error(None, str(error))
    preview, refused = _preview(form, counted, place)
    context = place | {
        "form": form,
        "preview": preview,
        "refused": refused,
        "rows": form.rows(preview),
        "more": bool({*form.errors} & {"raters", "exclude", *known_options()}),
    }
    status = 422 if form.errors and act != PREVIEW else 200
    return render(request, "calibration/new_gold.html", context, status=status)


def _preview(form: GoldForm, counted: Census, place: dict[str, Any]) -> tuple[Preview | None, str]:
    """Return what the form's rules would choose (at first the defaults), and why they cannot."""
    if not form.is_bound:
        form = GoldForm({"scheme": form.scheme_key}, counted=counted, corpus=form.corpus)
    if not form.is_valid():
        return None, ""
    try:
        return preview_gold(**place, **form.arguments()), ""
    except CalibrationError as error:
        return None, str(error)


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
    description = described(gold)
    question_rows = Question.objects.filter(pk__in=gold.counts).order_by("position")
    questions = [
        (question, description.rule_of(question.key), n, without)
        for question in question_rows
        for n, without in [gold.counts[str(question.pk)]]
    ]
    origin = gold_export.provenance(gold)
    changes, names = changes_of(gold), names_in(gold.corpus)
    value_shares = gold_shares.shares_of(gold)
    context = {
        "gold": gold,
        "shares": value_shares,
        "share_sentences": gold_shares.sentences(value_shares),
        "files": file_addresses("gold-file", gold.pk),
        "n_locked": n_all - page.paginator.count,
        "changes": changes,
        "again": _again(gold) if changes else [],
        "page": page,
        "questions": questions,
        "described": description,
        "has_sources": "fallback" in gold.options or bool(gold.options.get("adjudicators")),
        "findings": findings_of(gold),
        "names": names,
        "facts": _facts(gold, origin, description, names),
        "left_out": gold.options.get("why_left_out", {}).items(),
        "others": [_choice(other) for other in visible_to(request.user, comparable(gold))[:MOST_OTHERS]],
        "test_parts": TEST_PARTS,
        "split": None if gold.is_of_training else splits.lock_of(gold.corpus),
        "only_without": only_without,
        "exports": gold.exports.select_related("created_by")[:10],
        "query": exclude_query(request).removeprefix("&"),
        **left_out_context(request, gold.corpus, training=gold.is_of_training),
    }
    return render(request, "calibration/gold.html", context)


def _facts(gold: Gold, origin: dict[str, Any], description: Described, names: Names) -> list[tuple[str, str]]:
    """Return the terms and values that describe a gold."""
    options = [(name[:1].upper() + name[1:], str(value)) for name, value in description.options]
    return [
        ("Labels", f"{origin['labels']:,}"),
        ("Without a value", f"{origin['without_value']:,}"),
        *options,
        ("From", ", ".join(names.short(name) for name in gold.options["raters"])),
        ("Dialogues left out by", gold.options.get("exclude", "")),
    ]


def _choice(gold: Gold) -> tuple[int, str]:
    """Return a gold to compare with, as an option."""
    campaign = f" · {gold.campaign.name}" if gold.campaign else ""
    training = ", training part" if gold.is_of_training else ""
    place = f"{gold.corpus.name}{campaign}{training}"
    return gold.pk, f"{gold.pk}: {described(gold)} · {place} · {moment(localtime(gold.created_at))}"


def _again(gold: Gold) -> list[tuple[str, str]]:
    """Return the form fields to make a gold anew; if all people counted, new people do, too."""
    version = gold.scheme_version
    raters = [] if counts_everybody(gold) else gold.options["raters"]
    own = [(f"{RULE_OF}{key}", each["rule"]) for key, each in gold.options.get(QUESTIONS, {}).items()]
    stored = [gold.options, *gold.options.get(QUESTIONS, {}).values()]
    options = {name: str(each[name]) for each in stored for name in known_options() if name in each}
    fields = [("scheme", f"{version.scheme.key}@{version.version}"), ("rule", gold.rule), *own]
    fields += [*options.items(), ("exclude", gold.options.get("exclude", ""))]
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
