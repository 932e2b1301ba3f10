"""Surveys, with people in rows and questions in columns: Qualtrics, Google Forms, SurveyMonkey, LimeSurvey.

Columns that ask the same of several items say so in their names: `Rate the reply [Dialogue 2]`, `2_Q5`
(loop and merge), a wording that ends in ` - Dialogue 2`, `Dialogue 2: Helpful?`; or the question
is there again, also with another number: `R1Q1. Is it fluent?`, `R2Q1. Is it fluent?`. Where nothing does,
columns with the same answers are the items of one question. A form that is filled in once for each item has
a column that says which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from annotation.formats.crowd_columns import (
    RESPONDENT,
    CrowdForm,
    Rows,
    is_answer,
    label_column,
    leave_out,
    names_of,
    text_of_cell,
)
from annotation.formats.mapping import QUESTION, Column
from annotation.formats.scales import guess_scale
from annotation.formats.table_file import Row, TableFile

QUALTRICS = (
    *("startdate", "enddate", "status", "ipaddress", "progress", "duration (in seconds)", "finished"),
    *("recordeddate", "responseid", "recipientlastname", "recipientfirstname", "recipientemail"),
    *("externalreference", "externaldatareference", "locationlatitude", "locationlongitude"),
    *("distributionchannel", "userlanguage", "q_recaptchascore", "q_relevantidduplicate"),
    *("q_relevantidduplicatescore", "q_relevantidfraudscore", "q_relevantidlaststartdate", "response id"),
)
SURVEYMONKEY = (
    *("respondent id", "respondentid", "collector id", "collectorid", "date created", "startdate", "enddate"),
    *("date modified", "ip address", "email address", "first name", "last name", "custom data 1"),
)
LIMESURVEY = (
    *("response id", "id", "date submitted", "submitdate", "last page", "lastpage", "start language"),
    *("startlanguage", "seed", "date started", "startdate", "date last action", "datestamp", "ip address"),
    *("ipaddr", "referrer url", "refurl", "token", "access code", "total time", "interviewtime"),
)
TIMESTAMPS = frozenset(
    [
        *("timestamp", "zeitstempel", "marca temporal", "horodateur", "отметка времени", "时间戳记"),
        *("carimbo de data/hora", "informazioni cronologiche", "tijdstempel", "tidsstempel", "aikaleima"),
        *("sygnatura czasowa", "タイムスタンプ", "타임스탬프", "zaman damgası", "позначка часу", "時間戳記"),
    ]
)
PEOPLE = (
    *("prolific_pid", "prolific id", "prolificid", "participant id", "participant_id", "workerid"),
    *("worker id", "mturk id", "annotator", "annotator id", "rater", "rater id", "participant", "username"),
    *(
        "email address",
        "email",
        "your name",
        "name",
        "nome",
        "e-mail-adresse",
        "dirección de correo electrónico",
    ),
    *("adresse e-mail", "nutzername", "nombre de usuario", "endereço de e-mail", "your id", "id"),
)
RESPONSE_IDS = ("responseid", "response id", "respondent id", "respondentid", "id")
OWN_NAME = re.compile(
    r"(?:(?:enter|what is|type) )?(?:your|ihre?|dein|tu|su|votre|seu|il tuo|uw)\b.{0,20}\b(?:name"
    r"|nombre|nom|nome"
    r"|naam|id|initials|prolific id|kürzel)\b.{0,3}",
    re.IGNORECASE,
)
"""Names of columns in which respondents name themselves."""
NUMBERED_NAME = re.compile(
    r"(?P<before>.*?)(?P<item>(?:dialog(?:ue)?|conversation|conv|chat|response|reply|item|example|sample|text"
    r"|case|video|audio|image|story|summary|system|model|scenario|pair|task|#)s?[ _.#-]*(?:\d+|[A-H]))"
    r"\b[ _.:–—)\]-]*(?P<after>.*)",
    re.IGNORECASE | re.DOTALL,
)
REPEATED = re.compile(r"(.+)\.(\d{1,3})", re.DOTALL)
"""Columns that repeat a question: `Is it polite?.1` is its second time."""
CODED = re.compile(r"\w{1,20}(?:\[[^\]]*\])?[.)] (.+)", re.DOTALL)
"""A question with its code or number: `R2Q1. Is it fluent?`."""
TIMING_OR_COMMENT = re.compile(
    r"\w+\[(?:comment|other)\](?:\. .*)?|\w*time\d*\. .*", re.DOTALL | re.IGNORECASE
)
"""LimeSurvey's columns of comments, and of how long questions took."""
LOOP = re.compile(r"(\d{1,4})_(\D.*)")
BRACKET = re.compile(r"(.*?)\[([^\[\]]+)\]\s*", re.DOTALL)
ITEM_NAME = re.compile(r"[\w ]{0,30}?[ _.#-]*(?:\d+|[A-H])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Question:
    """A column of answers as a question about an item; without an item it is a question of its own."""

    name: str
    question: str
    item: str = ""


def _own_name(column: str) -> str:
    """Return the name of a program's own column: LimeSurvey's `id. Response ID` is `id`."""
    return column.strip().lower().partition(". ")[0]


def _is_qualtrics(names: frozenset[str]) -> bool:
    return bool({"responseid", "recordeddate"} & names) and len(names & frozenset(QUALTRICS)) >= 3


def _is_surveymonkey(names: frozenset[str]) -> bool:
    return bool({"respondent id", "respondentid"} & names) and bool({"collector id", "collectorid"} & names)


def _is_limesurvey(columns: frozenset[str]) -> bool:
    names = frozenset(map(_own_name, columns))
    is_coded = {"id", "submitdate", "lastpage"} <= names or {"id", "submitdate", "startlanguage"} <= names
    return is_coded or {"response id", "date submitted"} <= names


def _is_google_form(names: frozenset[str]) -> bool:
    others = [name for name in names if name not in TIMESTAMPS]
    is_asked = any("[" in name or "?" in name or len(name.split()) > 2 for name in others)
    is_asked = is_asked and not any("[]" in name for name in others)  # the paths of lists
    is_of_turns = any(OF_TURNS.search(name) for name in others if "?" not in name and len(name.split()) < 4)
    return bool(names & TIMESTAMPS) and is_asked and len(others) > 1 and not is_of_turns


OF_TURNS = re.compile(
    r"\b(?:text|message|speaker|utterance|content|body|author|sender|prompt|transcript|user_?input)\b"
)
"""Short names of columns that a log of messages has, and no form."""


def _prepare_survey(own: Sequence[str], rows: Rows, table: TableFile) -> Rows:
    """Leave out previews and test rows, and number the respondents where nothing names them."""
    rows = leave_out(rows, table, "Previews and tests", _is_preview)
    if rows and _is_second_header(rows[0][1]):
        first = rows[0][1]
        wordings = _headings(table.columns, first)
        table.wordings = {**table.wordings, **wordings}
        rows = rows[1:]
    own_names = frozenset((*own, *TIMESTAMPS))
    answers = [name for name in names_of(rows) if _own_name(name) not in own_names]
    rows = [(line, row) for line, row in rows if any(text_of_cell(row.get(name)) for name in answers)]
    if _respondent_column(names_of(rows), rows):
        return rows
    table.notes.append("Respondents are numbered by their rows: no column names each row's own.")
    return [(line, {**row, RESPONDENT: f"respondent {n}"}) for n, (line, row) in enumerate(rows, start=1)]


PREVIEWS = ("survey preview", "survey test", "1", "2", "8", "9")
"""Values of Qualtrics' column Status that are no answers of respondents."""


def _is_preview(row: Row) -> bool:
    cells = {name.strip().lower(): text_of_cell(cell) for name, cell in row.items()}
    return "responseid" in cells and cells.get("status", "").lower() in PREVIEWS


def _is_second_header(row: Row) -> bool:
    """Whether a row is SurveyMonkey's second row of headers: it has no respondent."""
    ids = {name.strip().lower(): text_of_cell(cell) for name, cell in row.items()}
    return not ids.get("respondent id", ids.get("respondentid", "none"))


def _headings(columns: Sequence[str], second: Row) -> dict[str, str]:
    """Return the wordings of SurveyMonkey's columns: the question, with its row or choice."""
    wordings: dict[str, str] = {}
    question = ""
    for name in columns:
        part = text_of_cell(second.get(name))
        is_named = not re.fullmatch(r"column \d+", name)
        question = name if is_named else question
        if part and question:
            is_plain = part.lower() in ("response", "open-ended response")
            wordings[name] = question if is_plain else f"{question} - {part}"
    return wordings


def _respondent_column(columns: Sequence[str], rows: Rows) -> str:
    """Return the column that names who answers: each cell filled, and no two rows of a person.

    Where a column says what a row is about, a person may have several rows.
    """
    by_name = {_own_name(name): name for name in reversed(columns)}
    own_names = [name for name in by_name if OWN_NAME.fullmatch(name)]
    about = _about_column(columns, rows)
    for candidate in (*PEOPLE, *own_names, *RESPONSE_IDS):
        name = by_name.get(candidate)
        if name is None or name == about:
            continue
        values = [
            (text_of_cell(row.get(name)), text_of_cell(row.get(about)) if about else "") for _, row in rows
        ]
        if values and all(value for value, _ in values) and len(set(values)) == len(values):
            return name
    return ""


ABOUT = re.compile(
    r"(?:which |what |the |choose |select |enter )*(?:dialog(?:ue)?|conversation|chat|item|sample"
    r"|example|response"
    r"|session|transcript|video|audio|document|case|text|scenario|task|hit)s?"
    r"(?: (?:id|no\.?|nr\.?|number|name|code|index|being rated|are you (?:rating|annotating"
    r"|evaluating)))?[ ?:#*]*",
    re.IGNORECASE,
)
"""Names of columns in which respondents name the item of the row."""


def _about_column(columns: Sequence[str], rows: Rows) -> str:
    """Return the column that names the item of each row, '' if the columns name the items."""
    for name in columns:
        plain = name.strip().lower()
        if plain not in RESPONSE_IDS and ABOUT.fullmatch(plain.replace("_", " ")):
            values = [text_of_cell(row.get(name)) for _, row in rows]
            if values and all(values) and max(map(len, values)) <= 80:
                return name
    return ""


def _survey_columns(
    own: Sequence[str], columns: Sequence[str], rows: Rows, wordings: Mapping[str, str]
) -> list[Column]:
    rater = RESPONDENT if RESPONDENT in columns else _respondent_column(columns, rows)
    own_names = frozenset((*own, *TIMESTAMPS, *PEOPLE, RESPONDENT))
    about = _about_column(columns, rows)
    names = [
        name
        for name in columns
        if _own_name(name) not in own_names
        and not TIMING_OR_COMMENT.fullmatch(name)
        and not OWN_NAME.fullmatch(name.strip())
        and name not in (rater, about)
        and not name.endswith(("_TEXT", "_Click Count", "_First Click", "_Last Click", "_Page Submit"))
        and not name.endswith(("[Other]", "[other]"))
        and is_answer(name, wordings.get(name, name), rows)
    ]
    if about:
        questions = [label_column(name, wordings.get(name, name)) for name in names]
        return [Column(rater, "rater"), Column(about, "item"), *questions]
    questions_of_items = _about_items(_questions_of(names, wordings), rows)
    return [
        Column(rater, "rater"),
        *(label_column(part.name, part.question, part.item) for part in questions_of_items),
    ]


def _questions_of(names: Sequence[str], wordings: Mapping[str, str]) -> list[_Question]:
    """Split the names of columns into questions and items."""
    loops = {name: match for name in names if (match := LOOP.fullmatch(name))}
    matrices = Counter(wordings.get(name, name).rpartition(" - ")[0].strip() for name in names)
    brackets = [match for name in names if (match := BRACKET.fullmatch(wordings.get(name, name)))]
    stems = {match[1].strip() for match in brackets}
    parts = {match[2].strip() for match in brackets}
    texts = {name: m[1].strip() for name in names if (m := CODED.fullmatch(wordings.get(name, name).strip()))}
    again = Counter(texts.values())
    times: Counter[str] = Counter()
    questions = []
    for name in names:
        wording = wordings.get(name, name).strip()
        if again[text := texts.get(name, "")] > 1:
            times[text] += 1
            questions.append(_Question(name, text, str(times[text])))
            continue
        repeated = REPEATED.fullmatch(name)
        if (repeated and repeated[1] in names) or f"{name}.1" in names:
            base, number = (repeated[1], int(repeated[2]) + 1) if repeated else (name, 1)
            questions.append(_Question(name, wordings.get(base, base).strip(), str(number)))
            continue
        if name in loops:
            question = wordings.get(name, "") or loops[name][2]
            questions.append(_Question(name, _without_number(question, loops[name][1]), loops[name][1]))
        elif match := BRACKET.fullmatch(wording):
            questions.append(_of_grid(name, match[1].strip(), match[2].strip(), stems, parts))
        elif (parts_of := wording.rpartition(" - "))[1] and matrices[parts_of[0].strip()] > 1:
            questions.append(_Question(name, parts_of[0].strip(), parts_of[2].strip()))
        elif match := NUMBERED_NAME.fullmatch(wording):
            question = f"{match['before'].strip(' -:–_.')} {match['after'].strip()}".strip()
            questions.append(_Question(name, question, match["item"].strip(" -:_")))
        else:
            questions.append(_Question(name, wording))
    return questions


def _of_grid(name: str, stem: str, part: str, stems: set[str], parts: set[str]) -> _Question:
    """Return a column of a grid: rows are items, unless they are questions about the item in the heading."""
    rows_are_items = all(ITEM_NAME.fullmatch(text) for text in parts)
    if not rows_are_items and (len(stems) > 1 or NUMBERED_NAME.fullmatch(stem)):
        match = NUMBERED_NAME.fullmatch(stem)
        return _Question(name, part, match["item"].strip() if match and len(stems) == 1 else stem)
    match = NUMBERED_NAME.fullmatch(stem)
    if match and len(stems) > 1:
        question = f"{match['before'].strip(' -:–_.')} {match['after'].strip()}".strip()
        return _Question(name, question or part, f"{match['item'].strip()} {part}")
    return _Question(name, stem, part)


def _without_number(question: str, number: str) -> str:
    return re.sub(rf"(?<!\d){re.escape(number)}(?!\d)", "#", question).strip() or question


def _about_items(questions: Sequence[_Question], rows: Rows) -> list[_Question]:
    """Give columns without an item one: where all have the same answers they are items of one question."""
    of_items = [part for part in questions if part.item and part.question]
    counts = Counter(part.question for part in of_items)
    if any(count > 1 for count in counts.values()):
        return [part for part in of_items if counts[part.question] > 1]
    scales = {part.name: _scale_of(part.name, rows) for part in questions}
    shared = Counter(scale for scale in scales.values() if scale is not None)
    if not shared:
        return []
    scale, count = shared.most_common(1)[0]
    if count < 2:
        return [replace(part, item="survey") for part in questions if not part.item]
    return [
        _Question(part.name, QUESTION, part.question or part.item)
        for part in questions
        if scales[part.name] == scale
    ]


def _scale_of(name: str, rows: Rows) -> tuple[str, ...] | None:
    """Return a key that columns on the same scale share, None for free text."""
    guess = guess_scale(Counter(text for _, row in rows if (text := text_of_cell(row.get(name)))))
    if guess.look in ("text", "empty", "set"):
        return None
    if guess.look in ("scale", "yes_no", "score"):
        return (guess.look,)
    return (guess.look,) if guess.look == "ordered" else tuple(sorted(guess.scale.values))


def _survey(
    key: str, title: str, hint: str, has_columns: Callable[[frozenset[str]], bool], own: Sequence[str]
) -> CrowdForm:
    prepare, columns = partial(_prepare_survey, own), partial(_survey_columns, own)
    return CrowdForm(key, title, hint, has_columns, prepare, columns, is_survey=True)


FORMS: tuple[CrowdForm, ...] = (
    _survey(
        "qualtrics",
        "Qualtrics responses",
        "CSV with its three header rows; people in rows, questions in columns.",
        _is_qualtrics,
        QUALTRICS,
    ),
    _survey(
        "surveymonkey",
        "SurveyMonkey responses",
        "Responses with its two header rows; people in rows, questions in columns.",
        _is_surveymonkey,
        SURVEYMONKEY,
    ),
    _survey(
        "limesurvey",
        "LimeSurvey responses",
        "Responses with question codes or texts; people in rows, questions in columns.",
        _is_limesurvey,
        LIMESURVEY,
    ),
    _survey(
        "google-forms",
        "Google Forms responses",
        "The form's spreadsheet or CSV: a timestamp, people in rows, questions in columns.",
        _is_google_form,
        (),
    ),
)
