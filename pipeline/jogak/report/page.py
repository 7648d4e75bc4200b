"""report.html: one file that needs nothing else, neither a network nor a library.

Text of the corpus, names of sources and tokens are hostile until escaped: the template escapes
everything, and its content security policy forbids every request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from jogak.measures import DEFINITIONS, ratio
from jogak.report.charts import Axis, Bar, bars, columns, curves, number
from jogak.report.data import largest_languages, vocabulary_facts
from jogak.report.gather import Report
from jogak.report.samples import samples
from jogak.report.tables import cell, tables
from jogak.report.text import headline, remarks
from jogak.report.vocabulary import ranks

MOST_BARS = 24
"""Languages in a chart; the tables have them all."""
MOST_GROUPS = 6
"""Languages in the chart by tokenizer."""
CONTROLS: dict[int, int | str] = {code: 0x2400 + code for code in range(0x20)}
CONTROLS.update({0x7F: 0x2421, 0x0A: "↵\n"})
"""How control characters are shown."""


def report_html(report: Report) -> str:
    """Return the page."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    facts = vocabulary_facts(report)
    return (
        environment.get_template("page.html.jinja").render(
            name=report.manifest.name,
            headline=headline(report),
            remarks=list(remarks(report)),
            facts=list(_facts(report)),
            tables=list(tables(report)),
            charts=list(_charts(report, facts)),
            scripts=facts["scripts"] or [],
            samples=list(samples(report)),
            definitions=DEFINITIONS,
        )
        + "\n"
    )


def visible(text: str) -> str:
    r"""Show control characters, so that a token of white space can be seen.

    >>> visible("a\n\t")
    'a↵\n␉'
    """
    return text.translate(CONTROLS)


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    sums = report.total.sums
    yield "documents", cell(sums.documents)
    yield "tokens", cell(sums.tokens)
    yield "bytes per token", cell(ratio(sums.bytes, sums.tokens))
    yield "tokens per eojeol", cell(ratio(sums.tokens, sums.eojeol))
    yield "split syllables", cell(ratio(sums.split_syllables, sums.syllables), percent=True)


def _charts(report: Report, facts: dict[str, Any]) -> Iterator[Markup]:
    names = largest_languages(report, MOST_BARS)
    if not names:
        return
    tokens = [(name, report.languages[name].sums.tokens) for name in names]
    yield bars("Tokens by language", [Bar(name, size, number(size)) for name, size in tokens])
    yield _compression(report)
    if facts["token_lengths"]:
        labels = [(str(size), times) for size, times in enumerate(facts["token_lengths"])]
        yield columns("Tokens by length", "characters in a token", labels)
    yield _rank_frequency(report, names[:3])
    yield _document_lengths(report)
    if facts["growth"]:
        yield _growth(facts["growth"])


def _compression(report: Report) -> Markup:
    names = largest_languages(report, MOST_GROUPS)
    # Words are far longer than any token where a language has no spaces; the tables have them.
    real = [each for each in report.compared if each.tokenizer.sha256]
    series = ["this run's", *(each.tokenizer.name for each in real)]
    rows = []
    for name in names:
        groups = [report.languages[name], *(each.languages[name] for each in real)]
        for place, group in enumerate(groups):
            value = ratio(group.sums.bytes, group.sums.tokens)
            label = name if place == 0 else ""
            rows.append(Bar(label, value or 0, cell(value), place))
    return bars("Bytes per token, by language and tokenizer (higher is better)", rows, series)


def _rank_frequency(report: Report, names: list[str]) -> Markup:
    series = [("total", ranks(report.total.ids))]
    series += [(name, ranks(report.languages[name].ids)) for name in names if len(names) > 1]
    series = [(name, points) for name, points in series if points]
    last = max((points[-1][0] for _, points in series), default=1)
    most = max((points[0][1] for _, points in series), default=1)
    x, y = Axis("rank", 1, max(last, 2), True), Axis("", 1, max(most, 2), True)
    return curves("How often the ids occur, by rank", x, y, series)


def _document_lengths(report: Report) -> Markup:
    total = sum(report.lengths.values(), Counter[int]())
    first, last = min(total, default=0), max(total, default=0)
    labels = [(number(2**bits // 2), total[bits]) for bits in range(first, last + 1)]
    return columns("Documents by length", "bytes, at least", labels)


def _growth(growth: dict[str, Any]) -> Markup:
    points = growth["points"]
    series = [
        (name, [(each["vocab_size"], each["bytes_per_token"][place]) for each in points])
        for place, name in enumerate(growth["groups"])
    ]
    series = [(name, each) for name, each in series if None not in dict(each).values()]
    values = [value for _, each in series for _, value in each]
    x = Axis("ids in the vocabulary", points[0]["vocab_size"], points[-1]["vocab_size"], True)
    y = Axis("", 0, max(values, default=1))
    return curves("Bytes per token with the first merges only", x, y, series)
