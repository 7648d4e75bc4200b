"""From ids back to bytes and text, at once or as a stream."""

from __future__ import annotations

import codecs
import operator
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from jogak.errors import TokenizerError
from jogak.formats.piece_vocabulary import BYTE_PIECES
from jogak.vocabulary import TokenizerSpec

Errors = Literal["strict", "replace"]
Ids = Iterable[int] | NDArray[np.integer]


def _whole_numbers(ids: Ids) -> list[int]:
    """Return ids as a list; a number that is not whole is refused, not rounded."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu" and ids.ndim == 1:
        return [*ids.tolist()]
    try:
        return [operator.index(value) for value in ids]
    except TypeError as error:
        message = f"ids: expected whole numbers ({error}); pass ids as `encode` returns them"
        raise TokenizerError(message) from error


class Decoder:
    """What each id stands for in text."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Make the table of every id's bytes."""
        self._rules = spec.characters
        table: list[bytes | None] = [token or None for token in spec.tokens()]
        if spec.model != "bytes":
            self._to_text(table)
        table += [None] * (spec.vocab_size - len(table))
        for index, content in spec.inert:
            table[index] = content.encode()
        for token in spec.added:
            # One that is ordinary vocabulary, as Gemma's runs of spaces, stands for that text.
            if token.special or table[token.id] is None:
                table[token.id] = token.content.encode()
        unknown = self._rules.unknown_id
        if unknown is not None and self._rules.unknown_text is not None:
            table[unknown] = self._rules.unknown_text.encode()
        self._added = frozenset(token.id for token in spec.added)
        self._special = frozenset(token.id for token in spec.added if token.special)
        self._table = table

    def _to_text(self, table: list[bytes | None]) -> None:
        """Turn pieces into the text they stand for: byte pieces, word markers, suffixes."""
        rules = self._rules
        bytes_of = {piece.encode(): byte for byte, piece in enumerate(BYTE_PIECES)}
        marker, suffix, prefix = (
            text.encode() for text in (rules.marker, rules.suffix, rules.prefix)
        )
        for index, piece in enumerate(table):
            if piece is None:
                continue
            if rules.byte_fallback and piece in bytes_of:
                table[index] = bytes((bytes_of[piece],))
                continue
            if suffix and piece.endswith(suffix):
                piece = piece[: -len(suffix)] + b" "
            if prefix and piece.startswith(prefix):
                piece = piece[len(prefix) :]
            table[index] = piece.replace(marker, b" ") if marker else piece

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """From the bytes of a token to its id; the vocabulary comes before added tokens."""
        added = [index for index in range(len(self._table)) if index in self._added]
        rest = [index for index in range(len(self._table)) if index not in self._added]
        found: dict[bytes, int] = {}
        for index in (*rest, *added):
            token = self._table[index]
            if token is not None:
                found.setdefault(token, index)
        return found

    def table(self) -> list[bytes]:
        """Return the bytes of every id; none for an id that is no token."""
        return [token or b"" for token in self._table]

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes one id stands for."""
        return self.join([token_id])

    def join(self, ids: Ids, *, skip_special: bool = False) -> bytes:
        """Return the bytes of ids, back to back.

        Raises:
            TokenizerError: an id that is no token, with its position.
        """
        listed = _whole_numbers(ids)
        if skip_special:
            listed = [value for value in listed if value not in self._special]
        table = self._table
        try:
            if listed and min(listed) < 0:
                raise IndexError
            return b"".join([table[value] for value in listed])  # type: ignore[misc]  # see below
        except (IndexError, TypeError):  # an id past the table, or one without a token (None)
            raise self._unknown(listed) from None

    def _unknown(self, listed: list[int]) -> TokenizerError:
        for position, value in enumerate(listed):
            if not 0 <= value < len(self._table) or self._table[value] is None:
                message = (
                    f"ids: {value} at position {position} is not a token "
                    f"(the ids are 0 to {len(self._table) - 1})"
                )
                return TokenizerError(message)
        return TokenizerError("ids: not a list of token ids")

    def decode_bytes(self, ids: Ids, *, skip_special: bool = False) -> bytes:
        """Return the text of ids as bytes, without the spaces that encoding put around it."""
        data = self.join(ids, skip_special=skip_special)
        if self._rules.suffix and data.endswith(b" "):
            data = data[:-1]
        strip = self._rules.strip_start
        while strip and data.startswith(b" "):
            data, strip = data[1:], strip - 1
        return data

    def decode(self, ids: Ids, errors: Errors = "strict", *, skip_special: bool = False) -> str:
        """Return the text of ids.

        Raises:
            TokenizerError: an id that is no token; with errors="strict", ids whose bytes are not
                UTF-8, with the byte offset.
        """
        data = self.decode_bytes(ids, skip_special=skip_special)
        check_errors(errors)
        try:
            return data.decode(errors=errors)
        except UnicodeDecodeError as error:
            message = (
                f"ids: their bytes are not UTF-8 at byte {error.start} ({error.reason}); "
                "pass errors='replace', or take decode_bytes"
            )
            raise TokenizerError(message) from error

    @property
    def strip_start(self) -> int:
        """Spaces that decoding takes off the front."""
        return self._rules.strip_start

    @property
    def holds_last_space(self) -> bool:
        """Whether a space at the very end belongs to no text."""
        return bool(self._rules.suffix)


def check_errors(errors: str) -> None:
    """Refuse an error policy that is not known."""
    if errors not in ("strict", "replace"):
        message = f"errors: expected 'strict' or 'replace' (found {errors!r})"
        raise TokenizerError(message)


class LibraryStream:
    """A stream over a decoder that only takes all ids at once; it holds back what may change."""

    def __init__(self, decode: Callable[[list[int]], str]) -> None:
        """Begin a stream."""
        self._decode = decode
        self._ids: list[int] = []
        self._released = ""

    def feed(self, token_id: int) -> str:
        """Take one id and return the text that is certain by now, possibly none."""
        self._ids.append(token_id)
        return self._release(self._decode(self._ids).rstrip("\ufffd"))

    def finish(self) -> str:
        """Return what was held back."""
        return self._release(self._decode(self._ids))

    def _release(self, text: str) -> str:
        if not text.startswith(self._released):
            return ""
        fresh = text[len(self._released) :]
        self._released = text
        return fresh


class StreamDecoder:
    """Decodes ids as they come; a character that is not complete is held back.

    All that `feed` returns, and what `finish` returns, joined, is `decode` of all ids.
    """

    def __init__(self, decoder: Decoder, errors: Errors = "replace") -> None:
        """Begin a stream. Invalid bytes become U+FFFD, or with "strict" an error."""
        check_errors(errors)
        self._decoder = decoder
        self._strip = decoder.strip_start
        self._held = b""
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors)

    def feed(self, token_id: int) -> str:
        """Take one id and return the text that is certain by now, possibly none."""
        data = self._held + self._decoder.token_bytes(token_id)
        self._held = b""
        while self._strip and data:
            if not data.startswith(b" "):
                self._strip = 0
            else:
                data, self._strip = data[1:], self._strip - 1
        if self._decoder.holds_last_space and data.endswith(b" "):
            data, self._held = data[:-1], b" "
        return self._decode(data, final=False)

    def finish(self) -> str:
        """Return what was held back: nothing, where the ids ended with a whole character."""
        return self._decode(b"", final=True)

    def _decode(self, data: bytes, *, final: bool) -> str:
        try:
            return self._utf8.decode(data, final)
        except UnicodeDecodeError as error:
            message = f"ids: their bytes are not UTF-8 ({error.reason}); pass errors='replace'"
            raise TokenizerError(message) from error
