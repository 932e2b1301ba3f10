"""Frames and parts of pages: tables, cards, facts, fields of a form. Their HTML is in `_components`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from django import template
from django.forms import BoundField
from django.template.base import render_value_in_context
from django.template.defaultfilters import unordered_list
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

Tag = TypeVar("Tag", bound=Callable[..., SafeString])


class ConditionalNode(template.Node):
    """A tag of which nothing is rendered where its condition is empty or false."""

    def __init__(self, node: Any, condition: Any) -> None:
        self.node = node
        self.nodelist = getattr(node, "nodelist", template.NodeList())
        self.condition = condition

    def render(self, context: template.Context) -> SafeString:
        is_shown = self.condition.resolve(context, ignore_failures=True)
        return SafeString(self.node.render(context) if is_shown else "")


def conditional(tag: Tag) -> Tag:
    """Let a tag, registered below this, take `when`, as in `{% part "Notes" when=notes %}`."""
    compile_tag = register.tags[tag.__name__]

    def compile_conditional(parser: Any, token: Any) -> template.Node:
        bits = token.split_contents()
        conditions = [bit.removeprefix("when=") for bit in bits if bit.startswith("when=")]
        token.contents = " ".join(bit for bit in bits if not bit.startswith("when="))
        node = compile_tag(parser, token)
        return ConditionalNode(node, parser.compile_filter(conditions[0])) if conditions else node

    register.tag(tag.__name__, compile_conditional)
    return tag


@dataclass(frozen=True)
class Heading:
    """A column of a table: whether it holds numbers, and whether only screen readers get its heading.

    The list sorts by it at `href`; `direction` is how it is sorted now (`ascending`, `descending`). As a cell
    of a row it may have classes, `kind`.
    """

    text: Any
    is_numeric: bool = False
    is_hidden: bool = False
    key: str = ""
    href: str = ""
    direction: str = ""
    kind: str = ""


@register.filter
def numeric(headings: Any) -> list[Heading]:
    """Return a heading, or several, as those of columns of numbers."""
    return [Heading(text, is_numeric=True) for text in _texts(headings)]


@register.filter
def unseen(headings: Any) -> list[Heading]:
    """Return a heading as that of a column of buttons, which screen readers alone get."""
    return [Heading(text, is_hidden=True) for text in _texts(headings)]


@register.filter
def shows(condition: Any, heading: str) -> list[str]:
    """Return the heading of a column that is there only on a condition."""
    return [heading] if condition else []


def _texts(headings: Any) -> Iterable[Any]:
    return [headings] if headings and isinstance(headings, str) else headings or []


@register.filter
def figure(value: Any) -> Heading:
    """Return a value as a cell of a column of numbers."""
    return Heading(value, is_numeric=True)


@register.filter
def cell(value: Any, kind: str) -> Heading:
    """Return a value as a cell with classes, such as `words` for a text that wraps."""
    return Heading(value, kind=kind)


@register.filter
def figures(values: Iterable[Any]) -> list[Heading]:
    """Return values as cells of columns of numbers."""
    return [figure(value) for value in values]


@register.simple_tag(takes_context=True)
def row(context: template.Context, *cells: Any) -> SafeString:
    """Return a row of a table: its first cell names it; `figure`, `figures` and `cell` give cells classes."""
    line = []
    values = [value for entry in cells for value in (entry if isinstance(entry, list) else [entry])]
    for place, value in enumerate(values):
        entry = value if isinstance(value, Heading) else Heading(value)
        text = mark_safe(render_value_in_context(entry.text, context))
        kind = _attributes({"class": "n" if entry.is_numeric else entry.kind or None})
        line.append(format_html("<td{}>{}</td>" if place else '<th scope="row"{}>{}</th>', kind, text))
    return format_html("<tr>{}</tr>", mark_safe("".join(line)))


@conditional
@register.simple_block_tag
def table(
    content: SafeString, *headings: Any, kind: str = "", none: Any = None, instead: Any = None, **frame: Any
) -> SafeString:
    """Frame the rows of a table with its headings: texts, or lists of texts, with the filters above.

    A keyword that `tableframe` takes names the table and places it; kind: a class of the table; none: the
    sentence that stands in its place where it has no rows, empty for nothing; instead: the element that does.
    """
    if (none is not None or instead) and not content.strip():
        return _in_place_of_rows(none, instead)
    columns = [
        heading if isinstance(heading, Heading) else Heading(heading)
        for argument in headings
        for heading in _texts(argument)
    ]
    names = {"content": content, "columns": columns, "kind": kind}
    return tableframe(render_to_string("_components/table.html", names), **frame)


def _in_place_of_rows(sentence: Any, element: Any) -> SafeString:
    if element or not sentence:
        return SafeString(element or "")
    return format_html('<p class="text-secondary">{}</p>', sentence)


@register.simple_block_tag(takes_context=True)
def listing(
    context: template.Context,
    content: SafeString,
    page: Any,
    none: Any = None,
    instead: Any = None,
    **frame: Any,
) -> SafeString:
    """Frame the rows of a list (`config.listing`) with headings and pages, or say that nothing matches.

    Keywords as for `table`; without a filter, none and instead stand in the place of an empty list.
    """
    if (none is not None or instead) and not page.object_list and not page.text:
        return _in_place_of_rows(none, instead)
    names = {"page": page, "table": table(content, page.columns, **frame)}
    return render_to_string("_components/listing.html", names, request=context["request"])


@register.simple_block_tag
def text(content: SafeString) -> SafeString:
    """Return what stands in it, for a name: `{% text as lead %}...{% endtext %}`."""
    return SafeString(content.strip())


@register.simple_tag
def link(text: Any, route: str, *values: Any, kind: str = "") -> SafeString:
    """Return a link to a route; kind: its classes."""
    address = reverse(route, args=values)
    return format_html('<a href="{}"{}>{}</a>', address, _attributes({"class": kind or None}), text)


@register.simple_block_tag
def pagehead(content: SafeString, title: Any, *, lead: Any = "", crumbs: Any = "") -> SafeString:
    """Frame the head of a page: where it stands, its title, a sentence about it; in it its actions."""
    actions = SafeString(content.strip())
    names = {"content": actions, "title": title, "lead": lead, "crumbs": crumbs}
    return render_to_string("_components/pagehead.html", names)


@register.simple_tag
def pagetitle(title: Any, *, lead: Any = "", crumbs: Any = "") -> SafeString:
    """Return the head of a page without actions."""
    return pagehead(SafeString(""), title, lead=lead, crumbs=crumbs)


@register.simple_tag
def emptystate(title: Any, text: Any, action: Any = "", route: str = "", *values: Any) -> SafeString:
    """Return an empty state: what is missing, what to do, and the link that does it."""
    names = {"title": title, "text": text, "action": action}
    href = reverse(route, args=values) if route else ""
    return render_to_string("_components/empty.html", names | {"href": href})


@conditional
@register.simple_block_tag
def part(
    content: SafeString, title: Any = "", *, id: str = "", label: str = "", note: Any = "", beside: Any = ""
) -> SafeString:
    """Frame a part of a page with its heading, or with a name that screen readers get.

    note: a sentence after the heading; beside: its actions.
    """
    names = {"content": content, "title": title, "id": id, "label": label, "note": note, "beside": beside}
    return render_to_string("_components/part.html", names)


@conditional
@register.simple_block_tag(takes_context=True)
def form(
    context: template.Context,
    content: SafeString,
    button: Any = "",
    route: str = "",
    *values: Any,
    kind: str = "stack",
    tone: str = "primary",
    back: str = "",
    confirm: Any = "",
    files: bool = False,
    id: str = "",
) -> SafeString:
    """Frame the fields of a form that is posted to a route, or to its own page, with its button.

    kind: classes of the form (`stack`, `inline-form`, `actions-row`); tone: of the button, empty for a plain
    button; back: the address of a link beside it; confirm: what is asked before; files: it sends files.
    """
    names = {"content": content, "action": reverse(route, args=values) if route else "", "button": button}
    names |= {"kind": kind, "tone": tone, "back": back, "confirm": confirm, "files": files, "id": id}
    return render_to_string("_components/post.html", names | {"csrf_token": context.get("csrf_token")})


@register.simple_tag(takes_context=True)
def fieldform(
    context: template.Context, fields: Any, button: Any = "", route: str = "", *values: Any, **frame: Any
) -> SafeString:
    """Return a form with all fields of a Django form and its button; the rest as for `form`."""
    names = {"form": fields}
    content = render_to_string("_components/form.html", names, request=context.get("request"))
    return form(context, content, button, route, *values, **frame)


@conditional
@register.simple_tag(takes_context=True)
def act(
    context: template.Context,
    text: Any,
    route: str,
    *values: Any,
    tone: str = "",
    kind: str = "",
    confirm: Any = "",
    **attributes: Any,
) -> SafeString:
    """Return a button that posts to a route; keywords are its attributes (`aria_label` is `aria-label`).

    confirm: what is asked before.
    """
    pairs = _attributes(attributes)
    button = format_html('<button class="btn{}"{}>{}</button>', f" btn-{tone}" if tone else "", pairs, text)
    return form(context, button, "", route, *values, kind=kind, confirm=confirm)


@register.simple_tag
def pick(key: Any, name: Any) -> SafeString:
    """Return the cell with which a row is selected, for the form of `_components/bulk.html`."""
    pairs = _attributes(
        {"id": f"select-{key}", "value": key, "aria-label": f"Select {name}", "class": "form-check-input"}
    )
    return format_html('<td><input type="checkbox" name="selected" form="bulk"{}></td>', pairs)


@register.filter
def script(name: str) -> SafeString:
    """Return the element that loads a script of `static/js`; `module` loads one that imports others."""
    return format_html('<script src="{}" defer></script>', static(f"js/{name}.js"))


@register.filter
def module(name: str) -> SafeString:
    """Return the element that loads a script of `static/js` as a module."""
    return format_html('<script type="module" src="{}"></script>', static(f"js/{name}.js"))


@register.filter
def styles(name: str) -> SafeString:
    """Return the element that loads a style sheet of `static/css`."""
    return format_html('<link rel="stylesheet" href="{}">', static(f"css/{name}.css"))


@register.filter
def statistic(entry: Any) -> SafeString:
    """Return a figure with its interval, or the reason why there is none."""
    return render_to_string("_components/statistic.html", {"entry": entry})


@register.filter
def proportion(share: Any) -> SafeString:
    """Return a result that is a share, in per cent with its interval, or the reason why there is none."""
    return render_to_string("_components/proportion.html", {"share": share})


@register.filter
def bullets(sentences: Iterable[Any], kind: str = "") -> SafeString:
    """Return sentences as a list; kind: its classes."""
    return format_html("<ul{}>{}</ul>", _attributes({"class": kind or None}), unordered_list(sentences))


@register.filter
def into(value: Any, sentence: str) -> str:
    """Return a sentence with a value in place of its {}."""
    return str(sentence).replace("{}", str(value))


@register.filter
def badge(text: Any, tone: str = "") -> SafeString:
    """Return a word, if there is one, in a coloured field; tone: warning, danger, success, primary."""
    if not text:
        return SafeString("")
    return format_html(
        '<span class="badge fs-5 align-middle{}">{}</span>', f" bg-{tone}-lt" if tone else "", text
    )


TONES = {
    "warning": ("paused", "not_checked"),
    "danger": ("failed", "stuck", "unclear", "refused", "objected"),
    "success": ("done", "open", "working", "collected", "delivered", "passed"),
    "primary": ("running", "writing", "making", "batched", "under way", "leased"),
}
STATE_WORDS = {
    "batched": "in a batch",
    "leased": "under way",
    "pending": "waiting",
    "not_checked": "not checked",
}


@register.filter
def state(state: str, is_empty: Any = False) -> SafeString:
    """Return the state of a campaign, run, call or job as a badge; is_empty: it has no values."""
    if state == "done" and is_empty:
        return badge("done, no values", "warning")
    tones = [tone for tone, states in TONES.items() if state in states]
    return badge(STATE_WORDS.get(state, state), tones[0] if tones else "")


@conditional
@register.simple_block_tag
def card(
    content: SafeString, title: Any, *, level: int = 2, extra: str = "", note: Any = "", beside: Any = ""
) -> SafeString:
    """Frame a part of a page as a card with its heading; note and beside as for `part`."""
    names = {"content": content, "title": title, "level": level, "extra": extra}
    return render_to_string("_components/card.html", names | {"note": note, "beside": beside})


@register.simple_tag
def progress(part: int, total: int, label: str) -> SafeString:
    """Return a bar with its numbers: what is done of how much."""
    return render_to_string("_components/progress.html", {"part": part, "whole": total, "label": label})


@register.simple_tag(takes_context=True)
def facts(context: template.Context, rows: Iterable[tuple[Any, Any]]) -> SafeString:
    """Return pairs of term and value as entries of `<dl class="facts">`, those that have a value."""
    return mark_safe("".join(fact(context, name, value) for name, value in rows))


@conditional
@register.simple_tag(takes_context=True)
def fact(context: template.Context, term: Any, value: Any) -> SafeString:
    """Return an entry of `<dl class="facts">`; nothing where there is no value."""
    if value is None or value == "":
        return SafeString("")
    return _fact(term, mark_safe(render_value_in_context(value, context)))


@register.simple_block_tag
def term(content: SafeString, name: Any) -> SafeString:
    """Return an entry of `<dl class="facts">` whose value is more than a variable."""
    return _fact(name, content)


def _fact(term: Any, value: SafeString) -> SafeString:
    return format_html("<div><dt>{}</dt><dd>{}</dd></div>", term, value)


@register.filter
def isolated(text: Any) -> SafeString:
    """Return a text whose direction does not disturb the words around it."""
    return format_html("<bdi>{}</bdi>", text)


@conditional
@register.simple_tag(takes_context=True)
def input(
    context: template.Context, name: str, label: Any, value: Any = None, **attributes: Any
) -> SafeString:
    """Return a field to type in, with its label; with an empty one, the control alone.

    Keywords are attributes (`aria_label` is `aria-label`), and `hint`, `id`, and `problems`: the sentences
    about what is wrong with it, which have their place below it even when there is none.
    """
    text = None if value is None else mark_safe(render_value_in_context(value, context))
    pairs, beside = _described(name, attributes)
    return _field(label, format_html("<input{}>", _attributes(pairs | {"value": text})), beside)


@conditional
@register.simple_tag(takes_context=True)
def textarea(
    context: template.Context, name: str, label: Any, value: Any = "", **attributes: Any
) -> SafeString:
    """Return a field for a text of several lines, with its label; keywords as for `input`."""
    text = mark_safe(render_value_in_context(value, context))
    pairs, beside = _described(name, {"rows": 3, "dir": "auto", **attributes})
    return _field(label, format_html("<textarea{}>\n{}</textarea>", _attributes(pairs), text), beside)


@conditional
@register.simple_tag
def fields(*parts: Any) -> SafeString:
    """Return fields of a Django form, single ones or lists of them; none for a field that it lacks."""
    lines = []
    for part in parts:
        for field in [part] if isinstance(part, BoundField) else part or ():
            lines.append(render_to_string("_components/field.html", {"field": field}))
    return mark_safe("".join(lines))


@conditional
@register.simple_tag
def checkbox(name: str, label: Any, value: Any = None, **attributes: Any) -> SafeString:
    """Return a box to tick before its label; keywords are attributes, such as `checked`."""
    pairs = _attributes({"type": "checkbox", "name": name, "value": value, **attributes})
    return format_html("<label><input{}> {}</label>", pairs, label)


@register.simple_tag
def datalist(id: str, values: Iterable[Any]) -> SafeString:
    """Return the values that a field proposes, which names them by `list`."""
    lines = format_html_join("\n", '<option value="{}"></option>', ((value,) for value in values))
    return format_html('<datalist id="{}">{}</datalist>', id, lines)


@conditional
@register.simple_tag
def choices(
    name: str,
    legend: Any,
    options: Iterable[Any],
    current: Collection[Any] = (),
    *,
    hint: Any = "",
    **attributes: Any,
) -> SafeString:
    """Return boxes of which several may be ticked, with their legend; options as for `select`."""
    boxes = [{"value": value, "text": text, "is_ticked": value in current} for value, text in _pairs(options)]
    names = {"name": name, "legend": legend, "boxes": boxes, "hint": hint}
    return render_to_string("_components/choices.html", names | {"attributes": _attributes(attributes)})


@register.filter
def options(rows: Iterable[Any], names: str) -> list[tuple[Any, Any]]:
    """Return two attributes of every row, such as "pk name", as options to choose from."""
    value, text = names.split()
    return [(_attribute(row, value), _attribute(row, text)) for row in rows]


def _attribute(row: Any, name: str) -> Any:
    value = row[name] if isinstance(row, dict) else getattr(row, name)
    return value() if callable(value) else value


SELECTED = mark_safe(" selected")


@conditional
@register.simple_tag
def select(
    name: str, label: Any, options: Iterable[Any], current: Any = None, **attributes: Any
) -> SafeString:
    """Return a field to choose in, with its label.

    Options are values, pairs of value and text, or pairs of a group's name and a list of its options.
    Keywords as for `input`, and `none`: the text of the choice of nothing, which comes first.
    """
    rows = [("", attributes.pop("none"))] if "none" in attributes else []
    pairs, beside = _described(name, attributes)
    lines = mark_safe("\n".join(_options([*rows, *options], current)))
    return _field(label, format_html("<select{}>{}</select>", _attributes(pairs), lines), beside)


def _pairs(options: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(row, row) if isinstance(row, str) else tuple(row) for row in options]


def _options(options: Iterable[Any], current: Any) -> list[SafeString]:
    lines = []
    for value, text in _pairs(options):
        if isinstance(text, list):
            group = mark_safe("".join(_options(text, current)))
            lines.append(format_html('<optgroup label="{}">{}</optgroup>', value, group))
        else:
            is_current = SELECTED if value == current else ""
            lines.append(format_html('<option value="{}"{}>{}</option>', value, is_current, text))
    return lines


@conditional
@register.simple_tag
def hidden(pairs: Iterable[tuple[str, Any]] = (), **values: Any) -> SafeString:
    """Return hidden fields of a form, from pairs or keywords; none for those without a value."""
    rows = [(name, value) for name, value in [*pairs, *values.items()] if value not in (None, "")]
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', rows)


@register.simple_block_tag
def query(content: SafeString, button: str, *, card: bool = False) -> SafeString:
    """Frame the fields that choose what the page shows, by its address, with their button.

    card: they stand on the page by themselves, with its main button.
    """
    return render_to_string("_components/query.html", {"content": content, "button": button, "card": card})


def _attributes(values: dict[str, Any]) -> SafeString:
    pairs = [(name, value) for name, value in values.items() if value is not None and value is not False]
    texts = ((name.replace("_", "-"), "" if value is True else value) for name, value in pairs)
    return format_html_join("", ' {}="{}"', texts)


def _described(name: str, keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the attributes of a control, which point at what stands around it, and what that is."""
    own = {"id": keywords.get("id", name), "name": name}
    beside = {place: keywords[place] for place in ("hint", "problems") if place in keywords}
    ids = [f"{own['id']}-{place}" for place in beside if place == "problems" or beside[place]]
    described = " ".join([*filter(None, [keywords.get("aria_describedby")]), *ids])
    rest = {key: value for key, value in keywords.items() if key not in {*own, *beside}}
    rest |= {"aria_describedby": described} if described else {}
    rest |= {"aria_invalid": "true"} if keywords.get("problems") else {}
    return own | rest, beside | {"key": own["id"], "has_problems": "problems" in beside}


def _field(label: Any, control: SafeString, beside: dict[str, Any]) -> SafeString:
    if not label:
        return control
    return render_to_string("_components/control.html", {"label": label, "control": control, **beside})


@register.simple_block_tag
def tableframe(
    content: SafeString,
    *,
    label: str = "",
    labelled_by: str = "",
    card: bool = False,
    extra: str = "",
    sorts: bool = False,
) -> SafeString:
    """Frame a table that scrolls horizontally, also by keyboard, with an accessible name.

    sorts: a list that the reader may sort by its headings and filter, where it is all on the page.
    """
    names = {"label": label, "labelled_by": labelled_by, "card": card, "extra": extra, "sorts": sorts}
    return render_to_string("_components/tableframe.html", {"content": content, **names})


@register.simple_block_tag
def menu(content: SafeString, title: str) -> SafeString:
    """Frame links and buttons of a page's further actions; each has the class `dropdown-item`."""
    return render_to_string("_components/menu.html", {"content": content, "title": title})


@register.simple_block_tag
def dialog(content: SafeString, id: str, *, title: str = "", closes: bool = False) -> SafeString:
    """Frame a dialog with its heading, initially closed; closes: it has a button that closes it."""
    names = {"content": content, "id": id, "title": title, "closes": closes}
    return render_to_string("_components/dialog.html", names)


@conditional
@register.simple_block_tag
def fold(
    content: SafeString, id: str, *, title: str = "", result: str = "", is_open: bool = False
) -> SafeString:
    """Frame a section that folds; its heading states its main result."""
    names = {"id": id, "title": title, "result": result, "is_open": is_open}
    return render_to_string("_components/fold.html", {"content": content, **names})
