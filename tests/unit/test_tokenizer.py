"""Tokenizer: ids as the original library gives them, and back to the same text."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer as LibraryTokenizer

from jogak.errors import TokenizerError
from jogak.tokenizer import Tokenizer
from reference.toy_tokenizers import HARD, TEXTS, byte_level, write

SPECIAL = [{"content": "<|im_start|>", "special": True, "normalized": False}]


@pytest.fixture(scope="module")
def library() -> LibraryTokenizer:
    return byte_level(special=SPECIAL)


@pytest.fixture(scope="module")
def tokenizer(library: LibraryTokenizer, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Tokenizer.load(write(library, tmp_path_factory.mktemp("toy") / "tokenizer.json"))


def test_ids_equal_the_librarys_with_special_strings_as_text(
    library: LibraryTokenizer, tokenizer: Tokenizer
) -> None:
    library.encode_special_tokens = True
    for text in TEXTS + HARD:
        assert tokenizer.encode(text).tolist() == library.encode(text).ids, text


def test_ids_equal_the_librarys_with_special_strings_allowed(
    library: LibraryTokenizer, tokenizer: Tokenizer
) -> None:
    library.encode_special_tokens = False
    for text in TEXTS + HARD:
        assert tokenizer.encode(text, special="allow").tolist() == library.encode(text).ids, text


def test_a_set_allows_only_its_special_strings(tokenizer: Tokenizer) -> None:
    text = "가<|im_start|><|endoftext|>"
    ids = tokenizer.encode(text, special={"<|im_start|>"}).tolist()
    assert tokenizer.special_tokens["<|im_start|>"] in ids
    assert tokenizer.special_tokens["<|endoftext|>"] not in ids
    assert tokenizer.decode(ids) == text


def test_error_names_the_special_string_and_where_it_is(tokenizer: Tokenizer) -> None:
    with pytest.raises(TokenizerError, match=r"<\|im_start\|>.*character 3"):
        tokenizer.encode("가나 <|im_start|>", special="error")
    with pytest.raises(TokenizerError, match=r"text 1: .*character 0"):
        tokenizer.encode_batch(["가", "<|endoftext|>"], special="error")
    assert tokenizer.encode("가나", special="error").tolist() == tokenizer.encode("가나").tolist()


def test_an_unknown_special_string_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(TokenizerError, match="<nope>"):
        tokenizer.encode("가", special={"<nope>"})
    with pytest.raises(TokenizerError, match="'ignore'"):
        tokenizer.encode("가", special="ignore")


def test_decode_returns_the_text(tokenizer: Tokenizer) -> None:
    for text in TEXTS + HARD:
        for special in ("plain", "allow"):
            assert tokenizer.decode(tokenizer.encode(text, special=special)) == text


def test_a_batch_is_its_texts_one_by_one_for_any_container_and_thread_count(
    tokenizer: Tokenizer,
) -> None:
    texts = TEXTS + HARD
    expected = [tokenizer.encode(text).tolist() for text in texts]
    containers = [
        texts,
        [text.encode() for text in texts],
        iter(texts),
        pa.array(texts),
        pa.array(texts, pa.large_string()),
        pa.array(texts, pa.string_view()),
        pa.array(texts).dictionary_encode(),
        pa.chunked_array([texts[:5], texts[5:]]),
    ]
    for threads in (1, 2, 3):
        for container in containers if threads == 1 else containers[:1]:
            batch = tokenizer.encode_batch(container, threads=threads)
            assert batch.ids.dtype == np.uint32
            assert batch.ends.dtype == np.int64
            assert [batch[index].tolist() for index in range(len(batch))] == expected


def test_no_texts_give_no_ids(tokenizer: Tokenizer) -> None:
    batch = tokenizer.encode_batch([])
    assert (len(batch), batch.ids.tolist(), batch.ends.tolist()) == (0, [], [])


def test_encode_documents_takes_the_buffers_of_a_batch(tokenizer: Tokenizer) -> None:
    data = np.frombuffer("xx가나 <|endoftext|>다".encode(), dtype=np.uint8)
    ids, ends = tokenizer.encode_documents(data, np.array([2, 8, 8, len(data)], dtype=np.int64))
    assert ends[0] == ends[1]
    assert tokenizer.decode(ids[: ends[0]]) == "가나"
    assert tokenizer.decode(ids[ends[1] :]) == " <|endoftext|>다"
    assert tokenizer.special_tokens["<|endoftext|>"] not in ids


def test_token_bytes_and_token_id_are_inverse(tokenizer: Tokenizer) -> None:
    for index in range(tokenizer.vocab_size):
        assert tokenizer.token_id(tokenizer.token_bytes(index)) == index
    assert tokenizer.token_id("없는 토큰".encode()) is None


def test_token_bytes_are_raw_bytes(tokenizer: Tokenizer) -> None:
    lengths = [len(tokenizer.token_bytes(index)) for index in tokenizer.encode("뷁").tolist()]
    assert sum(lengths) == 3
    assert len(lengths) > 1


def test_decode_names_an_id_that_is_no_token(tokenizer: Tokenizer) -> None:
    for wrong in (tokenizer.vocab_size, -1):
        with pytest.raises(TokenizerError, match=rf"{wrong} at position 1"):
            tokenizer.decode([5, wrong])


@pytest.mark.parametrize("ids", [5, [1.5], ["5"], np.array([1.0]), np.array([[1]]), None])
def test_decode_refuses_what_is_no_list_of_whole_numbers(tokenizer: Tokenizer, ids: object) -> None:
    with pytest.raises(TokenizerError, match="expected whole numbers"):
        tokenizer.decode(ids)  # type: ignore[arg-type]  # that is the test


def test_decode_of_broken_characters_is_strict_or_replaces(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("뷁").tolist()[:-1]
    with pytest.raises(TokenizerError, match="not UTF-8 at byte 0"):
        tokenizer.decode(ids)
    assert tokenizer.decode(ids, errors="replace") == "\ufffd"
    assert tokenizer.decode_bytes(ids) == "뷁".encode()[: len(ids)]


def test_a_stream_holds_incomplete_characters_back_and_joins_to_the_whole(
    tokenizer: Tokenizer,
) -> None:
    for text in TEXTS + HARD:
        stream = tokenizer.stream_decoder()
        parts = [stream.feed(index) for index in tokenizer.encode(text).tolist()]
        assert "".join(parts) + stream.finish() == text
        assert not any("\ufffd" in part for part in parts)


def test_a_stream_releases_invalid_bytes_as_decode_does(tokenizer: Tokenizer) -> None:
    byte = [tokenizer.token_id(bytes((value,))) for value in range(256)]
    for values in ([0xEB, 0x41], [0xEB, 0xB7], [0xFF, 0xEB, 0xB7, 0x81], [0xED, 0xA0, 0x80]):
        ids = [byte[value] for value in values]
        stream = tokenizer.stream_decoder(errors="replace")
        got = "".join(map(stream.feed, ids)) + stream.finish()
        assert got == tokenizer.decode(ids, errors="replace")


def test_text_that_is_not_unicode_is_refused_with_its_place(tokenizer: Tokenizer) -> None:
    with pytest.raises(TokenizerError, match=r"U\+D83D at character 1"):
        tokenizer.encode("가\ud83d")
    with pytest.raises(TokenizerError, match="text 1"):
        tokenizer.encode_batch(["가", "\ud83d"])
    with pytest.raises(TokenizerError, match="int"):
        tokenizer.encode(3)
    with pytest.raises(TokenizerError, match="use encode"):
        tokenizer.encode_batch("가")


def test_pretokens_joined_are_the_text(tokenizer: Tokenizer) -> None:
    for text in TEXTS + HARD:
        assert "".join(tokenizer.pretokenize(text)) == text
    assert tokenizer.pretokenize("한글 문서 2024") == ["한글", " 문서", " 2024"]


def test_a_tokenizer_crosses_process_boundaries(tokenizer: Tokenizer) -> None:
    twin = pickle.loads(pickle.dumps(tokenizer))
    assert twin.fingerprint == tokenizer.fingerprint
    assert twin.encode(TEXTS[0]).tolist() == tokenizer.encode(TEXTS[0]).tolist()


def test_a_saved_tokenizer_is_the_same_tokenizer(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path)
    again = Tokenizer.load(tmp_path)
    assert again.fingerprint == tokenizer.fingerprint
    assert again.vocab_size == tokenizer.vocab_size


def test_bytes_that_are_not_utf8_are_kept(tokenizer: Tokenizer) -> None:
    generator = random.Random(5)
    pool = [b"\xff", b"\xeb\xb7", b"\xf0\x9f", "가".encode(), b"ab", b" ", b"\x81", b"\xed\xa0\x80"]
    texts = [b"".join(generator.choices(pool, k=generator.randint(0, 12))) for _ in range(300)]
    batch = tokenizer.encode_batch(texts)
    for index, text in enumerate(texts):
        ids = tokenizer.encode(text)
        assert tokenizer.decode_bytes(ids) == text
        assert batch[index].tolist() == ids.tolist()
    with pytest.raises(TokenizerError, match="byte 1"):
        tokenizer.encode(b"a\xff", return_offsets=True)
