"""The characters of a quoted text: people and judges see the same ones.

What nobody can see (controls, tag characters, soft hyphens, variation selectors, zero-width and direction
marks) is left out, because it could carry words to a judge that no person reads. A joiner stays where the
scripts that are written with it need it. Runs of brackets that look like Concord's marks around quoted
material become one bracket. What chat templates use as their own tokens (`<|im_start|>`, `[INST]`, `</s>`)
gets other brackets: some servers take it for the token itself wherever it stands. Every kind of line break is
a plain one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# Marks that a transcription leaves in the text of a turn, like {vocalsound}: kept, and hidden on request.
#
# Pure: knows no framework. Pages wrap the marks in an element that a toggle hides.

MARK = re.compile(r"\{[a-z][a-z_ -]{0,30}\}")


def parts(text: str) -> list[tuple[str, bool]]:
    """Split a text into (part, is it a mark) pairs that joined again are the text."""
    found: list[tuple[str, bool]] = []
    end = 0
    for match in MARK.finditer(text):
        if match.start() > end:
            found.append((text[end : match.start()], False))
        found.append((match.group(), True))
        end = match.end()
    if end < len(text):
        found.append((text[end:], False))
    return found


def has_marks(text: str) -> bool:
    """Whether a text holds a mark."""
    return MARK.search(text) is not None


_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINED = (
    "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\u2600-\u27bf\U0001f000-\U0001faff"
)
_JOINER = re.compile(f"[\u200c\u200d](?![{_JOINED}])|(?<![{_JOINED}])[\u200c\u200d]")
_LEFT, _RIGHT = "<＜﹤‹«⟨⟪≪❬❮❰˂ᐸ", ">＞﹥›»⟩⟫≫❭❯❱˃ᐳ"
_WIDE_LEFT, _WIDE_RIGHT = "〈〈《", "〉〉》"
_OPENING = re.compile(f"[{_LEFT}{_WIDE_LEFT}]{{3,}}|[{_LEFT}]{{2,}}|⋘")
_CLOSING = re.compile(f"[{_RIGHT}{_WIDE_RIGHT}]{{3,}}|[{_RIGHT}]{{2,}}|⋙")
_TOKEN = re.compile(
    "<([|｜][^\\s|｜<>]{1,60}[|｜]|/?s|/?bos|/?eos|pad|unk|start_of_turn|end_of_turn|start_of_image)>"
    "|\\[(/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_RESULTS|/?TOOL_CALLS|IMG)\\]"
)


def clean(text: str) -> str:
    """Return a text as raters see it; its line breaks are all `\\n`. Cleaning twice changes nothing more."""
    if not text.isascii():
        text = _JOINER.sub("", _INVISIBLE.sub("", _BREAKS.sub("\n", text)))
    elif not text.isprintable():
        text = _INVISIBLE.sub("", _BREAKS.sub("\n", text))
    return _CLOSING.sub("›", _OPENING.sub("‹", _TOKEN.sub(_as_text, text)))


def _as_text(token: re.Match[str]) -> str:
    return f"‹{token[1] or token[2]}›"


STEPS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_BREAKS, "\n"),
    (_INVISIBLE, ""),
    (_JOINER, ""),
    (_TOKEN, _as_text),
    (_OPENING, "‹"),
    (_CLOSING, "›"),
)
"""What `clean` replaces, in order, for whoever has to know where each character comes from."""


def one_line(text: str) -> str:
    """Return a cleaned text on one line."""
    return " ".join(clean(text).split())
