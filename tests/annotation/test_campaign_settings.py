"""Each campaign setting is declared once: columns, form, API, checks and docs follow the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import models
from django.test import Client
from django.urls import reverse

from annotation.api.campaigns import CampaignSerializer
from annotation.campaigns.settings import MOST, SETTINGS, Setting
from annotation.models import Campaign, Corpus
from annotation.models.checks import CheckPlan
from annotation.pages.campaign_form import SHOWN_AS, CampaignForm
from annotation.work import check_actions
from calibration.api.campaigns import CheckPlanSerializer
from calibration.pages.campaigns import ChecksForm
from tests import factories

DOCS = Path(__file__).resolve().parents[2] / "docs" / "campaigns.md"
CONTENT = {"name", "corpus", "scheme_version", "shows"}
RULES = {"by_language", "not_own", "groups_by", "ruled"}
STATE = {
    "id",
    "occasion",
    "state",
    "batches_open",
    "review_strata",
    "archived_at",
    "resumed_at",
    "form",
    "created_at",
    "created_by",
}
BOUNDED = [setting for setting in SETTINGS.values() if setting.bounds is not None]


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user("rosa", researcher=True))
    return client


@pytest.fixture
def corpus() -> Corpus:
    """A corpus to which every setting applies."""
    corpus = factories.corpus("talks")
    factories.dialogue(corpus, turns=2, script={})
    factories.dialogue(corpus, turns=2, part="training")
    factories.campaign(corpus, opened=False, name="earlier")
    return corpus


def test_every_column_of_a_campaign_is_a_setting_or_something_else_that_is_named_here() -> None:
    columns = {column.name for column in Campaign._meta.concrete_fields}
    assert columns - CONTENT - RULES - STATE == SETTINGS.keys()


def test_every_column_of_a_plan_of_checks_is_a_setting() -> None:
    columns = {column.name for column in CheckPlan._meta.concrete_fields}
    assert columns - {"id", "campaign"} == check_actions.SETTINGS.keys()


def test_every_setting_of_checks_is_in_the_form_and_in_the_api() -> None:
    form, serializer = ChecksForm(plan=CheckPlan()), CheckPlanSerializer()
    for name, setting in check_actions.SETTINGS.items():
        assert form.fields[name].help_text == setting.help
        help_text = serializer.fields[name].help_text
        assert help_text is not None
        assert setting.description in help_text


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["test_tries", "check_every", "window"])
def test_a_setting_of_checks_is_refused_with_one_sentence_on_the_page_and_by_the_api(
    researcher: Client, corpus: Corpus, name: str
) -> None:
    campaign = factories.campaign(corpus, opened=False)
    setting = check_actions.SETTINGS[name]
    assert setting.bounds is not None
    sent = {name: setting.bounds[1] + 1}
    answer = researcher.patch(
        reverse("api-checks", args=[campaign.pk]), sent, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["detail"]) == (422, setting.refusal)
    page = researcher.post(reverse("campaign-checks", args=[campaign.pk]), sent)
    assert page.context["form"].errors[name] == [setting.refusal]


@pytest.mark.django_db
def test_every_setting_is_on_the_page_and_in_the_api(researcher: Client, corpus: Corpus) -> None:
    address = f"{reverse('new-campaign')}?corpus={corpus.pk}"
    page = researcher.get(address).content.decode()
    form, serializer = CampaignForm(corpus=corpus), CampaignSerializer()
    for name, setting in SETTINGS.items():
        on_page = SHOWN_AS.get(name, name)
        offered = 1 if setting.options is None else len(setting.options(corpus))
        assert (offered > 1 or setting.options is None) == (f' name="{on_page}"' in page), name
        if on_page not in form.fields:
            continue
        assert str(form.fields[on_page].label).startswith(setting.label)
        help_text = serializer.fields[name].help_text
        assert help_text is not None
        assert setting.description in help_text
        assert setting.when in help_text


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize("setting", BOUNDED, ids=lambda setting: setting.name)
def test_a_value_out_of_bounds_is_refused_with_one_sentence_on_the_page_and_by_the_api(
    researcher: Client, corpus: Corpus, setting: Setting
) -> None:
    assert setting.bounds is not None
    draft = factories.campaign(corpus, opened=False)
    too_much = setting.bounds[1] + 1
    answer = researcher.patch(
        reverse("api-campaign", args=[draft.pk]), {setting.name: too_much}, content_type="application/json"
    )
    assert answer.status_code in (400, 422)
    assert setting.refusal in answer.json()["detail"]
    if setting.name not in SHOWN_AS:
        page = researcher.post(reverse("edit-campaign", args=[draft.pk]), {setting.name: too_much})
        assert page.context["form"].errors[setting.name] == [setting.refusal]


@pytest.mark.django_db
def test_the_document_of_the_api_tells_the_bounds(researcher: Client) -> None:
    document: Any = researcher.get(reverse("api-schema"), {"format": "json"}).json()
    properties = document["components"]["schemas"]["Campaign"]["properties"]
    for setting in BOUNDED:
        described = properties[setting.name]
        assert (described["minimum"], described["maximum"]) == setting.bounds


def test_the_docs_list_every_setting() -> None:
    """The rows are printed as the page should have them."""
    page = DOCS.read_text(encoding="utf-8")
    rows = "\n".join(documented(setting) for setting in SETTINGS.values())
    assert rows in page, rows


def documented(setting: Setting) -> str:
    """Return the row of a setting in the docs."""
    column = setting.column
    default = column.get_default() if column.has_default() else None
    unset = "" if default in (None, "") else f"`{str(default).lower()}`"
    return f"| `{setting.name}` | {setting.label} | {values_of(setting)} | {unset} | {setting.when} |"


def values_of(setting: Setting) -> str:
    """Say which values a setting takes."""
    if setting.choices:
        return ", ".join(f"`{value}`" for value in setting.choices if value)
    if setting.bounds is not None:
        least, most = setting.bounds
        if setting.is_share:
            return f"above {least}, at most {most}"
        return f"{least} or more" if most == MOST else f"{least:,} to {most:,}"
    kinds = {
        models.BooleanField: "true, false",
        models.DateTimeField: "a time",
        models.ForeignKey: "a system",
        models.JSONField: "an object",
    }
    return kinds.get(type(setting.column), "text")
