"""Models that the `tokenizers` library itself runs: WordPiece, and Unigram of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak.errors import TokenizerError
from jogak.formats import library
from jogak.tokenizer.pieces import Encoded
from jogak.vocabulary import TokenizerSpec


class LibraryModel:
    """Encodes whole texts: normalizer, added tokens and all are the library's."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Load the spec's tokenizer.json, for special strings as text and as tokens."""
        self._plain = library.load(spec.source or "", "tokenizer.json")
        self._plain.encode_special_tokens = True
        self._allowing = library.load(spec.source or "", "tokenizer.json")
        for loaded in (self._plain, self._allowing):
            loaded.no_truncation()
            loaded.no_padding()

    def encode(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode texts; special strings in them are text."""
        return self._run(self._plain, data, offsets)

    def encode_allowing(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode texts; special strings in them are tokens."""
        return self._run(self._allowing, data, offsets)

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pretokens of texts."""
        found: list[str] = []
        for text in _texts(data, offsets):
            if self._plain.normalizer is not None:
                text = self._plain.normalizer.normalize_str(text)
            cutter = self._plain.pre_tokenizer
            found += [piece for piece, _ in cutter.pre_tokenize_str(text)] if cutter else [text]
        return found

    def encode_with_ends(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode one text: its ids, and where each ends in data, as the library has it."""
        text = _texts(data, offsets)[0]
        encoding = self._plain.encode(text, add_special_tokens=False)
        ends = [len(text[:end].encode()) for _, end in encoding.offsets]
        return np.array(encoding.ids, dtype=np.uint32), np.array(ends, dtype=np.int64)

    def encode_with_spans(
        self, text: str, *, allowing: bool
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return ids and code-point spans of one text, as the library gives them."""
        loaded = self._allowing if allowing else self._plain
        encoding = loaded.encode(text, add_special_tokens=False)
        spans = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        return np.array(encoding.ids, dtype=np.uint32), spans

    def decode(self, ids: Sequence[int], *, skip_special: bool) -> str:
        """Return the text of ids, as the library joins them."""
        return str(self._plain.decode(ids, skip_special_tokens=skip_special))

    def _run(
        self,
        loaded: Any,  # noqa: ANN401  # a tokenizers.Tokenizer
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> Encoded:
        texts = _texts(data, offsets)
        try:
            encodings = loaded.encode_batch_fast(texts, add_special_tokens=False)
        except Exception as error:  # the library raises bare Exception
            message = f"tokenizer.json: the tokenizers library cannot encode with it ({error})"
            raise TokenizerError(message) from error
        sizes = np.fromiter(map(len, encodings), dtype=np.int64, count=len(encodings))
        ids = [encoding.ids for encoding in encodings]
        flat = np.fromiter((i for each in ids for i in each), np.uint32, int(sizes.sum()))
        return flat, np.cumsum(sizes)


def _texts(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
    return [data[start:stop].tobytes().decode() for start, stop in pairwise(offsets.tolist())]
