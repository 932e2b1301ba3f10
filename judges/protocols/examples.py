"""Worked examples in a prompt: the quoted material, and the reply that corresponds to people's answers.

An example is plain data, stored with a version of a prompt:

    key      the item's key (a continuation's key if calls are about whole continuations)
    corpus   the name of its corpus
    cluster  the held-out unit: an example is never shown when an item of its cluster is judged
    shown    its material in quoted blocks, as a judge sees it
    reply    the expected reply; `replies` has one per part if a protocol asks in parts, and a call about a
             part that people did not answer does not show the example
    about    the texts that are judged, used to find the nearest examples
    how      the reason for its selection

`picking` holds the selection `rule` and the number of examples that a call shows (`n`): the rest is the
reserve that replaces examples that must not be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotation.text.references import parse_item_key

if TYPE_CHECKING:
    from judges.protocols.protocol import Asking, Case
    from judges.protocols.wording import Wording

Example = Mapping[str, Any]
INTRODUCTION = (
    "Worked examples: for each, quoted material and the reply that people's answers about it amount to. "
    "Where a reply lacks some of the answers that you are asked for, people did not give them; give all of "
    "them."
)
MOST = 200
"""Maximum number of examples of a version."""
LONGEST = 100_000
"""Maximum length, in characters, of an example's material or reply."""
FIELDS = {"key": str, "corpus": str, "cluster": str, "shown": str, "reply": str, "how": str}
_BLOCK = re.compile(r"<<<BEGIN ([A-Z][A-Z ]*)>>>\n((?:\| .*\n)+)<<<END \1>>>")
_MARK = re.compile(r"<<<(BEGIN|END)\b")


def select_examples(text: Wording, case: Case) -> tuple[Example, ...]:
    """Return the examples to show for a case: the version's number of them, in its order, leaving out those
    from the case's own cluster or dialogue, or without a reply for the case's part."""
    own = case.dialogue.cluster or case.dialogue.id
    others = [
        example
        for example in text.examples
        if example["cluster"] != own
        and dialogue_of(example) != case.dialogue.id
        and case.part in example.get("replies", {case.part})
    ]
    return tuple(others[: shown_at_once(text)])


def dialogue_of(example: Example) -> str:
    """Return the id of an example's dialogue, '' if its key is invalid."""
    try:
        return parse_item_key(example["key"])[0]
    except ValueError:
        return ""


def shown_at_once(text: Wording) -> int:
    """Return the number of examples that a call shows."""
    return int(text.picking.get("n", len(text.examples)))


def render_examples(text: Wording, case: Case) -> str:
    """Render the examples for a case as text for a prompt, '' if there are none."""
    selected = select_examples(text, case)
    if not selected:
        return ""
    parts = [_render_example(number, example, case.part) for number, example in enumerate(selected, start=1)]
    return "\n\n".join([INTRODUCTION, *parts])


def _render_example(number: int, example: Example, part: str) -> str:
    reply = example.get("replies", {}).get(part, example["reply"])
    return f"Example {number}:\n\n{example['shown']}\n\nThe reply to example {number}:\n\n{reply}"


def render_material(protocol: Asking, case: Case, variant: str, text: Wording) -> str:
    """Render a case's material as quoted blocks, in the order of the text."""
    values = protocol.values(case, variant)
    blocks = []
    for name in text.names_in_order():
        value = values.get(name, "")
        filled = value if isinstance(value, str) else value()
        if _BLOCK.fullmatch(filled):
            blocks.append(filled)
    return "\n\n".join(blocks)


def about(case: Case) -> list[str]:
    """Return the texts that a case judges, as raters see them: its turn, or its judged turns."""
    places = case.judged() if case.turn is None else (case.turn,)
    spoken = [case.view.spoken(case.continuation.turns[place].text) for place in places]
    return [text for text in spoken if text.strip()]


def faults(examples: Sequence[Any], picking: Any) -> Iterator[str]:
    """Yield the faults of examples, a sentence each, since examples may come from imported files."""
    if len(examples) > MOST:
        yield f"There are {len(examples)} examples; at most {MOST} are allowed."
        return
    for number, example in enumerate(examples, start=1):
        yield from (f"Example {number}: {fault}" for fault in _faults(example))
    if not isinstance(picking, Mapping):
        yield "picking: it says how the examples were picked, as names and values."
        return
    n = picking.get("n", len(examples))
    if not isinstance(n, int) or isinstance(n, bool) or not 0 <= n <= MOST:
        yield f"picking: n is {str(n)[:40]!r}; it is a whole number up to {MOST}."


def _faults(example: Any) -> Iterator[str]:
    if not isinstance(example, Mapping):
        yield f"it has the fields {', '.join(FIELDS)}."
        return
    for name, kind in FIELDS.items():
        if not isinstance(example.get(name), kind):
            yield f"the field {name} is missing or not a text."
            return
    replies = example.get("replies", {})
    if not isinstance(replies, Mapping) or not all(isinstance(reply, str) for reply in replies.values()):
        yield "replies: it has a text for each part."
        return
    if not example["cluster"] or not example["reply"].strip():
        yield "the fields cluster and reply must not be empty."
    if not is_quoted(example["shown"]):
        yield (
            "what is shown must be quoted: blocks of <<<BEGIN NAME>>>, lines that begin with '| ', and "
            "<<<END NAME>>>."
        )
    for reply in (example["reply"], *replies.values()):
        if _MARK.search(reply) or len(reply) > LONGEST:
            yield f"a reply has a mark of quoted material, or more than {LONGEST:,} characters."
    texts = example.get("about", [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        yield "about: it is a list of texts."


def is_quoted(text: str) -> bool:
    """Whether a text consists only of quoted blocks."""
    if len(text) > LONGEST:
        return False
    return not _BLOCK.sub("", text).strip() and bool(text)
