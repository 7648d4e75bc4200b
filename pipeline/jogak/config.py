"""YAML in, one frozen Job out, or every error at once with file:line:column.

All option types and all defaults stand here and nowhere else; a stage takes its own section.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

SIZE_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def parse_size(value: object) -> object:
    """Turn `"512 MiB"` into bytes; anything else is left for the validator to judge."""
    if not isinstance(value, str):
        return value
    number, _, unit = value.strip().partition(" ")
    if not number.isdigit() or unit not in SIZE_UNITS:
        message = f"expected bytes or a size such as '512 MiB', found '{value}'"
        raise ValueError(message)
    return int(number) * SIZE_UNITS[unit]


Size = Annotated[int, BeforeValidator(parse_size), Field(gt=0)]
"""Bytes: a whole number, or a number and a binary unit (`B KiB MiB GiB TiB`)."""

BadRow = Literal["error", "skip", "empty", "replace"]
NormalForm = Literal["none", "nfc", "nfkc", "nfkc_keep_jamo"]
Boundary = Literal["none", "eos", "bos", "both"]
SpecialText = Literal["plain", "allow", "error"]
Ties = Literal["smallest_ids", "lexicographic", "largest", "first_seen"]


class Section(BaseModel):
    """What every section of a job is: strict, frozen, and closed to unknown keys."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Source(Section):
    """One input: files by glob (`path`) or a Hugging Face dataset (`hf`)."""

    path: str | None = None
    hf: str | None = None
    name: str | None = None
    split: str | None = None
    revision: str | None = None
    text: str = "text"
    language: str | None = None
    language_column: str | None = None


class ReadOptions(Section):
    """Where the documents come from, and what becomes of bad rows."""

    sources: tuple[Source, ...] = Field(min_length=1)
    on_bad_row: BadRow = "error"
    max_bad_rows: int = Field(default=100, ge=0)
    batch_bytes: Size = 8 * 2**20


class NormalizeOptions(Section):
    """The normal form of the text that is counted and encoded."""

    form: NormalForm = "nfc"
    newlines: Literal["keep", "lf"] = "keep"
    whitespace: Literal["keep", "collapse"] = "keep"
    control: Literal["keep", "remove"] = "keep"


class PretokenizeOptions(Section):
    """How a document is cut before merges apply: a pattern's name, or a regex of your own."""

    pattern: str = "gpt2"


class CountOptions(Section):
    """How pretokens are counted."""

    memory: Size = 4 * 2**30


class TrainOptions(Section):
    """How the merges are trained."""

    vocab_size: int = Field(ge=257, le=2**31 - 1)
    ties: Ties = "smallest_ids"
    min_count: int = Field(default=2, ge=1)
    max_token_bytes: int | None = Field(default=None, ge=1)
    whole_characters: bool = False
    special_tokens: tuple[str, ...] = ("<|endoftext|>",)
    allow_smaller: bool = False


class TokenizerOptions(Section):
    """An existing tokenizer, instead of training one."""

    load: str


class EncodeOptions(Section):
    """How documents become token shards."""

    boundary: Boundary = "eos"
    eos_token: str | None = None
    bos_token: str | None = None
    shard_bytes: Size = 64 * 2**20
    special_text: SpecialText = "plain"


class EngineOptions(Section):
    """Where units run."""

    kind: Literal["local"] = "local"
    workers: Literal["auto"] | Annotated[int, Field(ge=1)] = "auto"


class Job(Section):
    """A whole job, as one YAML file states it."""

    name: str = "jogak"
    read: ReadOptions
    normalize: NormalizeOptions = NormalizeOptions()
    pretokenize: PretokenizeOptions = PretokenizeOptions()
    count: CountOptions = CountOptions()
    train: TrainOptions | None = None
    tokenizer: TokenizerOptions | None = None
    encode: EncodeOptions = EncodeOptions()
    engine: EngineOptions = EngineOptions()
    output: str

    @model_validator(mode="after")
    def _one_tokenizer(self) -> Job:
        if (self.train is None) == (self.tokenizer is None):
            message = "give either 'train' or 'tokenizer.load', and not both"
            raise ValueError(message)
        return self


def load_job(path: Path | str) -> Job:
    """Read a job file; paths in it are relative to the file itself."""
    raise NotImplementedError
