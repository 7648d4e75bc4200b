"""What a unit's shard leaves for the report: sums by language, and the usage file beside it.

The usage file says how often each id occurs, by tokenizer and language; its metadata holds a
sample of text with its tokens, examples of damaged documents by file and row, and how many
documents are how long. So the report needs neither the text nor the ids again.
"""

from __future__ import annotations

import functools
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from jogak import _core
from jogak.arrow import number_array, string_array
from jogak.documents import TextBatch
from jogak.measures import Sums, TokenSums
from jogak.measures.meter import TokenMeter
from jogak.output import file_sha256, write_file
from jogak.tokenizer import Tokenizer

SAMPLE_CHARACTERS = range(20, 161)
"""How long a sample is: shorter documents are passed over, longer ones cut."""
MOST_EXAMPLES = 3
"""Damaged documents named for each kind and language of a unit; all are counted."""
KINDS = ((1, "decomposed"), (2, "mojibake"))
"""Bits of `_core.inspect_text`, and what they are called."""
METADATA = b"jogak"


def usage_file(prefix: Path) -> Path:
    """Return the path of a shard's usage file."""
    return prefix.with_name(prefix.name + ".usage.parquet")


class Measurer:
    """Sums up the documents of one unit by language, and the tokens of several tokenizers."""

    def __init__(self, tokenizer: Tokenizer, compared: Sequence[Tokenizer]) -> None:
        """Prepare for the unit's tokenizer and those it is compared with."""
        self.tokenizers = (tokenizer, *compared)
        self._meters = [_meter(each) for each in self.tokenizers]
        self._languages: dict[str, int] = {}
        self._text: dict[str, Sums] = {}
        self._tokens: list[dict[str, TokenSums]] = [{} for _ in self.tokenizers]
        self._counts = [np.zeros((0, meter.vocab_size), np.int64) for meter in self._meters]
        self._lengths: dict[str, Counter[int]] = {}
        self._samples: dict[str, dict[str, Any]] = {}
        self._examples: list[dict[str, Any]] = []

    def add(
        self,
        batch: TextBatch,
        text: TextBatch,
        changed: NDArray[np.uint8],
        special: dict[int, int],
        marks: int,
        ids: NDArray[np.uint32],
        lengths: NDArray[np.int64],
    ) -> None:
        """Add a batch.

        Args:
            batch: the documents as read.
            text: the same, normalized.
            changed: uint8 (documents,); which ones that changed.
            special: how often a special token's text occurs in a document, where it does.
            marks: boundary tokens of each document.
            ids: uint32 (n,); without boundary tokens.
            lengths: int64 (documents,); tokens of each document.
        """
        groups = self._groups(batch)
        damage = _core.inspect_text(batch.data, batch.offsets)
        self._add_text(batch, text, changed, special, marks, damage)
        self._add_examples(batch, damage)
        self._add_samples(text)
        for place, tokenizer in enumerate(self.tokenizers):
            if place:
                ids, ends = tokenizer.encode_documents(text.data, text.offsets)
            else:
                ends = np.cumsum(lengths)
            sums = self._meters[place].measure(
                ids, ends, groups, self._counts[place], text.data, text.offsets
            )
            for language, group in self._languages.items():
                old = self._tokens[place].get(language, TokenSums())
                self._tokens[place][language] = old + sums[group]

    def _groups(self, batch: TextBatch) -> NDArray[np.int32]:
        """Return the group of each document; a new language gets the next."""
        codes = np.flatnonzero(np.bincount(batch.languages)).tolist()
        table = np.zeros(len(batch.language_names), np.int32)
        for code in codes:
            table[code] = self._languages.setdefault(
                batch.language_names[code], len(self._languages)
            )
        for place, counts in enumerate(self._counts):
            more = len(self._languages) - len(counts)
            if more:
                grown = np.zeros((more, counts.shape[1]), np.int64)
                self._counts[place] = np.concatenate([counts, grown])
        return table[batch.languages]

    def _add_text(
        self,
        batch: TextBatch,
        text: TextBatch,
        changed: NDArray[np.uint8],
        special: dict[int, int],
        marks: int,
        damage: NDArray[np.uint8],
    ) -> None:
        characters, eojeol = _core.measure_text(batch.data, batch.offsets)
        sizes = np.diff(batch.offsets)
        bits = np.frexp(sizes)[1]
        specials = np.zeros(len(batch), np.int64)
        specials[list(special)] = list(special.values())
        columns: dict[str, NDArray[Any]] = {
            "documents": np.ones(len(batch), np.int64),
            "empty_documents": sizes == 0,
            "bytes": sizes,
            "characters": characters,
            "eojeol": eojeol,
            "boundary_tokens": np.full(len(batch), marks, np.int64),
            "normalized_bytes": np.diff(text.offsets),
            "changed_documents": changed,
            "decomposed_documents": damage & 1,
            "mojibake_documents": damage >> 1,
            "special_text": specials,
        }
        # By language, which a batch may have dozens of: in their order, each is a stretch.
        order = np.argsort(batch.languages, kind="stable")
        codes = batch.languages[order]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        sums = {
            key: np.add.reduceat(each[order], starts, dtype=np.int64).tolist()
            for key, each in columns.items()
        }
        stretches = np.split(bits[order], starts[1:])
        for place, code in enumerate(codes[starts].tolist()):
            name = batch.language_names[code]
            added = Sums(**{key: each[place] for key, each in sums.items()})
            self._text[name] = self._text.get(name, Sums()) + added
            times = np.bincount(stretches[place])
            found = {bit: int(times[bit]) for bit in np.flatnonzero(times).tolist()}
            self._lengths.setdefault(name, Counter()).update(found)

    def _add_examples(self, batch: TextBatch, damage: NDArray[np.uint8]) -> None:
        for bit, kind in KINDS:
            for place in np.flatnonzero(damage & bit).tolist():
                language = batch.language_names[batch.languages[place]]
                row = int(batch.rows[place])
                example = {"kind": kind, "language": language, "path": batch.path, "row": row}
                alike = [
                    each
                    for each in self._examples
                    if (each["kind"], each["language"]) == (kind, language)
                ]
                if len(alike) < MOST_EXAMPLES:
                    self._examples.append(example)

    def _add_samples(self, text: TextBatch) -> None:
        """Keep the beginning of each language's first document that is long enough."""
        for code in np.flatnonzero(np.bincount(text.languages)).tolist():
            language = text.language_names[code]
            if language in self._samples:
                continue
            for place in np.flatnonzero(text.languages == code)[:100].tolist():
                # Four bytes at most for a character, one of which may be cut.
                begin = text.document(place)[: 4 * SAMPLE_CHARACTERS.stop].decode(errors="ignore")
                if len(begin.strip()) in SAMPLE_CHARACTERS or len(begin) >= SAMPLE_CHARACTERS.stop:
                    self._samples[language] = self._sample(begin[: SAMPLE_CHARACTERS.stop - 1])
                    break

    def _sample(self, text: str) -> dict[str, Any]:
        tokens = []
        for tokenizer in self.tokenizers:
            ids, spans = tokenizer.encode(text, return_offsets=True)
            tokens.append({"ids": ids.tolist(), "spans": spans.tolist()})
        return {"text": text, "tokens": tokens}

    def sums(self) -> dict[str, Sums]:
        """Return the sums by language, in order of their names."""
        return {
            name: self._text[name].with_tokens(self._tokens[0][name]) for name in sorted(self._text)
        }

    def compared_sums(self) -> Iterator[tuple[int, str, TokenSums]]:
        """Yield the place of each compared tokenizer, and its sums by language in order."""
        for place, sums in enumerate(self._tokens[1:]):
            yield from ((place, name, sums[name]) for name in sorted(sums))

    def table(self) -> pa.Table:
        """Return how often ids occur: tokenizer (0 is the run's own), language, id, count."""
        columns: list[list[NDArray[Any]]] = [[], [], [], []]
        names = sorted(self._languages)
        for place, counts in enumerate(self._counts):
            for code, language in enumerate(names):
                row = counts[self._languages[language]]
                ids = np.flatnonzero(row)
                columns[0].append(np.full(len(ids), place, np.uint16))
                columns[1].append(np.full(len(ids), code, np.int32))
                columns[2].append(ids.astype(np.uint32))
                columns[3].append(row[ids].astype(np.uint64))
        kinds = (np.uint16, np.int32, np.uint32, np.uint64)
        joined = [
            number_array(np.concatenate([np.zeros(0, kind), *column]))
            for kind, column in zip(kinds, columns, strict=True)
        ]
        notes = {
            "samples": dict(sorted(self._samples.items())),
            "examples": self._examples,
            "lengths": {
                name: {str(bits): times for bits, times in sorted(self._lengths[name].items())}
                for name in sorted(self._lengths)
            },
        }
        table = pa.table(
            {
                "tokenizer": joined[0],
                "language": pa.DictionaryArray.from_arrays(joined[1], string_array(names)),
                "id": joined[2],
                "count": joined[3],
            }
        )
        return table.replace_schema_metadata({METADATA: json.dumps(notes, ensure_ascii=False)})


@functools.lru_cache(maxsize=16)
def _meter(tokenizer: Tokenizer) -> TokenMeter:
    """Make the meter of a tokenizer once for all the units of this process."""
    return TokenMeter(tokenizer)


def write_usage(prefix: Path, measurer: Measurer) -> str:
    """Write a shard's usage file; return its sha256 (hex)."""
    buffer = io.BytesIO()
    pq.write_table(measurer.table(), buffer, compression="zstd")
    path = usage_file(prefix)
    write_file(path, buffer.getvalue())
    return file_sha256(path)


def read_usage(prefix: Path) -> tuple[pa.Table, dict[str, Any]]:
    """Return a shard's table of ids, and the notes beside it."""
    table = pq.ParquetFile(usage_file(prefix)).read()  # read_table would import pandas
    notes: dict[str, Any] = json.loads((table.schema.metadata or {})[METADATA])
    return table, notes
