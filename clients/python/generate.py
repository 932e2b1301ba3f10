"""Writes the client's types and methods from Concord's OpenAPI document, read from standard input.

Run it by `make client`.

A schema becomes a TypedDict, an operation a method of the same name. The code shared by all requests (tokens,
retries, pages, refusals) is written by hand in `concord_client/transport.py`.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]
ROOT = "/api/v1"
JSON = "application/json"
FILES = "multipart/form-data"
KEY = "Idempotency-Key"
PAGING = ("limit", "offset")
PRIMITIVES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
SAID = '"""{} Made from the OpenAPI document by `generate.py`; not edited by hand."""'
WIDTH = 106


def files(document: Json) -> dict[str, str]:
    """Return the generated files, text by name."""
    schemas = document["components"]["schemas"]
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    return {"models.py": _models(schemas), "api.py": _api(operations, schemas)}


def _models(schemas: Json) -> str:
    head = [SAID.format("What is sent and what comes back."), "", "from __future__ import annotations", ""]
    head += ["from typing import Any, Literal, Required, TypeAlias, TypedDict", ""]
    head += ["from concord_client.transport import File"]
    bodies = [_model(name, schema) for name, schema in sorted(schemas.items())]
    return "\n".join(head) + "\n" + "".join(f"\n\n{body}\n" for body in bodies)


def _model(name: str, schema: Json) -> str:
    """Return the source of a TypedDict for an object with properties, else of a type alias."""
    properties = schema.get("properties")
    if not properties:
        return f"{name}: TypeAlias = {_type(schema, quoted=True)}"
    required = set(schema.get("required", ()))
    typed = {
        field: f"Required[{_type(part, in_model=True)}]" if field in required else _type(part, in_model=True)
        for field, part in properties.items()
    }
    if any(not field.isidentifier() or keyword.iskeyword(field) for field in typed):
        pairs = "".join(f'        "{field}": "{kind}",\n' for field, kind in typed.items())
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{pairs}    }},\n    total=False,\n)'
    lines = [f"class {name}(TypedDict, total=False):", *_doc(schema.get("description", ""), 4)]
    return "\n".join(lines + [f"    {field}: {kind}" for field, kind in typed.items()])


def _type(schema: Json, *, quoted: bool = False, in_model: bool = False) -> str:
    """Return a schema's type in Python; `quoted` if names may not be defined yet.

    A file in a field of a model is an upload (`File`), any other file is a download.
    """
    kind = _bare(schema, quoted, in_model)
    if not schema.get("nullable") or kind == "Any":
        return kind
    return f'"{kind.strip(chr(34))} | None"' if kind.startswith('"') else f"{kind} | None"


def _bare(schema: Json, quoted: bool, in_model: bool) -> str:
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f'"{name}"' if quoted else str(name)
    for several in ("oneOf", "anyOf", "allOf"):
        if parts := schema.get(several):
            kinds = list(dict.fromkeys(_type(part) for part in parts))
            union = " | ".join(kinds)
            return f'"{union}"' if quoted else union
    if values := schema.get("enum"):
        known = [value for value in values if value is not None]
        literal = f"Literal[{', '.join(json.dumps(value) for value in known)}]"
        if not known:
            return "None"
        return f"{literal} | None" if len(known) < len(values) else literal
    if schema.get("format") == "binary":
        return "File" if in_model else "bytes"
    if schema.get("type") == "array":
        return f"list[{_type(schema.get('items', {}), quoted=quoted, in_model=in_model)}]"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        value = _type(inner, quoted=quoted) if isinstance(inner, Mapping) and inner else "Any"
        return f"dict[str, {value}]"
    return PRIMITIVES.get(schema.get("type", ""), "Any")


def _api(operations: list[tuple[str, str, Json]], schemas: Json) -> str:
    head = [SAID.format("Every route of the API, as a method."), "", "from __future__ import annotations", ""]
    head += ["from collections.abc import Iterator, Sequence", "from typing import Any, Literal, cast", ""]
    head += ["from concord_client import models", "from concord_client.transport import Transport", ""]
    body = ["", "class Api(Transport):", '    """All routes; each method is called like its operation."""']
    for method, path, operation in operations:
        body += ["", *_method(method, path, operation, schemas)]
    return "\n".join([*head, *body]) + "\n"


def _method(method: str, path: str, operation: Json, schemas: Json) -> Iterator[str]:
    """Yield the lines of an operation's method."""
    parameters = [one for one in operation.get("parameters", ()) if one["in"] in ("path", "query")]
    by_key = any(one["name"] == KEY for one in operation.get("parameters", ()))
    content = operation.get("requestBody", {}).get("content", {})
    result, item = _result(operation["responses"], schemas)
    query = [one for one in parameters if one["in"] == "query" and not (item and one["name"] in PAGING)]
    inside = [one for one in parameters if one["in"] == "path"]
    inside.sort(key=lambda one: path.index(f"{{{one['name']}}}"))
    taken = ["self", *(f"{_name(one['name'])}: {_named(one['schema'])}" for one in inside)]
    if content:
        told = _named(next(iter(content.values()))["schema"])
        needed = operation["requestBody"].get("required", False)
        taken.append(f"body: {told}" if needed else f"body: {told} | None = None")
    taken += ["*"] if query else []
    for one in query:
        kind = _named(one["schema"]).replace("list[", "Sequence[")
        taken.append(f"{_name(one['name'])}: {kind}{'' if one.get('required') else ' | None = None'}")
    back = f"Iterator[{item}]" if item else result
    line = f"    def {_name(operation['operationId'])}({', '.join(taken)}) -> {back}:"
    if len(line) <= WIDTH:
        yield line
    else:
        yield f"    def {_name(operation['operationId'])}("
        yield from (f"        {one}," for one in taken)
        yield f"    ) -> {back}:"
    yield from _doc(operation.get("description", "") or operation["operationId"], 8)
    yield from _call(method, path, query, content, by_key, item, result)


def _call(
    method: str, path: str, query: list[Json], content: Json, by_key: bool, item: str, result: str
) -> Iterator[str]:
    """Yield the lines that send the request."""
    within = path.removeprefix(ROOT)
    address = re.sub(r"\{(\w+)\}", lambda found: f"{{self.quoted({_name(found[1])})}}", within)
    yield f'        path = f"{address}"' if "{" in address else f'        path = "{address}"'
    if query:
        yield "        query = {"
        yield from (f'            "{one["name"]}": {_name(one["name"])},' for one in query)
        yield "        }"
    more = ["query=query"] if query else []
    if item:
        yield f"        return cast(Iterator[{item}], self.pages({', '.join(['path', *more])}))"
        return
    if content:
        more.append("form=body" if FILES in content else "body=body")
    if by_key:
        more.append("keyed=True")
    sent = f"self.send({', '.join([chr(34) + method.upper() + chr(34), 'path', *more])})"
    yield f"        {sent}" if result == "None" else f"        return cast({json.dumps(result)}, {sent})"


def _result(responses: Json, schemas: Json) -> tuple[str, str]:
    """Return the type of the response, and the type of a row if the response is a paginated list."""
    kinds = []
    for status, response in sorted(responses.items()):
        if status.startswith("2"):
            parts = response.get("content", {}).values()
            kinds += [_named(part["schema"]) for part in parts] or ["None"]
    if len(kinds) == 1 and kinds[0].startswith("models.Paginated"):
        rows = schemas[kinds[0].removeprefix("models.")]["properties"]["results"]
        return kinds[0], _named(rows["items"])
    return " | ".join(dict.fromkeys(kinds)), ""


def _named(schema: Json) -> str:
    """Return a type with models named as in `api.py`; fields for files take a `File`."""
    kind = _type(schema)
    known = re.sub(r"\b([A-Z]\w*)\b", r"models.\1", kind)
    return re.sub(r"models\.(Any|None|Literal)\b", r"\1", known) if "Literal" not in kind else kind


def _name(text: str) -> str:
    """Return a valid Python name."""
    name = re.sub(r"\W", "_", text)
    return f"{name}_" if keyword.iskeyword(name) else name


def _doc(text: str, indent: int) -> list[str]:
    """Return a docstring, wrapped."""
    space = " " * indent
    clean = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    if not clean:
        return []
    paragraphs = [
        textwrap.wrap(" ".join(part.split()), WIDTH - indent) for part in re.split(r"\n\s*\n", clean)
    ]
    lines = [line for part in paragraphs for line in ["", *part]][1:]
    if len(lines) == 1 and len(lines[0]) < WIDTH - indent - 6:
        return [f'{space}"""{lines[0]}"""']
    return [f'{space}"""{lines[0]}', *(f"{space}{line}".rstrip() for line in lines[1:]), f'{space}"""']


def main() -> None:
    """Write the files into the package next to this script."""
    write(json.load(sys.stdin), Path(__file__).parent / "concord_client")


def write(document: Json, package: Path) -> None:
    """Write the generated modules into a package's folder."""
    for name, text in files(document).items():
        (package / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
