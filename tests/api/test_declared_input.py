"""Every route refuses undeclared query parameters and fields, and lists the valid ones."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import EndpointEnumerator

from annotation.models import Campaign
from config.declared_input import declared_input, unknown_fields
from config.settings import BASE_DIR
from jobs.models import Endpoint
from tests import factories
from tests.api.openapi import document

WRITING = ("POST", "PUT", "PATCH", "DELETE")
ENUMS = ("enum", "allOf", "oneOf", "anyOf")


@cache
def endpoints() -> list[tuple[str, str, Any]]:
    """Each method of each route: the method, a concrete address and the view."""
    found = []
    for path, regex, method, callback in EndpointEnumerator().get_api_endpoints():
        assert regex
        numbers = {f"{{{part}}}": "1" for part in path.replace("{", "}").split("}")[1::2]}
        for name, value in numbers.items():
            path = path.replace(name, value)
        found.append((method, path, callback))
    return found


def root() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user(administrator=True, researcher=True))
    return client


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_no_route_passes_over_an_unknown_parameter() -> None:
    client, passed = root(), []
    assert len(endpoints()) > 250
    for method, path, _ in endpoints():
        answer = client.generic(method, f"{path}?stat=done")
        told = answer.json().get("fields", {}) if answer.status_code == 400 else {}
        if "There is no parameter stat here." not in " ".join(told.get("stat", ())):
            passed.append((method, path, answer.status_code))
    assert passed == []


@pytest.mark.django_db
def test_no_route_passes_over_an_unknown_field() -> None:
    client, passed = root(), []
    for method, path, _ in endpoints():
        if method not in WRITING:
            continue
        for kind, body in (
            ("application/json", b'{"private_network": true}'),
            ("multipart/form-data; boundary=x", FORM),
        ):
            answer = client.generic(method, path, body, content_type=kind)
            if answer.status_code == 415:  # a file is sent here, or JSON
                continue
            told = answer.json().get("fields", {}) if answer.status_code == 400 else {}
            if "There is no field private_network here." not in " ".join(told.get("private_network", ())):
                passed.append((method, path, kind, answer.status_code))
    assert passed == []


FORM = b'--x\r\nContent-Disposition: form-data; name="private_network"\r\n\r\ntrue\r\n--x--\r\n'


@pytest.mark.django_db
def test_a_misspelt_filter_names_the_filters_there_are() -> None:
    answer = root().get("/api/v1/runs/", {"stat": "done"})
    assert answer.json()["fields"]["stat"] == [
        "There is no parameter stat here. "
        "Parameters: campaign, corpus, kind, limit, offset, order, rater, since, state."
    ]


@pytest.mark.django_db
def test_an_endpoint_with_an_unknown_setting_is_not_made() -> None:
    body = {"name": "near", "base_url": "https://models.example/v1", "model": "m", "private_network": True}
    answer = root().post("/api/v1/endpoints/", body, content_type="application/json")
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["private_network"])
    assert not Endpoint.objects.filter(name="near").exists()


@pytest.mark.django_db
def test_what_a_route_sets_itself_cannot_be_sent() -> None:
    """A state that is read only: passed over, it would look as if the campaign had been opened."""
    campaign = factories.campaign(factories.corpus(), opened=False)
    answer = root().patch(
        f"/api/v1/campaigns/{campaign.pk}/", {"state": "open"}, content_type="application/json"
    )
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["state"])
    assert Campaign.objects.get(pk=campaign.pk).state == campaign.state


@pytest.mark.django_db
def test_who_may_not_use_a_route_is_not_told_what_it_takes() -> None:
    assert Client().get("/api/v1/runs/?stat=done").status_code == 401
    annotator = Client()
    annotator.force_login(factories.user())
    assert annotator.get("/api/v1/runs/?stat=done").status_code == 403


def test_fields_within_fields_are_looked_at_where_they_are_declared() -> None:
    bodies = [declared_input(view, method, path) for method, path, view in endpoints() if method == "POST"]
    nested = next(one for one in bodies if one.body and _nested(one.body, one.components))
    name = _nested(nested.body or {}, nested.components)
    assert [path for path, _ in unknown_fields(nested, {name: [{"no_such_part": 1}]})] == [
        f"{name}.0.no_such_part"
    ]


def _nested(body: Any, components: Any) -> str:
    """The name of a field that is a list of objects with declared fields."""
    shape = components.get(body.get("$ref", "").rpartition("/")[2], body)
    for name, part in shape.get("properties", {}).items():
        inner = components.get(part.get("items", {}).get("$ref", "").rpartition("/")[2], {})
        if inner.get("properties"):
            return str(name)
    return ""


def _schemas(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _schemas(inner)


def _choices(schema: dict[str, Any]) -> set[Any] | None:
    """The values that a schema with choices allows; None where it has none."""
    if reference := schema.get("$ref"):
        return _choices(document()["components"]["schemas"][reference.rpartition("/")[2]])
    if "enum" in schema:
        return set(schema["enum"])
    inner = [_choices(part) for word in ENUMS[1:] for part in schema.get(word, ())]
    return set().union(*(one for one in inner if one)) if inner and None not in inner else None


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_default_is_one_of_its_choices_and_never_empty() -> None:
    """Generators of clients drop each operation of which this is not true."""
    looked_at, wrong = 0, []
    for schema in _schemas(document()):
        choices = _choices(schema) if "default" in schema else None
        if choices is not None:
            looked_at += 1
            if schema["default"] not in choices or schema["default"] == "":
                wrong.append(schema)
    assert looked_at > 10
    assert wrong == []


@pytest.mark.django_db
def test_the_document_says_that_bodies_take_no_other_fields() -> None:
    new = document()["components"]["schemas"]["NewRunRequest"]
    assert new["additionalProperties"] is False
    assert "additionalProperties" not in document()["components"]["schemas"]["Run"]


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_openapi_python_client_makes_a_client_without_a_warning(tmp_path: Path) -> None:
    """All operations in it, which a generator leaves out with no more than a warning where it cannot."""
    (tmp_path / "openapi.json").write_text(json.dumps(document()))
    program, settings = Path(sys.executable).with_name("openapi-python-client"), "openapi-python-client.yaml"
    command = [program, "generate", "--path", "openapi.json", "--meta", "none", "--output-path", "client"]
    options = ["--config", BASE_DIR / "clients" / settings, "--fail-on-warning"]
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    operations = [path for path in (tmp_path / "client" / "api").glob("*/*.py") if path.stem != "__init__"]
    assert len(operations) == sum(map(len, document()["paths"].values()))


@pytest.mark.django_db
def test_every_operation_has_one_name_and_all_that_it_refers_to() -> None:
    operations = [operation for methods in document()["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names) > 250
    assert [name for name in names if not name.isidentifier()] == []
    known = {f"#/components/schemas/{name}" for name in document()["components"]["schemas"]}
    assert {schema["$ref"] for schema in _schemas(document()) if isinstance(schema.get("$ref"), str)} <= known
