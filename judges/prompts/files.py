"""Prompt files: all versions of a prompt as YAML, or one version as Markdown with front matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.models import SchemeVersion
from annotation.text.yaml_tree import BadFile, Tree, dump, parse
from config.request_json import storable
from judges.errors import JudgeError
from judges.prompts.versions import Version, versions_of
from judges.protocols import PROTOCOLS, Asking, Wording

# Prompt files: all versions of a prompt as YAML, or one version as Markdown with front matter.
#
#     YAML                                  Markdown
#     concord_prompt: 1                     ---
#     name: kinder                          concord_prompt: 1
#     protocol: cpdscore_simple             name: kinder
#     variant: without_reference            ...
#     versions:                             ---
#     - number: 1                           ## System
#       system: |                           (the system part)
#         ...                               ## User
#       user: |                             (the user part)
#         ...
#
# A written file is read back as the same text, with the same digest.

FORMAT = 1
FORMS = {"yaml": ("yaml", "application/yaml"), "md": ("md", "text/markdown")}
"""File formats: extension and media type."""
MOST_VERSIONS = 500
_HEADING = re.compile(r"^\\*## (?:System|User)$")
_MARKDOWN = re.compile(r"^(?:---|## System|## User)$", re.MULTILINE)
_TEXTS = ("parent", "origin", "note", "form", "digest")
_VERSION_FIELDS = {"number", "system", "user", "examples", "picking", "detail", *_TEXTS}
_PROMPT_FIELDS = {"concord_prompt", "name", "protocol", "variant", "scheme", "description", "versions"}


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """A version read from a file; `line` is its first line."""

    wording: Wording
    number: int
    line: int
    parent: str = ""
    origin: str = ""
    note: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """A prompt read from a file. `scheme` is `key@version`, '' if the protocol has its own."""

    name: str
    protocol: str
    variant: str = ""
    scheme: str = ""
    description: str = ""
    versions: tuple[ReadVersion, ...] = field(default=())


def export(version: Version, form: str) -> tuple[str, str]:
    """Return the file of a version (`md`) or of its prompt with all versions (`yaml`), and its name."""
    prompt = version.row.prompt if version.row else None
    description = prompt.description if prompt else ""
    suffix, _ = FORMS[form]
    if form == "md":
        return as_markdown(version, description), f"{version.ref}.{suffix}"
    versions = versions_of(prompt) if prompt else [version]
    return as_yaml(versions, description), f"{version.name}.{suffix}"


def as_yaml(versions: Iterable[Version], description: str = "") -> str:
    """Return a prompt's versions, oldest first, as YAML."""
    ordered = sorted(versions, key=lambda version: version.number)
    head = _head(ordered[0], description)
    return dump(head | {"versions": [_plain(version) | _parts(version.wording) for version in ordered]})


def as_markdown(version: Version, description: str = "") -> str:
    """Return one version as Markdown with front matter."""
    front = dump(_head(version, description) | _plain(version))
    parts = {"System": version.wording.system, "User": version.wording.user}
    body = [line for name, text in parts.items() for line in (f"## {name}", "", *_escaped(text), "")]
    return f"---\n{front}---\n\n" + "\n".join(body)


def _head(version: Version, description: str) -> dict[str, Any]:
    row = version.scheme_version
    scheme = {"scheme": f"{row.scheme.key}@{row.version}"} if row else {}
    optional = {"description": description} if description else {}
    names = {"name": version.name, "protocol": version.protocol, "variant": version.variant}
    return {"concord_prompt": FORMAT, **names, **scheme, **optional}


def _plain(version: Version) -> dict[str, Any]:
    row, wording = version.row, version.wording
    values: dict[str, Any] = {"number": version.number, "digest": wording.digest()}
    if row is not None:
        values |= {"origin": row.origin, "parent": row.parent, "note": row.note}
    values |= {"form": wording.form} if wording.form else {}
    values |= {"picking": dict(wording.picking)} if wording.picking else {}
    return values | (
        {"examples": [dict(example) for example in wording.examples]} if wording.examples else {}
    )


def _parts(wording: Wording) -> dict[str, str]:
    return {"system": wording.system, "user": wording.user}


def _escaped(text: str) -> list[str]:
    """Return a text's lines; lines that look like our headings get another backslash."""
    return [f"\\{line}" if _HEADING.match(line) else line for line in text.split("\n")]


def read(content: bytes) -> ReadPrompt:
    """Read a prompt from a file in either format. Raises JudgeError whose message has a line for each
    problem: its line, its field, and the fault."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise JudgeError(f"line {line}: the file is not in UTF-8.") from None
    text = storable(text.replace("\r\n", "\n"))
    try:
        if text.startswith("---\n") and _MARKDOWN.search(text, 4):
            return _checked(_markdown(text))
        return _checked(parse(text))
    except BadFile as error:
        raise JudgeError(f"{error}.") from None


def _markdown(text: str) -> Tree:
    front, end, body = text[4:].partition("\n---\n")
    if not end:
        raise BadFile("line 1: the front matter has no end, a line ---")
    tree = parse(front + "\n", first_line=2)
    if not isinstance(tree.value, dict):
        raise BadFile("line 2: the front matter has names and values")
    before = front.count("\n") + 4
    lines = body.split("\n")
    try:
        first = lines.index("## System")
        second = lines.index("## User", first)
    except ValueError:
        raise BadFile(f"line {before}: the parts ## System and ## User must follow, in this order") from None
    if "".join(lines[:first]).strip():
        raise BadFile(f"line {before}: nothing may stand before ## System")
    version = dict(tree.value)
    version |= {"system": _unescaped(lines[first + 1 : second]), "user": _unescaped(lines[second + 1 :])}
    prompt = {name: version.pop(name) for name in list(version) if name in _PROMPT_FIELDS}
    merged = Tree(prompt | {"versions": [version]}, dict(tree.lines))
    merged.lines |= {("versions", 0, *path): line for path, line in tree.lines.items() if path}
    merged.lines |= {("versions", 0, "system"): before + first, ("versions", 0, "user"): before + second}
    return merged


def _unescaped(lines: list[str]) -> str:
    """Return the text of a part without the empty lines after its heading and at its end."""
    body = lines[1:] if lines and not lines[0] else lines
    body = body[:-1] if body and not body[-1] else body
    return "\n".join(line[1:] if line.startswith("\\") and _HEADING.match(line) else line for line in body)


def _checked(tree: Tree) -> ReadPrompt:
    value = tree.value
    if not isinstance(value, dict) or "versions" not in value:
        raise BadFile("line 1: a prompt's file has concord_prompt, name, protocol and versions")
    problems = list(_prompt_problems(tree))
    versions = value["versions"] if isinstance(value["versions"], list) else []
    read_versions = []
    for index, entry in enumerate(versions[:MOST_VERSIONS]):
        wrong = list(_version_problems(tree, index, entry))
        problems += wrong
        if not wrong:
            read_versions.append(_version(tree, index, entry))
    if not problems:
        for version in read_versions:
            problems += _text_problems(tree, value, version)
    if problems:
        raise JudgeError("\n".join(problems[:50]))
    texts = {name: str(value.get(name) or "") for name in ("variant", "scheme", "description")}
    return ReadPrompt(value["name"], value["protocol"], versions=tuple(read_versions), **texts)


def _prompt_problems(tree: Tree) -> Iterable[str]:
    value = tree.value
    for name in sorted(set(value) - _PROMPT_FIELDS):
        yield f"line {tree.line(name)}: there is no field {name[:60]!r}."
    if value.get("concord_prompt") != FORMAT:
        detail = str(value.get("concord_prompt"))[:40]
        yield f"line {tree.line('concord_prompt')}: concord_prompt is {detail}; this release reads {FORMAT}."
    for name in ("name", "protocol"):
        if not isinstance(value.get(name), str) or not value[name].strip():
            yield f"line {tree.line(name)}: {name} is missing or not a text."
    for name in ("variant", "scheme", "description"):
        if not isinstance(value.get(name) or "", str):
            yield f"line {tree.line(name)}: {name} is not a text."
    protocol = PROTOCOLS.get(value.get("protocol") if isinstance(value.get("protocol"), str) else "")
    if not isinstance(protocol, Asking):
        yield f"line {tree.line('protocol')}: there is no protocol {str(value.get('protocol'))[:60]!r}."
    elif (value.get("variant") or "") not in protocol.variants:
        detail = f"{str(value.get('variant'))[:60]!r}; {protocol.key} has {', '.join(protocol.variants)}"
        yield f"line {tree.line('variant')}: variant is {detail}."
    if not isinstance(value["versions"], list) or not 1 <= len(value["versions"]) <= MOST_VERSIONS:
        yield f"line {tree.line('versions')}: versions is a list of 1 to {MOST_VERSIONS}."


def _version_problems(tree: Tree, index: int, entry: Any) -> Iterable[str]:
    def at(name: str) -> str:
        return f"line {tree.line('versions', index, name)}: versions[{index}].{name}"

    if not isinstance(entry, dict):
        yield f"line {tree.line('versions', index)}: versions[{index}] has names and values."
        return
    for name in sorted(set(entry) - _VERSION_FIELDS):
        yield f"{at(name)}: there is no such field."
    for name in ("system", "user", *_TEXTS):
        if not isinstance(entry.get(name) or "", str):
            yield f"{at(name)}: {str(entry[name])[:40]!r} is not a text."
    number = entry.get("number", index + 1)
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number < 2**31:
        yield f"{at('number')}: {str(number)[:40]!r} is not a version's number."
    if not isinstance(entry.get("examples") or [], list):
        yield f"{at('examples')}: it is a list."
    if not isinstance(entry.get("picking") or {}, dict):
        yield f"{at('picking')}: it has names and values."


def _version(tree: Tree, index: int, entry: Mapping[str, Any]) -> ReadVersion:
    examples = tuple(entry.get("examples") or ())
    system, user, form = (str(entry.get(name) or "") for name in ("system", "user", "form"))
    return ReadVersion(
        Wording(system, user, form, examples, dict(entry.get("picking") or {})),
        number=entry.get("number", index + 1),
        line=tree.line("versions", index),
        **{name: str(entry.get(name) or "") for name in ("parent", "origin", "note", "digest")},
    )


def _text_problems(tree: Tree, value: Mapping[str, Any], version: ReadVersion) -> Iterable[str]:
    protocol = PROTOCOLS[value["protocol"]]
    assert isinstance(protocol, Asking)
    index = next(i for i, line in enumerate(_lines_of(tree)) if line == version.line)
    for fault in version.wording.faults(protocol.known_variables(value.get("variant") or "")):
        where = tree.line("versions", index, fault.part or "user") + fault.line
        yield f"line {where}: versions[{index}].{fault.part or 'user'}: {fault.message}"
    if version.wording.form and version.wording.form not in protocol.forms:
        line = tree.line("versions", index, "form")
        yield f"line {line}: versions[{index}].form: {version.wording.form[:40]!r} is not one of its forms."


def _lines_of(tree: Tree) -> list[int]:
    many = len(tree.value["versions"])
    return [tree.line("versions", index) for index in range(many)]


def scheme_of(ref: str) -> SchemeVersion | None:
    """Return the scheme version that a file names; raise JudgeError if it is not stored."""
    if not ref:
        return None
    key, _, number = ref.rpartition("@")
    scheme_version = None
    if number.isdecimal() and len(number) < 10:
        rows = SchemeVersion.objects.select_related("scheme")
        scheme_version = rows.filter(scheme__key=key, version=int(number)).first()
    if scheme_version is None:
        raise JudgeError(f"There is no scheme {ref[:80]!r} here: import or make it first.")
    return scheme_version
