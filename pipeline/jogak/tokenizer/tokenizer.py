"""Tokenizer: encode, decode and save, over a spec that was read or trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from jogak import formats
from jogak.errors import TokenizerError
from jogak.formats import huggingface_save
from jogak.formats.strangers import judged
from jogak.tokenizer.chat import Message, render_chat
from jogak.tokenizer.decoding import Decoder, Errors, Ids, StreamDecoder
from jogak.tokenizer.library import LibraryModel
from jogak.tokenizer.models import make_model
from jogak.tokenizer.pieces import Encoded, Pieces
from jogak.tokenizer.prepare import apply_steps
from jogak.tokenizer.special import Special, SpecialText
from jogak.tokenizer.texts import batches, one_text, parts, text_bytes
from jogak.tokenizer.tracing import encode_traced
from jogak.vocabulary import TokenizerSpec

_PARTS_PER_THREAD = 4
"""Runs of documents per thread: enough to even out texts of different difficulty."""


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


class Tokenizer:
    """A tokenizer; immutable, safe to share between threads, and cheap to send to a process."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Make a spec ready to encode.

        Raises:
            TokenizerError: the spec contradicts itself.
        """
        self.spec = spec
        self._special = SpecialText(spec)
        self._model = make_model(spec)
        self._plain_is_direct = isinstance(self._model, LibraryModel) or (
            self._special.plain_is_text and not spec.prepare
        )
        self._ids = {token.content: token.id for token in spec.added}

    @classmethod
    def load(
        cls,
        path: Path | str,
        *,
        pattern: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Tokenizer:
        """Read a tokenizer file, or the folder that holds one (see `jogak.formats.load`).

        Args:
            path: tokenizer.json, .tiktoken, vocab.json + merges.txt, SentencePiece .model, ..
            pattern: for tiktoken ranks of an unknown name: the pattern, by name or as a regex.
            special_tokens: the same: from content to id.
        """
        spec = formats.load(path, pattern=pattern, special_tokens=special_tokens)
        with judged(path):
            return cls(spec)

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[TokenizerSpec]]:
        """Cross process boundaries as the spec."""
        return type(self), (self.spec,)

    def __repr__(self) -> str:
        """Say what it is in one line."""
        spec = self.spec
        return f"Tokenizer({spec.model}, vocab_size={spec.vocab_size}, rule={spec.rule!r})"

    # What the vocabulary says

    @property
    def vocab_size(self) -> int:
        """The largest id plus one."""
        return self.spec.vocab_size

    @property
    def bos_id(self) -> int | None:
        """The id of the begin token, if there is one."""
        return self._named(self.spec.names.bos)

    @property
    def eos_id(self) -> int | None:
        """The id of the end token, if there is one."""
        return self._named(self.spec.names.eos)

    def _named(self, content: str | None) -> int | None:
        return None if content is None else self._ids.get(content, self.spec.find(content))

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens by content, and their ids."""
        return {token.content: token.id for token in self.spec.added if token.special}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides ids and text, whatever file it came from."""
        return self.spec.fingerprint()

    def token_bytes(self, token_id: int) -> bytes:
        """Return the raw bytes of a token, of a special token its content."""
        return self._decoder.token_bytes(token_id)

    def token_id(self, token: bytes) -> int | None:
        """Return the id whose raw bytes these are, or None."""
        return self._decoder.ids.get(token)

    # Text to ids

    @overload
    def encode(
        self,
        text: str | bytes,
        *,
        special: Special = ...,
        add_special_tokens: bool = ...,
        return_offsets: Literal[False] = ...,
    ) -> NDArray[np.uint32]: ...
    @overload
    def encode(
        self,
        text: str | bytes,
        *,
        special: Special = ...,
        add_special_tokens: bool = ...,
        return_offsets: Literal[True],
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
    def encode(
        self,
        text: str | bytes,
        *,
        special: Special = "plain",
        add_special_tokens: bool = False,
        return_offsets: bool = False,
    ) -> NDArray[np.uint32] | tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode one text.

        Args:
            text: str, or bytes that are UTF-8.
            special: what special strings in the text are: plain text, tokens ("allow", or the set
                of those allowed), or an error.
            add_special_tokens: put the tokens of the file's template around the text.
            return_offsets: also return where each token stands in the text.

        Returns:
            ids, uint32 (n,); with offsets, also the code-point spans in the text as it was given,
            int64 (n, 2). A token with a part of a character has the whole character's span.
        """
        encoded = text_bytes(text)
        if return_offsets:
            ids, spans = self._encode_with_spans(encoded.decode(), special)
        else:
            ids, _ = self._encode(*one_text(encoded), special)
        if add_special_tokens:
            before, after = self.spec.before, self.spec.after
            ids = np.concatenate([before, ids, after]).astype(np.uint32)
            if return_offsets:
                length = len(encoded.decode())
                ends = [[0, 0]] * len(before), [[length, length]] * len(after)
                spans = np.concatenate([_rows(ends[0]), spans, _rows(ends[1])])
        return (ids, spans) if return_offsets else ids

    def _encode_with_spans(
        self, text: str, special: Special
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        if isinstance(self._model, LibraryModel) and special in ("plain", "allow"):
            return self._model.encode_with_spans(text, allowing=special == "allow")
        if special == "error":
            self._special.take_out(Pieces.of(*one_text(text.encode())), special)
        return encode_traced(self.spec, self._special, self._model, text, special)

    def encode_batch(
        self,
        texts: Iterable[str | bytes] | Any,  # noqa: ANN401  # Arrow arrays of any library
        *,
        threads: int = 1,
        special: Special = "plain",
        add_special_tokens: bool = False,
    ) -> TokenBatch:
        """Encode many texts; the ids do not depend on the number of threads.

        Args:
            texts: a list of str or bytes, or an Arrow string array.
            threads: how many threads encode; the native core needs no interpreter lock.
            special: as for `encode`.
            add_special_tokens: as for `encode`.
        """
        if threads < 1:
            message = f"threads: expected 1 or more (found {threads})"
            raise TokenizerError(message)
        count = threads * _PARTS_PER_THREAD if threads > 1 else 1
        runs = [run for batch in batches(texts) for run in parts(batch, count)]
        if threads == 1 or len(runs) < 2:
            results = [self._encode(data, offsets, special) for data, offsets in runs]
        else:
            with ThreadPoolExecutor(threads) as pool:
                results = list(pool.map(lambda run: self._encode(run[0], run[1], special), runs))
        ids, ends = _join(results)
        if add_special_tokens:
            ids, ends = self._frame(ids, ends)
        return TokenBatch(ids, ends)

    def encode_documents(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode documents as `TextBatch` holds them; special strings are plain text.

        Args:
            data: uint8 (n,); valid UTF-8.
            offsets: int64 (documents + 1,); ascending.

        Returns:
            ids uint32 (n,), and how many there are up to each document's end, int64 (documents,).
        """
        return self._encode(data, offsets, "plain")

    def _encode(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], special: Special
    ) -> Encoded:
        if special == "plain" and self._plain_is_direct:
            return self._model.encode(data, offsets)
        if special == "allow" and isinstance(self._model, LibraryModel):
            return self._model.encode_allowing(data, offsets)
        pieces = self._special.take_out(Pieces.of(data, offsets), special)
        pieces = apply_steps(self.spec.prepare, pieces)
        ids, ends = self._model.encode(pieces.data, pieces.offsets)
        if len(pieces.items) == pieces.count == len(ends):
            return ids, ends
        return pieces.splice(ids, ends)

    def _frame(self, ids: NDArray[np.uint32], ends: NDArray[np.int64]) -> Encoded:
        """Put the template's tokens around every document."""
        before, after = self.spec.before, self.spec.after
        starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
        places = np.column_stack(
            [
                np.repeat(starts[:, None], len(before), axis=1),
                np.repeat(ends[:, None], len(after), axis=1),
            ]
        )
        values = np.tile(np.array([*before, *after], dtype=np.uint32), len(ends))
        grown = (len(before) + len(after)) * np.arange(1, len(ends) + 1)
        return np.insert(ids, places.reshape(-1), values), ends + grown

    def pretokenize(self, text: str | bytes) -> list[str]:
        """Return the pretokens of a text; joined, they are the normalized text."""
        pieces = Pieces.of(*one_text(text_bytes(text)))
        pieces = apply_steps((*self.spec.normalizer, *self.spec.prepare), pieces)
        return self._model.pretokenize(pieces.data, pieces.offsets)

    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        template: str | None = None,
        add_generation_prompt: bool = False,
        return_assistant_mask: bool = False,
        **variables: Any,  # noqa: ANN401  # whatever a template may read
    ) -> NDArray[np.uint32] | tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Encode a chat; special strings in its messages are plain text.

        Args:
            messages: role and content each.
            template: `llama3`, `chatml` or a Jinja source; by default the tokenizer's own.
            add_generation_prompt: end with the beginning of an assistant's turn.
            return_assistant_mask: also return which tokens are the assistant's, the token that
                closes its turn included.
            variables: what else the template reads, such as tools.

        Returns:
            ids, uint32 (n,); with the mask, also bool (n,).

        Raises:
            TokenizerError: a message without role or content, an unknown role, or no template.
        """
        variables = {"add_generation_prompt": add_generation_prompt, **variables}
        chat = render_chat(
            self.spec, messages, template, variables, with_assistant=return_assistant_mask
        )
        ids, spans = encode_traced(
            self.spec, self._special, self._model, chat.text, "allow", chat.guard
        )
        if not return_assistant_mask:
            return ids
        mask = np.zeros(len(ids), dtype=np.bool_)
        for start, end in chat.assistant:
            mask |= (spans[:, 0] >= start) & (spans[:, 1] <= end) & (start < end)
        return ids, mask

    # Ids to text

    @cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self.spec)

    def decode(self, ids: Ids, errors: Errors = "strict", *, skip_special: bool = False) -> str:
        """Return the text of ids.

        Raises:
            TokenizerError: an id that is no token, with its position; with errors="strict", ids
                whose bytes are not UTF-8.
        """
        return self._decoder.decode(ids, errors, skip_special=skip_special)

    def decode_bytes(self, ids: Ids) -> bytes:
        """Return the bytes of ids, whether or not they are UTF-8."""
        return self._decoder.decode_bytes(ids)

    def stream_decoder(self, errors: Errors = "replace") -> StreamDecoder:
        """Begin to decode ids one at a time."""
        return StreamDecoder(self._decoder, errors)

    # Files

    def save(self, folder: Path | str) -> None:
        """Write tokenizer.json and tokenizer_config.json, as `transformers` loads them."""
        huggingface_save.save(self.spec, Path(folder))


def _join(results: list[Encoded]) -> Encoded:
    if len(results) == 1:
        return results[0]
    if not results:
        return np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
    sizes = np.cumsum([0, *(len(ids) for ids, _ in results[:-1])])
    ends = [part + size for (_, part), size in zip(results, sizes.tolist(), strict=True)]
    return np.concatenate([ids for ids, _ in results]), np.concatenate(ends)


def _rows(spans: list[list[int]]) -> NDArray[np.int64]:
    return np.array(spans, dtype=np.int64).reshape(-1, 2)
