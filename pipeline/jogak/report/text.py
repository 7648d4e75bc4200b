"""A report for the terminal and as Markdown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from jogak.report.gather import Report
from jogak.report.tables import Table, tables

MOST_NAMED = 10
"""Damaged files that the tables name; report.json names them all."""

NOTE = "Ratios are of sums, without boundary tokens; bytes and characters are of the text as read."


def report_text(report: Report) -> str:
    """Return the tables for a terminal, columns aligned even under double-width characters."""
    shown = [
        f"{table.title}\n{aligned(table.rows, has_total=table.has_total)}"
        for table in tables(report)
    ]
    return "\n\n".join([headline(report), *shown, *remarks(report)])


def report_markdown(report: Report) -> str:
    """Return the tables as Markdown."""
    shown = [f"## {table.title}\n\n{_markdown(table)}" for table in tables(report)]
    return "\n\n".join([f"# {headline(report)}", *shown, *remarks(report)]) + "\n"


def headline(report: Report) -> str:
    """Return the run in one line."""
    manifest = report.manifest
    shards = len(manifest.shards)
    return (
        f"{manifest.name}: {manifest.total.tokens + manifest.total.boundary_tokens:,} tokens in "
        f"{shards:,} shard{'s' * (shards != 1)} of {manifest.dtype}, vocabulary of "
        f"{manifest.vocab_size:,}"
    )


def remarks(report: Report) -> Iterator[str]:
    """Yield what happened to documents."""
    manifest = report.manifest
    yield NOTE
    for count, text in (
        (manifest.total.empty_documents, "documents are empty (boundary tokens only)."),
        (
            manifest.totals.changed_documents,
            "documents were changed by normalization.",
        ),
        (
            manifest.total.decomposed_documents,
            "documents hold Hangul as separate jamo (NFD).",
        ),
        (
            manifest.total.mojibake_documents,
            "documents look decoded with a wrong encoding (mojibake); they were encoded as they "
            "are.",
        ),
        (
            manifest.totals.special_text,
            "times the text of a special token occurs inside a document.",
        ),
        (
            manifest.totals.rejected_rows,
            "rows were not encoded as they stand; rejected.jsonl lists them.",
        ),
    ):
        if count:
            yield f"{count:,} {text}"
    for example in report.examples:
        yield f"For example ({example['kind']}): {example['path']}, row {example['row']}."
    if manifest.skipped_files:
        named = sorted({each.path for each in manifest.skipped_files})
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        yield (
            f"{len(named):,} damaged files were left out, or the parts of them that cannot be "
            f"read: {', '.join(named[:MOST_NAMED])}{more}; manifest.json gives the reasons."
        )


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes (Korean syllables take two).

    >>> display_width("한국어 ko")
    9
    """
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def aligned(rows: Sequence[Sequence[str]], *, has_total: bool) -> str:
    """Return rows in columns, the first to the left, even under double-width characters.

    Args:
        rows: the heading, then the others.
        has_total: whether the last row stands below a line.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            row[0] + " " * (widths[0] - display_width(row[0])),
            *(
                " " * (width - display_width(cell)) + cell
                for cell, width in zip(row[1:], widths[1:], strict=True)
            ),
        ]
        lines.append("  ".join(cells))
    lines.insert(1, "-" * display_width(lines[0]))
    if has_total:
        lines.insert(len(lines) - 1, lines[1])
    return "\n".join(lines)


def _markdown(table: Table) -> str:
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in table.rows]
    rule = ["---", *["---:"] * (len(escaped[0]) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [escaped[0], rule, *escaped[1:]])
