"""Fields of a campaign's form for its review queue: judges, question, strata, total and allocation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from annotation.campaigns import allocation
from annotation.campaigns.allocation import ALLOCATIONS, REST, RULES, Stratum
from annotation.campaigns.settings import SETTINGS
from annotation.models import Campaign, Corpus, LabelCount, Question, Rater

REVIEW_FIELDS = ("review_judges", "review_question", "review_strata", "review_total", "review_allocation")
ROWS = 6
"""Rows for strata that a form has; more where the campaign has more."""

Row = tuple[str, str, str]
"""A stratum as typed: its rule; its limit or answers; how many are drawn (all, 10%, 25, or by the total)."""


class StrataWidget(forms.Widget):
    """A table of strata to fill in; its value is a list of rows."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[Row]:
        """Return the rows that were filled in."""
        columns = [data.getlist(f"{name}_{part}") for part in ("rule", "limit", "size")]  # type: ignore[attr-defined]
        rows = [(rule, limit.strip(), size.strip()) for rule, limit, size in zip(*columns, strict=False)]
        return [row for row in rows if any(row)]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Return the table, with empty rows below those filled in."""
        rows = [*(value or ()), *[("", "", "")] * (ROWS - len(value or ()))]
        names = {"rows": rows, "rules": RULES.values(), "rule": f"{name}_rule", "limit": f"{name}_limit"}
        return render_to_string("campaigns/_strata_rows.html", names | {"size": f"{name}_size"})


class StrataField(forms.Field):
    """The strata of a review queue, cleaned to their JSON form."""

    widget = StrataWidget

    def clean(self, value: Any) -> list[dict[str, Any]]:
        """Return the strata; raise ValidationError, with the number of the row."""
        strata = []
        for number, row in enumerate(value or (), start=1):
            try:
                strata.append(_stratum(*row))
            except ValueError as error:
                raise forms.ValidationError(f"Stratum {number}: {error}") from None
        return strata

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether other rows were filled in."""
        return [tuple(row) for row in initial or ()] != list(data or ())


def review_fields(corpus: Corpus) -> dict[str, forms.Field]:
    """Return the fields of a review queue over a corpus; none where no judge has answered about it."""
    setting = SETTINGS["review"]
    judges = setting.options(corpus) if setting.options else []
    if not judges:
        return {}
    boxes = forms.CheckboxSelectMultiple
    return {
        "review_judges": forms.MultipleChoiceField(
            choices=judges, widget=boxes, required=False, label=setting.label, help_text=setting.help
        ),
        "review_question": forms.ChoiceField(
            choices=[("", "None"), *_questions(corpus)],
            required=False,
            label="To the question",
            help_text="A question of this campaign that the judge has answered, too.",
        ),
        "review_strata": StrataField(
            required=False,
            label="Strata, in this order",
            help_text="The limit is a score, a distance, or answers with commas between. Draw “all”, a "
            "share such as “10%”, a number such as “25”, or leave it empty for a part of the total. The rest "
            "may be “0%” or absent: then estimates speak of the other strata.",
        ),
        "review_total": forms.IntegerField(
            required=False,
            min_value=allocation.LEAST,
            label="Total, with the strata of a fixed size",
            help_text="Divided among the strata that draw no fixed share or number.",
        ),
        "review_allocation": forms.ChoiceField(
            choices=[("", "None"), *ALLOCATIONS.items()], required=False, label="Division of the total"
        ),
    }


def review_initial(campaign: Campaign) -> dict[str, Any]:
    """Return the initial values of the fields."""
    if campaign.review is None:
        return {}
    queue = allocation.parse(campaign.review)
    strata = [row for row in map(_row, queue.strata) if row != (REST, "", "0%")]
    values = (list(queue.judges), queue.question, strata, queue.total, queue.allocation)
    return dict(zip(REVIEW_FIELDS, values, strict=True))


def review_of(cleaned: dict[str, Any]) -> dict[str, Any] | None:
    """Take a queue's fields out of cleaned values; return its JSON form, None where no judge is chosen."""
    judges, question, strata, total, division = (cleaned.pop(name, None) for name in REVIEW_FIELDS)
    if not judges:
        return None
    queue = {"judges": judges, "question": question, "strata": strata}
    return queue | ({"total": total, "allocation": division} if total is not None or division else {})


def _questions(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the questions that judges have answered about a corpus, by key, with their titles."""
    counts = LabelCount.objects.filter(
        corpus=corpus, rater__in=Rater.objects.filter(kind=Rater.Kind.JUDGE).values("pk")
    )
    questions = Question.objects.filter(
        pk__in=counts.order_by().values("question"), level__in=allocation.LEVELS
    )
    titles = {question.key: question.short_name or question.wording for question in questions.order_by("pk")}
    return [(key, f"{title[:80]} ({key})") for key, title in titles.items()]


def _stratum(rule: str, limit: str, size: str) -> dict[str, Any]:
    """Read a row of the form; raise ValueError where a limit or a size is not a number."""
    if rule not in RULES:
        raise ValueError("choose a rule.")
    stratum: dict[str, Any] = {"rule": rule}
    if limit and RULES[rule].limit == "answers":
        stratum["values"] = [_value(text.strip()) for text in limit.split(",") if text.strip()]
    elif limit:
        stratum["limit"] = _parsed(limit)
    if size.lower() == "all":
        return stratum | {"share": 1.0}
    if size.endswith("%"):
        return stratum | {"share": _parsed(size.removesuffix("%")) / 100}
    return stratum | ({"number": _parsed(size)} if size else {})


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _parsed(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"“{text[:40]}” is not a number.") from None


def _row(stratum: Stratum) -> Row:
    values = ", ".join(f"{value:g}" if isinstance(value, float) else value for value in stratum.values)
    limit = values if stratum.limit is None else f"{stratum.limit:g}"
    size = "" if stratum.number is None else str(stratum.number)
    if stratum.share is not None:
        size = "all" if stratum.share == 1 else f"{stratum.share * 100:.12g}%"
    return stratum.rule, limit, size
