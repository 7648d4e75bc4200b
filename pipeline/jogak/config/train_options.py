"""The options of training: what merges begin with, which go first, and when they end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from jogak.config.section import Problem, Section

Ties = Literal["smallest_ids", "lexicographic", "largest", "first_seen"]
TrainAlphabet = Literal["bytes", "characters"]
WordMarker = Literal["none", "▁", "</w>"]

UNKNOWN = "<unk>"
"""The token of a character that a vocabulary of characters cannot say."""


class TrainOptions(Section):
    """How byte-pair merges are trained from the counts."""

    vocab_size: int = Field(
        ge=1,
        le=2**31 - 1,
        description="Number of token ids: the special tokens, the alphabet and the merges "
        "together. The alphabet is the 256 bytes, or with `characters` `<unk>`, the 256 byte "
        "pieces of `byte_fallback` and the characters.",
    )
    alphabet: TrainAlphabet = Field(
        default="bytes",
        description="What merges begin with: `bytes` (any text can be said, nothing is lost) or "
        "the `characters` of the text (as SentencePiece and the textbooks).",
    )
    word_marker: WordMarker = Field(
        default="none",
        description="With `characters` and the pattern `whitespace`, what tells words apart: `▁` "
        "(a symbol in front of every word, in place of its space; a `▁` in the text itself decodes "
        "as a space), `</w>` (behind the last character of a word; white space decodes as one "
        "space) or `none` (the pattern alone).",
    )
    character_coverage: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="With `characters`, how much of the text the alphabet says: characters are "
        "taken, most frequent first, until their share reaches this.",
    )
    byte_fallback: bool = Field(
        default=False,
        description="With `characters`, one outside the alphabet becomes its bytes' pieces, "
        "`<0x00>` to `<0xFF>`, instead of `<unk>`. Not with the marker `</w>`.",
    )
    limit: int | None = Field(
        default=None,
        ge=0,
        description="No more merges than this, even where `vocab_size` leaves room for them.",
    )
    ties: Ties = Field(
        default="smallest_ids",
        description="Which of equally frequent pairs merges first: `smallest_ids` (as Hugging Face "
        "tokenizers), `lexicographic` (smallest bytes), `largest` (as subword-nmt) or `first_seen` "
        "(earliest in the text).",
    )
    min_count: int = Field(default=2, ge=1, description="A pair rarer than this is not merged.")
    max_token_bytes: int | None = Field(
        default=None,
        ge=1,
        description="No token longer than this many bytes, markers included; no limit when left "
        "out.",
    )
    max_token_chars: int | None = Field(
        default=None,
        ge=1,
        description="No token touches more characters than this, whole or in part (a marker `▁` is "
        "one, `</w>` none); no limit when left out.",
    )
    whole_characters: bool = Field(
        default=False,
        description="No token joins a part of one character to another character: merges happen "
        "within a character, or between whole ones.",
    )
    special_tokens: tuple[str, ...] = Field(
        default=("<|endoftext|>",),
        strict=False,
        description="Tokens that ordinary text never produces; they take the first ids.",
    )
    allow_smaller: bool = Field(
        default=False,
        description="Accept fewer tokens than `vocab_size` when the text yields no more pairs; "
        "otherwise that is an error which names the size reached.",
    )

    @classmethod
    def problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what is wrong with the special tokens, and a vocabulary too small for them."""
        tokens = valid.get("special_tokens", ())
        for index, token in enumerate(tokens):
            if token == "":
                yield Problem(("special_tokens", index), "empty; a special token needs a text")
            elif token in tokens[:index]:
                text = f"'{token}' is listed twice; special tokens must differ"
                yield Problem(("special_tokens", index), text)
        yield from cls._alphabet_problems(valid)
        vocab_size = valid.get("vocab_size")
        fixed = cls._fixed(valid)
        if vocab_size is not None and vocab_size < fixed:
            is_bytes = valid.get("alphabet") == "bytes"
            listed = "256 bytes" if is_bytes else f"the alphabet ({fixed - len(tokens)} or more)"
            text = (
                f"too small (found {vocab_size}); {listed} and {len(tokens)} special tokens need "
                f"at least {fixed}"
            )
            yield Problem(("vocab_size",), text)

    @staticmethod
    def _fixed(valid: Mapping[str, Any]) -> int:
        """Return how many ids there are at least without a merge."""
        pieces = 256 * (valid.get("alphabet") == "bytes" or valid.get("byte_fallback") is True)
        tokens = valid.get("special_tokens", ())
        unknown = valid.get("alphabet") == "characters" and UNKNOWN not in tokens
        return pieces + len(tokens) + unknown

    @classmethod
    def _alphabet_problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        if valid.get("alphabet") == "bytes":
            for key in ("word_marker", "character_coverage", "byte_fallback"):
                if key in valid and valid[key] != cls.model_fields[key].default:
                    yield Problem((key,), "only goes with 'alphabet: characters'; leave it out")
        if valid.get("alphabet") == "characters" and valid.get("whole_characters") is True:
            text = "characters are never cut with 'alphabet: characters'; leave it out"
            yield Problem(("whole_characters",), text)
        if valid.get("byte_fallback") is True and valid.get("word_marker") == "</w>":
            text = "does not go with word_marker '</w>': no library decodes the two; take '▁'"
            yield Problem(("byte_fallback",), text)
