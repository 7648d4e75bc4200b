"""Encode one text with the span of every token in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jogak.tokenizer.models import Model
from jogak.tokenizer.offsets import Traced, trace_steps
from jogak.tokenizer.special import Special, SpecialText
from jogak.tokenizer.texts import one_text
from jogak.vocabulary import TokenizerSpec

Item = tuple[int | None, Traced]
"""An added token's id, or None for a piece of text; and what it stands for."""


def encode_traced(
    spec: TokenizerSpec,
    special_text: SpecialText,
    model: Model,
    text: str,
    special: Special,
    guard: str = "",
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return ids, uint32 (n,), and their code-point spans in the text, int64 (n, 2).

    `guard`, a character, is taken out of the text between added tokens once they are found.
    """
    ids: list[NDArray[np.uint32]] = []
    spans: list[NDArray[np.int64]] = []
    for token_id, traced in _items(special_text, text, special):
        if token_id is not None:
            ids.append(np.array([token_id], dtype=np.uint32))
            spans.append(np.array([[traced.starts[0], traced.ends[-1]]], dtype=np.int64))
            continue
        if guard:
            traced = traced.without(guard)
        if traced.text:
            first = bool(traced.starts[0] == 0)
            traced = trace_steps(spec.prepare, traced, first=first)
            found, byte_ends = model.encode_with_ends(*one_text(traced.text.encode()))
            ids.append(found)
            spans.append(traced.spans(byte_ends))
    if not ids:
        return np.zeros(0, dtype=np.uint32), np.zeros((0, 2), dtype=np.int64)
    return np.concatenate(ids), np.concatenate(spans)


def _items(special_text: SpecialText, text: str, special: Special) -> list[Item]:
    """Take the added tokens out, before and after normalizing what lies between them."""
    items: list[Item] = [(None, Traced.of(text))]
    allowed = special_text.allowed(special)
    for tokens, steps in special_text.passes:
        cut: list[Item] = []
        for token_id, traced in items:
            if token_id is not None:
                cut.append((token_id, traced))
                continue
            first = not len(traced.starts) or bool(traced.starts[0] == 0)
            traced = trace_steps(steps, traced, first=first)
            data, offsets = one_text(traced.text.encode())
            cut += _cut(traced, *tokens.find(data, offsets, allowed))
        items = cut
    return items


def _cut(
    traced: Traced, starts: NDArray[np.int64], ends: NDArray[np.int64], ids: NDArray[np.int64]
) -> list[Item]:
    """Cut one piece of text at added tokens, whose places are in bytes."""
    items: list[Item] = []
    data = traced.text.encode()
    position = place = 0  # the same place, in bytes and in code points
    for start, end, token_id in zip(starts.tolist(), ends.tolist(), ids.tolist(), strict=True):
        first = place + len(data[position:start].decode())
        last = first + len(data[start:end].decode())
        if first > place:
            items.append((None, traced.part(place, first)))
        items.append((token_id, traced.part(first, last)))
        position, place = end, last
    if place < len(traced.text):
        items.append((None, traced.part(place, len(traced.text))))
    return items
