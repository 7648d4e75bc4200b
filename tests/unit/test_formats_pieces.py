"""SentencePiece models and WordPiece vocabularies, against their libraries."""

from __future__ import annotations

import io
import math
import random
import struct
from collections.abc import Iterable
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import models, pre_tokenizers

from jogak import _core
from jogak.errors import TokenizerError
from jogak.formats import protobuf
from jogak.formats.sentencepiece import NORMAL, parse
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import pack_tokens
from reference.toy_tokenizers import HARD, TEXTS

MORE = [
    *HARD,
    "  두 칸  띄고 ",
    "▁ 밑줄 ▁▁",
    "[CLS] 가 [SEP]나<sep>",
    "ﬁ ㈜ ①㎏ ＡＢＣ",
    "ｶﾞ ㅋㅋ",
    "\u3000가",
]


def train(
    path: Path, sentences: Iterable[str] = TEXTS, **options: object
) -> sentencepiece.SentencePieceProcessor:
    """Train a small model into a file."""
    writer = io.BytesIO()
    settings = {
        "vocab_size": 420,
        "character_coverage": 0.98,
        "user_defined_symbols": ["[CLS]", "[SEP]"],
        "minloglevel": 2,
        "hard_vocab_limit": False,
    }
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=writer, **settings | options
    )
    path.write_bytes(writer.getvalue())
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("rule", ["identity", "nmt_nfkc"])
@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("keep_spaces", [False, True])
def test_models_give_sentencepieces_ids(
    kind: str, rule: str, byte_fallback: bool, keep_spaces: bool, tmp_path: Path
) -> None:
    path = tmp_path / "tok.model"
    theirs = train(
        path,
        model_type=kind,
        normalization_rule_name=rule,
        byte_fallback=byte_fallback,
        vocab_size=600,
        remove_extra_whitespaces=not keep_spaces,
        add_dummy_prefix=not keep_spaces,
    )
    ours = Tokenizer.load(path)
    for text in TEXTS + MORE:
        assert ours.encode(text).tolist() == theirs.encode(text), text
    expected = list(chain.from_iterable(theirs.encode(TEXTS + MORE)))
    assert ours.encode_batch(TEXTS + MORE, threads=2).ids.tolist() == expected
    assert ours.vocab_size == theirs.vocab_size()
    assert (ours.bos_id, ours.eos_id) == (theirs.bos_id(), theirs.eos_id())
    ours.save(tmp_path / "saved")
    assert Tokenizer.load(tmp_path / "saved").fingerprint == ours.fingerprint


def test_near_ties_far_into_a_long_text_turn_as_in_sentencepiece(tmp_path: Path) -> None:
    rng = random.Random(1)
    parts = ("--", "-", "ab", "ba", "aab")
    sentences = ["".join(rng.choices(parts, k=12)) for _ in range(400)]
    theirs = train(
        tmp_path / "tok.model",
        sentences,
        model_type="unigram",
        vocab_size=30,
        user_defined_symbols=[],
    )
    text = "".join(rng.choices("ab-", k=200_000))
    ids = theirs.encode(text)
    assert sum(map(theirs.get_score, ids)) < -500_000
    assert Tokenizer.load(tmp_path / "tok.model").encode(text).tolist() == ids


def test_a_saved_sentencepiece_bpe_gives_the_same_ids_in_tokenizers(tmp_path: Path) -> None:
    train(tmp_path / "tok.model", model_type="bpe", normalization_rule_name="identity")
    ours = Tokenizer.load(tmp_path / "tok.model")
    ours.save(tmp_path)
    library = LibraryTokenizer.from_file(str(tmp_path / "tokenizer.json"))
    library.encode_special_tokens = True
    for text in TEXTS + MORE:
        ids = ours.encode(text).tolist()
        assert library.encode(text).ids == ids, text
        assert library.decode(ids, skip_special_tokens=False) == ours.decode(ids)


def test_byte_pieces_decode_to_their_bytes(tmp_path: Path) -> None:
    train(tmp_path / "tok.model", model_type="bpe", byte_fallback=True, vocab_size=600)
    ours = Tokenizer.load(tmp_path / "tok.model")
    ids = ours.encode("🚀").tolist()
    assert ours.decode_bytes(ids).endswith("🚀".encode())
    assert b"".join(map(ours.token_bytes, ids)).strip() == "🚀".encode()
    literal = ours.encode("<0x03>").tolist()
    assert ours.token_id(b"\x03") not in literal


def test_damaged_and_unsupported_models_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tok.model"
    train(path, model_type="bpe")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(TokenizerError, match="not a SentencePiece model"):
        Tokenizer.load(path)
    path.write_bytes(b"")
    with pytest.raises(TokenizerError, match="without pieces"):
        Tokenizer.load(path)
    train(path, model_type="word", vocab_size=50)
    with pytest.raises(TokenizerError, match="model type 3"):
        Tokenizer.load(path)
    train(path, model_type="unigram", treat_whitespace_as_suffix=True)
    with pytest.raises(TokenizerError, match="treat_whitespace_as_suffix"):
        Tokenizer.load(path)


def test_protobuf_fields_are_read_and_nonsense_is_refused() -> None:
    message = b"\x08\x96\x01\x12\x02hi\x1d\x00\x00\x80?\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    fields = dict(protobuf.fields(message))
    assert (fields[1], fields[2], protobuf.as_float(fields[3])) == (150, b"hi", 1.0)
    assert protobuf.as_int(fields[4]) == -1
    for damaged in (b"\x08", b"\x12\x09hi", b"\x0b", b"\x08\xff\xff"):
        with pytest.raises(ValueError, match=r"byte|end"):
            dict(protobuf.fields(damaged))


def test_a_damaged_character_map_is_refused() -> None:
    for blob in (b"", b"\x04\x00\x00\x00", b"\x04\x00\x00\x00\x00\x00\x00\x00x"):
        with pytest.raises(ValueError, match="character map"):
            _core.CharsMap(np.frombuffer(blob, dtype=np.uint8))


def test_spaces_are_edited_inside_each_document() -> None:
    data, offsets = pack_tokens([b"  a  b", b" ", b"", b"c  dd"])
    for rules, expected in (
        ({"strip_start": True}, ["a  b", "", "", "c  dd"]),
        ({"squeeze": True}, [" a b", " ", "", "c dd"]),
        ({"strip_start": True, "squeeze": True}, ["a b", "", "", "c dd"]),
        ({"strip_end": "d"}, ["  a  b", " ", "", "c  "]),
    ):
        made, bounds = _core.edit_spaces(data, offsets, **rules)
        text = made.tobytes().decode()
        assert [text[a:b] for a, b in pairwise(bounds.tolist())] == expected


def test_a_wordpiece_vocabulary_gives_the_librarys_ids(tmp_path: Path) -> None:
    words = sorted({piece for text in TEXTS for piece in text})
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "나는", "학교", "##에", *words]
    tokens += [f"##{word}" for word in words if word.isalnum() and f"##{word}" not in tokens]
    tokens = [token for token in tokens if token.strip()]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    ours = Tokenizer.load(tmp_path)
    vocab = {token: index for index, token in enumerate(tokens)}
    library = LibraryTokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    for text in TEXTS + MORE:
        assert ours.encode(text).tolist() == library.encode(text).ids, text
    assert ours.encode("가 [MASK]", special="allow")[-1] == 4
    assert ours.encode("가 [MASK]", special={"[MASK]"})[-1] == 4
    assert ours.encode("가", add_special_tokens=True).tolist()[::2] == [2, 3]
    assert ours.decode(ours.encode("나는 학교에 간다")) == "나는 학교에 간다"
    stream = ours.stream_decoder()
    parts = [stream.feed(int(index)) for index in ours.encode("나는 학교에 간다")]
    assert "".join(parts) + stream.finish() == "나는 학교에 간다"
    ours.save(tmp_path / "saved")
    assert Tokenizer.load(tmp_path / "saved").fingerprint == ours.fingerprint
    (tmp_path / "vocab.txt").write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(TokenizerError, match=r"no token \[UNK\]"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("scale", [3, 40, 10**6])
def test_of_pieces_with_one_score_the_leftmost_is_next_as_in_sentencepiece(
    scale: int, tmp_path: Path
) -> None:
    path = tmp_path / "tok.model"
    train(
        path,
        [text + "   " + text for text in TEXTS],
        model_type="bpe",
        vocab_size=600,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )
    data = path.read_bytes()
    for piece in parse(data)[0]:
        if piece.kind == NORMAL and len(piece.text) > 1:
            text = piece.text.encode()
            head = b"\x0a" + bytes((len(text),)) + text + b"\x15"
            rounded = struct.pack("<f", math.floor(piece.score / scale) * scale)
            data = data.replace(head + struct.pack("<f", piece.score), head + rounded)
    path.write_bytes(data)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ours = Tokenizer.load(path)
    assert ours.spec.tied
    generator = random.Random(7)
    letters = "".join(TEXTS[:6]) + "     "
    texts = TEXTS + MORE + ["".join(generator.choices(letters, k=40)) for _ in range(500)]
    for text in texts:
        assert ours.encode(text).tolist() == theirs.encode(text), text
    ours.save(tmp_path / "saved")
    assert Tokenizer.load(tmp_path / "saved").fingerprint == ours.fingerprint


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_users_symbols_are_not_normalized(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "tok.model"
    symbols = ["①", "ㅋㅋ", "ㅋㅋㅋ", "ﬁ", "<Ａ>", "나는"]
    theirs = train(path, model_type=kind, user_defined_symbols=symbols)
    ours = Tokenizer.load(path)
    for text in [*TEXTS, *MORE, "①②ㅋㅋㅋㅋㅋ ﬁﬂ<Ａ><Ｂ>", "나\u1102\u1173\u11ab ㅋ"]:
        assert ours.encode(text).tolist() == theirs.encode(text), text
    ours.save(tmp_path / "saved")
    assert Tokenizer.load(tmp_path / "saved").fingerprint == ours.fingerprint


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("surface", [" \u2047 ", "[?]"])
def test_an_unknown_token_decodes_as_the_model_says(
    kind: str, surface: str, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.model.v3"  # as Mistral names its files
    theirs = train(path, model_type=kind, unk_surface=surface, user_defined_symbols=[])
    ours = Tokenizer.load(path)
    assert Tokenizer.load(tmp_path).fingerprint == ours.fingerprint
    for text in [*TEXTS, "나는 뷁 간다"]:
        ids = theirs.encode(text)
        assert ours.decode(ids) == theirs.decode(ids), text


def test_a_unigram_model_with_the_marker_as_a_symbol_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tok.model"
    train(path, model_type="unigram", user_defined_symbols=["▁"])
    with pytest.raises(TokenizerError, match=r"user-defined '▁' cannot be applied exactly"):
        Tokenizer.load(path)
