"""documents: a batch is a view; its documents are ranges of one buffer."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from jogak.documents import RejectedRow, TextBatch


def batch() -> TextBatch:
    return TextBatch(
        data=np.frombuffer("앞가bc".encode(), np.uint8),
        offsets=np.array([3, 6, 6, 8], np.int64),
        languages=np.array([0, 1, 0], np.int32),
        language_names=("ko", "und"),
        rows=np.array([4, 5, 7], np.int64),
        path="a.parquet",
        source=0,
    )


def test_documents_are_ranges_that_need_not_begin_at_0() -> None:
    assert len(batch()) == 3
    assert [batch().document(index) for index in range(3)] == ["가".encode(), b"", b"bc"]


def test_what_flows_is_frozen_and_crosses_process_boundaries() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch().path = "b"  # type: ignore[misc] # that it is refused is the point
    copied = pickle.loads(pickle.dumps(batch()))
    assert copied.document(2) == b"bc"
    bad = RejectedRow("a.parquet", 3, "null text", "skip")
    assert pickle.loads(pickle.dumps(bad)) == bad
