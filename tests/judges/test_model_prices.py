"""Prices by model: which endpoints take them, what their calls cost, and who keeps the table."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from config.models import Event
from jobs import runs
from jobs.calls import claims
from jobs.endpoints.costs import cost
from jobs.endpoints.model_prices import delete_price, save_price
from jobs.errors import JobError
from jobs.models import Call, Endpoint, ModelPrice, Run
from jobs.progress import progress
from judges.runs.estimates import estimate
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.fake_llm import TOKENS_IN, TOKENS_OUT, FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish_all, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
ROW = {"model": "fake-*", "price_in": "2", "price_out": "20", "currency": "USD"}


@pytest.fixture
def administrator() -> Client:
    return client_of(factories.user("admin", administrator=True))


@pytest.fixture
def researcher() -> Client:
    return client_of(factories.user("rea", researcher=True))


def priced(model: str, price_in: Any = 2, price_out: Any = 20, currency: str = "USD") -> ModelPrice:
    return ModelPrice.objects.create(model=model, price_in=price_in, price_out=price_out, currency=currency)


def unpriced(fake: FakeLLM, **fields: Any) -> Endpoint:
    return endpoint_of(fake, **{"price_in": None, "price_out": None} | fields)


def client_of(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def spent(calls: int, price_in: int, price_out: int) -> Decimal:
    return Decimal(calls * (TOKENS_IN * price_in + TOKENS_OUT * price_out)) / 1_000_000


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("large", "large"),
        ("large-mini", "large-*"),
        ("large-mini-2", "large-mini-*"),
        ("larger", "large*"),
        ("Large", None),
        ("small", None),
        ("a-large", None),
    ],
)
def test_the_exact_name_counts_before_the_longest_beginning(model: str, row: str | None) -> None:
    for name in ("large*", "large-mini-*", "large", "large-*"):
        priced(name)
    endpoint = Endpoint(model=model)
    assert (endpoint.model_price and endpoint.model_price.model) == row


def test_a_price_of_its_own_counts_before_the_table(fake: FakeLLM) -> None:
    priced("fake-*")
    own, half, free = (
        Endpoint(model="fake-1", price_in=price_in, price_out=price_out)
        for price_in, price_out in ((Decimal(1), Decimal(10)), (Decimal(1), None), (Decimal(0), Decimal(0)))
    )
    million = 1_000_000
    assert cost(own, million, million) == 11
    assert cost(half, million, million) is None
    assert cost(free, million, million) == 0
    assert cost(Endpoint(model="fake-1"), million, million) == 22


def test_a_price_in_another_currency_is_not_taken(fake: FakeLLM, administrator: Client) -> None:
    priced("fake-*", currency="EUR")
    unpriced(fake)
    assert cost(Endpoint(model="fake-1"), 1, 1) is None
    assert cost(Endpoint(model="fake-1", currency="EUR"), 1_000_000, 0) == 2
    page = administrator.get(reverse("endpoints")).content.decode()
    assert "fake-* is priced in EUR, this endpoint counts in USD" in page


def test_a_run_costs_the_price_of_its_model_and_a_later_price_changes_no_earlier_call(fake: FakeLLM) -> None:
    row = priced("fake-*")
    judge = Judge("cpdscore_detail", endpoint=unpriced(fake))
    corpus = small_corpus()
    expected = estimate(judge, Selection(corpus))
    assert expected is not None
    assert expected.cost == cost(Endpoint(price_in=2, price_out=20), expected.tokens_in, expected.tokens_out)
    run = begin(corpus, judge)
    finish_all()
    n = run.calls.count()
    assert progress(Run.objects.get()).cost == spent(n, 2, 20)
    administrator = factories.user(administrator=True)
    save_price(by=administrator, fields={"price_in": Decimal(7), "currency": "EUR"}, price=row)
    delete_price(by=administrator, price=row)
    assert progress(Run.objects.get()).cost == spent(n, 2, 20)
    assert set(Call.objects.values_list("cost", flat=True)) == {spent(1, 2, 20)}


def test_a_cap_on_money_holds_with_a_price_by_model(fake: FakeLLM) -> None:
    judge = Judge("cpdscore_detail", endpoint=unpriced(fake), parameters={"max_tokens": 40})
    run = begin(small_corpus(), judge)
    with pytest.raises(JobError, match="has no prices, so its cost cannot be capped"):
        runs.set_caps(by=None, run=run, caps={"cap_cost": Decimal(1)})
    priced("fake-1")
    cap = spent(8, 2, 20)
    runs.set_caps(by=None, run=Run.objects.get(), caps={"cap_cost": cap})
    finish_all()
    state = progress(Run.objects.get())
    assert state.state == "paused"
    assert state.cost is not None
    assert 0 < state.cost <= cap


def test_a_lost_request_costs_the_price_by_model(fake: FakeLLM) -> None:
    priced("fake-*")
    call = begin(small_corpus(), Judge("cpdscore_detail", endpoint=unpriced(fake))).calls.earliest("pk")
    claims.note([(call.pk, 100, 10)])
    claims.count_lost([call.pk])
    call.refresh_from_db()
    assert (call.lost, call.cost) == (1, Decimal(100 * 2 + 10 * 20) / 1_000_000)


def test_administrators_keep_the_table_on_its_page(fake: FakeLLM, administrator: Client) -> None:
    unpriced(fake)
    address = reverse("model-prices")
    assert "No prices yet." in administrator.get(address).content.decode()
    assert "of fake-*" not in administrator.get(reverse("endpoints")).content.decode()
    page = administrator.post(address, ROW, follow=True).content.decode()
    assert "The prices of fake-* are saved." in page
    assert "of fake-*" in administrator.get(reverse("endpoints")).content.decode()
    row = ModelPrice.objects.get()
    refused = administrator.post(address, ROW)
    assert (refused.status_code, ModelPrice.objects.count()) == (422, 1)
    changed = administrator.post(
        reverse("model-price", args=[row.pk]), ROW | {"price_in": "0.075"}, follow=True
    )
    assert "0.075000" in changed.content.decode()
    administrator.post(reverse("delete-model-price", args=[row.pk]))
    assert not ModelPrice.objects.exists()
    verbs = Event.objects.filter(subject="fake-*").order_by("pk").values_list("verb", "detail__read")
    assert list(verbs) == [
        ("save model price", "2"),
        ("save model price", "0.075"),
        ("delete model price", "0.075000"),
    ]


def test_programs_of_administrators_keep_the_table(administrator: Client) -> None:
    address = reverse("api-model-prices")
    body = administrator.post(address, ROW, content_type="application/json").json()
    assert (body["model"], body["price_in"], body["changed_by"]) == ("fake-*", "2.000000", "admin")
    row = reverse("api-model-price", args=[body["id"]])
    changed = administrator.patch(row, {"price_out": "30"}, content_type="application/json").json()
    assert (changed["price_in"], changed["price_out"]) == ("2.000000", "30.000000")
    assert [price["model"] for price in administrator.get(address).json()["results"]] == ["fake-*"]
    assert administrator.delete(row).status_code == 204
    assert administrator.get(address).json()["results"] == []


@pytest.mark.parametrize(
    "fault", [{"model": "*"}, {"model": "a*b"}, {"model": ""}, {"price_in": "-1"}, {"price_out": ""}]
)
def test_a_row_needs_a_name_and_two_prices(administrator: Client, fault: dict[str, str]) -> None:
    assert administrator.post(reverse("model-prices"), ROW | fault).status_code == 422
    body = administrator.post(reverse("api-model-prices"), ROW | fault, content_type="application/json")
    assert (body.status_code, ModelPrice.objects.count()) == (400, 0)


@pytest.mark.parametrize("fault", [{"model": "*"}, {"model": "a*b"}, {"price_in": -1}])
def test_the_database_refuses_such_rows_too(fault: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelPrice.objects.create(**{"model": "a", "price_in": 1, "price_out": 1} | fault)


def test_researchers_see_the_table_and_do_not_change_it(researcher: Client) -> None:
    row = priced("<b>large</b>")
    page = researcher.get(reverse("model-prices")).content.decode()
    assert "&lt;b&gt;large&lt;/b&gt;" in page
    assert "To change prices, ask" in page
    assert "Delete" not in page
    assert researcher.get(reverse("api-model-prices")).json()["results"][0]["model"] == "<b>large</b>"
    for name in ("model-prices", "api-model-prices"):
        assert researcher.post(reverse(name), ROW).status_code == 403
    for name in ("model-price", "delete-model-price"):
        assert researcher.post(reverse(name, args=[row.pk]), ROW).status_code == 403
    address = reverse("api-model-price", args=[row.pk])
    assert researcher.patch(address, {}, content_type="application/json").status_code == 403
    assert researcher.delete(address).status_code == 403
    person = factories.user("rita")
    with pytest.raises(PermissionDenied):
        save_price(by=person, fields=ROW)
    with pytest.raises(PermissionDenied):
        delete_price(by=person, price=row)
    assert list(ModelPrice.objects.values_list("model", "price_in")) == [("<b>large</b>", 2)]
