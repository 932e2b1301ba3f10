"""Table cells: parsing of numbers, missing answers and names, and escaping of texts for CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterable

from annotation.records import RaterKind

# Meaning of a cell, for every reader of tables: a number, no answer, a kind of rater, a name.
#
# `import_corpus` and `agree` share these rules, so that a file means the same to both.

NOTHING = re.compile(
    r"(?:n/?a|n\.a\.?|-?nan|nat|null|none|nil|<(?:na|nan|nat|null|none|nil)>"  # people, pandas, Python
    r"|na_(?:character|integer|real|complex)_|\.[a-z]?|\$?sysmis|-?1\.#(?:ind|qnan)"  # R, Stata, SPSS, C
    r"|#(?:n/a(?: n/a)?|na|nv|getting_data|[^\W\d_]+(?:/0)?[!?])|#+"  # spreadsheets
    r"|[?.–—-]+)(?: \(.*\))?",
    re.IGNORECASE | re.DOTALL,
)
"""Ways in which programs and people write a missing answer, with or without a reason in brackets."""
FIRST = frozenset("nN#-–—.?<$sS1")
SEPARATED = re.compile(r"[+\-−]?\d[\d_.,'’ \u00a0\u202f]*")
"""A number with a decimal comma, groups of digits, or digits of another script."""


def looks_like_nothing(text: str) -> bool:
    """Whether a cell is a word that programs write for a missing answer; an empty cell is not."""
    return text[:1] in FIRST and text != "1" and NOTHING.fullmatch(text) is not None


def words_of(text: str) -> frozenset[str]:
    """Parse a list such as `NA, n/a,-` into words, as `means_nothing` takes them."""
    return frozenset(word.strip().casefold() for word in text.split(",")) - {""}


def means_nothing(text: str, words: Collection[str]) -> bool:
    """Whether a cell is one of the words for no answer, in any case, also with a reason in brackets."""
    plain = text.casefold()
    return bool(words) and (plain in words or plain.partition(" (")[0] in words)


def number(text: str) -> float | None:
    """Parse a cell as a finite number: digits, one decimal point, an exponent; None for any other."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and text.isascii() and "_" not in text else None


def looks_like_a_number(text: str) -> bool:
    """Whether a cell that is no number was meant as one: `3,5`, `1_0`, `1 000`, digits of another script."""
    try:
        float(text)
    except ValueError:
        return SEPARATED.fullmatch(text.strip()) is not None
    return True


DECIMAL_COMMA = re.compile(r"[+\-−]?(?:\d+|\d{1,3}(?:[. \u00a0\u202f'’]\d{3})+),\d+")
"""A number with a decimal comma, with or without groups of digits before it."""
INTEGER = re.compile(r"[+\-−]?\d+")
GROUPED = re.compile(r"[+\-−]?[1-9]\d{0,2},\d{3}")
"""A number whose comma may just as well separate thousands."""


def decimal_commas(values: Iterable[str]) -> bool:
    """Whether the numbers of a column are certainly written with decimal commas: `3,5`, not `1,234` alone.

    Empty cells and words for no answer are passed over; any other text, or a decimal point, is a no.
    """
    is_certain = False
    for value in values:
        text = value.strip()
        if not text or looks_like_nothing(text) or INTEGER.fullmatch(text):
            continue
        if not DECIMAL_COMMA.fullmatch(text):
            return False
        is_certain = is_certain or GROUPED.fullmatch(text) is None
    return is_certain


KINDS: tuple[RaterKind, ...] = ("human", "judge", "metric", "key")
CALLED: dict[RaterKind, tuple[str, ...]] = {
    "human": ("humans", "person", "people", "annotator", "crowd", "crowdworker", "worker", "expert"),
    "judge": ("judges", "llm", "llmjudge", "llmasajudge", "model", "languagemodel", "ai", "machine"),
    "metric": ("metrics", "automatic", "automaticmetric", "score"),
    "key": ("keys", "answerkey", "gold", "goldstandard", "reference", "groundtruth", "truth"),
}
KIND_OF: dict[str, RaterKind] = {word: kind for kind in KINDS for word in (kind, *CALLED[kind])}


def kind_of_rater(text: str) -> RaterKind:
    """Return the kind of rater for a word, in any case, or a usual synonym; ValueError for other words."""
    kind = KIND_OF.get(re.sub(r"[\s_-]", "", text).casefold())
    if kind is None:
        raise ValueError(f"{text[:40]!r} is not a kind of rater: write one of {', '.join(KINDS)}")
    return kind


MODEL = re.compile(
    r"(?<![^\W\d_])(?:chat)?(?:gpt|claude|gemini|gemma|llama|mistral|mixtral|ministral|qwen|qwq|deepseek|vicuna"
    r"|grok|command-r|prometheus|palm|bard|falcon|llm|openai|anthropic|glm|kimi|wizardlm|internlm|chatglm"
    r"|baichuan|nemotron|codestral|pixtral|magistral|openchat|hunyuan|davinci|judgelm|pandalm|flan-t5)"
    r"(?![^\W\d_])"
    r"|(?<![^\W_])(?:o[1-9]|phi|yi|olmo|jamba|command)-(?:\d|mini|pro|preview|large|r\b)|(?<![^\W_])\d{1,3}b\b",
    re.IGNORECASE,
)
NOBODY = "none"
PEOPLE_TOO = frozenset(["claude", "gemma", "kimi", "bard", "phi", "yi", "mistral", "falcon"])
"""Names of models that people and things have, too."""


def looks_like_a_model(name: str) -> bool:
    """Whether a rater's name may be a language model's: a reason to ask, never to decide."""
    return MODEL.search(name) is not None


def unsaid_judges(raters: Collection[str]) -> str:
    """Return the question which of some raters are judges, where nothing declares it."""
    names = sorted(raters)
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    models = ",".join(filter(looks_like_a_model, names[:20])) or names[0]
    return (
        f"nothing says who of {', '.join(names[:20])}{more} is a person and who a judge: name the judges, "
        f"like --judges {models} (none where all are people)"
    )


def listed_names(text: str) -> list[str]:
    """Parse a list of names with commas; a name with a comma stands in quotation marks."""
    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def list_names(names: Iterable[str]) -> str:
    """Return names as a list with commas, which `listed_names` parses."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="").writerow(names)
    return buffer.getvalue()


def judges_of(text: str) -> frozenset[str] | None:
    """Parse a list of judges' names, empty for the word `none`; None where the text is empty."""
    names = frozenset(listed_names(text))
    return (frozenset() if names == {NOBODY} else names) if names else None


def folded(name: str) -> str:
    """Return a name without case and space: equal results are probably the same name."""
    return "".join(name.split()).casefold()


class Names(dict[str, str]):
    """Names by their spelling in cells: without space around them and, with `join`, in their first spelling.

    `clashes` has the spellings of each name that differ in case or inner space alone, `stored` the names that
    existed before.
    """

    def __init__(self, join: bool = False, read: Callable[[str], str] = str) -> None:
        super().__init__()
        self.join = join
        self.read = read
        self.clashes: dict[str, dict[str, None]] = {}
        self.first: dict[str, str] = {}
        self.stored: set[str] = set()

    def know(self, stored: Iterable[str]) -> None:
        """Add stored names unchanged, for comparison with others."""
        for name in stored:
            self[name] = name
            self.first.setdefault(folded(name), name)
            self.stored.add(name)

    def __missing__(self, cell: str) -> str:
        name = self.read(cell).strip()
        first = self.first.setdefault(folded(name), name)
        if name != first:
            self.clashes.setdefault(first, {first: None})[name] = None
        self[cell] = name = first if self.join else name
        return name


def describe_clashes(
    clashes: Iterable[Iterable[str]],
    kind: str,
    most: int = 10,
    stored: Collection[str] = (),
    where: str = "in the corpus",
) -> str:
    """List names that differ in case or inner space alone: `raters 'Ann' (in the corpus) and 'ann'; ...`.

    `stored` are names that existed before, and `where` names their place.
    """
    sets = [
        " and ".join(f"{name[:60]!r} ({where})" if name in stored else repr(name[:60]) for name in names)
        for names in clashes
    ]
    more = f"; and {len(sets) - most} more" if len(sets) > most else ""
    return f"{kind} {'; '.join(sets[:most])}{more}"


# Text in CSV cells: never evaluated by a spreadsheet, and restored without loss.
#
# A spreadsheet reads a cell that begins with `=`, `+`, `-` or `@` (or a tab or line break before one) as a
# formula. Such text gets one apostrophe in front; so does text that begins with an apostrophe, so that
# removing one restores every text exactly. Numbers are never guarded.

RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""First characters of texts that need a guard."""


def guarded(text: str) -> str:
    """Escape a text so that no spreadsheet evaluates its cell."""
    return f"'{text}" if text.startswith(RISKY) else text


def unguarded(cell: str) -> str:
    """Restore the text of a cell: `unguarded(guarded(text)) == text` for every text.

    An apostrophe that guards nothing, as in a file written by hand, is kept.
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(RISKY) else cell
