"""report.json: every measure, with its definition (docs/report.md and report.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from jogak.measures import DEFINITIONS, ratio
from jogak.report.gather import REFERENCE, Compared, Group, Report
from jogak.report.scripts import scripts
from jogak.report.vocabulary import growth, token_lengths

FORMAT = 2
"""Version of report.json."""

MOST_CURVES = 4
"""Languages with a curve of their own, those with the most tokens."""

MEANING = {
    True: f"tokens / tokens of '{REFERENCE}' for the same content, since the documents are "
    "translations of each other (premium)",
    False: f"tokens for a byte of text / the same of '{REFERENCE}'; not what a translation would "
    "cost, since languages need different numbers of bytes for the same content",
}
"""What the ratio between languages means, on parallel documents and on others."""


def report_json(report: Report) -> dict[str, Any]:
    """Return what report.json holds: definitions, and measures in total and by group."""
    manifest = report.manifest
    return {
        "format": FORMAT,
        "name": manifest.name,
        "vocab_size": manifest.vocab_size,
        "tokenizer_sha256": manifest.tokenizer_sha256,
        "dtype": manifest.dtype,
        "shards": len(manifest.shards),
        "rejected_rows": manifest.totals.rejected_rows,
        "skipped_files": [asdict(each) for each in manifest.skipped_files],
        "changed_documents": manifest.totals.changed_documents,
        "special_text": manifest.totals.special_text,
        "definitions": DEFINITIONS,
        "total": report.total.measures,
        "languages": _measures(report.languages),
        "sources": _measures(report.sources),
        "parity": {
            "reference": REFERENCE,
            "parallel": manifest.parallel,
            "meaning": MEANING[manifest.parallel],
            "languages": report.parity(report.languages),
        },
        "compared": [_compared(report, each) for each in report.compared],
        "examples": report.examples,
        "document_lengths": {
            name: {str(bits): times[bits] for bits in sorted(times)}
            for name, times in report.lengths.items()
        },
        **vocabulary_facts(report),
    }


def _measures(groups: Mapping[str, Group]) -> dict[str, Any]:
    return {name: group.measures for name, group in groups.items()}


def _compared(report: Report, compared: Compared) -> dict[str, Any]:
    """Return a compared tokenizer's measures; of the text they are the run's own."""
    own = {"": report.total, **report.languages}

    def measured(name: str, group: Group) -> dict[str, Any]:
        length = ratio(group.sums.tokens, own[name].sums.tokens)
        return {**group.measures, "normalized_sequence_length": length}

    return {
        "name": compared.tokenizer.name,
        "vocab_size": compared.tokenizer.vocab_size or None,
        "sha256": compared.tokenizer.sha256 or None,
        "total": measured("", compared.total),
        "languages": {name: measured(name, group) for name, group in compared.languages.items()},
        "parity": report.parity(compared.languages),
    }


def largest_languages(report: Report, most: int) -> list[str]:
    """Return the languages with the most tokens, the largest first."""
    ordered = sorted(report.languages.items(), key=lambda each: (-each[1].sums.tokens, each[0]))
    return [name for name, group in ordered[:most] if group.sums.tokens]


# The page tells them too, and a vocabulary of 200,000 takes a quarter of a second.
@lru_cache(maxsize=1)
def vocabulary_facts(report: Report) -> dict[str, Any]:
    """Return what the ids say about the tokenizer; None where it is not there any more.

    Callers share the result and do not change it.
    """
    tokenizer = report.tokenizer
    if tokenizer is None:
        return {"token_lengths": None, "scripts": None, "growth": None}
    names = largest_languages(report, MOST_CURVES)
    columns = [report.total.ids, *(report.languages[name].ids for name in names)]
    points = growth(tokenizer, columns)
    table = tokenizer.token_table()
    found = [asdict(each) for each in scripts(table, report.total.ids)]
    return {
        "token_lengths": token_lengths(table, report.total.ids),
        "scripts": [
            {
                **each,
                "commonest": [*map(list, each["commonest"])],
                "longest": [*map(list, each["longest"])],
            }
            for each in found
        ],
        "growth": None if points is None else {"groups": ["total", *names], "points": points},
    }
