"""Guidelines are written in Markdown (CommonMark with tables); what they become is safe to put into a page.

Markup in the text stays text, pictures are not loaded, and links lead to web and mail addresses only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

HEADINGS_BELOW = 2
"""A text stands under a page's own headings, so its first level is the third."""


class _Renderer(RendererHTML):
    def heading_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        tokens[index].tag = _lower(tokens[index].tag)
        return str(self.renderToken(tokens, index, options, env))

    heading_close = heading_open

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        tokens[index].attrSet("rel", "noopener noreferrer nofollow")
        tokens[index].attrSet("target", "_blank")
        return str(self.renderToken(tokens, index, options, env))


def html_of(text: str) -> str:
    """Return a text's HTML. Raw HTML in it is escaped; a line break is kept as one."""
    return str(_markdown.render(text))


def _lower(tag: str) -> str:
    return f"h{min(6, int(tag[1]) + HEADINGS_BELOW)}"


_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
_markdown.enable("table").disable("image")
