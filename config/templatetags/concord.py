"""Template filters and frames shared by all pages."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from annotation.text import display
from config.links import links_of

register = template.Library()


@register.filter
def num(value: Any, digits: int = 3) -> str:
    """Format a statistic with a fixed number of decimals and a true minus; a dash where there is none."""
    return display.number(None if value is None or value == "" else float(value), digits)


@register.filter
def percent(value: Any, digits: int = 0) -> str:
    """Format a share as per cent."""
    return display.percent(None if value is None or value == "" else float(value), digits)


@register.filter
def money(amount: Any, currency: str) -> str:
    """Format an amount of money with its currency."""
    return display.money(amount, currency)


@register.filter
def get(mapping: Any, key: Any) -> Any:
    """Look a key up in a mapping; None where it is absent."""
    return mapping.get(key) if hasattr(mapping, "get") else None


@register.filter
def pairs(mapping: Any) -> list[tuple[Any, Any]]:
    """Return the pairs of a mapping; none where there is no mapping."""
    return list(mapping.items()) if mapping else []


@register.filter
def words(key: Any) -> str:
    """Write a key such as `buried_mention` as words."""
    return str(key).replace("_", " ")


@register.filter
def setting(value: Any) -> str:
    """Say the value of a setting: yes and no for what is either."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@register.filter
def share(part: Any, total: Any) -> int:
    """Return part of total in per cent, 0 where total is 0, for meters."""
    return round(100 * float(part or 0) / float(total)) if total else 0


@register.filter
def runs(text: Any) -> str:
    """Return the value of `dir` for a text, or for the pieces that make it up."""
    return display.direction(text if isinstance(text, str) else "".join(piece for piece, _ in text))


@register.filter
def markdown(text: Any) -> SafeString:
    """Show a text written in Markdown; markup in it is escaped."""
    return mark_safe(display.html_of(str(text)))


@register.filter
def language_tag(name: Any) -> str:
    """Return the value of `lang` for a dialogue's language, '' where it is none."""
    return display.language_tag(str(name or ""))


@register.filter
def starts_with(text: Any, prefix: Any) -> bool:
    """Whether an address begins with another: is this page in that room?"""
    return bool(prefix) and str(text).startswith(str(prefix))


@register.simple_tag(takes_context=True)
def links(context: template.Context, page: str) -> list[tuple[str, str]]:
    """Return the texts and addresses of the buttons that suites add to a page."""
    subject: dict[str, Any] = context.flatten()  # type: ignore[assignment]
    return links_of(page, subject)


@register.simple_block_tag
def tableframe(
    content: SafeString, *, label: str = "", labelled_by: str = "", card: bool = False, extra: str = ""
) -> SafeString:
    """Frame a table: it scrolls sideways by itself, by keyboard too, and has a name for those who listen."""
    names = {"label": label, "labelled_by": labelled_by, "card": card, "extra": extra}
    return render_to_string("_components/tableframe.html", {"content": content, **names})


@register.simple_block_tag
def dialog(content: SafeString, id: str, *, title: str = "") -> SafeString:
    """Frame a dialog with its heading, closed until something opens it."""
    return render_to_string("_components/dialog.html", {"content": content, "id": id, "title": title})
