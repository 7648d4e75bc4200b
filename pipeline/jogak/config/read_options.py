"""The options of the section `read`: where documents come from, what becomes of bad ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from jogak.config.section import Problem, Section, Size

BadRow = Literal["error", "skip", "empty", "replace"]


class Source(Section):
    """One input: files (`path`) or a Hugging Face dataset (`hf`), and where its text lies."""

    path: str | None = Field(
        default=None,
        min_length=1,
        description="Files, by name or glob (`data/ko/*.parquet`, `**` for any depth), relative to "
        "the job file: Parquet, JSON lines (.jsonl, also .gz and .zst), or text, one document a "
        "file. Also by URL, with glob characters too: `s3://bucket/*.parquet` (`pip install "
        "'jogak[s3]'`), `hf://datasets/owner/name@revision/*.parquet`, or another of fsspec's.",
    )
    hf: str | None = Field(
        default=None,
        min_length=1,
        description="A Hugging Face dataset: `owner/name`, a folder of its files, or one written "
        "by `save_to_disk`. Parquet files are read where they are, by row group, and saved "
        "datasets too; other kinds are streamed through `datasets`, shard by shard, and their text "
        "is kept in `read.spool`.",
    )
    dataset: str | None = Field(
        default=None,
        min_length=1,
        description="`given`: a dataset that Python hands over, `jogak.run(job, dataset=...)`. A "
        "run puts in its place what the dataset is known by.",
    )
    name: str | None = Field(
        default=None,
        min_length=1,
        description="What the report calls this source; its path or dataset when left out.",
    )
    config: str | None = Field(
        default=None,
        min_length=1,
        description="The configuration (subset) of the dataset, for `hf`; its only or default one "
        "when left out.",
    )
    split: str | None = Field(default=None, description="The split of the dataset, for `hf`.")
    revision: str | None = Field(
        default=None,
        description="The commit or tag of the dataset, for `hf`: name one to be repeatable.",
    )
    text: str = Field(
        default="text",
        min_length=1,
        description="The column that holds the text; `a.b` reaches into nested columns.",
    )
    language: str | None = Field(
        default=None,
        min_length=1,
        description="The language of every document (`ko`, `en`, `code`, any BCP 47 code), or "
        "`detect`: by its scripts and, with the extra `detect`, by a model for Latin script. `und` "
        "when neither this nor `language_column` is given.",
    )
    language_column: str | None = Field(
        default=None,
        min_length=1,
        description="The column that holds each document's language; `a.b` reaches into nested "
        "columns.",
    )

    @classmethod
    def problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what is wrong between the fields of a source."""
        kinds = ("path", "hf", "dataset")
        given = [key for key in kinds if valid.get(key) is not None]
        if not given and all(key in valid for key in kinds):
            yield Problem((), "no input; give 'path' (files) or 'hf' (a dataset)")
        if len(given) > 1:
            yield Problem((given[1],), f"'{given[0]}' is given too; a source has one of them")
        for key in ("config", "split", "revision"):
            if valid.get(key) is not None and valid.get("hf", "") is None:
                yield Problem((key,), "only goes with 'hf'; leave it out")
        if valid.get("language") is not None and valid.get("language_column") is not None:
            yield Problem(("language_column",), "'language' is given too; a source has one of them")


class ReadOptions(Section):
    """Where the documents come from, and what becomes of bad rows."""

    sources: tuple[Source, ...] = Field(
        min_length=1, strict=False, description="The inputs, in the order of the output."
    )
    on_bad_row: BadRow = Field(
        default="error",
        description="What becomes of a row that is null, not UTF-8 or not what its file should "
        "hold: `error` stops the run; `skip` leaves it out; `empty` makes it an empty document; "
        "`replace` puts U+FFFD for bytes that are not UTF-8, and stops where there is nothing to "
        "mend (a null). Rows that are bad but do not stop the run are counted and listed in "
        "rejected.jsonl.",
    )
    on_bad_file: Literal["error", "skip"] = Field(
        default="error",
        description="What becomes of a file that is damaged, ends early or cannot be opened: "
        "`error` stops the run; `skip` leaves out all of it (of a file that several units share, "
        "the units' parts that cannot be read), named with the reason in manifest.json and the "
        "report. Each file is then read twice, since nothing of a damaged one may be kept.",
    )
    max_bad_rows: int = Field(
        default=100, ge=0, description="Stop the run when more rows than this are bad."
    )
    batch_bytes: Size = Field(
        default=8 * 2**20,
        description="Text held at a time; bounds memory, does not change the output.",
    )
    spool: str | None = Field(
        default=None,
        min_length=1,
        description="The folder for the text of datasets that are not files: streamed ones, and "
        "those that Python hands over. Relative to the job file; `dataset` in the output, or in "
        "`work`, when left out. With Ray all nodes must share it.",
    )

    @classmethod
    def problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield names that two sources share."""
        first: dict[str, int] = {}
        for index, source in enumerate(valid.get("sources", ())):
            name = source.get("name")
            if name is not None and first.setdefault(name, index) != index:
                text = f"sources[{first[name]}] is called '{name}' too; names must differ"
                yield Problem(("sources", index, "name"), text)
