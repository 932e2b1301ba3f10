"""USR (Mehri and Eskenazi 2020): responses to contexts of PersonaChat and Topical-Chat, with ratings.

`pc_usr_data.json` and `tc_usr_data.json` are lists of {"context", "fact", "annotators", "responses"}. A
context is one dialogue: its lines take turns, so that the response is by `System` and the line before it by
`User`. A persona ("your persona: ...") is the profile of `System`, another fact stands in the metadata. The
original response is the dialogue's own next turn, given, so that it is the reference; each response, the
original one too, is a static continuation by its model, rated by the scheme `usr_turn`. Equal contexts share
a cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, Fields, decode_python, is_number, kind_of
from annotation.formats.head import Head
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import HUMAN, SELF, Continuation, Dialogue, LabelRecord, Participant, Turn
from annotation.schemes.usr import SCHEME

CONTEXT = frozenset({"context", "fact", "annotators", "responses"})
QUALITIES = {
    "Understandable": "understandable",
    "Natural": "natural",
    "Maintains Context": "maintains_context",
    "Engaging": "engaging",
    "Uses Knowledge": "uses_knowledge",
    "Overall": "overall",
}
RESPONSE = frozenset({"response", "model", *QUALITIES})
ORIGINAL = "original ground truth"
PERSONA = "your persona:"
NO_FACT = ("", "_nofact")
USER, SYSTEM = "User", "System"


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each context: `usr-persona-001` or `usr-topical-001` is the file's first."""
    for file in source.files():
        place = file.name if source.path.is_dir() else ""
        content = decode_python(source.document(file))
        if not isinstance(content, list) or not content:
            raise ImportProblem(f"must be a list of contexts, not {kind_of(content)}", file=place)
        part = "persona" if any(_is_persona(raw) for raw in content) else "topical"
        clusters: dict[str, str] = {}
        for index, raw in enumerate(content):
            key = f"usr-{part}-{index + 1:03d}"
            try:
                fields = Fields(raw, f"[{index}]", CONTEXT)
                record = _dialogue(fields, key)
            except ImportProblem as problem:
                source.report(problem.placed(file=place))
                continue
            cluster = clusters.setdefault(fields.text("context").strip(), key)
            yield SourceRecord(replace(record, cluster=cluster), file=place)


def _is_persona(raw: Any) -> bool:
    fact = raw.get("fact") if isinstance(raw, dict) else None
    return isinstance(fact, str) and PERSONA in fact.lower()


def _dialogue(fields: Fields, key: str) -> Dialogue:
    context = fields.text("context").strip()
    lines = [line.strip() for line in context.split("\n")] if context else []
    if not lines:
        raise fields.problem("context", "is empty")
    turns = tuple(
        Turn(USER if (len(lines) - index) % 2 else SYSTEM, line, given=True)
        for index, line in enumerate(lines)
    )
    raters = _raters(fields)
    responses = [Fields(part, path, RESPONSE) for path, part in fields.items("responses")]
    if not responses:
        raise fields.problem("responses", "has no responses")
    parts = _continuations(responses, len(lines))
    original = _original(responses)
    profile, fact = _known(fields.text("fact", ""))
    return Dialogue(
        id=key,
        turns=turns + tuple(Turn(SYSTEM, one.text("response").strip(), given=True) for one in original),
        system=original[0].text("model").strip() if original else HUMAN,
        participants=(
            Participant(USER, role="user"),
            Participant(SYSTEM, role="system", profile=profile),
        ),
        continuations=parts,
        labels=tuple(
            label
            for response, part in zip(responses, parts, strict=True)
            for label in _labels(response, part.id, raters)
        ),
        language="en",
        metadata={"fact": fact} if fact else {},
    )


def _known(fact: str) -> tuple[tuple[str, ...], str]:
    """Return the persona's sentences, or the fact."""
    text = fact.strip()
    if text in NO_FACT:
        return (), ""
    if PERSONA not in text.lower():
        return (), text
    lines = (line.strip() for line in text.split("\n"))
    return tuple(
        line[len(PERSONA) :].strip() if line.lower().startswith(PERSONA) else line for line in lines if line
    ), ""


def _raters(fields: Fields) -> tuple[str, ...]:
    """Return who rated all responses to a context, none where the file does not say."""
    names = fields.texts("annotators")
    if len(set(names)) < len(names) or any(not 0 < len(name) <= NAME_LIMIT for name in names):
        raise fields.problem("annotators", "must be different names")
    return names


def _original(responses: list[Fields]) -> list[Fields]:
    """Return what was said in the original conversation, the reference of the others; none without it."""
    found = [one for one in responses if one.text("model").strip().lower() == ORIGINAL]
    if len(found) > 1:
        raise found[1].problem("model", "is the original response for the second time")
    return found


def _continuations(responses: list[Fields], at: int) -> tuple[Continuation, ...]:
    trials: Counter[str] = Counter()
    parts = []
    for response in responses:
        model = response.id("model", limit=min(NAME_LIMIT, ID_LIMIT)).strip()
        if not model or model == SELF:
            raise response.problem("model", "must be a name, and not `self`")
        trial = trials[model]
        trials[model] += 1
        turn = Turn(SYSTEM, response.text("response").strip(), at=at)
        key = model if not trial else f"{model}-{trial + 1}"
        parts.append(Continuation(key, model, (turn,), mode="static", trial=trial))
    return tuple(parts)


def _labels(response: Fields, continuation: str, raters: tuple[str, ...]) -> Iterator[LabelRecord]:
    for quality, question in QUALITIES.items():
        if not response.has(quality):
            raise response.problem(quality, "is missing")
        answers = list(response.items(quality))
        if raters and len(answers) != len(raters):
            raise response.problem(quality, f"has {len(answers)} answers of {len(raters)} annotators")
        for slot, (path, value) in enumerate(answers):
            if value is not None and not is_number(value):
                raise ImportProblem(f"must be a number, not {kind_of(value)}", field=path)
            yield LabelRecord(
                rater=raters[slot] if raters else f"slot {slot + 1}",
                kind="human",
                continuation=continuation,
                turn=0,
                question=question,
                value=None if value is None else float(value),
                missing="no answer given" if value is None else "",
                identified=bool(raters),
                scheme=SCHEME.key,
            )


def _looks_like(head: Head) -> bool:
    return head.text.startswith("[") and {"context", "fact", "responses"} <= head.keys


FORMAT = Format(
    key="usr",
    title="USR responses with their ratings",
    hint="pc_usr_data.json or tc_usr_data.json, or both together.",
    read=read,
    looks_like=_looks_like,
    folder=True,
    schemes=(SCHEME.key,),
)
