"""Lists of str become UTF-8 natively, as str.encode makes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jogak import _core

EDGES = "\0\x7f\x80ÿĀ߿ࠀ퟿￿\U00010000\U0010ffff가 a"
TEXTS = st.lists(st.one_of(st.text(), st.text(EDGES), st.text("ab "), st.text("éa")), max_size=8)


@given(TEXTS)
def test_texts_are_joined_as_their_own_utf8(texts: list[str]) -> None:
    joined = _core.join_texts(texts)
    assert joined is not None
    data, offsets = joined
    encoded = [text.encode() for text in texts]
    assert data.tobytes() == b"".join(encoded)
    assert np.diff(offsets).tolist() == [len(each) for each in encoded]


@pytest.mark.parametrize("odd", ["\ud800", "가\udfff", "🙂\udbff", b"bytes", None, 1])
def test_what_is_no_text_is_left_to_the_caller(odd: object) -> None:
    assert _core.join_texts(["a", odd, "b"]) is None
