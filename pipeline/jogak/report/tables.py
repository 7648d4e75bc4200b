"""The tables of a report as rows of text, the same for the terminal, Markdown and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jogak.measures import ratio
from jogak.report.data import MEANING
from jogak.report.gather import REFERENCE, Group, Report

Headings = Mapping[str, str]

SIZE: Headings = {
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
"""Columns of the tables by language and by source, and their headings."""

QUALITY: Headings = {
    "one_token_words": "1-token words",
    "continued_words": "continued words",
    "partial_tokens": "partial tokens",
    "split_syllables": "split syllables",
    "unknown_tokens": "unknown tokens",
    "exact_documents": "exact",
    "vocabulary_used": "ids used",
    "renyi_efficiency": "Rényi 2.5",
}
"""Columns that say how well words and characters are kept."""

TEXT: Headings = {
    "empty_documents": "empty",
    "changed_documents": "normalized",
    "normalized_bytes": "bytes then",
    "decomposed_documents": "NFD",
    "mojibake_documents": "mojibake",
    "special_text": "special strings",
}
"""Columns about what was found in the text."""

COMPARED: Headings = {
    "tokens": "tokens",
    "bytes_per_token": "bytes/token",
    "characters_per_token": "chars/token",
    "tokens_per_eojeol": "tokens/eojeol",
    **{name: QUALITY[name] for name in tuple(QUALITY)[:6]},
}
"""Columns of the table by tokenizer."""

PERCENTAGES = frozenset(tuple(QUALITY)[:6])
"""Measures that are shown in hundredths."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its first row is the heading, the last a total where there is one."""

    title: str
    rows: Sequence[Sequence[str]]
    has_total: bool = True


def tables(report: Report) -> Iterator[Table]:
    """Yield the tables of a report."""
    yield from _groups(report, "language", "By language", report.languages, SIZE)
    yield from _groups(report, "source", "By source", report.sources, SIZE)
    for name, groups in (("language", report.languages), ("source", report.sources)):
        yield from _groups(report, name, f"Words and characters, by {name}", groups, QUALITY)
    for name, groups in (("language", report.languages), ("source", report.sources)):
        yield from _groups(report, name, f"What was found in the text, by {name}", groups, TEXT)
    if report.compared:
        yield Table("Tokenizers on the same documents", [*_compared(report)], has_total=False)
        yield Table("Bytes per token, by tokenizer and language", [*_matrix(report)])
    parity = report.parity(report.languages)
    if parity:
        yield Table(
            f"Against {REFERENCE}: {MEANING[report.manifest.parallel]}", [*_parity(report)], False
        )


def _groups(
    report: Report, name: str, title: str, groups: Mapping[str, Group], headings: Headings
) -> Iterator[Table]:
    rows = [[name, *headings.values()]]
    rows += [[key, *_cells(group, headings)] for key, group in groups.items()]
    yield Table(title, [*rows, ["total", *_cells(report.total, headings)]])


def _cells(group: Group, headings: Headings) -> list[str]:
    values = group.measures
    return [cell(values[name], percent=name in PERCENTAGES) for name in headings]


def cell(value: float | None, *, percent: bool = False) -> str:
    """Show a number: whole ones with commas, shares in hundredths, other ratios to 3 places."""
    if value is None:
        return "-"
    if percent:
        return f"{100 * value:.2f}%"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def _compared(report: Report) -> Iterator[list[str]]:
    """Yield a row for each tokenizer; the length is that of the run's own tokens."""
    yield ["tokenizer", "ids", "length", *COMPARED.values()]
    size = cell(report.manifest.vocab_size)
    yield ["this run's", size, cell(1.0), *_cells(report.total, COMPARED)]
    for each in report.compared:
        length = ratio(each.total.sums.tokens, report.total.sums.tokens)
        ids = cell(each.tokenizer.vocab_size or None)
        yield [each.tokenizer.name, ids, cell(length), *_cells(each.total, COMPARED)]


def _matrix(report: Report) -> Iterator[list[str]]:
    yield ["language", "this run's", *(each.tokenizer.name for each in report.compared)]
    for name, group in report.languages.items():
        others = (each.languages[name] for each in report.compared)
        yield [name, *(_compression(each) for each in (group, *others))]
    totals = (each.total for each in report.compared)
    yield ["total", *(_compression(each) for each in (report.total, *totals))]


def _compression(group: Group) -> str:
    return cell(ratio(group.sums.bytes, group.sums.tokens))


def _parity(report: Report) -> Iterator[list[str]]:
    yield ["language", "this run's", *(each.tokenizer.name for each in report.compared)]
    columns = [report.parity(report.languages)]
    columns += [report.parity(each.languages) for each in report.compared]
    for name in report.languages:
        yield [name, *(cell(column.get(name)) for column in columns)]
