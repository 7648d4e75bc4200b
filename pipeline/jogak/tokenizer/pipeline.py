"""The way of text to ids: added tokens out, normalize, cut, encode, added tokens back in."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import unicodedata2
from numpy.typing import NDArray

from jogak.errors import TokenizerError
from jogak.tokenizer.library import LibraryModel
from jogak.tokenizer.models import ByteModel, make_model
from jogak.tokenizer.pieces import Encoded, Pieces
from jogak.tokenizer.prepare import apply_steps
from jogak.tokenizer.special import Special, SpecialText
from jogak.tokenizer.texts import Buffers, batches, one_text, parts, stretches
from jogak.tokenizer.tracing import encode_traced
from jogak.vocabulary import TokenizerSpec

_PARTS_PER_THREAD = 4
"""Runs of documents per thread: enough to even out texts of different difficulty."""

_FEW, _SHORT = 32, 1024
"""So many strings are looked for one by one in a text of so many bytes."""

Spans = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """The ids of several documents.

    Attributes:
        ids: uint32 (n,); all ids, back to back.
        ends: int64 (documents,); how many ids there are up to each document's end.
    """

    ids: NDArray[np.uint32]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.ends)

    def __getitem__(self, index: int) -> NDArray[np.uint32]:
        """Return the ids of one document."""
        index = range(len(self.ends))[index]
        start = int(self.ends[index - 1]) if index else 0
        return self.ids[start : int(self.ends[index])]


class Pipeline:
    """A spec's text to ids; immutable, and safe to call from threads."""

    def __init__(self, spec: TokenizerSpec, *, judged: bool = False) -> None:
        """Prepare every step of a spec; see Tokenizer.

        Raises:
            TokenizerError: the spec contradicts itself.
        """
        self._spec = spec
        self._special = SpecialText(spec)
        self._model = make_model(spec, judged=judged)
        self._plain_is_direct = isinstance(self._model, LibraryModel) or (
            self._special.plain_is_text and not spec.prepare
        )
        strings = self._special.plain_strings
        kinds = {step.kind for step in (*spec.normalizer, *spec.prepare)}
        self._plain_strings = strings if kinds <= {"nfc"} and len(strings) <= _FEW else None

    @property
    def takes_raw_bytes(self) -> bool:
        """Whether bytes that are not UTF-8 can be encoded."""
        return isinstance(self._model, ByteModel)

    @property
    def library(self) -> LibraryModel | None:
        """The model that a library runs, if one does."""
        return self._model if isinstance(self._model, LibraryModel) else None

    def encode(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], special: Special
    ) -> Encoded:
        """Encode documents of valid UTF-8."""
        if special == "plain" and self._plain_is_direct:
            return self._model.encode(data, offsets)
        if special == "allow" and isinstance(self._model, LibraryModel):
            return self._model.encode_allowing(data, offsets)
        pieces = self._special.take_out(Pieces.of(data, offsets), special)
        pieces = apply_steps(self._spec.prepare, pieces)
        ids, ends = self._model.encode(pieces.data, pieces.offsets)
        if len(pieces.items) == pieces.count == len(ends):
            return ids, ends
        return pieces.splice(ids, ends)

    def encode_text(self, text: bytes, special: Special) -> NDArray[np.uint32]:
        """Encode one text of valid UTF-8."""
        model = self._model
        if (
            special == "plain"
            and isinstance(model, ByteModel)
            and (self._plain_is_direct or self._stays(text))
        ):
            return model.encode_text(text)
        return self.encode(*one_text(text), special)[0]

    def _stays(self, text: bytes) -> bool:
        """Tell whether nothing is to be taken out of a plain text or changed in it."""
        strings = self._plain_strings
        if strings is None or len(text) > _SHORT or any(map(text.__contains__, strings)):
            return False
        return text.isascii() or unicodedata2.normalize("NFC", text.decode()).encode() == text

    def encode_raw(self, data: bytes, special: Special) -> NDArray[np.uint32]:
        """Encode bytes that need not be UTF-8; what is not is a pretoken of its own."""
        found: list[NDArray[np.uint32]] = []
        for start, stop, valid in stretches(data):
            buffers = one_text(data[start:stop])
            if valid or not isinstance(self._model, ByteModel):
                found.append(self.encode(*buffers, special)[0])
            else:
                found.append(self._model.encode_uncut(buffers[0]))
        return np.concatenate(found) if found else np.zeros(0, dtype=np.uint32)

    def encode_batch(
        self,
        texts: Iterable[str | bytes] | Any,  # noqa: ANN401  # Arrow arrays of any library
        threads: int,
        special: Special,
    ) -> Encoded:
        """Encode many texts; the ids do not depend on the number of threads."""
        if threads < 1:
            message = f"threads: expected 1 or more (found {threads})"
            raise TokenizerError(message)
        count = threads * _PARTS_PER_THREAD if threads > 1 else 1
        found = batches(texts, raw=self.takes_raw_bytes)
        if isinstance(found, tuple):  # some are not UTF-8
            raw = [self.encode_raw(text, special) for text in found]
            return _join([(ids, np.array([len(ids)], dtype=np.int64)) for ids in raw])
        runs = [run for batch in found for run in parts(batch, count)]

        def encode_run(run: Buffers) -> Encoded:
            return self.encode(run[0], run[1], special)

        if threads == 1 or len(runs) < 2:
            return _join([encode_run(run) for run in runs])
        with ThreadPoolExecutor(threads) as pool:
            return _join(list(pool.map(encode_run, runs)))

    def encode_with_spans(
        self, text: str, special: Special, guard: str = ""
    ) -> tuple[NDArray[np.uint32], Spans]:
        """Encode one text: ids, and code-point spans, int64 (n, 2) (see `encode_traced`)."""
        if self.library is not None and special in ("plain", "allow") and not guard:
            return self.library.encode_with_spans(text, allowing=special == "allow")
        if special == "error":
            self._special.take_out(Pieces.of(*one_text(text.encode())), special)
        return encode_traced(self._spec, self._special, self._model, text, special, guard)

    def frame(self, ids: NDArray[np.uint32], ends: NDArray[np.int64]) -> Encoded:
        """Put the template's tokens around every document."""
        before, after = self._spec.before, self._spec.after
        starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
        sides = (
            np.repeat(starts[:, None], len(before), axis=1),
            np.repeat(ends[:, None], len(after), axis=1),
        )
        values = np.tile(np.array([*before, *after], dtype=np.uint32), len(ends))
        grown = (len(before) + len(after)) * np.arange(1, len(ends) + 1)
        return np.insert(ids, np.column_stack(sides).reshape(-1), values), ends + grown

    def frame_spans(self, spans: Spans, length: int) -> Spans:
        """Give the template's tokens empty spans at the ends of a text of `length` characters."""
        before = np.zeros((len(self._spec.before), 2), dtype=np.int64)
        after = np.full((len(self._spec.after), 2), length, dtype=np.int64)
        return np.concatenate([before, spans, after])

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pretokens of one text."""
        steps = (*self._spec.normalizer, *self._spec.prepare)
        pieces = apply_steps(steps, Pieces.of(data, offsets))
        return self._model.pretokenize(pieces.data, pieces.offsets)


def _join(results: list[Encoded]) -> Encoded:
    if len(results) == 1:
        return results[0]
    if not results:
        return np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
    sizes = np.cumsum([0, *(len(ids) for ids, _ in results[:-1])])
    ends = [part + size for (_, part), size in zip(results, sizes.tolist(), strict=True)]
    return np.concatenate([ids for ids, _ in results]), np.concatenate(ends)
