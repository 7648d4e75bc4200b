"""Tables of a run: documents, bytes, characters, eojeol, tokens and their ratios.

Everything comes from the manifest's sums, so a ratio is always one of sums, never a mean of ratios.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from jogak.manifest import Manifest
from jogak.measures import Sums
from jogak.output import Output, write_file, write_json

FORMAT = 1
"""Version of report.json."""

DEFINITIONS = {
    "documents": "documents, the empty ones included",
    "bytes": "UTF-8 bytes of the text as read, before normalization",
    "characters": "code points of the text as read",
    "eojeol": "words between white space, of the text as read",
    "tokens": "tokens of text, without boundary tokens",
    "boundary_tokens": "tokens that mark where documents end or begin",
    "bytes_per_token": "bytes / tokens (compression; higher is better)",
    "characters_per_token": "characters / tokens (higher is better)",
    "tokens_per_eojeol": "tokens / eojeol (fertility; lower is better)",
}
"""What each column means, as report.json says it too."""

HEADINGS = {
    "documents": "documents",
    "bytes": "bytes",
    "characters": "characters",
    "eojeol": "eojeol",
    "tokens": "tokens",
    "boundary_tokens": "boundary",
    "bytes_per_token": "bytes/token",
    "characters_per_token": "chars/token",
    "tokens_per_eojeol": "tokens/eojeol",
}
"""The columns of the printed tables, in order."""

MOST_NAMED = 10
"""Damaged files that the tables name; report.json names them all."""

NOTE = "Ratios are of sums, without boundary tokens; bytes and characters are of the text as read."


def ratio(part: int, whole: int) -> float | None:
    """Return part / whole to 4 places, or None where there is nothing to divide by."""
    return round(part / whole, 4) if whole else None


def measures(sums: Sums) -> dict[str, int | float | None]:
    """Return the sums and the ratios between them, by the names of `DEFINITIONS`."""
    return {
        **asdict(sums),
        "bytes_per_token": ratio(sums.bytes, sums.tokens),
        "characters_per_token": ratio(sums.characters, sums.tokens),
        "tokens_per_eojeol": ratio(sums.tokens, sums.eojeol),
    }


def report_json(manifest: Manifest) -> dict[str, Any]:
    """Return what report.json holds: definitions, and measures in total and by group."""
    return {
        "format": FORMAT,
        "name": manifest.name,
        "vocab_size": manifest.vocab_size,
        "tokenizer_sha256": manifest.tokenizer_sha256,
        "dtype": manifest.dtype,
        "shards": len(manifest.shards),
        "rejected_rows": sum(shard.rejected_rows for shard in manifest.shards),
        "skipped_files": [asdict(each) for each in manifest.skipped_files],
        "changed_documents": sum(shard.changed_documents for shard in manifest.shards),
        "special_text": sum(shard.special_text for shard in manifest.shards),
        "definitions": DEFINITIONS,
        "total": measures(manifest.total),
        "languages": {name: measures(sums) for name, sums in manifest.by_language().items()},
        "sources": {name: measures(sums) for name, sums in manifest.by_source().items()},
    }


def report_text(manifest: Manifest) -> str:
    """Return the tables for a terminal, columns aligned even under double-width characters."""
    tables = [_aligned(table) for table in _tables(manifest)]
    return "\n\n".join([_headline(manifest), *tables, *_remarks(manifest)])


def report_markdown(manifest: Manifest) -> str:
    """Return the tables as Markdown."""
    tables = [_markdown(table) for table in _tables(manifest)]
    return "\n\n".join([f"# {_headline(manifest)}", *tables, *_remarks(manifest)]) + "\n"


def write_report(output: Output, manifest: Manifest) -> None:
    """Write report.json and report.md."""
    write_json(output.folder / "report.json", report_json(manifest))
    write_file(output.folder / "report.md", report_markdown(manifest))


def _headline(manifest: Manifest) -> str:
    shards = len(manifest.shards)
    return (
        f"{manifest.name}: {manifest.total.tokens + manifest.total.boundary_tokens:,} tokens in "
        f"{shards:,} shard{'s' * (shards != 1)} of {manifest.dtype}, vocabulary of "
        f"{manifest.vocab_size:,}"
    )


def _remarks(manifest: Manifest) -> Iterator[str]:
    yield NOTE
    for count, text in (
        (manifest.total.empty_documents, "documents are empty (boundary tokens only)."),
        (
            sum(shard.changed_documents for shard in manifest.shards),
            "documents were changed by normalization.",
        ),
        (
            sum(shard.special_text for shard in manifest.shards),
            "times the text of a special token occurs inside a document.",
        ),
        (
            sum(shard.rejected_rows for shard in manifest.shards),
            "rows were not encoded as they stand; rejected.jsonl lists them.",
        ),
    ):
        if count:
            yield f"{count:,} {text}"
    if manifest.skipped_files:
        named = sorted({each.path for each in manifest.skipped_files})
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        yield (
            f"{len(named):,} damaged files were left out, or the parts of them that cannot be "
            f"read: {', '.join(named[:MOST_NAMED])}{more}; manifest.json gives the reasons."
        )


def _tables(manifest: Manifest) -> Iterator[list[list[str]]]:
    """Yield a table by language and one by source, heading and total included."""
    total = ["total", *_cells(manifest.total)]
    groups: tuple[tuple[str, Mapping[str, Sums]], ...] = (
        ("language", manifest.by_language()),
        ("source", manifest.by_source()),
    )
    for title, group in groups:
        rows = [[name, *_cells(sums)] for name, sums in group.items()]
        yield [[title, *HEADINGS.values()], *rows, total]


def _cells(sums: Sums) -> list[str]:
    values = measures(sums)
    return [_cell(values[name]) for name in HEADINGS]


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes (Korean syllables take two).

    >>> display_width("한국어 ko")
    9
    """
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def _aligned(table: Sequence[Sequence[str]]) -> str:
    widths = [max(map(display_width, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            row[0] + " " * (widths[0] - display_width(row[0])),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells))
    lines.insert(1, "-" * display_width(lines[0]))
    lines.insert(len(lines) - 1, lines[1])
    return "\n".join(lines)


def _markdown(table: Sequence[Sequence[str]]) -> str:
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in table]
    rule = ["---", *["---:"] * (len(table[0]) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [escaped[0], rule, *escaped[1:]])
