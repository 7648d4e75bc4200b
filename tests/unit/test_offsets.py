"""Offsets beyond 31 and 32 bits, without giant files: the pages between are never touched."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from jogak import _core
from jogak.config import NormalizeOptions
from jogak.count import count_pretokens
from jogak.documents import TextBatch
from jogak.normalize import normalize_batch
from jogak.pretokenize import Pretokenizer
from jogak.read import batch_texts
from jogak.train import train

TEXTS = ["나는 학교에 간다", "", "the lower newest 1234", "한글 e\u0301 ㅋㅋㅋ", "끝"]
PLACES = [0, 2**31 - 7, 2**31 + 5, 2**32 - 9, 2**32 + 3]


def batch_at(place: int) -> TextBatch:
    """Return the texts as a batch whose first document begins at byte `place` of its buffer."""
    parts = [text.encode() for text in TEXTS]
    joined = b"".join(parts)
    data = np.zeros(place + len(joined) + 64, np.uint8)  # zeros are not stored before they are used
    data[place : place + len(joined)] = np.frombuffer(joined, np.uint8)
    offsets = place + np.cumsum([0, *map(len, parts)], dtype=np.int64)
    count = len(parts)
    return TextBatch(data, offsets, np.zeros(count, np.int32), ("ko",), np.arange(count), "f", 0)


@pytest.mark.parametrize("place", PLACES)
def test_text_beyond_32_bits_is_treated_like_any_other(place: int) -> None:
    near, far = batch_at(0), batch_at(place)
    assert (_core.validate_utf8(far.data, far.offsets) == -1).all()
    for a, b in zip(
        _core.measure_text(near.data, near.offsets),
        _core.measure_text(far.data, far.offsets),
        strict=True,
    ):
        assert a.tolist() == b.tolist()
    normal, changed = normalize_batch(far, NormalizeOptions(form="nfc"))
    assert changed == 1
    assert [normal.document(i) for i in range(len(TEXTS))] == [
        document.replace("e\u0301".encode(), "é".encode())
        for document in (near.document(i) for i in range(len(TEXTS)))
    ]
    for pattern in ("gpt2", "o200k", "whitespace"):
        pretokenizer = Pretokenizer(pattern)
        ends, document_ends = pretokenizer.boundaries(near.data, near.offsets)
        far_ends, far_document_ends = pretokenizer.boundaries(far.data, far.offsets)
        assert (far_ends - place).tolist() == ends.tolist()
        assert far_document_ends.tolist() == document_ends.tolist()
    counts, far_counts = count_pretokens([near]), count_pretokens([far])
    for name in ("data", "offsets", "counts", "first"):
        assert np.array_equal(getattr(counts, name), getattr(far_counts, name)), name
    tokenizer = train(counts, vocab_size=258)
    ids, ends = tokenizer.encode_documents(near.data, near.offsets)
    far_ids, far_document_ends = tokenizer.encode_documents(far.data, far.offsets)
    assert far_ids.tolist() == ids.tolist()
    assert far_document_ends.tolist() == ends.tolist()


def test_a_string_column_over_2_gib_is_read_chunk_by_chunk() -> None:
    """Each chunk has 32-bit offsets near their end; three of them hold 6 GiB, by their offsets."""
    size = 2**31 - 1
    data = np.zeros(size, np.uint8)
    text = "가나다abc".encode()
    data[-len(text) :] = np.frombuffer(text, np.uint8)
    offsets = np.array([size - len(text), size - len(text), size - 3, size], np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    chunk = pa.StringArray.from_buffers(3, *buffers[1:])
    batches = list(batch_texts(pa.chunked_array([chunk, chunk, chunk])))
    found = [batch.document(i) for batch in batches for i in range(len(batch))]
    assert found == [b"", "가나다".encode(), b"abc"] * 3
