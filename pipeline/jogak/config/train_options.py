"""The options of training: what merges begin with, which go first, and when they end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

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
    initial_syllables: Literal["ksx1001"] | None = Field(
        default=None,
        description="Hangul syllables that the vocabulary has whatever the text: `ksx1001` is the "
        "2,350 of KS X 1001. With `bytes`, the merges that build them come first (2,525 ids "
        "with the beginnings that they share); with `characters`, they join the alphabet.",
    )
    continue_from: str | None = Field(
        default=None,
        min_length=1,
        description="A tokenizer.json (or its folder) of bytes, or one of `characters` that Jogak "
        "trained, relative to the job file: its ids and merges stay as they are and new merges "
        "come behind them, up to `vocab_size` in all. Text must be normalized and cut as it does, "
        "and `alphabet` and `word_marker` say its own. Without `special_tokens` it gets no new "
        "ones; those listed that it lacks take the ids behind its own.",
    )
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = Field(
        default=None,
        description="How much each language counts (`{ko: 2, en: 1}`): a pretoken counts the sum "
        "of its counts by language times these, exactly, to all decimals stated. A language that "
        "is not listed counts 1, and 0 leaves one out.",
    )
    temperature: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Instead of `weights`: a language of b bytes counts (b / bytes of the largest "
        "language) ** (temperature - 1), rounded to 1/1000, so that small languages count more; "
        "1 leaves the counts as they are.",
    )
    limit: int | None = Field(
        default=None,
        ge=0,
        description="Train no more merges than this, even where `vocab_size` leaves room for them.",
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

    @model_validator(mode="before")
    @classmethod
    def _keep_special_tokens(cls, values: Any) -> Any:  # noqa: ANN401 - what pydantic hands over
        """A vocabulary that goes on has special tokens: the default would add one."""
        going_on = isinstance(values, dict) and values.get("continue_from") is not None
        return {"special_tokens": (), **values} if going_on else values

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
        yield from cls._start_problems(valid)
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

    @classmethod
    def _start_problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what does not go together of what training begins with, and of the weights."""
        if valid.get("temperature") is not None and valid.get("weights") is not None:
            yield Problem(("temperature",), "'weights' is given too; give either")
        if valid.get("continue_from") is not None:
            for key in ("initial_syllables", "character_coverage", "byte_fallback"):
                if key in valid and valid[key] != cls.model_fields[key].default:
                    text = "the tokenizer of 'continue_from' has its beginning; leave it out"
                    yield Problem((key,), text)
        if valid.get("initial_syllables") is not None and valid.get("alphabet") == "bytes":
            longest = valid.get("max_token_bytes")
            if longest is not None and longest < 3:
                text = f"a syllable of 'initial_syllables' has 3 bytes (found {longest})"
                yield Problem(("max_token_bytes",), text)

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
