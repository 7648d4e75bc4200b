"""The options of every stage, with their defaults, ranges and documentation.

Defaults stand here and nowhere else; a stage takes its own section. `problems` of a section states
what is wrong between its fields, so that a job file and Python code are judged by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from jogak.config.messages import suggestion
from jogak.config.section import Problem, Section, Size

PATTERN_NAMES = (
    "gpt2",
    "cl100k",
    "llama3",
    "o200k",
    "qwen2",
    "deepseek_v3",
    "tekken",
    "whitespace",
    "none",
)
"""The names that `pretokenize` knows; a test compares."""

TRIVIAL_TOKENIZERS = ("chars", "words")
"""Names in `report.compare` that are no files: every character, or every eojeol, is a token."""

NormalForm = Literal["none", "nfc", "nfkc", "nfkc_keep_jamo"]
Boundary = Literal["none", "eos", "bos", "both"]
SpecialText = Literal["plain", "allow", "error"]


class NormalizeOptions(Section):
    """The normal form of the text that is counted and encoded."""

    form: NormalForm = Field(
        default="nfc",
        description="Unicode normal form: `nfc` (composes Hangul; changes little else), `nfkc` "
        "(also folds compatibility characters: ㅋ U+314B becomes ᄏ U+110F, ① becomes 1), "
        "`nfkc_keep_jamo` (nfkc, but compatibility jamo such as ㅋㅋ stay), or `none`.",
    )
    newlines: Literal["keep", "lf"] = Field(
        default="keep", description="`lf` turns CR LF and CR into LF; `keep` leaves them."
    )
    whitespace: Literal["keep", "collapse"] = Field(
        default="keep",
        description="`collapse` makes one space of a run of spaces; `keep` leaves it.",
    )
    control: Literal["keep", "remove"] = Field(
        default="keep", description="`remove` drops control characters (Cc) other than white space."
    )


class PretokenizeOptions(Section):
    """How a document is cut before merges apply."""

    pattern: str = Field(
        default="gpt2",
        min_length=1,
        description=f"A pattern's name ({', '.join(f'`{name}`' for name in PATTERN_NAMES)}), or a "
        "regex of your own in single quotes. `whitespace` keeps words whole, `none` does not cut.",
    )

    @classmethod
    def problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a name that no pattern has: as a regex it would match that word only."""
        pattern = valid.get("pattern", "")
        if re.fullmatch(r"\w+", pattern, re.ASCII) and pattern not in PATTERN_NAMES:
            text = f"no pattern of this name (found '{pattern}'; known: {', '.join(PATTERN_NAMES)})"
            yield Problem(("pattern",), text + suggestion(pattern, PATTERN_NAMES))


class CountOptions(Section):
    """How distinct pretokens are counted."""

    memory: Size = Field(
        default=4 * 2**30, description="Memory for counting; does not change the output."
    )
    sample: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="The share of the documents to count, and so to train on; encoding takes all. "
        "A document is chosen by a hash of its text and `seed`, whatever its place, the units and "
        "the workers; equal documents are taken or left out together.",
    )
    sample_bytes: Size | None = Field(
        default=None,
        description="Instead of `sample`, about how much text to count: the share is this over the "
        "text of all inputs as `jogak check` states it, at most 1.",
    )
    seed: int = Field(
        default=0,
        ge=0,
        le=2**63 - 1,
        description="Another seed takes other documents; only used with `sample` and "
        "`sample_bytes`.",
    )

    @classmethod
    def problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a sample that is stated twice."""
        if valid.get("sample_bytes") is not None and valid.get("sample", 1.0) != 1:
            yield Problem(("sample_bytes",), "'sample' is given too; give either")


class TokenizerOptions(Section):
    """An existing tokenizer, instead of training one."""

    load: str = Field(
        min_length=1,
        description="A tokenizer, relative to the job file: tokenizer.json or its folder, a "
        ".tiktoken file, tekken.json, or vocab.json beside merges.txt.",
    )


class ShuffleOptions(Section):
    """Documents in another order than the inputs'."""

    seed: int = Field(
        ge=0,
        lt=2**63,
        description="Decides the order: which unit makes which shard, and how documents follow "
        "each other within one. Documents stay with those of their unit (`shard_bytes`), so memory "
        "is bounded. The same seed gives the same order everywhere; docs/output.md says how.",
    )


class EncodeOptions(Section):
    """How documents become token shards."""

    boundary: Boundary = Field(
        default="eos",
        description="What marks a document: `eos` (a token after it), `bos` (before it), `both` or "
        "`none`.",
    )
    eos_token: str | None = Field(
        default=None,
        min_length=1,
        description="The token after a document; the first of `train.special_tokens` when left "
        "out, or the loaded tokenizer's own.",
    )
    bos_token: str | None = Field(
        default=None,
        min_length=1,
        description="The token before a document; the loaded tokenizer's own when left out.",
    )
    shard_bytes: Size = Field(
        default=64 * 2**20,
        description="Text for each unit of work, which makes one shard; interrupted runs lose at "
        "most the units at work.",
    )
    shuffle: ShuffleOptions | None = Field(
        default=None, description="Shuffle the documents; in the order of the inputs when left out."
    )
    special_text: SpecialText = Field(
        default="plain",
        description="What a special token's text inside a document is: `plain` (ordinary text), "
        "`allow` (the special token) or `error`.",
    )


class ReportOptions(Section):
    """What the report tells beside the run's own measures."""

    compare: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(),
        strict=False,
        description="Tokenizers to measure on the same documents, in the same pass: files or "
        "folders relative to the job file, `chars` (every character is a token) and `words` (every "
        "eojeol is). Each costs the time of one more encoding.",
    )
    parallel: bool = Field(
        default=False,
        description="The documents of all languages are translations of each other, so that the "
        "ratio of their tokens is what a language pays for the same content.",
    )

    @classmethod
    def problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a tokenizer that is named twice."""
        first: dict[str, int] = {}
        for index, path in enumerate(valid.get("compare", ())):
            if first.setdefault(path, index) != index:
                yield Problem(("compare", index), f"'{path}' is named twice; leave one out")


class EngineOptions(Section):
    """Where units run; the output is the same for all of them."""

    kind: Literal["local", "ray"] = Field(
        default="local",
        description="`local`: processes on this machine. `ray`: tasks of a Ray cluster whose nodes "
        "share the file system of inputs and output (`pip install 'jogak[ray]'`).",
    )
    workers: Literal["auto"] | Annotated[int, Field(ge=1)] = Field(
        default="auto",
        description="Number of worker processes; `auto` is as many as pay off, at most one "
        "for each processor. For `local`.",
    )
    address: str = Field(
        default="auto",
        min_length=1,
        description="The cluster, for `ray`: `auto` (the one this machine belongs to), `host:port` "
        "or `ray://host:port`.",
    )
    cpus_per_unit: int = Field(
        default=1, ge=1, description="Processors that Ray keeps for each unit at work."
    )
    memory_per_unit: Size = Field(
        default=2**30,
        description="Memory that Ray keeps for each unit at work, half of which the tables of "
        "`count` may fill. Training is one such unit: give it what `train` needs.",
    )
    max_in_flight: int = Field(
        default=64,
        ge=1,
        description="Units given to Ray at a time; as many as the cluster has processors, or more.",
    )
    attempts: int = Field(
        default=3,
        ge=1,
        description="How often a unit is tried, on another node after an error, before it is "
        "reported; the other units are finished first.",
    )
