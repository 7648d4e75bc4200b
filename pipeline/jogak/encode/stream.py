"""Ids of a dataset as they are made, batch by batch; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jogak.config import Boundary, EncodeOptions
from jogak.encode.boundary import boundary_ids, with_boundaries
from jogak.read import read_dataset
from jogak.read.python import BATCH_BYTES
from jogak.tokenizer import TokenBatch, Tokenizer


def tokenize(
    dataset: Any,  # noqa: ANN401 - as `read_dataset`
    tokenizer: Tokenizer | Path | str,
    *,
    text: str = "text",
    boundary: Boundary = "none",
    batch_bytes: int = BATCH_BYTES,
    threads: int = 1,
) -> Iterator[TokenBatch]:
    """Encode a dataset, batch by batch, in the memory of a batch. To write shards, use `run`.

    Args:
        dataset: datasets.Dataset or IterableDataset, pyarrow Table, RecordBatch or
            RecordBatchReader, Arrow text, or an iterable of str or bytes of UTF-8.
        tokenizer: a tokenizer, or its file or folder.
        text: the column of text, or the path `a.b` of a field in structs.
        boundary: the ids put around every document, as `encode.boundary`.
        batch_bytes: bytes of text per batch, unless one document has more.
        threads: how many threads encode.

    Yields:
        Batches of documents, in order: ids uint32 (n,), ends int64 (documents,).

    Raises:
        SourceError: a document cannot be read; the message names it by its row.
        TokenizerError: the boundary needs a token that the tokenizer lacks.
    """
    import pyarrow as pa

    loaded = tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer.load(tokenizer)
    marks = boundary_ids(loaded, EncodeOptions(boundary=boundary))
    for batch in read_dataset(dataset, text=text, batch_bytes=batch_bytes):
        buffers = pa.py_buffer(batch.offsets), pa.py_buffer(batch.data)
        texts = pa.LargeStringArray.from_buffers(len(batch), *buffers)
        found = loaded.encode_batch(texts, threads=threads)
        lengths = np.diff(found.ends, prepend=0)
        ids, lengths = with_boundaries(found.ids, lengths, marks)
        yield TokenBatch(ids, np.cumsum(lengths, dtype=np.int64))
