"""Job: the sections of a run together, and the rules between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field, PrivateAttr

from jogak.config.messages import suggestion
from jogak.config.options import (
    CountOptions,
    EncodeOptions,
    EngineOptions,
    NormalizeOptions,
    PretokenizeOptions,
    ReportOptions,
    TokenizerOptions,
)
from jogak.config.read_options import ReadOptions
from jogak.config.section import Problem, Section
from jogak.config.train_options import TrainOptions


class Job(Section):
    """A whole job, as one YAML file states it."""

    name: str = Field(default="jogak", min_length=1, description="What the report calls the run.")
    read: ReadOptions = Field(description="Where the documents come from.")
    normalize: NormalizeOptions = Field(
        default=NormalizeOptions(), description="The normal form of text."
    )
    pretokenize: PretokenizeOptions = Field(
        default=PretokenizeOptions(), description="How documents are cut before merges apply."
    )
    count: CountOptions = Field(default=CountOptions(), description="How pretokens are counted.")
    train: TrainOptions | None = Field(
        default=None, description="Train a tokenizer; either this or `tokenizer` is given."
    )
    tokenizer: TokenizerOptions | None = Field(
        default=None, description="Use an existing tokenizer; either this or `train` is given."
    )
    encode: EncodeOptions = Field(
        default=EncodeOptions(), description="How documents become shards."
    )
    report: ReportOptions = Field(
        default=ReportOptions(), description="What is reported beside the run's own measures."
    )
    engine: EngineOptions = Field(default=EngineOptions(), description="Where units run.")
    output: str = Field(
        min_length=1,
        description="The folder that everything goes to, relative to the job file; or a prefix in "
        "an object store, such as `s3://bucket/ko-64k` (docs/stores.md).",
    )
    work: str | None = Field(
        default=None,
        min_length=1,
        description="For an output in a store: the local folder for what is not finished yet, "
        "relative to the job file; one of this output in `~/.cache/jogak` when left out.",
    )
    _dataset: Any = PrivateAttr(default=None)

    def __init__(self, *, dataset: object = None, **values: Any) -> None:  # noqa: ANN401 - the fields
        """Make a job of its sections.

        Args:
            dataset: a dataset of Python's to read: the only source, unless `read` names one as
                `dataset: given`. As `jogak.run` takes it.
            values: the sections, and what else a job file holds.
        """
        if dataset is not None and "read" not in values:
            values["read"] = {"sources": ({"dataset": "given"},)}
        super().__init__(**values)
        self._dataset = dataset

    @property
    def dataset(self) -> object:
        """The dataset that the job was made with, or None."""
        return self._dataset

    @classmethod
    def problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a tokenizer given twice or never, and boundaries without a token to mark them."""
        training = valid.get("train", {}) is not None
        loading = valid.get("tokenizer", {}) is not None
        if training == loading:
            found = "both are given" if training else "neither is given"
            text = f"give either 'train' or 'tokenizer' ({found})"
            yield Problem(("tokenizer",) if training else (), text)
        tokens = (valid.get("train") or {}).get("special_tokens")
        going_on = (valid.get("train") or {}).get("continue_from") is not None
        if training and not loading and tokens is not None and not going_on:
            yield from cls._boundary_problems(tokens, valid.get("encode", {}))
        marker = (valid.get("train") or {}).get("word_marker", "none")
        pattern = valid.get("pretokenize", {}).get("pattern", "whitespace")
        if marker != "none" and pattern != "whitespace":
            text = (
                f"train.word_marker '{marker}' marks words between white space; set 'whitespace' "
                f"(found '{pattern}')"
            )
            yield Problem(("pretokenize", "pattern"), text)

    @classmethod
    def _boundary_problems(
        cls, tokens: tuple[str, ...], encode: Mapping[str, Any]
    ) -> Iterator[Problem]:
        for key in ("eos_token", "bos_token"):
            token = encode.get(key)
            if token is not None and token not in tokens:
                text = f"not one of train.special_tokens (found '{token}')"
                yield Problem(("encode", key), text + suggestion(token, tokens))
        boundary = encode.get("boundary")
        if boundary in ("eos", "both") and encode.get("eos_token", "") is None and not tokens:
            text = f"'{boundary}' needs a token; add one to train.special_tokens, or set 'none'"
            yield Problem(("encode", "boundary"), text)
        if boundary in ("bos", "both") and encode.get("bos_token", "") is None:
            text = f"'{boundary}' needs encode.bos_token (one of: {', '.join(tokens) or 'none'})"
            yield Problem(("encode", "boundary"), text)
