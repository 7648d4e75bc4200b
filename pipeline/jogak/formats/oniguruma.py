r"""Patterns between two dialects: Jogak's (as tiktoken's) and Oniguruma's, which tokenizer.json has.

They differ in two points that tokenizers meet. `X{1,3}+` is possessive here and "one or more of
X{1,3}" in Oniguruma, which spells the former `(?>X{1,3})`; and `$` is the end of the text here and
the end of a line there, where `\z` is the end of the text.
"""

from __future__ import annotations

import re

from jogak.errors import TokenizerError

_ATOM = re.compile(r"\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|.", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?:[a-z-]*:|<?[=!]|>))?")
_QUANTIFIER = re.compile(r"(?:\{(?:\d+(?:,\d*)?|,\d+)\}|[*+?])[+?]?")


def to_oniguruma(pattern: str) -> str:
    """Spell a pattern of Jogak's dialect for tokenizer.json."""
    out: list[str] = []
    for opening, atom, quantifier in _atoms(pattern):
        spelled = f"{opening}{to_oniguruma(atom)})" if opening else atom
        if spelled == "$":
            spelled = r"\z"
        if quantifier.startswith("{") and quantifier.endswith("+"):
            out.append(f"(?>{spelled}{quantifier[:-1]})")
        else:
            out.append(spelled + quantifier)
    return "".join(out)


def from_oniguruma(pattern: str, where: str) -> str:
    """Read a pattern of tokenizer.json in Jogak's dialect; `where` names it in messages."""
    out: list[str] = []
    for opening, atom, quantifier in _atoms(pattern):
        if opening == "(?>" and not quantifier and _is_interval(atom):
            out.append(from_oniguruma(atom, where) + "+")
            continue
        spelled = f"{opening}{from_oniguruma(atom, where)})" if opening else atom
        if spelled == r"\z":
            spelled = "$"
        elif spelled == "$" and out[-1:] != [r"\s++"]:
            message = f"{where}: '$' is the end of a line in {pattern!r}; write '\\z' instead"
            raise TokenizerError(message)
        if quantifier.startswith("{") and quantifier.endswith("+"):
            out.append(f"(?:{spelled}{quantifier[:-1]})+")
        else:
            out.append(spelled + quantifier)
    return "".join(out)


def _is_interval(pattern: str) -> bool:
    atoms = _atoms(pattern)
    return len(atoms) == 1 and atoms[0][2].startswith("{") and atoms[0][2].endswith("}")


def _atoms(pattern: str) -> list[tuple[str, str, str]]:
    """Cut a pattern into (opening, atom, quantifier); a group has an opening, its atom is inside.

    A group that is not closed becomes single characters, for the scanner to refuse.
    """
    atoms: list[tuple[str, str, str]] = []
    position = 0
    while position < len(pattern):
        opening, start = "", position
        group = _GROUP.match(pattern, position)
        end = _group_end(pattern, group.end()) if group else None
        if group and end is not None:
            opening, start, position = group.group(), group.end(), end
            atom = pattern[start : end - 1]
        else:
            found = _ATOM.match(pattern, position)
            position = found.end() if found else position + 1
            atom = pattern[start:position]
        quantifier = _QUANTIFIER.match(pattern, position)
        if quantifier:
            position = quantifier.end()
        atoms.append((opening, atom, quantifier.group() if quantifier else ""))
    return atoms


def _group_end(pattern: str, position: int) -> int | None:
    """Return where the group ends whose inside begins at `position`."""
    depth = 1
    while position < len(pattern):
        found = _ATOM.match(pattern, position)
        text = found.group() if found else pattern[position]
        depth += (text == "(") - (text == ")")
        position += len(text)
        if depth == 0:
            return position
    return None
