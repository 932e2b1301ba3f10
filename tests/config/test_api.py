"""Operations of the API: responses to refusals, and serializers for responses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import pytest
from django.http import Http404, QueryDict
from rest_framework import serializers

from annotation.errors import CampaignRefused, EmailRefused, NameRefused
from annotation.formats.source import ImportProblem
from calibration.errors import StudyError
from config import api
from config.permissions import IsAdministrator
from jobs.errors import JobError, WebhookRefused


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (JobError("It runs."), 400, {"detail": ["It runs."]}),
        (JobError("One.\nTwo."), 400, {"detail": ["One.", "Two."]}),
        (StudyError("no labels"), 400, {"detail": ["no labels"]}),
        (NameRefused("Taken."), 400, {"username": ["Taken."]}),
        (EmailRefused("No address."), 422, {"email": ["No address."]}),
        (CampaignRefused("Closed."), 422, {"detail": "Closed.", "code": "campaign_refused"}),
        (
            WebhookRefused("Not there.", "url"),
            422,
            {"detail": "Not there.", "code": "webhook_refused", "fields": {"url": ["Not there."]}},
        ),
    ],
)
def test_a_refusal_is_answered_by_its_code_else_by_its_field(
    error: Exception, status: int, body: dict[str, object]
) -> None:
    response = api.refuse(error, {})
    assert response is not None
    assert (response.status_code, response.data) == (status, body)


def test_a_refused_file_says_where_it_is_wrong() -> None:
    response = api.refuse(ImportProblem("no text", field="turns[3].text", line=2), {})
    assert response is not None
    assert response.status_code == 400
    assert response.data == {
        "detail": "line 2, field turns[3].text: no text",
        "code": "import_refused",
        "file": "",
        "line": 2,
        "field": "turns[3].text",
        "reason": "no text",
    }


def test_what_no_application_refuses_is_left_to_the_framework() -> None:
    response = api.refuse(Http404(), {})
    assert response is not None
    assert response.status_code == 404
    assert api.refuse(ZeroDivisionError(), {}) is None


@dataclass
class Figure:
    """A figure of a day."""

    day: date
    value: float | None
    names: tuple[str, ...]
    state: str


def test_an_answer_is_described_by_its_dataclass() -> None:
    choice = serializers.ChoiceField(choices=["new", "old"])
    described = api.serializer_of(Figure, "Figure", state=choice)
    assert described.__name__ == "FigureSerializer"
    assert described.__doc__ == "A figure of a day."
    fields = described().fields
    assert set(fields) == {"day", "value", "names", "state"}
    assert fields["value"].allow_null
    assert not fields["day"].allow_null
    assert described(Figure(date(2026, 1, 31), None, ("a", "b"), "new")).data == {
        "day": "2026-01-31",
        "value": None,
        "names": ["a", "b"],
        "state": "new",
    }


@dataclass
class Week:
    """Figures of a week."""

    kind: Literal["working", "holiday"]
    best: Figure | None
    figures: tuple[Figure, ...] = ()


def test_dataclasses_and_words_in_an_answer_are_described_too() -> None:
    described = api.serializer_of(Week, "Week")
    fields: Any = described().fields
    assert list(fields) == ["kind", "best", "figures"]
    assert list(fields["kind"].choices) == ["working", "holiday"]
    assert fields["best"].allow_null
    assert type(fields["figures"].child).__name__ == "FigureSerializer"
    figure = Figure(date(2026, 1, 31), 0.5, (), "new")
    data = described(Week("holiday", None, (figure,))).data
    assert data["best"] is None
    assert [row["value"] for row in data["figures"]] == [0.5]


class SearchSerializer(api.QuerySerializer):
    """What is looked for."""

    text = serializers.CharField(required=False)
    names = serializers.ListField(child=serializers.CharField(), required=False)
    part = serializers.ChoiceField(choices=["dev", "test"], required=False)


def test_parameters_are_read_once_and_lists_whole() -> None:
    query = QueryDict("text=a&text=b&names=x&names=y")
    assert api.checked(SearchSerializer(data=query)) == {"text": "b", "names": ["x", "y"]}
    assert api.checked(SearchSerializer(data=QueryDict(""))) == {}


@pytest.mark.parametrize("empty", ["text=", "part=", "names="])
def test_an_empty_parameter_is_refused_as_any_other_value(empty: str) -> None:
    assert not SearchSerializer(data=QueryDict(empty)).is_valid()


def test_operations_of_a_route_are_for_the_same_accounts() -> None:
    @api.get(permission=IsAdministrator)
    def read(request: object) -> dict[str, int]:
        """Read it."""
        return {}

    @api.post()
    def change(request: object) -> dict[str, int]:
        """Change it."""
        return {}

    with pytest.raises(ValueError, match="too many values"):
        api.route(read, change)
