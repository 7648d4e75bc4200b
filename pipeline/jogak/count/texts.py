"""Counting texts, tables and datasets that are in memory or stream from elsewhere."""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterator
from typing import Any

from jogak.config import (
    CountOptions,
    NormalForm,
    NormalizeOptions,
    PretokenizeOptions,
    WordMarker,
    options_from,
)
from jogak.count.counter import NO_LIMIT, DocumentCounter
from jogak.count.counts import PretokenCounts
from jogak.count.sample import Sample
from jogak.documents import TextBatch
from jogak.normalize import normalize_batch
from jogak.pretokenize import Pretokenizer
from jogak.pretokenize.words import word_pattern
from jogak.read import batch_texts, is_dataset, read_dataset

WHERE = "jogak.count_pretokens"
"""What messages call the place of a wrong setting."""


def count_pretokens(
    texts: Any,  # noqa: ANN401 - see Args: what `read_dataset` takes, and batches
    *,
    pattern: str | None = None,
    normalize: NormalForm | NormalizeOptions = "nfc",
    text: str = "text",
    language: str | None = None,
    language_column: str | None = None,
    word_marker: WordMarker = "none",
    threads: int = 1,
    memory_bytes: int | None = None,
    sample: float = 1.0,
    seed: int = 0,
) -> PretokenCounts:
    """Count the distinct pretokens of texts; each text is one document.

    Args:
        texts: str or bytes; a file open in binary mode, each of whose lines, newline included, is
            a document; an Arrow string array; a table or dataset (`datasets.Dataset`,
            `IterableDataset`, pyarrow); or batches as `read_unit` and `read_dataset` give.
        pattern: a pattern's name or a regex, as `pretokenize.pattern` in a job; `gpt2` by default,
            `whitespace` with a word marker.
        normalize: a normal form, or all the options of `normalize` in a job.
        text: of a table or dataset, the column that holds the text.
        language: of a table or dataset, the language of all its documents.
        language_column: of a table or dataset, the column of languages, instead of `language`.
        word_marker: the marker that a vocabulary of characters will be trained with.
        threads: how many threads count; the result does not depend on it.
        memory_bytes: what the tables may hold before they go to disk for a while; no limit by
            default. The result itself is in memory and not part of it.
        sample: the share of the documents to count, as `count.sample` in a job.
        seed: with `sample`, as `count.seed` in a job.

    Raises:
        ConfigError: there is no such pattern or normal form.
        SourceError: a column is missing, or a document is not text.
    """
    cutting, options = _judged(pattern, normalize, word_marker)
    chosen = options_from(CountOptions, {"sample": sample, "seed": seed}, WHERE)
    taken = Sample(chosen.sample, chosen.seed)
    columns = {"text": text, "language": language, "language_column": language_column}
    with DocumentCounter(
        Pretokenizer(word_pattern(cutting, word_marker)),
        options,
        threads=threads,
        memory_bytes=NO_LIMIT if memory_bytes is None else memory_bytes,
        word_marker=word_marker,
        sample=taken,
        expected_bytes=int(_text_bytes(texts) * taken.share),
    ) as counter:
        counter.add_all(
            normalize_batch(taken.take(batch), options)[0] for batch in _batches(texts, columns)
        )
        return counter.counts(keep=False)


def _judged(
    pattern: str | None, normalize: NormalForm | NormalizeOptions, word_marker: WordMarker
) -> tuple[str, NormalizeOptions]:
    """Return the pattern and the options of normalization, judged as a job's are."""
    if pattern is None:
        pattern = "gpt2" if word_marker == "none" else "whitespace"
    cutting = options_from(PretokenizeOptions, {"pattern": pattern}, WHERE)
    if not isinstance(normalize, NormalizeOptions):
        normalize = options_from(NormalizeOptions, {"form": normalize}, WHERE)
    return cutting.pattern, normalize


def _text_bytes(texts: Any) -> int:  # noqa: ANN401 - as above
    """Return how many bytes a file has still, about; 0 where nothing says so."""
    if not isinstance(texts, io.BufferedReader):
        return 0
    try:
        return max(os.fstat(texts.fileno()).st_size - texts.tell(), 0)
    except OSError:  # a pipe
        return 0


def _batches(texts: Any, columns: dict[str, Any]) -> Iterator[TextBatch]:  # noqa: ANN401 - as above
    if isinstance(texts, str | bytes | io.BufferedIOBase) or is_dataset(texts):
        yield from read_dataset(texts, **columns)
        return
    iterator = iter(texts)
    head = next(iterator, None)
    if isinstance(head, TextBatch):
        yield head
        for batch in iterator:
            if not isinstance(batch, TextBatch):
                message = f"texts: batches and {type(batch).__name__} are mixed; pass either"
                raise TypeError(message)
            yield batch
    elif head is not None:
        again = iter(texts) is not iterator
        yield from batch_texts(texts if again else itertools.chain([head], iterator))
