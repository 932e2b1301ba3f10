"""Form to create or change a campaign."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from annotation import scheme_store
from annotation.campaigns import allocation
from annotation.campaigns.allocation import ALLOCATIONS, REST, RULES, Stratum
from annotation.campaigns.defaults import defaults
from annotation.campaigns.settings import CHANGEABLE, GROUPS, SETTINGS, Setting
from annotation.corpora.queries import showable
from annotation.errors import CampaignRefused
from annotation.hooks import RATERS_PER_ITEM
from annotation.models import Campaign, Corpus, LabelCount, Question, Rater, System
from annotation.schemes import SCHEMES
from annotation.text.views import DEFAULT

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


MOMENT = "%Y-%m-%dT%H:%M"
NEW_SCHEME = "new"
"""Choice of a scheme that is made in the form itself; custom schemes are chosen with their version."""
SHOWN_AS = {"overlap_share": "overlap_percent", "review": REVIEW_FIELDS[0]}
"""Settings that the form shows in another unit or in several fields, by the name of the (first) field."""
SETTING_OF = {"overlap_percent": "overlap_share", **dict.fromkeys(REVIEW_FIELDS, "review")}


class CampaignForm(forms.Form):
    """A new campaign over one corpus, or changes of a campaign; `SETTINGS` adds a field for each setting."""

    name = forms.CharField(
        max_length=Campaign.name.field.max_length,
        help_text="Annotators see this name. Do not name a system in it.",
    )
    scheme = forms.ChoiceField(label="Annotation scheme")
    systems = forms.ModelMultipleChoiceField(
        queryset=System.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all of them. Annotators never see which system they rate.",
    )
    shows = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Shown beside the turns",
        initial=DEFAULT,
        help_text="To people, and to judges run over this campaign. What names a system is never shown.",
    )
    overlap_percent = forms.FloatField(
        required=False,
        min_value=0,
        max_value=100,
        label=f"{SETTINGS['overlap_share'].label}, in percent of the tasks",
    )
    annotators = forms.ModelMultipleChoiceField(
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="More can be added at any time.",
    )
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Left empty, the guidelines that come with the scheme are used. They can be edited later.",
    )
    consent = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        label="Consent text",
        help_text="What annotators agree to before they work, in Markdown. Left empty, nobody is asked.",
    )

    def __init__(self, *args: Any, corpus: Corpus, campaign: Campaign | None = None, **kwargs: Any) -> None:
        """`initial` of a new campaign comes from `new_initial`."""
        if campaign is not None:
            kwargs.setdefault("initial", initial(campaign, corpus))
        super().__init__(*args, **kwargs)
        self.corpus, self.campaign = corpus, campaign
        for setting in SETTINGS.values():
            if setting.name in SHOWN_AS or not setting.applies(corpus):
                continue
            field = _field(setting, corpus, getattr(campaign, setting.name, ()))
            if field is not None:
                self.fields[setting.name] = field
        self.fields.update(review_fields(corpus))
        if campaign is not None and campaign.state != Campaign.State.DRAFT:
            for name in set(self.fields) - {SHOWN_AS.get(setting, setting) for setting in CHANGEABLE}:
                del self.fields[name]
            return
        self._choices("shows").choices = showable(corpus)
        self._choices("scheme").choices = _choices_with(campaign)
        usual = json.dumps({key: RATERS_PER_ITEM[key] for key in RATERS_PER_ITEM})
        self.fields["raters_per_item"].widget.attrs["data-usual"] = usual
        self._models("systems").queryset = corpus.systems.order_by("name")
        self._models("annotators").queryset = User.objects.filter(is_active=True, participant=None).order_by(
            "username"
        )

    def _choices(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field

    def _models(self, name: str) -> forms.ModelMultipleChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        return field

    def as_typed(self) -> CampaignForm:
        """Return the form with what was sent as its initial values, unchecked."""
        names = {name: field.widget for name, field in self.fields.items()}
        typed = {name: widget.value_from_datadict(self.data, {}, name) for name, widget in names.items()}
        return CampaignForm(corpus=self.corpus, campaign=self.campaign, initial=typed)

    def schemes_about(self, item_kinds: Collection[str], new_kind: str) -> str:
        """Return the choices of schemes about items of some kinds, as a `data-with` of the page's script.

        `new_kind` is what a scheme made in the form is about.
        """
        kinds = scheme_store.item_kinds() | {NEW_SCHEME: new_kind}
        return " ".join(["scheme", *(ref for ref, kind in kinds.items() if kind in item_kinds)])

    def groups(self) -> dict[str, dict[str, Any]]:
        """Groups of settings by key, each with `title`, `note` and `fields`, and whether it is `open`."""
        groups: dict[str, dict[str, Any]] = {}
        for key, group in GROUPS.items():
            names: list[str] = [SHOWN_AS.get(setting.name, setting.name) for setting in group.settings]
            names = list(REVIEW_FIELDS) if key == "review" else names
            fields = [self[name] for name in names if name in self.fields]
            is_open = any(_is_open(field) for field in fields)
            groups[key] = {"title": group.title, "note": group.note, "fields": fields, "open": is_open}
        return groups

    def further_groups(self) -> list[dict[str, Any]]:
        """Groups that every campaign has, in the order of the page."""
        groups = self.groups()
        return [groups[key] for key in ("order", "overlap", "batches", "limits", "annotators", "more")]

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `campaigns.create`."""
        return self._values() | {
            "corpus": self.corpus,
            "systems": list(self.cleaned_data["systems"]),
            "annotators": list(self.cleaned_data["annotators"]),
            "guidelines": self.cleaned_data["guidelines"].strip() or None,
        }

    def changes(self) -> dict[str, Any]:
        """Return the arguments of `editing.change`: the fields that differ from the page as shown."""
        changed = {SETTING_OF.get(name, name) for name in self.changed_data}
        changes = {name: value for name, value in self._values().items() if name in changed}
        for name in {"systems", "annotators"} & changed:
            changes[name] = list(self.cleaned_data[name])
        for name in {"guidelines", "consent"} & changed:
            text = self.cleaned_data[name].replace("\r\n", "\n").strip()
            if text != str(self.initial.get(name, "")).strip():
                changes[name] = text
        if self.campaign is not None and self.campaign.corpus_id != self.corpus.pk:
            changes["corpus"] = self.corpus
        return changes

    def refused(self, error: CampaignRefused) -> None:
        """Show a refusal beside the invalid field."""
        name = SHOWN_AS.get(error.field, error.field)
        self.add_error(name if name in self.fields else None, str(error))

    def _values(self) -> dict[str, Any]:
        """Return the cleaned values by the names of settings; an empty value becomes the default."""
        values = dict(self.cleaned_data)
        percent = values.pop("overlap_percent", None)
        values["overlap_share"] = None if percent is None else percent / 100
        if "review_judges" in values:
            values["review"] = review_of(values)
        for name in SETTINGS.keys() & values.keys():
            column = SETTINGS[name].column
            if values[name] in (None, "") and not column.null:
                values[name] = column.get_default()
        return values


def setting_field(setting: Setting, **options: Any) -> forms.Field:
    """Return the form field of a setting; `options` override the setting's own options for Django."""
    options = _texts(setting) | options
    if setting.bounds is not None:
        least, most = setting.bounds
        options = {"min_value": least, "max_value": most} | options
    field = setting.column.formfield(**options)
    assert field is not None
    return field


def _texts(setting: Setting) -> dict[str, Any]:
    return {
        "label": setting.label,
        "help_text": setting.help,
        "required": setting.required,
        "error_messages": setting.error_messages,
    }


def _field(setting: Setting, corpus: Corpus, value: Any) -> forms.Field | None:
    """Return the form field of a campaign's setting; None where the corpus offers no choice.

    The campaign's present `value` of several stays a choice.
    """
    if setting.options is not None:
        choices = setting.options(corpus)
        if isinstance(setting.column, ArrayField):
            choices += [(name, name) for name in value or () if name not in dict(choices)]
        if len(choices) < 2:
            return None
        if isinstance(setting.column, ArrayField):
            boxes = forms.CheckboxSelectMultiple
            return forms.MultipleChoiceField(choices=choices, widget=boxes, **_texts(setting))
        return forms.ChoiceField(choices=choices, **_texts(setting))
    if isinstance(setting.column, models.ForeignKey):
        return setting_field(setting, queryset=corpus.systems.order_by("name"), empty_label="None")
    if isinstance(setting.column, models.DateTimeField):
        widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT)
        return setting_field(setting, widget=widget)
    return setting_field(setting)


def _is_open(field: forms.BoundField) -> bool:
    """Whether a field is shown unfolded: it has an error, or a value other than the default."""
    value = field.value()
    is_set = value not in (None, "") and field.field.has_changed(field.field.initial, value)
    return is_set or bool(field.errors)


def _percent(share: float) -> float:
    percent = round(share * 100, 8)
    return int(percent) if percent.is_integer() else percent


def _scheme(campaign: Campaign) -> str:
    version = campaign.scheme_version
    return version.scheme.key if version.scheme.key in SCHEMES else version.ref


def _choices_with(campaign: Campaign | None) -> list[Any]:
    """Return the available schemes: a new one first for a new campaign, else also the campaign's own one."""
    groups = scheme_store.choices()
    if campaign is None:
        return [(NEW_SCHEME, "New questions, written below"), *groups]
    if any(_scheme(campaign) == ref for _, group in groups for ref, _ in group):
        return groups
    version = campaign.scheme_version
    return [*groups, ("As it is now", [(version.ref, f"{version.name} ({version.ref})")])]


def new_initial(corpus: Corpus, by: User) -> dict[str, Any]:
    """Return the form's initial values for a new campaign."""
    values = defaults(corpus=corpus, by=by)._asdict()
    values["annotators"] = [person.pk for person in values["annotators"]]
    return values | {"scheme": values["scheme"] or NEW_SCHEME}


def initial(campaign: Campaign, corpus: Corpus) -> dict[str, Any]:
    """Return the form's initial values for a campaign; without systems for another corpus than its own."""
    share = campaign.overlap_share
    guidelines = campaign.guidelines.order_by("-version").first()
    consent = campaign.consents.order_by("-version").first()
    own = campaign.corpus_id == corpus.pk
    settings = {name: setting.column.value_from_object(campaign) for name, setting in SETTINGS.items()}
    return (settings | review_initial(campaign)) | {
        "name": campaign.name,
        "scheme": _scheme(campaign),
        "systems": list(campaign.systems.values_list("pk", flat=True)) if own else [],
        "deadline": campaign.deadline and campaign.deadline.replace(second=0, microsecond=0),
        "shows": [name for name, _ in showable(corpus) if name in campaign.shows],
        "overlap_percent": None if share is None else _percent(share),
        "annotators": list(campaign.members.values_list("user_id", flat=True)),
        "guidelines": guidelines.text if guidelines else "",
        "consent": consent.text if consent else "",
    }
