"""Scales of answers, guessed from the answers: binary and ordered words, numbers, sets, categories."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from annotation.formats.mapping import Scale
from annotation.text.table_cells import (
    decimal_commas,
    folded,
    looks_like_a_number,
    looks_like_nothing,
    number,
)

BINARY = (
    "yes no|y n|true false|t f|ja nein|ja nej|ja nee|j n|si no|sí no|sì no|s n|oui non|o n|sim não|tak"
    " nie|да нет"
    "|是 否|有 无|对 错|はい いいえ|예 아니요|present absent|pass fail|passed failed|correct incorrect"
    "|right wrong"
    "|good bad|richtig falsch|gut schlecht|wahr falsch|verdadero falso|vrai faux|correcto incorrecto"
    "|valid invalid|relevant irrelevant|safe unsafe|accept reject|accepted rejected|acceptable unacceptable"
    "|up down|like dislike|thumbs_up thumbs_down|approved rejected"
    "|on off|success failure|successful unsuccessful|resolved unresolved|helpful unhelpful|satisfied"
    " unsatisfied"
    "|supported unsupported|faithful unfaithful|appropriate inappropriate|consistent inconsistent"
)
BINARY_WORDS = {
    frozenset(pair.split()): dict(zip(pair.split(), "10", strict=True)) for pair in BINARY.split("|")
}
"""Pairs of words that are yes and no, with their codes."""
YES_OR_NO = {word: code for codes in BINARY_WORDS.values() for word, code in codes.items()}
NEGATED = re.compile(r"(?:not|no|non|nicht|kein|un|in|im|ir)[ _-]?(.+)")

ORDERED = {
    "agreement": (
        "strongly disagree|completely disagree|totally disagree|disagree strongly|disagree completely"
        "|totalmente en desacuerdo|muy en desacuerdo|pas du tout d'accord|stimme überhaupt nicht zu"
        "|stimme gar nicht zu|discordo totalmente|非常不同意|完全不同意",
        "disagree|moderately disagree|en desacuerdo|pas d'accord|plutôt pas d'accord|stimme nicht zu"
        "|discordo|不同意",
        "*somewhat disagree|slightly disagree|mildly disagree|tend to disagree|rather disagree|disagree"
        " slightly"
        "|disagree somewhat|stimme eher nicht zu|比较不同意",
        "neutral|neither agree nor disagree|neither|undecided|neither disagree nor agree|teils teils"
        "|teils/teils"
        "|weder noch|ni de acuerdo ni en desacuerdo|ni d'accord ni pas d'accord|neutre|中立|一般|不确定",
        "*somewhat agree|slightly agree|mildly agree|tend to agree|rather agree|agree slightly|agree somewhat"
        "|stimme eher zu|比较同意",
        "agree|moderately agree|de acuerdo|d'accord|plutôt d'accord|stimme zu|concordo|同意",
        "strongly agree|completely agree|totally agree|agree strongly|agree completely|totalmente de acuerdo"
        "|muy de acuerdo|tout à fait d'accord|stimme voll zu|stimme voll und ganz zu|stimme völlig zu"
        "|concordo totalmente|非常同意|完全同意",
    ),
    "frequency": (
        "never|nie|niemals|nunca|jamais|从不",
        "*almost never|hardly ever|very rarely|fast nie|casi nunca",
        "rarely|seldom|selten|rara vez|raramente|rarement|很少",
        "sometimes|occasionally|manchmal|a veces|parfois|有时",
        "often|frequently|usually|oft|häufig|a menudo|frecuentemente|souvent|经常",
        "*almost always|very often|mostly|fast immer|sehr oft|casi siempre",
        "always|immer|siempre|toujours|总是",
    ),
    "quality": (
        "*terrible|awful|horrible|unusable",
        "*very poor|very bad|sehr schlecht|muy malo|très mauvais|很差|非常差",
        "*poor|bad|below average|schlecht|malo|mauvais|差",
        "*fair|acceptable|average|ok|okay|mediocre|medium|adequate|neutral|satisfactory|mittel|mittelmäßig"
        "|regular|moyen|一般|中等",
        "*good|above average|gut|bueno|bon|好|较好",
        "*very good|sehr gut|muy bueno|très bon|很好|非常好",
        "*excellent|great|outstanding|exceptional|perfect|ausgezeichnet|excelente|优秀|完美",
    ),
    "likelihood": (
        "very unlikely|extremely unlikely|highly unlikely|sehr unwahrscheinlich|muy improbable",
        "unlikely|unwahrscheinlich|improbable",
        "*somewhat unlikely|slightly unlikely",
        "neutral|possible|possibly|maybe|neither likely nor unlikely",
        "*somewhat likely|slightly likely",
        "likely|probable|probably|wahrscheinlich",
        "very likely|extremely likely|highly likely|sehr wahrscheinlich|muy probable",
    ),
    "certainty": (
        "*definitely not|certainly not",
        "*probably not",
        "*maybe|possibly",
        "*probably",
        "*definitely",
    ),
    "satisfaction": (
        "very dissatisfied|extremely dissatisfied|very unsatisfied|sehr unzufrieden|muy insatisfecho"
        "|非常不满意",
        "dissatisfied|unsatisfied|unzufrieden|insatisfecho|不满意",
        "*somewhat dissatisfied|slightly dissatisfied",
        "neutral|neither satisfied nor dissatisfied|neutro|一般",
        "*somewhat satisfied|slightly satisfied",
        "satisfied|zufrieden|satisfecho|满意",
        "very satisfied|extremely satisfied|sehr zufrieden|muy satisfecho|非常满意",
    ),
    "severity": (
        "not at all|gar nicht|überhaupt nicht|pas du tout|para nada|完全不",
        "slightly|a little|a bit|a little bit|ein wenig|un peu|un poco|有点",
        "*somewhat|partly|partially|teilweise",
        "moderately|mäßig|mittelmäßig|modérément|moderadamente|中等",
        "*quite|quite a bit|fairly|mostly|ziemlich|assez|bastante",
        "*very|a lot|very much|sehr|beaucoup|mucho|非常",
        "extremely|completely|entirely|a great deal|fully|äußerst|extrêmement|extremadamente|极其",
    ),
    "degree": (
        "*none|no|zero",
        "*very low|minimal|sehr niedrig|muy bajo",
        "*low|mild|minor|slight|weak|niedrig|gering|bajo|低|faible",
        "*medium|moderate|average|mittel|medio|moyen|中",
        "*high|major|severe|strong|hoch|alto|élevé|高|fort",
        "*very high|critical|extreme|very severe|very strong|sehr hoch|muy alto",
    ),
    "extent": (
        "*no|not|none|nein|non|否",
        "*partially|partly|partial|somewhat|to some extent|a little|in part|maybe|kind of|teilweise|en parte"
        "|parcial|en partie|partiellement|部分",
        "*mostly|largely|mainly|to a great extent",
        "*yes|fully|completely|full|ja|oui|sí|si|totally|是|完全",
    ),
    "correctness": (
        "*incorrect|wrong|fail|failed|false|falsch|错误",
        "*partially correct|partly correct|partial|somewhat correct|partially|partly|teilweise richtig"
        "|部分正确",
        "*mostly correct|mainly correct",
        "*correct|right|pass|passed|fully correct|completely correct|true|richtig|正确",
    ),
    "relevance": (
        "*irrelevant|not relevant|not at all relevant|completely irrelevant|不相关",
        "*slightly relevant|marginally relevant|a little relevant",
        "*somewhat relevant|partially relevant|partly relevant|moderately relevant|部分相关",
        "*relevant|mostly relevant|相关",
        "*highly relevant|very relevant|perfectly relevant|extremely relevant|completely relevant",
    ),
    "helpfulness": (
        "*not helpful|unhelpful|not at all helpful|very unhelpful",
        "*slightly helpful|a little helpful",
        "*somewhat helpful|moderately helpful|partially helpful",
        "*helpful|mostly helpful",
        "*very helpful|highly helpful|extremely helpful",
    ),
    "importance": (
        "*not important|unimportant|not at all important",
        "*slightly important",
        "*somewhat important|moderately important",
        "*important",
        "*very important",
        "*extremely important",
    ),
    "comparison": (
        "*much worse|significantly worse|a lot worse",
        "*worse|slightly worse|somewhat worse",
        "*same|equal|the same|about the same|similar|tie|no difference",
        "*better|slightly better|somewhat better",
        "*much better|significantly better|a lot better",
    ),
}
"""Families of words in their order, lowest first: each place with the words that stand for it.

Places with a star are only on a scale where they are used.
"""
FAMILIES = {
    family: [(place.startswith("*"), place.lstrip("*").split("|")) for place in places]
    for family, places in ORDERED.items()
}

NO_OPINION = frozenset(
    [
        "don't know",
        "dont know",
        "do not know",
        "i don't know",
        "dk",
        "unsure",
        "not sure",
        "i'm not sure",
        "unclear",
        "can't tell",
        "cannot tell",
        "can't say",
        "cannot say",
        "cannot judge",
        "can't judge",
        "no answer",
        "not applicable",
        "skip",
        "skipped",
        "unknown",
        "undefined",
        "missing",
        "prefer not to say",
        "no opinion",
        "weiß nicht",
        "weiss nicht",
        "keine angabe",
        "k.a.",
        "ka",
        "no sé",
        "no se",
        "ns/nc",
        "je ne sais pas",
        "ne sait pas",
        "não sei",
        "не знаю",
        "不知道",
        "不清楚",
        "无法判断",
        "わからない",
        "모름",
        "error",
        "parse error",
        "refused",
        "tbd",
    ]
)
"""Words that may be no answer: proposed, never taken for one."""

NUMBER_FIRST = re.compile(
    r"\s*[(\[]?\s*(-?\d{1,3})\s*(?:[)\]]\s*[-–—:=.]?|\s[-–—]\s|[:=.]\s?|\s[–—-]|\s)\s*(\D.*)", re.DOTALL
)
NUMBER_LAST = re.compile(r"\s*(.*?\D)\s*[(\[]\s*(-?\d{1,3})\s*[)\]]\s*", re.DOTALL)
FILE = re.compile(r"[\w-]+\.[a-z]\w{1,4}", re.IGNORECASE)
"""Names of files, such as `1.wav`, which are no wordings of numbers."""
DECIMAL_COMMA = re.compile(r"[+-]?\d{1,9},\d{1,15}")
SEPARATORS = (";", "|", ",", "/", "\n", "+")
LIST = "[]"
"""Separator of sets that are JSON lists."""
EMPTY_SET = "[]"
"""Code of cells that say that no value applies."""
MOST_VALUES = 2_000
"""Maximum number of different answers that are counted for a scale."""
MOST_CATEGORIES = 60
LONGEST_ANSWER = 120
LONGEST_WORDING = 1_000
"""Maximum characters of an answer that has a number beside its wording."""
WIDEST = 10
"""Largest whole number of an ordinal scale."""


@dataclass(frozen=True, slots=True)
class ScaleGuess:
    """A scale, what kind of values it has (a key of `LOOKS`), how sure that is, and words for no answer."""

    scale: Scale = dataclass_field(default_factory=Scale)
    look: str = "empty"
    doubts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The scale in words: `whole numbers from 1 to 5 (guessed from the answers)`."""
        scale = self.scale
        values = ", ".join(scale.anchors.get(value, value) for value in scale.values[:7])
        values += f" and {len(scale.values) - 7} more" if len(scale.values) > 7 else ""
        if self.look == "scale":
            return f"whole numbers from {scale.values[0]} to {scale.values[-1]}, ordered"
        if self.look == "yes_no":
            words = {code: word for word, code in reversed(tuple(scale.codes.items())) if code}
            words_in_order = (words.get("1"), words.get("0")) if words else ("1", "0")
            return " or ".join(word for word in words_in_order if word)
        if self.look == "ordered":
            return f"in the order {values}"
        if self.look == "category":
            return f"categories without order: {values}"
        if self.look == "set":
            return f"sets of {values}, separated by {SEPARATOR_NAMES.get(scale.separator, scale.separator)}"
        return {"score": "numbers", "text": "free text", "empty": "no answers", "constant": values}[self.look]


SEPARATOR_NAMES = {
    "\n": "line breaks",
    LIST: "commas in JSON lists",
    ";": "semicolons",
    ",": "commas",
    "|": "bars",
}


def guess_scale(answers: Counter[str]) -> ScaleGuess:
    """Guess the scale of a question from all its answers, each with how often it was given."""
    counts: Counter[str] = Counter()
    missing: list[str] = []
    for text, count in answers.items():
        plain = text.strip()
        if plain and looks_like_nothing(plain):
            missing.append(plain)
        elif plain:
            counts[plain] += count
    if not counts:
        return ScaleGuess(missing=tuple(missing))
    guess = (
        _numbers(counts)
        or _binary(counts)
        or _numbered(counts)
        or _ordered(counts)
        or _sets(counts)
        or _categories(counts)
    )
    doubts = list(guess.doubts)
    proposed = [text for text in counts if text.casefold() in NO_OPINION and len(counts) > 1]
    if proposed and guess.look in ("yes_no", "ordered", "scale", "category"):
        rest = Counter({text: count for text, count in counts.items() if text not in proposed})
        words = ", ".join(repr(text) for text in proposed)
        doubts.append(f"{words} may be no answer")
        others = guess_scale(rest)
        if others.look != guess.look and others.look in ("yes_no", "ordered", "scale"):
            doubts.append(f"the other answers are {others.sentence}")
    if "none" in {text.casefold() for text in missing} and guess.look in ("ordered", "category", "set"):
        doubts.append("'none' is read as no answer")
    return ScaleGuess(guess.scale, guess.look, tuple(doubts), tuple(dict.fromkeys(missing)))


def decimal_number(text: str) -> float | None:
    """Parse a number with a decimal point or a decimal comma."""
    value = number(text)
    if value is None and DECIMAL_COMMA.fullmatch(text):
        value = number(text.replace(",", "."))
    return value


def _numbers(counts: Counter[str]) -> ScaleGuess | None:
    values = {text: decimal_number(text) for text in counts}
    numbers = [value for value in values.values() if value is not None]
    if len(numbers) < len(values):
        return None
    has_commas = any(number(text) is None for text in values)
    decimal = "," if has_commas else ""
    doubts = []
    if has_commas and any("." in text for text in values):
        doubts.append("some numbers have decimal points, others decimal commas")
    elif has_commas and not decimal_commas(values):
        doubts.append(f"{next(text for text in values if ',' in text)!r} may be a number in thousands")
    different = sorted(set(numbers))
    if different == [0, 1] or (len(different) == 1 and different[0] in (0, 1)):
        if len(different) == 1:
            doubts.append(f"all answers are {different[0]:g}")
        return ScaleGuess(Scale("binary", ("0", "1"), decimal=decimal), "yes_no", tuple(doubts))
    is_whole = all(value.is_integer() for value in different)
    low, high = different[0], different[-1]
    if is_whole and low >= -5 and high <= WIDEST:
        if len(different) == 1:
            doubts.append(f"all answers are {low:g}")
        low = min(low, -high) if low < 0 else low
        span = tuple(str(value) for value in range(int(low), int(max(high, -low if low < 0 else high)) + 1))
        return ScaleGuess(Scale("ordinal", span, decimal=decimal), "scale", tuple(doubts))
    return ScaleGuess(Scale("interval", decimal=decimal), "score", tuple(doubts))


def _spellings(counts: Counter[str]) -> dict[str, str]:
    """Return the most frequent spelling of each answer, by the answer without case and space."""
    spellings: dict[str, str] = {}
    for text, _ in counts.most_common():
        spellings.setdefault(_plain(text), text)
    return spellings


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").replace("_", " ").split()).strip(" .!")


def _binary(counts: Counter[str]) -> ScaleGuess | None:
    words = frozenset(_plain(text) for text in counts)
    if len(words) > 2:
        return None
    codes = BINARY_WORDS.get(words, {})
    doubts: tuple[str, ...] = ()
    if not codes and len(words) == 1 and (only := next(iter(words))) in YES_OR_NO and len(only) > 1:
        codes, doubts = YES_OR_NO, (f"all answers are {only!r}",)
    if not codes and len(words) == 2:
        for word in words:
            (other,) = words - {word}
            match = NEGATED.fullmatch(other)
            if match and match[1] == word:
                codes = {word: "1", other: "0"}
    if not codes:
        return None
    scale = Scale("binary", ("0", "1"), {text: codes[_plain(text)] for text in counts})
    return ScaleGuess(scale, "yes_no", doubts)


def _numbered(counts: Counter[str]) -> ScaleGuess | None:
    """Answers that have their number beside the wording, such as `2 - Strongly present` and `Good (4)`."""
    codes: dict[str, str] = {}
    anchors: dict[str, str] = {}
    if len(counts) > 2 * WIDEST or max(map(len, counts)) > LONGEST_WORDING:
        return None
    for text in counts:
        match = NUMBER_FIRST.fullmatch(text)
        last = None if match else NUMBER_LAST.fullmatch(text)
        if match:
            code, wording = str(int(match[1])), match[2].strip()
        elif last:
            code, wording = str(int(last[2])), last[1].strip()
        elif text.lstrip("-").isdigit() and len(text) <= 3:
            code, wording = str(int(text)), ""
        else:
            return None
        if wording.startswith("(") and wording.endswith(")"):
            wording = wording[1:-1].strip()
        wording = wording.removesuffix(")") if "(" not in wording else wording
        if wording and _plain(anchors.setdefault(code, wording)) != _plain(wording):
            return None
        codes[text] = code
    wordings = {_plain(wording) for wording in anchors.values()}
    if (
        not anchors
        or (len(wordings) < len(anchors) and len(wordings) > 1)
        or all(map(FILE.fullmatch, counts))
    ):
        return None
    if len(wordings) == 1 and len(anchors) > 1:
        anchors = {}
    numbers = sorted({int(code) for code in codes.values()})
    if numbers[0] < -WIDEST or numbers[-1] > WIDEST:
        return None
    doubts = (f"all answers are {next(iter(counts))!r}",) if len(numbers) == 1 else ()
    level = "binary" if numbers == [0, 1] else "ordinal"
    values = tuple(str(value) for value in range(numbers[0], numbers[-1] + 1))
    spelled = {text: code for text, code in codes.items() if text != code}
    return ScaleGuess(Scale(level, values, spelled, anchors), "ordered", doubts)


def _ordered(counts: Counter[str]) -> ScaleGuess | None:
    spellings = _spellings(counts)
    for places in FAMILIES.values():
        words = {word: number for number, (_, synonyms) in enumerate(places) for word in synonyms}
        if len(spellings) < 2 or not all(word in words for word in spellings):
            continue
        used = [words[word] for word in spellings]
        if len(set(used)) < len(used):
            continue
        by_place = {words[word]: text for word, text in spellings.items()}
        is_usual = len(used) > 2 and not any(places[place][0] for place in used)
        capital = all(text[:1].isupper() for text in by_place.values())
        values = []
        for place, (is_rare, synonyms) in enumerate(places):
            if place in by_place:
                values.append(by_place[place])
            elif is_usual and not is_rare and _has_language(by_place.values(), places):
                values.append(synonyms[0].capitalize() if capital else synonyms[0])
        codes = {text: spellings[_plain(text)] for text in counts if spellings[_plain(text)] != text}
        return ScaleGuess(Scale("ordinal", tuple(values), codes), "ordered")
    return None


def _has_language(texts: Iterable[str], places: list[tuple[bool, list[str]]]) -> bool:
    """Whether answers are in English, so that the places in between can be named in it."""
    first = {synonyms[0] for _, synonyms in places}
    return sum(_plain(text) in first for text in texts) >= 2


def guess_sets(parts: Counter[str]) -> ScaleGuess:
    """Return the scale of answers that are lists, from their parts."""
    missing = tuple(part for part in parts if looks_like_nothing(part))
    values = tuple(sorted(part for part in parts if part not in missing))
    return ScaleGuess(Scale("nominal", values, separator=LIST), "set", missing=missing)


def _sets(counts: Counter[str]) -> ScaleGuess | None:
    """Answers with several values in one cell, where values recur and one separator is in use."""
    lists = {text: json_list(text) for text in counts if text.startswith("[")}
    if lists and all(values is not None for values in lists.values()) and len(lists) == len(counts):
        parts = Counter(value for values in lists.values() for value in values or ())
        if parts and len(parts) <= MOST_CATEGORIES and max(map(len, parts)) <= 60:
            return ScaleGuess(Scale("nominal", tuple(sorted(parts)), separator=LIST), "set")
    for separator in SEPARATORS:
        if guess := _set_of(counts, separator):
            return guess
    return None


def _set_of(counts: Counter[str], separator: str) -> ScaleGuess | None:
    cells = [
        ([part.strip() for part in text.split(separator) if part.strip()], count)
        for text, count in counts.items()
    ]
    several = [parts for parts, _ in cells if len(parts) > 1]
    if not several:
        return None
    parts: Counter[str] = Counter()
    for values, count in cells:
        for value in values:
            parts[value] += count
    total = sum(counts.values())
    alone = {parts[0] for parts, _ in cells if len(parts) == 1}
    are_short = max(map(len, parts)) <= 40 and sum(len(part.split()) for part in parts) <= 3 * len(parts)
    recur = sum(parts.values()) >= 1.5 * len(parts) and any(
        set(values) & (alone | set().union(*(other for other in several if other is not values)))
        for values in several
    )
    if not are_short or not recur or len(parts) > max(8, total / 2) or len(parts) > MOST_CATEGORIES:
        return None
    if separator in ("/", "+") and len(several) < 2:
        return None
    repeated = [values for values in several if len(set(values)) < len(values)]
    doubts: tuple[str, ...] = ()
    if repeated:
        doubts = (f"{separator.join(repeated[0])!r} has a value twice",)
    if separator not in (";", "|"):
        doubts += (f"{separator.join(several[0])!r} is read as a set of {len(several[0])}",)
    ordered = sorted(parts, key=lambda part: (decimal_number(part) is None, decimal_number(part) or 0, part))
    return ScaleGuess(Scale("nominal", tuple(ordered), separator=separator), "set", doubts)


def json_list(text: str) -> list[str] | None:
    """Return the texts of a cell that is a JSON list of texts and numbers; None for any other."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        try:
            values = json.loads(text.replace("'", '"'))
        except (ValueError, RecursionError):
            return None
    if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
        return None
    return [str(value) for value in values]


def _categories(counts: Counter[str]) -> ScaleGuess:
    spellings = _spellings(counts)
    total = sum(counts.values())
    longest = max(map(len, counts))
    if longest > LONGEST_ANSWER or len(spellings) > MOST_CATEGORIES or len(spellings) > max(8, total / 2):
        return ScaleGuess(Scale("text"), "text")
    codes = {text: spellings[_plain(text)] for text in counts if spellings[_plain(text)] != text}
    doubts: tuple[str, ...] = ()
    if codes:
        text, spelling = next(iter(codes.items()))
        doubts = (f"{text!r} is read as {spelling!r}",)
    numbers = [text for text in counts if decimal_number(text) is not None]
    if numbers:
        others = [text for text in counts if text not in numbers]
        doubts += (f"{others[0]!r} is among numbers",)
    odd = [text for text in counts if text not in numbers and looks_like_a_number(text)]
    if odd:
        doubts += (f"{odd[0]!r} looks like a number, and is none",)
    alike = Counter(folded(text) for text in spellings.values())
    if max(alike.values()) > 1:
        doubts += ("some answers differ in space alone",)
    values = tuple(sorted(spellings.values(), key=str.casefold))
    return ScaleGuess(Scale("nominal", values, codes), "category", doubts)
