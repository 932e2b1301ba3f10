"""Transcripts with the tags of selected raters: their rows and their formats."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape as quoted

from annotation.corpora.splits import of_dialogues
from annotation.models import Continuation, Label, SplitCluster
from annotation.models.turn_numbers import of_continuations
from annotation.text.context import Names
from annotation.text.table_cells import guarded
from annotation.text.views import Blind
from calibration.errors import ExportRefused
from calibration.exports.parts import ExportPart
from calibration.exports.writing import Blocks, plain
from calibration.ratings.scope import Census, QuestionInfo, RaterInfo, Scope, census
from calibration.renderings import escaped
from judges.runs.material import Material, load

# Transcripts with the tags that selected raters set: the content of each row, whatever the format.

MOST_CHOSEN = 500
"""Maximum number of continuations, and of raters, that a request may name."""
TOGETHER = 50
"""Continuations that are read in one batch."""
NOT_RATED = "not rated"


@dataclass(frozen=True, slots=True)
class Line:
    """A turn: its number as annotators count it, its index from 0, its text, and the tags per group."""

    number: int
    index: int
    speaker: str
    text: str
    given: bool
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A continuation's turns."""

    dialogue: str
    continuation: str
    system: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Sheet:
    """Contents of an export: raters, groups of tags, and continuations (by id, in order)."""

    scope: Scope
    raters: tuple[RaterInfo, ...]
    groups: tuple[str, ...]
    questions: Mapping[int, QuestionInfo]
    continuations: tuple[int, ...]

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the transcripts; raise an error for a continuation that was deleted meanwhile."""
        for start in range(0, len(self.continuations), TOGETHER):
            together = self.continuations[start : start + TOGETHER]
            materials, tags, numbers = load(together), self._tags(together), of_continuations(together)
            for pk in together:
                if pk not in materials:
                    raise ExportRefused("a continuation was deleted while its transcript was written")
                yield self._transcript(materials[pk], tags.get(pk, {}), numbers[pk])

    def _transcript(
        self, material: Material, tags: Mapping[int, list[tuple[int, str, bool]]], numbers: Sequence[int]
    ) -> Transcript:
        names = Names(material.dialogue.participants, Blind())
        part = material.continuation
        lines = tuple(
            Line(
                numbers[index],
                index,
                names.of(turn.speaker),
                turn.text,
                turn.given,
                self._cells(tags.get(index, []), is_rated=not turn.given),
            )
            for index, turn in enumerate(part.turns)
        )
        return Transcript(material.dialogue.id, part.id, part.system, lines)

    def _cells(self, answers: list[tuple[int, str, bool]], *, is_rated: bool) -> tuple[str, ...]:
        """Return the tags of each group; with several raters, the raters of each tag are named."""
        if not answers:
            return (NOT_RATED if is_rated else "",) * len(self.groups)
        cells = []
        for group in self.groups:
            raters_by_tag: dict[str, list[str]] = {}
            for question, rater, is_set in answers:
                info = self.questions[question]
                if is_set and group_of(info) == group:
                    raters_by_tag.setdefault(info.title, []).append(rater)
            several = len(self.raters) > 1
            tag_texts = (
                f"{tag} ({', '.join(sorted(by))})" if several else tag for tag, by in raters_by_tag.items()
            )
            cells.append("; ".join(tag_texts))
        return tuple(cells)

    def _tags(self, continuations: Collection[int]) -> dict[int, dict[int, list[tuple[int, str, bool]]]]:
        """Return answers per continuation and turn: question, rater, whether the tag was set."""
        rater_names = {rater.id: rater.name for rater in self.raters}
        rows = (
            self.scope.labels()
            .filter(
                item__continuation__in=continuations,
                item__turn__isnull=False,
                rater__in=rater_names,
                question__in=self.questions,
                sample=0,
                number__isnull=False,
            )
            .order_by("item__turn__position", "question__version", "question__position", "rater__name", "pk")
            .values_list("item__continuation", "item__turn__position", "question", "rater", "number")
        )
        answers_by_turn: dict[int, dict[int, list[tuple[int, str, bool]]]] = {}
        for continuation, index, question, rater, number in rows:
            positive = self.questions[question].positive
            is_set = number == (1 if positive is None else positive)
            answers = answers_by_turn.setdefault(continuation, {}).setdefault(index, [])
            if (question, rater_names[rater], is_set) not in answers:
                answers.append((question, rater_names[rater], is_set))
        return answers_by_turn


def group_of(question: QuestionInfo) -> str:
    """Return the column of a tag: its group, or the tag itself where it has none."""
    return question.group or question.title


def raters_of(counted: Census) -> list[RaterInfo]:
    """Return the raters who set tags on turns, people first."""
    tags = {question.id for question in counted.questions.values() if _is_tag(question)}
    rater_ids = {rater for question, rater in counted.counts if question in tags}
    order = {"human": 0, "key": 1, "judge": 2, "metric": 3}
    return sorted((counted.raters[pk] for pk in rater_ids), key=lambda rater: (order[rater.kind], rater.name))


def sheet(
    scope: Scope, export_part: ExportPart, *, continuations: Sequence[int], raters: Sequence[str] = ()
) -> Sheet:
    """Return the contents to write. Default raters: all people who tagged, otherwise everybody who did.

    Raises ExportRefused for continuations outside the corpus or the selected part, and for raters who set no
    tag.
    """
    if not continuations:
        raise ExportRefused("choose at least one continuation")
    counted = census(scope)
    taggers = raters_of(counted)
    people = [rater for rater in taggers if rater.kind == "human"]
    selected = [rater for rater in taggers if rater.name in raters] if raters else people or taggers
    if unknown := set(raters) - {rater.name for rater in taggers}:
        names = ", ".join(rater.name for rater in taggers) or "nobody"
        raise ExportRefused(f"{sorted(unknown)[0]} tagged no turn of {scope.name}; {names} did")
    _refuse_locked(scope, export_part, continuations)
    questions = _answered_tags(counted, selected)
    groups = tuple(dict.fromkeys(group_of(question) for question in questions.values()))
    return Sheet(scope, tuple(selected), groups, questions, tuple(continuations))


def _answered_tags(counted: Census, raters: Sequence[RaterInfo]) -> dict[int, QuestionInfo]:
    mine = {rater.id for rater in raters}
    answered = {question for question, rater in counted.counts if rater in mine}
    return {pk: q for pk, q in counted.questions.items() if pk in answered and _is_tag(q)}


def _is_tag(question: QuestionInfo) -> bool:
    return question.item_kind == "turn" and question.level == "binary"


def _refuse_locked(scope: Scope, export_part: ExportPart, continuations: Sequence[int]) -> None:
    """Reject continuations of another corpus, or outside the selected part."""
    rows = Continuation.objects.filter(pk__in=continuations, dialogue__corpus=scope.corpus)
    other_part = rows.exclude(of_dialogues(scope.part, "dialogue__")).select_related("dialogue").first()
    if other_part is not None:
        reason = (
            "is not in the training part" if scope.training else "is in the training part: take that part out"
        )
        raise ExportRefused(f"{other_part.dialogue.key} {reason}")
    clusters = dict(rows.values_list("pk", "dialogue__cluster"))
    if len(clusters) < len(set(continuations)):
        raise ExportRefused(f"not all of these continuations are in {scope.corpus.name}")
    excluded = rows.filter(dialogue__in=export_part.excluded_ids).select_related("dialogue").first()
    if excluded is not None:
        raise ExportRefused(f"{excluded.dialogue.key} is left out by {export_part.exclude}")
    if export_part.split is None or export_part.part == "all":
        return
    other = SplitCluster.objects.filter(split=export_part.split, cluster__in=set(clusters.values()))
    if locked := other.exclude(part=export_part.part).order_by("cluster").first():
        raise ExportRefused(
            f"{locked.cluster} is in the {locked.part} part: take it out with part {locked.part} or all"
        )


def of_part(scope: Scope, export_part: ExportPart) -> list[int]:
    """Return the continuations of a part with tags on their turns, in the order of their keys."""
    tags = [question.id for question in census(scope).questions.values() if _is_tag(question)]
    rated = Label.objects.filter(pk__in=scope.labels().order_by().values("pk"), question__in=tags)
    continuations = Continuation.objects.filter(pk__in=rated.values("item__continuation"))
    if export_part.clusters is not None:
        continuations = continuations.filter(dialogue__cluster__in=export_part.clusters)
    return list(continuations.order_by("dialogue__key", "key").values_list("pk", flat=True))


# Formats of a transcript. Names, texts and tags are untrusted: each format escapes them its way.

HEAD = ("turn_number", "turn", "speaker", "text")
LATEX_NEEDS = r"% needs \usepackage{booktabs,longtable,array}"
STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#d9dee5;--ground:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa5b3;--line:#323a45;--ground:#14181d}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:0 auto;
max-width:72rem;padding:1.5rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}.soft,.given td{color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.text{white-space:pre-wrap;min-width:16rem}
"""


def csv_blocks(sheet: Sheet) -> Blocks:
    """Yield the transcripts as one CSV table; texts are guarded as in all of Concord's CSV."""
    rows = 0
    yield _csv(["dialogue", "continuation", "system", *HEAD, "given", *map(guarded, sheet.groups)])
    for transcript in sheet.transcripts():
        place = [guarded(t) for t in (transcript.dialogue, transcript.continuation, transcript.system)]
        for line in transcript.lines:
            texts = [guarded(line.speaker), guarded(line.text), str(line.given).lower()]
            yield _csv([*place, line.number, line.index, *texts, *map(guarded, line.tags)])
            rows += 1
    return rows


def _csv(cells: list[object]) -> bytes:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow(cells)
    return file.getvalue().encode()


def markdown_blocks(sheet: Sheet) -> Blocks:
    """Yield a table for each transcript."""
    rows = 0
    yield f"# Transcripts of {plain(sheet.scope.name)}\n\n{plain(_raters_line(sheet))}\n".encode()
    head = ["Turn", "Index", "Speaker", "Text", *map(plain, sheet.groups)]
    rule = ["---:", "---:", *["---"] * (2 + len(sheet.groups))]
    for transcript in sheet.transcripts():
        lines = ["", f"## {plain(_title(transcript))}", "", _row(head), _row(rule)]
        for line in transcript.lines:
            texts = (line.speaker, line.text, *line.tags)
            lines.append(_row([str(line.number), str(line.index), *map(plain, texts)]))
            rows += 1
        yield ("\n".join(lines) + "\n").encode()
    return rows


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex_blocks(sheet: Sheet) -> Blocks:
    """Yield a longtable with booktabs rules for each transcript."""
    rows = 0
    yield f"{LATEX_NEEDS}\n% {escaped(_raters_line(sheet))}\n".encode()
    width = 0.9 / (3 + len(sheet.groups))
    wide = rf">{{\raggedright\arraybackslash}}p{{{2 * width:.3f}\linewidth}}"
    narrow = rf">{{\raggedright\arraybackslash}}p{{{0.85 * width:.3f}\linewidth}}"
    columns = f"rr{narrow}{wide}{narrow * len(sheet.groups)}"
    head = ["Turn", "Index", "Speaker", "Text", *map(escaped, sheet.groups)]
    for transcript in sheet.transcripts():
        lines = [
            r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"\caption{{{escaped(_title(transcript))}}}\\",
            r"\toprule",
            f"{' & '.join(head)} \\\\",
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
        ]
        for line in transcript.lines:
            texts = (line.speaker, line.text, *line.tags)
            lines.append(f"{line.number} & {line.index} & {' & '.join(map(escaped, texts))} \\\\")
            rows += 1
        lines += [r"\end{longtable}", r"\endgroup", ""]
        yield ("\n".join(lines)).encode()
    return rows


def html_blocks(sheet: Sheet) -> Blocks:
    """Yield one self-contained page: no script, no external resources."""
    title, rows = f"Transcripts of {quoted(sheet.scope.name)}", 0
    yield (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head>'
        f'<body><h1>{title}</h1><p class="soft">{quoted(_raters_line(sheet))}</p>\n'
    ).encode()
    heads = ('<th class="n" scope="col">Turn</th>', '<th class="n" scope="col">Index</th>')
    names = ("Speaker", "Text", *sheet.groups)
    head = "".join((*heads, *(f'<th scope="col">{quoted(name)}</th>' for name in names)))
    for transcript in sheet.transcripts():
        body = "".join(map(_html_row, transcript.lines))
        rows += len(transcript.lines)
        yield (
            f'<section><h2 dir="auto">{quoted(_title(transcript))}</h2><div class="scroll" tabindex="0">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></section>\n"
        ).encode()
    yield b"</body></html>\n"
    return rows


def _html_row(line: Line) -> str:
    cells = [f'<td class="n">{line.number}</td><td class="n">{line.index}</td>']
    cells.append(f'<td dir="auto">{quoted(line.speaker)}</td>')
    cells.append(f'<td class="text" dir="auto">{quoted(line.text)}</td>')
    cells += [f"<td>{quoted(tags)}</td>" for tags in line.tags]
    start = '<tr class="given">' if line.given else "<tr>"
    return f"{start}{''.join(cells)}</tr>\n"


def _title(transcript: Transcript) -> str:
    return f"{transcript.dialogue}, {transcript.continuation} (by {transcript.system})"


def _raters_line(sheet: Sheet) -> str:
    names = ", ".join(rater.name for rater in sheet.raters) or "nobody"
    return f"Tags by {names}. Turns are numbered as annotators count them; the index counts from 0."


FORMS: dict[str, tuple[str, Callable[[Sheet], Blocks], str]] = {
    "csv": ("CSV", csv_blocks, "text/csv; charset=utf-8"),
    "md": ("Markdown", markdown_blocks, "text/markdown; charset=utf-8"),
    "tex": ("LaTeX", latex_blocks, "application/x-tex; charset=utf-8"),
    "html": ("HTML", html_blocks, "text/html; charset=utf-8"),
}
"""Per form: its title, its writer and its media type."""
