"""Operations of the HTTP API: request and response are declared once, for server and OpenAPI document.

    @api.post(NewInvitation, LinkSerializer, status=201, permission=IsAdministrator)
    def invite(request: Request) -> OneTimeLink:
        return links.invite(by=api.user(request), **api.data(request))

    path("invitations/", api.route(list_invitations, invite), name="api-invitations")

The function gets the request and the URL's parts by name; `data` validates the input. It returns an object
described by `gives`, plain JSON to send unchanged, None for an empty response, or a response of its own.
Applications' refusals (`settings.API_REFUSALS`) become error responses automatically.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from datetime import date, datetime
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from django.conf import settings
from django.db.models import QuerySet
from django.http import QueryDict
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView, exception_handler

from config.idempotency import told_once
from config.lists import Filters, Pages
from config.permissions import IsResearcher, user_of

Data = dict[str, Any]
Handler = Callable[..., Any]
Schema = type[BaseSerializer[Any]]
Permission = type[BasePermission]


user = user_of
"""The account that sends a request."""


def data(request: Request, instance: Any = None) -> Data:
    """Return the request's input, validated as the operation declares it; raise ValidationError if invalid.

    To change a row with unique fields, pass the row as `instance`.
    """
    operation: Operation = request.parser_context["operation"]
    assert operation.takes is not None
    sent = request.query_params if operation.method == "GET" else request.data
    if operation.method == "DELETE":
        sent = sent or request.query_params
    return checked(operation.takes(instance, data=sent, partial=operation.partial))


def checked(serializer: BaseSerializer[Any]) -> Data:
    """Return a serializer's validated data; raise ValidationError if invalid."""
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class QuerySerializer(serializers.Serializer[Any]):
    """Query parameters; an empty one is validated like any other value, not ignored."""

    def to_internal_value(self, data: Any) -> Any:
        """Validate the last value of each parameter, or all values of a list."""
        if isinstance(data, QueryDict):
            lists = {name for name, part in self.fields.items() if isinstance(part, serializers.ListField)}
            data = {name: data.getlist(name) if name in lists else data[name] for name in data}
        return super().to_internal_value(data)


def query_text(request: Request, name: str) -> str:
    """Return a query parameter, '' if missing."""
    return str(request.query_params.get(name, "")).replace("\0", "")


def optional_text(**options: Any) -> serializers.CharField:
    """Return a string field that may be missing or empty."""
    return serializers.CharField(default="", allow_blank=True, **options)


def texts(**options: Any) -> serializers.ListField:
    """Return an optional field for a list of strings."""
    return serializers.ListField(child=serializers.CharField(), default=list, **options)


PLAIN: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
    date: serializers.DateField,
    datetime: serializers.DateTimeField,
}


def serializer_of(
    described: type, name: str, doc: str = "", **fields: Any
) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a dataclass or named tuple: one field per attribute, unless in `fields`.

    Dataclasses in it become components with their own names.
    """
    hints = {key: hint for key, hint in get_type_hints(described).items() if key not in fields}
    members = {key: _field_of(hint) for key, hint in hints.items()} | fields
    return type(
        f"{name}Serializer", (serializers.Serializer,), members | {"__doc__": doc or described.__doc__}
    )


def _field_of(hint: Any, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    arguments = get_args(hint)
    if NoneType in arguments:
        (hint,) = (argument for argument in arguments if argument is not NoneType)
        return _field_of(hint, allow_null=True)
    if get_origin(hint) in (list, tuple):
        return serializers.ListField(child=_field_of(arguments[0]), **options)
    if get_origin(hint) is Literal:
        return serializers.ChoiceField(choices=arguments, **options)
    if isinstance(hint, type) and is_dataclass(hint):
        return serializer_of(hint, hint.__name__)(**options)
    return PLAIN[hint](**options)


def page_of(request: Request, rows: Any, payload: Callable[[list[Any]], Any]) -> Response:
    """Return the response with a list's requested page; `payload` converts its rows to plain JSON."""
    pager = Pages()
    page = pager.paginate_queryset(rows, request) or []
    return pager.get_paginated_response(payload(page))


@dataclass(frozen=True)
class Operation:
    """One method of a route."""

    method: str
    handler: Handler
    takes: Schema | None = None
    gives: Any = None
    """Serializer of the result, or another schema of plain JSON; None: any object."""
    status: int = 200
    permission: Permission = IsResearcher
    many: bool = False
    partial: bool = False
    paged: bool = False
    filters: Filters | None = None
    query: Sequence[Any] = ()
    """Query parameters in addition to the filters; for a GET, they replace those derived from `takes`."""
    page: Callable[[list[Any]], Any] = list
    """Converts the rows of a page to the objects described by `gives`, or to plain JSON."""
    responses: Mapping[Any, Any] = field(default_factory=dict)
    """Other responses by status; without `gives`, all responses."""
    parsers: Sequence[type[BaseParser]] = ()
    secret: bool = False
    """Whether the response holds a secret and is shown only once (`config.idempotency.told_once`)."""
    without_keys: str = ""
    name: str | None = None
    """Name in the OpenAPI document, needed if two operations of a route would share a name."""

    def view_method(self) -> Handler:
        """Return the operation as a view method, with its schema."""

        def method(_view: APIView, request: Request, **address: Any) -> HttpResponseBase:
            request.parser_context["operation"] = self
            return self._answer(request, self.handler(request, **address))

        method.__doc__ = self.handler.__doc__
        return extend_schema(**self._description())(method)

    def _answer(self, request: Request, result: Any) -> HttpResponseBase:
        if isinstance(result, HttpResponseBase):
            return result
        if self.paged:
            rows = self.filters.of(request, result) if self.filters else result
            return page_of(request, rows, lambda page: self._plain(request, self.page(page)))
        return Response(None if result is None else self._plain(request, result), status=self.status)

    def _plain(self, request: Request, result: Any) -> Any:
        """Return a result as plain JSON: mappings and lists of mappings already are."""
        is_list = isinstance(result, list | QuerySet)
        sample = next(iter(result), {}) if is_list else result
        if isinstance(sample, dict) or not _is_serializer(self.gives):
            return result
        return self.gives(result, many=is_list, context={"request": request}).data

    def _description(self) -> dict[str, Any]:
        parameters = [*self.query, *(self.filters.parameters if self.filters else ())]
        described: dict[str, Any] = {"operation_id": self.name}
        if self.takes is not None and self.method in ("GET", "DELETE"):
            parameters = parameters or [self.takes]
        elif self.takes is not None:
            sent = self.takes(partial=True) if self.partial else self.takes
            described["request"] = {parser.media_type: sent for parser in self.parsers} or sent
        elif self.method != "GET":
            described["request"] = None
        return described | {"parameters": parameters, "responses": self._responses()}

    def _responses(self) -> Mapping[Any, Any]:
        if self.gives is None and self.responses:
            return self.responses
        gives: Any = OpenApiTypes.OBJECT if self.gives is None else self.gives
        if self.many or (self.paged and _is_serializer(gives)):
            gives = gives(many=True)
        return {self.status: None if self.status == 204 else gives, **self.responses}


def _is_serializer(gives: Any) -> bool:
    return isinstance(gives, type) and issubclass(gives, BaseSerializer)


def _operation(method: str, **options: Any) -> Callable[[Handler], Operation]:
    return lambda handler: Operation(method, handler, **options)


def get(gives: Any = None, takes: Schema | None = None, **options: Any) -> Callable[[Handler], Operation]:
    """Decorate a function that handles a GET; `takes` describes the query."""
    return _operation("GET", gives=gives, takes=takes, **options)


def listing(gives: Any = None, takes: Schema | None = None, **options: Any) -> Callable[[Handler], Operation]:
    """Decorate a function that returns the rows of a list, which is sent in pages."""
    return _operation("GET", gives=gives, takes=takes, paged=True, **options)


def post(takes: Schema | None = None, gives: Any = None, **options: Any) -> Callable[[Handler], Operation]:
    """Decorate a function that handles a POST with the body `takes`."""
    return _operation("POST", takes=takes, gives=gives, **options)


def put(takes: Schema | None = None, gives: Any = None, **options: Any) -> Callable[[Handler], Operation]:
    """Decorate a function that handles a PUT with the body `takes`."""
    return _operation("PUT", takes=takes, gives=gives, **options)


def patch(takes: Schema | None = None, gives: Any = None, **options: Any) -> Callable[[Handler], Operation]:
    """Decorate a function that handles a PATCH with the body `takes`."""
    return _operation("PATCH", takes=takes, gives=gives, **options)


def delete(takes: Schema | None = None, gives: Any = None, **options: Any) -> Callable[[Handler], Operation]:
    """Decorate a function that handles a DELETE: status 204 unless given."""
    return _operation("DELETE", takes=takes, gives=gives, **{"status": 204, **options})


def route(*operations: Operation) -> Callable[..., HttpResponseBase]:
    """Return the view of a route from its operations, which share one permission."""
    (permission,) = {operation.permission for operation in operations}
    members: dict[str, Any] = {operation.method.lower(): operation.view_method() for operation in operations}
    members["__doc__"] = " ".join(operation.handler.__doc__ or "" for operation in operations)
    members["permission_classes"] = (permission,)
    if any(operation.paged for operation in operations):
        members["pagination_class"] = Pages
    if parsers := [parser for operation in operations for parser in operation.parsers]:
        members["parser_classes"] = parsers
    if reason := next((part.without_keys for part in operations if part.without_keys), ""):
        members["without_keys"] = reason
    view = type("Route", (APIView,), members).as_view()  # type: ignore[attr-defined]
    return told_once(view) if any(operation.secret for operation in operations) else view


@cache
def _refusals() -> tuple[type[Exception], ...]:
    return tuple(import_string(name) for name in settings.API_REFUSALS)


def refuse(error: Exception, context: Data) -> Response | None:
    """Return the response to a refusal: with the error's code if it has one, else 400 with its field."""
    if not isinstance(error, _refusals()):
        return exception_handler(error, context)
    body: Data = {getattr(error, "field", "") or "detail": str(error).splitlines()}
    if code := getattr(error, "code", ""):
        details: Callable[[], Data] = getattr(error, "details", dict)
        body = {"detail": str(error), "code": code, **details()}
    return Response(body, status=getattr(error, "status", 400))
