"""Template filters and frames shared by all pages."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from annotation.text import display
from config.links import links_of
from config.permissions import is_researcher

register = template.Library()


@register.filter
def num(value: Any, digits: int = 3) -> str:
    """Format a statistic with a fixed number of decimals and a true minus sign; a dash if there is none."""
    return display.number(None if value is None or value == "" else float(value), digits)


@register.filter
def p_value(value: float) -> str:
    """Format the p-value of a test."""
    return display.p_value(value)


@register.filter
def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 turn", "1,200 turns"."""
    return display.many(number, noun)


@register.filter
def percent(value: Any, digits: int = 0) -> str:
    """Format a share as a percentage."""
    return display.percent(None if value is None or value == "" else float(value), digits)


@register.filter
def money(amount: Any, currency: str) -> str:
    """Format an amount of money with its currency."""
    return display.money(amount, currency)


@register.filter(expects_localtime=True)
def day(moment: Any) -> str:
    """Format a date, or the date of a moment in the reader's zone: 5 Nov 2026; empty for none."""
    return date_format(moment, "j M Y") if moment else ""


@register.filter(expects_localtime=True)
def moment(value: Any) -> str:
    """Format a moment in the reader's time zone, to the minute: 5 Nov 2026, 17:04; empty for none."""
    return date_format(value, "j M Y, H:i") if value else ""


@register.filter
def get(mapping: Any, key: Any) -> Any:
    """Look up a key in a mapping; None if absent."""
    return mapping.get(key) if hasattr(mapping, "get") else None


@register.filter
def short(names: Any, name: str) -> str:
    """Return a rater's name on pages, from a mapping of names (`calibration.reports.names`)."""
    return str(names.short(name))


@register.filter
def detail(names: Any, name: str) -> str:
    """Return the small print beside a rater's name on pages: its model and prompt version."""
    return str(names.detail(name))


@register.filter
def pairs(mapping: Any) -> list[tuple[Any, Any]]:
    """Return the items of a mapping; empty if it is not a mapping."""
    return list(mapping.items()) if mapping else []


@register.filter
def words(key: Any) -> str:
    """Format a key such as `buried_mention` as words."""
    return str(key).replace("_", " ")


@register.filter
def setting(value: Any) -> str:
    """Format the value of a setting: yes or no for booleans."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@register.filter
def share(part: Any, total: Any) -> int:
    """Return part of total in per cent, 0 if total is 0, for meters."""
    return round(100 * float(part or 0) / float(total)) if total else 0


@register.filter
def runs(text: Any) -> str:
    """Return the value of the `dir` attribute for a text, or for the pieces of a text."""
    return display.direction(text if isinstance(text, str) else "".join(piece for piece, _ in text))


@register.filter
def markdown(text: Any) -> SafeString:
    """Render Markdown as HTML; HTML in it is escaped."""
    return mark_safe(display.html_of(str(text)))


@register.filter
def language_tag(name: Any) -> str:
    """Return the value of the `lang` attribute for a dialogue's language, '' if it is not a language tag."""
    return display.language_tag(str(name or ""))


@register.simple_tag(takes_context=True)
def links(context: template.Context, page: str) -> list[tuple[str, str]]:
    """Return the labels and URLs of the buttons that suites add to a page."""
    subject: dict[str, Any] = context.flatten()  # type: ignore[assignment]
    return links_of(page, subject)


@register.simple_tag
def icon(name: str) -> SafeString:
    """Return an icon of `static/img/icons.svg`, for words beside it: it is hidden from screen readers."""
    href = f"{static('img/icons.svg')}#{name}"
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}" /></svg>', href)


OF_A_CORPUS = ("study", "bench", "round", "run", "gold", "simulation", "benchmark", "campaign")
"""What a page may show that belongs to a corpus, by its name in the page's context."""


@register.simple_block_tag(takes_context=True)
def tabs(context: template.Context, content: SafeString, corpus: Any = None) -> SafeString:
    """Return the tabs that a page stands under, those of its corpus or of the library.

    In it: the page's tab, where the address (`TAB_ADDRESSES`) does not tell. Nothing for viewers who may open
    neither, and for a page without a corpus.
    """
    current = content.strip() or _tab_of(context["request"].path_info)
    if not current or not is_researcher(context["request"].user):
        return SafeString("")
    if current in dict(LIBRARY):
        title, rows = "Library", [(text, reverse(name)) for text, name in LIBRARY]
    else:
        subjects = (context.get(name) for name in OF_A_CORPUS)
        corpus = corpus or context.get("corpus") or next((row.corpus for row in subjects if row), None)
        if corpus is None:
            return SafeString("")
        title, rows = corpus.name, [(text, reverse(name, args=[corpus.name])) for text, name in CORPUS_TABS]
        rows[-1:-1] = links_of("tabs", {"corpus": corpus})
    names = {"title": title, "href": rows[0][1], "current": current, "tabs": rows}
    return render_to_string("_components/tabs.html", names)


def _tab_of(path: str) -> str:
    words = path.strip("/").split("/")
    beginnings = {words[0], "/".join(words[:2])}
    return next((tab for tab, addresses in TAB_ADDRESSES.items() if addresses & beginnings), "")


CORPUS_TABS = (
    ("Overview", "corpus"),
    ("Dialogues", "corpus-dialogues"),
    ("Annotation", "corpus-annotation"),
    ("Judges", "corpus-judges"),
    ("Results", "corpus-results"),
    ("Gold and export", "corpus-gold"),
    ("Settings", "corpus-settings"),
)
"""Tabs of a corpus and their pages; those that suites add stand before the last."""


LIBRARY = (
    ("Schemes", "schemes"),
    ("Prompts", "prompts"),
    ("Endpoints", "endpoints"),
    ("Names of judges", "raters"),
    ("Costs", "run-costs"),
)


TAB_ADDRESSES = {
    "Annotation": {"campaigns", "adjudication"},
    "Results": {"studies"},
    "Gold and export": {"gold", "exports"},
    "Schemes": {"schemes"},
    "Prompts": {"prompts"},
    "Endpoints": {"endpoints"},
    "Names of judges": {"raters"},
    "Costs": {"runs/costs"},
    "Judges": {"runs", "workbench"},
}
"""Tabs with the first words of the addresses of their pages; a page with another tab names it."""
