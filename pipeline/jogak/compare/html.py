"""Cuttings as one page that needs nothing else: no script, no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from jogak.compare.cutting import Cutting, Token
from jogak.compare.render import shown_token

STYLE = """\
body { font-family: system-ui, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", sans-serif;
       max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; line-height: 1.9; color: #1a1a1a;
       background: #fff; }
h1 { font-size: 1.3rem } h2 { font-size: 1rem; margin: 1.4rem 0 .2rem; overflow-wrap: anywhere }
p { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap }
.t { border-radius: .2rem; padding: .1rem .05rem; -webkit-print-color-adjust: exact;
     print-color-adjust: exact }
.c0 { background: #cfe3ff } .c1 { background: #ffe3b8 } .c2 { background: #cdf2d0 }
.c3 { background: #f3d5f5 } .c4 { background: #eee6b0 }
.broken { font-family: ui-monospace, monospace; font-size: .8em; outline: 1px dashed #b00 }
.note { color: #555; font-size: .85rem }
"""
COLOURS = 5
TEXT_SHOWN = 80


def comparison_html(text: str, cuttings: Sequence[Cutting]) -> str:
    """Return a page that shows a text's tokens by each tokenizer; everything in it is escaped."""
    title = " ".join(text.split())
    title = title if len(title) <= TEXT_SHOWN else title[:TEXT_SHOWN] + "…"
    sections = "\n".join(_section(each) for each in cuttings)
    return f"""\
<!DOCTYPE html>
<html lang="und">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="note">Neighbouring tokens differ in colour. Dashed: bytes of a token that is not made of \
whole characters. Point at a token for its id and bytes.</p>
{sections}
</body>
</html>
"""


def _section(cutting: Cutting) -> str:
    count = len(cutting.tokens)
    tokens = "".join(_token(token, at % COLOURS) for at, token in enumerate(cutting.tokens))
    note = (
        ""
        if cutting.is_same_text
        else ('\n<p class="note">The tokenizer changes the text before it cuts it.</p>')
    )
    heading = f"{escape(cutting.name)}: {count:,} token{'s' * (count != 1)}"
    return f"<h2>{heading}</h2>\n<p>{tokens}</p>{note}"


def _token(token: Token, colour: int) -> str:
    broken = " broken" * (token.text is None)
    about = token.data.hex(" ").upper()
    about = about if token.id is None else f"{token.id}: {about}"
    return f'<span class="t c{colour}{broken}" title="{about}">{escape(shown_token(token))}</span>'
