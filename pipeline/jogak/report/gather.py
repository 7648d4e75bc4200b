"""Everything a report tells, gathered from the manifest and the usage files beside the shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak.arrow import filled, numbers
from jogak.encode import read_usage, usage_file
from jogak.errors import ShardError
from jogak.manifest import ComparedTokenizer, Manifest
from jogak.measures import Sums, TokenSums, ratio, ratios, renyi_efficiency, vocabulary_used
from jogak.output import Output
from jogak.store import shard_files
from jogak.tokenizer import Tokenizer

Ids = NDArray[np.int64]
"""How often each id occurs, int64 (ids,)."""

MOST_SAMPLES = 2
"""Samples of each language."""
MOST_EXAMPLES = 10
"""Damaged documents that are named; all are counted."""
REFERENCE = "en"
"""The language that others are measured against, where it is there."""
COUNTED_ONLY = frozenset(TokenSums.__slots__) - {"tokens", "words", "syllables"}
"""Sums that only their ratio is told of."""


@dataclass(frozen=True, eq=False)
class Group:
    """One language, source or tokenizer: its sums, and how often each id occurs."""

    sums: Sums
    ids: Ids
    vocab_size: int

    @cached_property
    def measures(self) -> dict[str, int | float | None]:
        """The sums and the ratios between them, by the names of `DEFINITIONS`."""
        known = self.vocab_size > 0
        return {
            **{name: n for name, n in asdict(self.sums).items() if name not in COUNTED_ONLY},
            **ratios(self.sums),
            "vocabulary_used": vocabulary_used(self.ids) if known else None,
            "renyi_efficiency": renyi_efficiency(self.ids, self.vocab_size) if known else None,
        }


@dataclass(frozen=True, slots=True)
class Compared:
    """A tokenizer's groups: in total, and by language."""

    tokenizer: ComparedTokenizer
    total: Group
    languages: dict[str, Group]


@dataclass(slots=True)
class _Usage:
    """What the usage files hold, added up."""

    ids: dict[tuple[int, str], Ids] = field(default_factory=dict)
    by_source: dict[str, Ids] = field(default_factory=dict)
    samples: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)
    lengths: dict[str, Counter[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What is reported of a run.

    Attributes:
        manifest: the run.
        total, languages, sources: its groups.
        compared: the job's other tokenizers.
        samples: by language, texts and their tokens: the run's own first, then the compared ones
            that are no trivial ones.
        examples: damaged documents by kind, language, file and row.
        lengths: by language, documents of 2^(k-1) to 2^k - 1 bytes, by k.
        tokenizer: the run's own; None where it is not there any more.
    """

    manifest: Manifest
    total: Group
    languages: dict[str, Group]
    sources: dict[str, Group]
    compared: tuple[Compared, ...]
    samples: dict[str, list[dict[str, Any]]]
    examples: list[dict[str, Any]]
    lengths: dict[str, Counter[int]]
    tokenizer: Tokenizer | None

    def parity(self, languages: Mapping[str, Group]) -> dict[str, float | None]:
        """Return what each language costs in tokens against the reference, in order.

        On parallel documents the ratio of tokens, None where a language lacks some; otherwise
        that of tokens for a byte. Nothing where there is no reference.
        """
        base = languages[REFERENCE].sums if REFERENCE in languages else Sums()
        if not base.tokens:
            return {}
        found: dict[str, float | None] = {}
        for name, group in languages.items():
            sums = group.sums
            if not self.manifest.parallel:
                found[name] = ratio(sums.tokens * base.bytes, sums.bytes * base.tokens)
            elif sums.documents == base.documents:
                found[name] = ratio(sums.tokens, base.tokens)
            else:
                found[name] = None
        return found


def gather(output: Output, manifest: Manifest, tokenizer: Tokenizer | None = None) -> Report:
    """Gather what a report tells.

    Args:
        output: a finished output.
        manifest: its own.
        tokenizer: its own, where the caller has it already; it is loaded otherwise.

    Raises:
        ShardError: a usage file is missing or damaged.
    """
    usage = _usage(output, manifest)
    if tokenizer is None and output.tokenizer.exists():
        tokenizer = Tokenizer.load(output.tokenizer)
    size = manifest.vocab_size or 0
    nothing = np.zeros(size, np.int64)
    languages = {
        name: Group(sums, usage.ids.get((0, name), nothing), size)
        for name, sums in manifest.by_language().items()
    }
    sources = {
        name: Group(sums, usage.by_source.get(name, nothing), size)
        for name, sums in manifest.by_source().items()
    }
    return Report(
        manifest=manifest,
        total=_joined(languages.values(), size),
        languages=languages,
        sources=sources,
        compared=tuple(_compared(manifest, usage)),
        samples={name: usage.samples[name] for name in sorted(usage.samples)},
        examples=usage.examples,
        lengths={name: usage.lengths[name] for name in sorted(usage.lengths)},
        tokenizer=tokenizer,
    )


def _joined(groups: Iterable[Group], size: int) -> Group:
    parts = list(groups)
    ids = sum((part.ids for part in parts), np.zeros(size, np.int64))
    return Group(sum((part.sums for part in parts), Sums()), ids, size)


def _usage(output: Output, manifest: Manifest) -> _Usage:
    """Add up the usage files of all shards."""
    found = _Usage()
    real = [each for each in manifest.compared if each.sha256]
    sizes = [manifest.vocab_size or 0, *(each.vocab_size for each in real)]
    for shard in manifest.shards:
        if shard.usage_sha256 is None:
            continue
        prefix = output.tokens / shard.name
        try:
            with shard_files(output, shard.name, [".usage.parquet"]):
                table, notes = read_usage(prefix)
            sources = {tally.source for tally in shard.tallies}
            _add_ids(found, table, sizes, sources)
            _add_notes(found, notes)
        except (OSError, ValueError, KeyError, IndexError) as error:
            message = (
                f"{usage_file(prefix)}: missing or damaged ({error}); run the job again to make "
                "this unit anew"
            )
            raise ShardError(message) from error
    return found


def _add_ids(found: _Usage, table: Any, sizes: list[int], sources: set[str]) -> None:  # noqa: ANN401  # an Arrow table
    places = numbers(table["tokenizer"])
    column = table["language"].combine_chunks().dictionary_encode()
    codes, names = filled(column.indices, -1), column.dictionary.to_pylist()
    ids, counts = numbers(table["id"]), numbers(table["count"]).astype(np.int64)
    for place in np.unique(places).tolist():
        for code in np.unique(codes[places == place]).tolist():
            chosen = (places == place) & (codes == code)
            key = (place, names[code])
            row = found.ids.setdefault(key, np.zeros(sizes[place], np.int64))
            row[ids[chosen]] += counts[chosen]
            for source in sources if place == 0 else ():  # one: a unit stays within a source
                row = found.by_source.setdefault(source, np.zeros(sizes[0], np.int64))
                row[ids[chosen]] += counts[chosen]


def _add_notes(found: _Usage, notes: dict[str, Any]) -> None:
    for language, sample in notes["samples"].items():
        kept = found.samples.setdefault(language, [])
        if len(kept) < MOST_SAMPLES:
            kept.append(sample)
    found.examples += notes["examples"][: MOST_EXAMPLES - len(found.examples)]
    for language, times in notes["lengths"].items():
        counted = {int(bits): documents for bits, documents in times.items()}
        found.lengths.setdefault(language, Counter()).update(counted)


def _compared(manifest: Manifest, usage: _Usage) -> Iterator[Compared]:
    own = manifest.by_language()
    real = [each.name for each in manifest.compared if each.sha256]
    for tokenizer in manifest.compared:
        size = tokenizer.vocab_size
        groups = {}
        for name, sums in own.items():
            text = replace(sums, boundary_tokens=0)
            if tokenizer.sha256:
                tokens = manifest.totals.compared.get((tokenizer.name, name), TokenSums())
                place = real.index(tokenizer.name) + 1
            else:
                tokens, place = trivial_tokens(tokenizer.name, sums), -1
            ids = usage.ids.get((place, name), np.zeros(size, np.int64))
            groups[name] = Group(text.with_tokens(tokens), ids, size)
        yield Compared(tokenizer, _joined(groups.values(), size), groups)


def trivial_tokens(name: str, sums: Sums) -> TokenSums:
    """Return what `chars` or `words` makes of a text: each character, or eojeol, is a token."""
    if name == "words":
        return TokenSums(tokens=sums.eojeol, words=sums.eojeol)
    return TokenSums(tokens=sums.characters, exact_documents=sums.documents)
