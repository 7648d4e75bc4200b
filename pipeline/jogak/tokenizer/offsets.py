"""Where each token stands in the text as it was given: code-point spans, through every change.

This is the slow path of one text. Each code point of the changed text carries the span of the
original that it came from; a token that holds a part of a character gets the whole character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import unicodedata2
from numpy.typing import NDArray

from jogak.errors import TokenizerError
from jogak.tokenizer.prepare import apply_to_text
from jogak.vocabulary import NormalizeStep

_SPACES = re.compile("[\t \xa0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
"""U+0009 and category Zs."""
FORMS = {"nfc": "NFC", "nfd": "NFD", "nfkc": "NFKC", "nfkd": "NFKD"}


@dataclass(frozen=True, slots=True)
class Traced:
    """A text and, for each of its code points, the span of the original it came from.

    Attributes:
        text: the text as it is now.
        starts: int64 (code points,).
        ends: int64 (code points,).
    """

    text: str
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, text: str) -> Traced:
        """Return an original text."""
        places = np.arange(len(text))
        return cls(text, places, places + 1)

    def part(self, start: int, stop: int) -> Traced:
        """Return the code points from `start` to `stop`."""
        return Traced(self.text[start:stop], self.starts[start:stop], self.ends[start:stop])

    def without(self, character: str) -> Traced:
        """Return the text without a character."""
        kept = np.array([found != character for found in self.text], dtype=np.bool_)
        return Traced(self.text.replace(character, ""), self.starts[kept], self.ends[kept])

    def spans(self, byte_ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the original spans of tokens that follow each other, int64 (tokens, 2).

        Args:
            byte_ends: int64 (tokens,); where each ends in the text's UTF-8.
        """
        data = np.frombuffer(self.text.encode(), dtype=np.uint8)
        leads = np.concatenate([np.zeros(1, np.int64), np.cumsum((data & 0xC0) != 0x80)])
        begins = np.concatenate([np.zeros(1, dtype=np.int64), byte_ends[:-1]])
        if not len(byte_ends):
            return np.zeros((0, 2), dtype=np.int64)
        first = leads[np.minimum(begins + 1, len(data))] - 1
        last = np.maximum(leads[byte_ends] - 1, first)
        return np.column_stack([self.starts[first], self.ends[last]])


def trace_steps(steps: tuple[NormalizeStep, ...], traced: Traced, *, first: bool) -> Traced:
    """Apply steps to one piece of text; `first` where it begins its document."""
    for step in steps:
        if step.kind in FORMS:
            traced = _trace_form(traced, FORMS[step.kind])
        elif step.kind == "replace":
            traced = _trace_replace(traced, step)
        elif step.kind == "collapse_spaces":
            traced = _trace_runs(traced, _SPACES)
        elif step.kind in ("strip_start", "squeeze_spaces", "strip_end"):
            traced = _trace_spaces(traced, step)
        elif step.kind in ("prepend", "prefix", "prefix_first"):
            traced = _trace_prefix(traced, step, first=first)
        elif apply_to_text((step,), traced.text) != traced.text:
            message = f"offsets: a text that {step.kind!r} changes cannot be traced"
            raise TokenizerError(message)
    return traced


def _trace_form(traced: Traced, form: str) -> Traced:
    """Normalize chunk by chunk; each code point of a chunk's form gets the chunk's span."""
    text = traced.text
    if unicodedata2.normalize(form, text) == text:
        return traced
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    begin = 0
    for at in range(1, len(text) + 1):
        if at < len(text) and not _is_boundary(form, text[begin:at], text[at]):
            continue
        normal = unicodedata2.normalize(form, text[begin:at])
        parts.append(normal)
        if normal == text[begin:at]:
            starts += traced.starts[begin:at].tolist()
            ends += traced.ends[begin:at].tolist()
        else:
            starts += [int(traced.starts[begin])] * len(normal)
            ends += [int(traced.ends[at - 1])] * len(normal)
        begin = at
    return Traced("".join(parts), np.array(starts, np.int64), np.array(ends, np.int64))


def _is_boundary(form: str, before: str, character: str) -> bool:
    """Tell whether nothing in `before` composes or changes places with what follows it."""
    if unicodedata2.combining(unicodedata2.normalize("NFKD", character)[0]):
        return False
    joined = unicodedata2.normalize(form, before + character)
    apart = unicodedata2.normalize(form, before) + unicodedata2.normalize(form, character)
    return bool(joined == apart)


def _trace_replace(traced: Traced, step: NormalizeStep) -> Traced:
    parts: list[str] = []
    starts: list[NDArray[np.int64]] = []
    ends: list[NDArray[np.int64]] = []
    position = 0
    while position <= len(traced.text):
        found = traced.text.find(step.old, position)
        stop = len(traced.text) if found < 0 else found
        parts.append(traced.text[position:stop])
        starts.append(traced.starts[position:stop])
        ends.append(traced.ends[position:stop])
        if found < 0:
            break
        after = found + len(step.old)
        parts.append(step.new)
        starts.append(np.full(len(step.new), traced.starts[found]))
        ends.append(np.full(len(step.new), traced.ends[after - 1]))
        position = after
    return Traced("".join(parts), np.concatenate(starts), np.concatenate(ends))


def _trace_runs(traced: Traced, runs: re.Pattern[str]) -> Traced:
    """Make one space of each run; it has the run's span."""
    kept = np.ones(len(traced.text), dtype=np.bool_)
    ends = traced.ends.copy()
    for run in runs.finditer(traced.text):
        kept[run.start() + 1 : run.end()] = False
        ends[run.start()] = traced.ends[run.end() - 1]
    return Traced(runs.sub(" ", traced.text), traced.starts[kept], ends[kept])


def _trace_spaces(traced: Traced, step: NormalizeStep) -> Traced:
    text = traced.text
    if step.kind == "strip_start":
        return traced.part(len(text) - len(text.lstrip(" ")), len(text))
    if step.kind == "strip_end":
        stop = len(text)
        while text.endswith(step.old, 0, stop):
            stop -= len(step.old)
        return traced.part(0, stop)
    kept = np.array([character != " " for character in text], dtype=np.bool_)
    kept[1:] |= kept[:-1].copy()
    kept[:1] = True
    short = "".join(text[index] for index in np.flatnonzero(kept).tolist())
    return Traced(short, traced.starts[kept], traced.ends[kept])


def _trace_prefix(traced: Traced, step: NormalizeStep, *, first: bool) -> Traced:
    has_prefix = step.kind != "prepend" and traced.text.startswith(step.new)
    if not traced.text or has_prefix or (step.kind == "prefix_first" and not first):
        return traced
    # As in the library, what is put in front belongs to the first character.
    return Traced(
        step.new + traced.text,
        np.concatenate([np.full(len(step.new), traced.starts[0]), traced.starts]),
        np.concatenate([np.full(len(step.new), traced.ends[0]), traced.ends]),
    )
