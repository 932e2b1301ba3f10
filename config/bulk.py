"""Bulk acts: one act on all selected rows of a list, from its page or from the API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from rest_framework import serializers

from config.files import row_id
from config.permissions import user_of

MOST_ROWS = 1000
SENTENCES_SHOWN = 10


class Refusal(NamedTuple):
    """A row that an act refused, with the sentence that says why."""

    id: int
    name: str
    reason: str


@dataclass(frozen=True)
class BulkOutcome:
    """The ids of the rows that an act changed, and the rows that it refused."""

    done: list[int]
    refused: list[Refusal]


class BulkAct(NamedTuple):
    """An act with the text of its button and its past participle; `change` takes `by` and the row."""

    text: str
    past: str
    change: Callable[..., Any]


@dataclass(frozen=True)
class BulkActs:
    """The acts on a kind of row, by verb.

    rows: the rows that an account may change; name: how a refusal calls a row; argument: what `change` calls
    it; refusal: the family of exceptions with which an act refuses.
    """

    noun: str
    rows: Callable[[User], QuerySet[Any]]
    name: Callable[[Any], str]
    argument: str
    refusal: type[Exception]
    acts: Mapping[str, BulkAct]

    def without(self, *verbs: str) -> dict[str, BulkAct]:
        """Return the acts that a list offers, without some of them."""
        return {verb: act for verb, act in self.acts.items() if verb not in verbs}

    @transaction.atomic
    def change(self, *, by: User, verb: str, ids: Sequence[int]) -> BulkOutcome:
        """Do one act on each of the rows: each is changed or refused by itself, in one transaction."""
        rows: dict[int, Model] = self.rows(by).in_bulk(ids)
        outcome = BulkOutcome([], [])
        for number in dict.fromkeys(ids):
            row = rows.get(number)
            if row is None:
                reason = f"There is no {self.noun} {number} that you may change."
                outcome.refused.append(Refusal(number, f"{self.noun} {number}", reason))
                continue
            try:
                with transaction.atomic():
                    self.acts[verb].change(by=by, **{self.argument: row})
            except self.refusal as error:
                outcome.refused.append(Refusal(number, self.name(row), str(error)))
            else:
                outcome.done.append(number)
        return outcome

    def change_and_return(self, request: HttpRequest) -> HttpResponse:
        """Do what the form of a list asks for, say what became of it, and return to the list."""
        verb, ids = request.POST.get("verb", ""), request.POST.getlist("selected")[:MOST_ROWS]
        numbers = [number for text in ids if (number := row_id(text)) is not None]
        if verb not in self.acts or not numbers:
            messages.error(request, f"Nothing changed: select at least one {self.noun}, then what to do.")
        else:
            self._tell(request, verb, self.change(by=user_of(request), verb=verb, ids=numbers))
        back = request.POST.get("back", "")
        return redirect(back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else "home")

    def _tell(self, request: HttpRequest, verb: str, outcome: BulkOutcome) -> None:
        n, past = len(outcome.done), self.acts[verb].past
        if n:
            messages.success(request, f"{n} {self.noun}{'' if n == 1 else 's'} {past}.")
        for refusal in outcome.refused[:SENTENCES_SHOWN]:
            messages.error(request, f"{refusal.name} was not {past}. {refusal.reason}")
        if (more := len(outcome.refused) - SENTENCES_SHOWN) > 0:
            messages.error(request, f"{more} more {'was' if more == 1 else 'were'} not {past}.")

    @property
    def input(self) -> type[serializers.Serializer[Any]]:
        """Return the serializer of a request of the API."""
        ids = serializers.ListField(
            child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
            min_length=1,
            max_length=MOST_ROWS,
        )
        fields = {"verb": serializers.ChoiceField(choices=list(self.acts)), "ids": ids}
        doc = f"What to do with which {self.noun}s."
        return type(f"Change{self.noun.title()}s", (serializers.Serializer,), fields | {"__doc__": doc})


class BulkRefusalSerializer(serializers.Serializer[Any]):
    """A row that was not changed."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    reason = serializers.CharField()


class BulkOutcomeSerializer(serializers.Serializer[Any]):
    """The ids of the changed rows, and those that were refused."""

    done = serializers.ListField(child=serializers.IntegerField())
    refused = BulkRefusalSerializer(many=True)
