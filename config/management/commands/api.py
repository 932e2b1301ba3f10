"""`manage.py api METHOD PATH`: any route of the HTTP API, called in this process, without a server."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
import yaml
from django.contrib.auth.models import User
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.core.management.base import CommandError, CommandParser
from django.http.response import HttpResponseBase
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, path, resolve

from config.commands import ADDRESS, DatabaseCommand
from config.declared_input import METHODS, DeclaredInput, declared_input

ROOT = "/api/v1/"
MISTAKE = 2
"""Exit status for an error in the command line; a refused request gives 4, a server error 5."""
LATER = 202
"""Status if a job writes the file: the response names the job, and is never saved as the file."""
EXAMPLES = f"""\
examples:
  manage.py api GET campaigns/ state=open
  manage.py api POST campaigns/ name=pilot corpus=talks scheme=comperdial_turn --as ann
  manage.py api PATCH campaigns/3/ raters_per_item=2 'deadline:=null'
  manage.py api POST corpora/ name=talks file=@talks.csv
  manage.py api GET exports/labels.csv campaign=3 --output labels.csv
  manage.py api PATCH campaigns/3/ --help

Paths are below {ROOT}. The body of the answer is printed, in one line where it is JSON. The exit status is
0 for an answer 2xx, 4 for a refusal 4xx, 5 for an error 5xx, {MISTAKE} for a mistake in the command.
"""


class Command(DatabaseCommand):
    """Call a route of the API as a named account."""

    help = (
        "Call any route of the HTTP API in this process, without a server, and print what it answers. "
        "With METHOD and PATH, --help describes that route; alone, it lists all routes."
    )

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Return a parser whose help lists the routes; they are loaded only for the help."""
        return super().create_parser(prog_name, subcommand, add_help=False, **options)

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments for the request, its account, and the output of the response."""
        parser.add_argument(
            "method", type=str.upper, choices=METHODS, metavar="METHOD", help=", ".join(METHODS)
        )
        parser.add_argument(
            "path", metavar="PATH", help=f"the route's path below {ROOT}, with its ?query if any"
        )
        parser.add_argument(
            "fields",
            nargs="*",
            metavar="FIELD",
            help="of the query (GET, DELETE) or the body: key=text, key:=JSON, key=@FILE (its content), the "
            "same key again for a list; or @FILE alone, the whole body in JSON or YAML",
        )
        parser.add_argument(
            "--as",
            dest="account",
            metavar="NAME",
            help="the account that asks; without it, the only administrator",
        )
        parser.add_argument("--output", type=Path, metavar="FILE", help="write the answer into this file")
        parser.add_argument(
            "--address", default=ADDRESS, help=f"where Concord is, for links in the answer ({ADDRESS})"
        )
        parser.add_argument(
            "-h", "--help", action=_Help, nargs=0, help="show this help, the routes, or a route"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Send the request through the same middleware as on a server, and print the response."""
        person = account(options["account"])
        request = prepare_request(options["method"], options["path"], options["fields"], options["address"])
        response = send(request, person)
        try:
            self._write(response, options["output"])
            if warning := response.headers.get("Concord-Warning"):
                self.stderr.write(warning)
        finally:
            response.close()
        if response.status_code >= 300:
            raise CommandError(_reason(response), returncode=response.status_code // 100)

    def _write(self, response: HttpResponseBase, output: Path | None) -> None:
        if output is None or response.status_code >= 300 or response.status_code == LATER:
            is_json = response.headers.get("Content-Type", "").startswith("application/json")
            if is_json and not response.streaming:
                value = json.loads(response.content or b"null")  # type: ignore[attr-defined]
                self.stdout.write(json.dumps(value, ensure_ascii=False))
                return
            for part in response:
                self.stdout.write(part.decode() if isinstance(part, bytes) else part, ending="")
            return
        unfinished = output.with_name(f"{output.name}.part")  # so a file named `output` is always complete
        try:
            with unfinished.open("wb") as file:
                file.writelines(response)
            unfinished.replace(output)
        except OSError as error:
            raise CommandError(f"{output}: {error.strerror}", returncode=MISTAKE) from None
        self.stdout.write(json.dumps({"file": str(output), "bytes": output.stat().st_size}))


def account(name: str | None) -> User:
    """Return the account with a name; without a name, the only administrator. Raises CommandError."""
    if name is not None:
        person = User.objects.filter(username=name, is_active=True).first()
        if person is None:
            raise CommandError(f"There is no active account {name!r}.", returncode=MISTAKE)
        return person
    administrators = User.objects.filter(is_superuser=True, is_active=True)[:2]
    if len(administrators) != 1:
        situation = "several administrators" if administrators else "no administrator yet"
        raise CommandError(
            f"Say whose request it is with --as NAME: there are {situation}.", returncode=MISTAKE
        )
    return administrators[0]


def prepare_request(method: str, route: str, fields: list[str], address: str) -> WSGIRequest:
    """Return the arguments of a command line as a request, as a web server would build it.

    Raises CommandError for a path without a route, a field that is not `key=value`, and an unreadable file.
    """
    location = urlsplit(route)
    full_path = _full_path(location.path)
    declared = _declared(method, full_path)
    url = address.rstrip("/") + full_path + (f"?{location.query}" if location.query else "")
    is_upload = declared is not None and declared.media_types == ("multipart/form-data",)
    if method in {"GET", "DELETE"}:
        prepared = requests.Request(method, url, params=list(_query(fields))).prepare()
    elif is_upload:
        prepared = requests.Request(method, url, files=list(_parts(fields))).prepare()
    else:
        prepared = requests.Request(method, url, json=_body(fields, declared)).prepare()
    content = prepared.body or b""
    content = content.encode() if isinstance(content, str) else content
    assert isinstance(content, bytes)
    sent = urlsplit(str(prepared.url))
    return WSGIRequest(
        {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote(sent.path).encode().decode("latin-1"),
            "QUERY_STRING": sent.query,
            "CONTENT_TYPE": prepared.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(content)),
            "HTTP_HOST": sent.netloc,
            "SERVER_NAME": sent.hostname or "localhost",
            "SERVER_PORT": str(sent.port or (443 if sent.scheme == "https" else 80)),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": sent.scheme,
            "wsgi.input": io.BytesIO(content),
        }
    )


def send(request: WSGIRequest, person: User) -> HttpResponseBase:
    """Return the response of all middleware and the view to a request of an account."""
    # As DRF's own test client does: the request is authenticated as this account, without a token.
    request._force_auth_user = person  # type: ignore[attr-defined]
    request._force_auth_token = "command line"  # type: ignore[attr-defined]
    handler = BaseHandler()
    handler.load_middleware()
    return handler.get_response(request)


def _full_path(route: str) -> str:
    route = "/" + route.strip("/")
    if not route.startswith(ROOT):
        route = ROOT + route.strip("/")
    for candidate in (f"{route.rstrip('/')}/", route):  # lists end with a slash, files do not
        try:
            resolve(candidate)
        except Resolver404:
            continue
        return candidate
    raise CommandError(f"There is no route {route}. `manage.py api --help` lists them.", returncode=MISTAKE)


def _declared(method: str, full_path: str) -> DeclaredInput | None:
    match = resolve(full_path)
    if method not in _methods(match.func):
        return None  # the route refuses it
    return declared_input(match.func, method, f"/{match.route}")


def _query(fields: list[str]) -> Iterator[tuple[str, str]]:
    for field in fields:
        name, value = _field(field)
        yield name, value if isinstance(value, str) else json.dumps(value)


def _parts(fields: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a multipart body: strings, and files with their names."""
    for field in fields:
        name, separator, value = field.partition("=")
        if separator and value.startswith("@"):
            yield name, (Path(value[1:]).name, _read(value[1:]))
        else:
            name, text = _field(field)
            yield name, (None, text if isinstance(text, str) else json.dumps(text))


def _body(fields: list[str], declared: DeclaredInput | None) -> Any:
    """Return the JSON body: fields by name, a list if several share a name or the route takes a list."""
    if len(fields) == 1 and fields[0].startswith("@"):
        try:
            return json.loads(json.dumps(yaml.safe_load(_read(fields[0][1:])), default=str))
        except yaml.YAMLError as error:
            reason = str(error).replace("\n", " ")
            raise CommandError(
                f"{fields[0][1:]}: neither JSON nor YAML: {reason}", returncode=MISTAKE
            ) from None
    values: dict[str, list[Any]] = {}
    for name, value in map(_field, fields):
        values.setdefault(name, []).append(value)

    def is_list(name: str, parts: list[Any]) -> bool:
        takes_list = declared is not None and declared.takes_list(name)
        return len(parts) > 1 or (takes_list and isinstance(parts[0], str))

    return {name: parts if is_list(name, parts) else parts[0] for name, parts in values.items()}


def _field(field: str) -> tuple[str, Any]:
    """Return the name and the value of `key=text`, `key:=JSON` or `key=@FILE`."""
    if match := re.match(r"([^=:@]+):=(.*)", field, re.DOTALL):
        try:
            return match[1], json.loads(match[2])
        except ValueError:
            raise CommandError(f"{match[1]}: {match[2]!r} is not JSON.", returncode=MISTAKE) from None
    name, separator, text = field.partition("=")
    if not separator or not name:
        raise CommandError(f"{field!r}: a field is key=text, key:=JSON or key=@FILE.", returncode=MISTAKE)
    if not text.startswith("@"):
        return name, text
    try:
        return name, _read(text[1:]).decode()
    except UnicodeDecodeError:
        raise CommandError(f"{text[1:]}: not a text in UTF-8.", returncode=MISTAKE) from None


def _read(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}", returncode=MISTAKE) from None


def _reason(response: HttpResponseBase) -> str:
    try:
        return str(json.loads(response.content)["detail"])  # type: ignore[attr-defined]
    except (ValueError, LookupError, TypeError):
        return f"The answer is {response.status_code} {response.reason_phrase}."


# Text of --help: the routes, or the input of one of them.


class _Help(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: Any, **__: Any
    ) -> None:
        method, route = getattr(namespace, "method", None), getattr(namespace, "path", None)
        if method and route:
            try:
                sys.stdout.write("\n".join(_describe(method, route)) + "\n")
            except CommandError as error:  # raised while options are parsed, it would show a traceback
                parser.error(str(error))
        else:
            listing = "\n".join(f"  {line}" for line in _list_routes())
            sys.stdout.write(f"{parser.format_help()}\n{EXAMPLES}\nroutes:\n{listing}\n")
        parser.exit()


def _list_routes() -> Iterator[str]:
    """Yield a line for each route: its path, methods and first sentence of its description."""
    for route, view in _routes(get_resolver().url_patterns, ""):
        about = re.sub(r"\s+", " ", (view.cls.__doc__ or "").strip()).partition(". ")[0].rstrip(".")
        yield f"{_readable(route)}  {', '.join(_methods(view))}  {about}".rstrip()


def _routes(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        elif f"/{route}".startswith(ROOT) and hasattr(pattern.callback, "cls"):
            yield route.removeprefix(ROOT[1:]), pattern.callback


def _methods(view: Any) -> list[str]:
    if not hasattr(view, "cls"):
        return []
    return [method for method in METHODS if method in view.cls(**view.initkwargs).allowed_methods]


def _readable(route: str) -> str:
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)


def _describe(method: str, route: str) -> Iterator[str]:
    """Yield the OpenAPI document's text on one method of a route: its query, body and refusals."""
    from drf_spectacular.generators import SchemaGenerator  # loads every view, for help alone

    full_path = _full_path(urlsplit(route).path)
    match = resolve(full_path)
    if method not in _methods(match.func):
        raise CommandError(
            f"{_readable(match.route)} takes {', '.join(_methods(match.func))}.", returncode=MISTAKE
        )
    document = SchemaGenerator(patterns=[path(match.route, match.func)]).get_schema(public=True)
    operation = next(iter(document["paths"].values()))[method.lower()]
    yield f"{method} /{_readable(match.route)}"
    if about := operation.get("description"):
        yield f"\n{about}"
    if query := [part for part in operation.get("parameters", ()) if part["in"] == "query"]:
        yield "\nquery:"
        yield from (
            _field_line(part["name"], part["schema"] | part, document, part.get("required")) for part in query
        )
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"\nbody ({media_type}):"
        schema = _resolved(content["schema"], document)
        required = schema.get("required", ())
        for name, part in schema.get("properties", {}).items():
            yield _field_line(name, part, document, name in required)
        break


def _field_line(name: str, schema: Any, document: Any, required: bool | None) -> str:
    shape = _resolved(schema, document)
    kind = f"list of {_kind(shape['items'], document)}" if "items" in shape else _kind(schema, document)
    bounds = [
        f"{word} {shape[key]}" for word, key in (("from", "minimum"), ("to", "maximum")) if key in shape
    ]
    facts = ", ".join([kind, *bounds, *(["required"] if required else [])])
    about = schema.get("description") or shape.get("description") or ""
    return f"  {name} ({facts})" + (f": {' '.join(about.split())}" if about else "")


def _kind(schema: Any, document: Any) -> str:
    shape = _resolved(schema, document)
    if choices := [str(choice) for choice in shape.get("enum", ()) if choice not in ("", None)]:
        return " | ".join(choices)
    return str(shape.get("format") or shape.get("type") or "any")


def _resolved(schema: Any, document: Any) -> Any:
    """Return the schema behind references; of several alternatives, the first."""
    while True:
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        elif alternatives := next(
            (schema[word] for word in ("allOf", "oneOf", "anyOf") if schema.get(word)), None
        ):
            schema = alternatives[0]
        else:
            return schema
