"""Tokenizer: encode, decode and save, over a spec that was read or trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from jogak import formats
from jogak.formats import huggingface_save
from jogak.formats.convert import Format, convert
from jogak.formats.strangers import judged
from jogak.tokenizer.decoding import Decoder, Errors, Ids, LibraryStream, StreamDecoder
from jogak.tokenizer.losses import losses
from jogak.tokenizer.pieces import Encoded
from jogak.tokenizer.pipeline import Pipeline, TokenBatch
from jogak.tokenizer.special import Special
from jogak.tokenizer.texts import is_utf8, one_text, text_bytes
from jogak.vocabulary import TokenizerSpec

if TYPE_CHECKING:
    from jogak.tokenizer.chat import Message


class Tokenizer:
    """A tokenizer; immutable, safe to share between threads, and cheap to send to a process."""

    def __init__(self, spec: TokenizerSpec, *, judged: bool = False) -> None:
        """Make a spec ready to encode.

        Args:
            spec: what it is.
            judged: the spec is known not to contradict itself, as one that was just trained is not;
                large tables are then made when text is first encoded.

        Raises:
            TokenizerError: the spec contradicts itself.
        """
        self.spec = spec
        self._pipeline = Pipeline(spec, judged=judged)
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

    @property
    def losses(self) -> tuple[str, ...]:
        """How decoded text may differ from its source, in sentences; none: never."""
        return losses(self.spec)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the raw bytes of a token, of a special token its content."""
        return self._decoder.token_bytes(token_id)

    def token_table(self) -> list[bytes]:
        """Return the raw bytes of every id, in order; none for an id that is no token."""
        return self._decoder.table()

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
            text: str, or bytes of UTF-8. A byte-level tokenizer takes any bytes: a stretch that is
                not UTF-8 is a pretoken of its own.
            special: what special strings in the text are: plain text, tokens ("allow", or the set
                of those allowed), or an error.
            add_special_tokens: put the tokens of the file's template around the text.
            return_offsets: also return where each token stands in the text.

        Returns:
            ids, uint32 (n,); with offsets, also the code-point spans in the text as it was given,
            int64 (n, 2). A token with a part of a character has the whole character's span.
        """
        if isinstance(text, bytes) and self._pipeline.takes_raw_bytes and not is_utf8(text):
            if return_offsets:
                text_bytes(text)  # refuses: characters of what is not UTF-8 cannot be counted
            return self._pipeline.encode_raw(text, special)
        encoded = text_bytes(text)
        if return_offsets:
            ids, spans = self._pipeline.encode_with_spans(encoded.decode(), special)
            if add_special_tokens:
                ids = self._framed(ids)
                spans = self._pipeline.frame_spans(spans, len(encoded.decode()))
            return ids, spans
        ids = self._pipeline.encode_text(encoded, special)
        return self._framed(ids) if add_special_tokens else ids

    def _framed(self, ids: NDArray[np.uint32]) -> NDArray[np.uint32]:
        return self._pipeline.frame(ids, np.array([len(ids)], dtype=np.int64))[0]

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
        ids, ends = self._pipeline.encode_batch(texts, threads, special)
        if add_special_tokens:
            ids, ends = self._pipeline.frame(ids, ends)
        return TokenBatch(ids, ends)

    def encode_documents(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode documents as `TextBatch` holds them; special strings are plain text.

        Args:
            data: uint8 (n,); valid UTF-8.
            offsets: int64 (documents + 1,); ascending.

        Returns:
            ids uint32 (n,), and how many there are up to each document's end, int64 (documents,).
        """
        return self._pipeline.encode(data, offsets, "plain")

    def pretokenize(self, text: str | bytes) -> list[str]:
        """Return the pretokens of a text; joined, they are the normalized text."""
        return self._pipeline.pretokenize(*one_text(text_bytes(text)))

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
        # Templates need jinja2, which no worker that encodes a corpus has to import.
        from jogak.tokenizer.chat import render_chat

        variables = {"add_generation_prompt": add_generation_prompt, **variables}
        chat = render_chat(
            self.spec, messages, template, variables, with_assistant=return_assistant_mask
        )
        ids, spans = self._pipeline.encode_with_spans(chat.text, "allow", chat.guard)
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
        library = self._pipeline.library
        if library is None:
            return self._decoder.decode(ids, errors, skip_special=skip_special)
        self._decoder.join(ids)  # refuses what is no token
        return library.decode([int(value) for value in ids], skip_special=skip_special)

    def decode_bytes(self, ids: Ids) -> bytes:
        """Return the bytes of ids, whether or not they are UTF-8."""
        return self._decoder.decode_bytes(ids)

    def stream_decoder(self, errors: Errors = "replace") -> StreamDecoder | LibraryStream:
        """Begin to decode ids one at a time."""
        if self._pipeline.library is not None:
            return LibraryStream(self.decode)
        return StreamDecoder(self._decoder, errors)

    # Files

    def save(self, folder: Path | str) -> None:
        """Write tokenizer.json and tokenizer_config.json, as `transformers` loads them."""
        huggingface_save.save(self.spec, Path(folder))

    def convert(self, to: Format, target: Path | str) -> list[Path]:
        """Write the tokenizer in another format (see `jogak.formats.convert`).

        Raises:
            TokenizerError: the format cannot say what the tokenizer does, with the reason.
        """
        return convert(self.spec, to, target)
