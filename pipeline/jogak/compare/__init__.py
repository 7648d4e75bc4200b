"""compare: one text cut by several tokenizers, side by side, for people to look at.

In: a text, and tokenizers by path or as `chars` and `words`. Out: a Cutting for each, which
`render` shows in a terminal and `html` as a page.
"""

from __future__ import annotations

from jogak.compare.cutting import Cutting, Token, cut_text, merge_steps
from jogak.compare.html import comparison_html
from jogak.compare.render import comparison_json, comparison_text

__all__ = [
    "Cutting",
    "Token",
    "comparison_html",
    "comparison_json",
    "comparison_text",
    "cut_text",
    "merge_steps",
]
