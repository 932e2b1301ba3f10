"""Researchers' page of endpoints: the servers that judges ask."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from config.permissions import administrator_only, is_administrator, researcher_only, user_of
from jobs import access
from jobs.endpoints import endpoint_actions, ownership
from jobs.endpoints.limits import width_of
from jobs.endpoints.model_prices import delete_price, load_model_prices, save_price
from jobs.endpoints.parameters import FORMS
from jobs.endpoints.presets import Preset, presets_for
from jobs.errors import JobError
from jobs.models.endpoint import MOST_IN_A_BATCH, Endpoint, ModelPrice
from judges.pages.runs import sync_endpoints

MAIN = ("base_url", "model", "name", "key", "delete_key", "shared")
"""Fields above "More settings"."""
FIELD_OPTIONS: dict[str, dict[str, Any]] = {
    "base_url": {"assume_scheme": "https"},
    "requests_per_minute": {"min_value": 1},
    "tokens_per_minute": {"min_value": 1},
    "batch_most": {"min_value": 1, "required": False, "initial": None},
}
"""Extra arguments of form fields for columns of an endpoint, besides those derived from the column."""


def form_field(column: models.Field[Any, Any], **options: Any) -> forms.Field | None:
    """Return the form field of a column."""
    return column.formfield(**options | FIELD_OPTIONS.get(column.name, {}))


class EndpointForm(forms.ModelForm):
    """Settings of an endpoint. A stored key is written here and never shown."""

    key = forms.CharField(
        required=False,
        max_length=1000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="Stored encrypted, sent to this server alone, and never shown again.",
    )
    delete_key = forms.BooleanField(required=False, label="Delete the stored key")

    def __init__(self, *args: Any, preset: Preset | None, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer_keys(endpoint_actions.key_variables())
        self._choose("reply_form", [("", "find out by asking"), *FORMS.items()])
        self.fields["model"].widget.attrs["placeholder"] = preset.model if preset else ""
        if self.instance.stored_key:
            self.fields["key"].widget.attrs["placeholder"] = "stored: leave empty to keep it"
        else:
            del self.fields["delete_key"]
        owner = self.instance.owner_id
        owned = owner is not None if self.instance.pk else not is_administrator(person)
        if not owned or owner not in (None, person.pk):
            del self.fields["shared"]
        for name in ("key_env", "tokenizer", "allow_private") if owned else ():
            del self.fields[name]

    def _offer_keys(self, variables: list[str]) -> None:
        if self.instance.key_env and self.instance.key_env not in variables:
            variables.append(self.instance.key_env)
        self._choose("key_env", [("", "none"), *((name, name) for name in variables)])

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        """Turn a text field into a choice."""
        text = self.fields[name]
        self.fields[name] = forms.ChoiceField(
            required=False, choices=choices, label=text.label, help_text=text.help_text
        )

    def clean_batch_most(self) -> int:
        """Return the default number if none is given."""
        return self.cleaned_data["batch_most"] or MOST_IN_A_BATCH

    def settings(self) -> dict[str, Any]:
        """Return the settings to save; `key` is among them only if it changes."""
        data = dict(self.cleaned_data)
        key, is_deleted = data.pop("key"), data.pop("delete_key", False)
        return data | ({"key": key} if key or is_deleted else {})

    def main(self) -> list[forms.BoundField]:
        """Return the fields that most endpoints need."""
        return [self[name] for name in MAIN if name in self.fields]

    def more(self) -> list[forms.BoundField]:
        """Return the other fields."""
        return [field for field in self if field.name not in MAIN]

    def is_more_open(self) -> bool:
        """Whether one of the other fields is invalid."""
        return any(field.errors for field in self.more())

    class Meta:
        model = Endpoint
        formfield_callback = form_field
        fields = [
            *("name", "base_url", "model", "shared", "key_env", "price_in", "price_out", "currency"),
            *(
                "concurrency",
                "requests_per_minute",
                "tokens_per_minute",
                "allow_private",
                "revision",
                "family",
            ),
            *(
                "tokenizer",
                "reply_form",
                "batch_share",
                "batch_most",
                "keep_batch_files",
                "timeout_s",
                "active",
            ),
        ]


@require_http_methods(["GET", "POST"])
@researcher_only
@sensitive_post_parameters("key")
def endpoints(request: HttpRequest) -> HttpResponse:
    """Researchers: the endpoints that they may use, and a form for a new one that a preset fills in.

    `?next=` is the form that a saved endpoint leads back to, which then has it chosen.
    """
    person = user_of(request)
    if request.method == "POST" and not ownership.may_add(person):
        raise PermissionDenied
    preset = {preset.key: preset for preset in presets_for(person)}.get(request.GET.get("preset", ""))
    return _page(request, None, preset)


@require_http_methods(["GET", "POST"])
@researcher_only
@sensitive_post_parameters("key")
def endpoint(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators, and the researcher who owns it: change an endpoint."""
    return _page(request, access.changeable_endpoint(user_of(request), pk), None)


@require_POST
@researcher_only
def test_endpoint(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: let a worker ask an endpoint for one word; the page shows the reply."""
    person = user_of(request)
    tested = endpoint_actions.ask_for_test(by=person, endpoint=access.endpoint(person, pk))
    return redirect(f"{reverse('endpoints')}#endpoint-{tested.pk}")


@require_POST
@administrator_only
def reencrypt(request: HttpRequest) -> HttpResponse:
    """Administrators: encrypt stored keys with the present CONCORD_SECRET_KEY."""
    result = endpoint_actions.reencrypt_keys(by=user_of(request))
    messages.success(request, f"{result['reencrypted']} keys are encrypted with the present secret.")
    if result["unreadable"]:
        names = ", ".join(result["unreadable"])
        messages.error(request, f"Enter these keys again, no secret decrypts them: {names}.")
    return redirect("endpoints")


def _page(request: HttpRequest, changed: Endpoint | None, preset: Preset | None) -> HttpResponse:
    person = user_of(request)
    sync_endpoints(request)
    initial = preset.fields() | {"name": _free_name(preset.title)} if preset else {}
    form = EndpointForm(
        request.POST or None,
        instance=changed,
        initial=initial,
        preset=preset,
        person=person,
    )
    if request.method == "POST" and form.is_valid():
        try:
            # The form has changed its instance: what is saved starts from the row.
            row = Endpoint.objects.get(pk=changed.pk) if changed else None
            saved = endpoint_actions.save(by=person, fields=form.settings(), endpoint=row)
        except JobError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{saved.name} is saved. Try it to see whether it answers.")
            onwards, is_secure = request.GET.get("next", ""), request.is_secure()
            if url_has_allowed_host_and_scheme(onwards, {request.get_host()}, require_https=is_secure):
                address, _, query = onwards.partition("?")
                onward_query = QueryDict(query, mutable=True)
                onward_query["endpoint"] = str(saved.pk)
                return redirect(f"{address}?{onward_query.urlencode()}")
            return redirect(f"{reverse('endpoints')}#endpoint-{saved.pk}")
    rows = list(ownership.visible_to(person).select_related("pace", "owner").order_by("name"))
    load_model_prices(rows)
    for row in rows:
        row.at_once = width_of(row, getattr(row, "pace", None))  # type: ignore[attr-defined]
        row.is_changeable = ownership.may_change(person, row)  # type: ignore[attr-defined]
    context = {
        "rows": rows,
        "form": form,
        "chosen": changed,
        "testing": any(row.test_asked and not row.test_done for row in rows),
        "preset": preset,
        "presets": presets_for(person),
        "may_add": ownership.may_add(person),
        "administrators": ownership.administrators(),
        "onwards": request.GET.get("next", ""),
        "outdated": len(endpoint_actions.outdated_keys()) if is_administrator(person) else 0,
    }
    return render(request, "judges/endpoints.html", context, status=422 if form.errors else 200)


def _free_name(title: str) -> str:
    """Return a title, with a number if an endpoint has that name."""
    names = set(Endpoint.objects.filter(name__startswith=title).values_list("name", flat=True))
    numbered = (f"{title} {number}" for number in range(2, len(names) + 3))
    return next(name for name in (title, *numbered) if name not in names)


# Prices by model, below the endpoints.


class ModelPriceForm(forms.ModelForm):
    """Prices of a model, or of models whose names begin alike."""

    class Meta:
        model = ModelPrice
        fields = ("model", "price_in", "price_out", "currency")


@require_http_methods(["GET", "POST"])
@researcher_only
def model_prices(request: HttpRequest) -> HttpResponse:
    """Researchers: the table of prices by model. Administrators: add a row."""
    if request.method == "POST" and not is_administrator(user_of(request)):
        raise PermissionDenied
    return _price_page(request, None)


@require_http_methods(["GET", "POST"])
@administrator_only
def model_price(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: change prices of a model."""
    return _price_page(request, access.model_price(pk))


@require_POST
@administrator_only
def delete_model_price(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: delete prices of a model."""
    price = access.model_price(pk)
    delete_price(by=user_of(request), price=price)
    messages.success(request, f"The prices of {price.model} are deleted.")
    return redirect("model-prices")


def _price_page(request: HttpRequest, changed: ModelPrice | None) -> HttpResponse:
    form = ModelPriceForm(request.POST or None, instance=changed)
    if request.method == "POST" and form.is_valid():
        # The form has changed its instance: what is saved starts from the row.
        row = ModelPrice.objects.get(pk=changed.pk) if changed else None
        saved = save_price(by=user_of(request), fields=form.cleaned_data, price=row)
        messages.success(request, f"The prices of {saved.model} are saved.")
        return redirect("model-prices")
    context = {
        "prices": ModelPrice.objects.select_related("changed_by"),
        "form": form,
        "changed": changed and ModelPrice.objects.get(pk=changed.pk),
        "administrators": ownership.administrators(),
    }
    return render(request, "judges/model_prices.html", context, status=422 if form.errors else 200)
