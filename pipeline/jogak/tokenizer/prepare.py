"""The changes a spec makes to text before it is cut: normal forms, replacements, prefixes."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
import unicodedata2
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalizeOptions
from jogak.documents import UNDETERMINED, TextBatch
from jogak.normalize import normalize_batch
from jogak.tokenizer.pieces import Pieces
from jogak.vocabulary import NormalizeStep, pack_tokens


def apply_steps(steps: Sequence[NormalizeStep], pieces: Pieces) -> Pieces:
    """Apply steps, in order, to every piece of text."""
    for step in steps:
        if step.kind == "replace":
            data, offsets = _core.replace_text(pieces.data, pieces.offsets, step.old, step.new)
        elif step.kind == "prepend":
            data, offsets = _insert(pieces, step.new, np.diff(pieces.offsets) > 0)
        elif step.kind in ("prefix", "prefix_first"):
            data, offsets = _insert(pieces, step.new, _lacking(pieces, step))
        elif step.kind in ("strip_start", "squeeze_spaces", "strip_end"):
            data, offsets = _core.edit_spaces(
                pieces.data,
                pieces.offsets,
                strip_start=step.kind == "strip_start",
                squeeze=step.kind == "squeeze_spaces",
                strip_end=step.old,
            )
        elif step.kind == "collapse_spaces":
            data, offsets = _collapse(pieces)
        elif step.kind == "precompiled":
            data, offsets = _by_library(step.old, pieces)
        elif step.kind == "charsmap":
            data, offsets = _charsmap(step).apply(pieces.data, pieces.offsets)
        else:
            data, offsets = normalize_pieces(pieces, step.kind)
        pieces = pieces.with_text(data, offsets)
    return pieces


def apply_to_text(steps: Sequence[NormalizeStep], text: str) -> str:
    """Apply steps to one text, as the content of a normalized added token needs it."""
    if not steps or not text:
        return text
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    pieces = Pieces.of(data, np.array([0, len(data)], dtype=np.int64))
    return apply_steps(steps, pieces).data.tobytes().decode()


def _collapse(pieces: Pieces) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    data, offsets, changed = _core.clean_text(
        pieces.data, pieces.offsets, lf_newlines=False, remove_control=False, collapse_spaces=True
    )
    return (data, offsets) if changed.any() else (pieces.data, pieces.offsets)


def _by_library(encoded: str, pieces: Pieces) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    from tokenizers.normalizers import Precompiled

    library = Precompiled(base64.b64decode(encoded))
    return pack_tokens(
        [
            library.normalize_str(pieces.data[start:stop].tobytes().decode()).encode()
            for start, stop in pairwise(pieces.offsets.tolist())
        ]
    )


@lru_cache(maxsize=8)
def _charsmap(step: NormalizeStep) -> _core.CharsMap:
    blob = np.frombuffer(base64.b64decode(step.old), dtype=np.uint8)
    return _core.CharsMap(blob, list(step.kept))


def _lacking(pieces: Pieces, step: NormalizeStep) -> NDArray[np.bool_]:
    """Return which pieces get the prefix: not empty, and not beginning with it already."""
    prefix = np.frombuffer(step.new.encode(), dtype=np.uint8)
    sizes = np.diff(pieces.offsets)
    begins = sizes >= len(prefix)
    starts = pieces.offsets[:-1]
    for index, byte in enumerate(prefix.tolist()):
        begins[begins] = pieces.data[starts[begins] + index] == byte
    wanted = (sizes > 0) & ~begins
    return wanted & pieces.firsts if step.kind == "prefix_first" else wanted


def _insert(
    pieces: Pieces, text: str, wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Put a text in front of the wanted pieces."""
    prefix = np.frombuffer(text.encode(), dtype=np.uint8)
    first, last = pieces.offsets[0], pieces.offsets[-1]
    places = np.repeat(pieces.offsets[:-1][wanted] - first, len(prefix))
    data = np.insert(pieces.data[first:last], places, np.tile(prefix, int(wanted.sum())))
    grown = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(wanted)]) * len(prefix)
    return data, pieces.offsets - first + grown


def normalize_pieces(pieces: Pieces, form: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Bring every piece into a Unicode normal form."""
    if form in ("nfc", "nfkc"):
        zeros = np.zeros(len(pieces.offsets) - 1, dtype=np.int32)
        batch = TextBatch(
            data=pieces.data,
            offsets=pieces.offsets,
            languages=zeros,
            language_names=(UNDETERMINED,),
            rows=zeros.astype(np.int64),
            path="text",
            source=0,
        )
        options = NormalizeOptions(form="nfc" if form == "nfc" else "nfkc")
        normal, _ = normalize_batch(batch, options)
        return normal.data, normal.offsets
    texts = [
        unicodedata2.normalize(form.upper(), pieces.data[start:stop].tobytes().decode()).encode()
        for start, stop in pairwise(pieces.offsets.tolist())
    ]
    return pack_tokens(texts)
