"""tiktoken ranks, Tekken JSON, GPT-2 files, and converting between them."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from tokenizers import Tokenizer as LibraryTokenizer

from jogak.errors import TokenizerError
from jogak.formats.tiktoken import ENCODINGS
from jogak.pretokenize import PATTERNS
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import BYTE_CHARACTERS, TokenizerSpec, pack_tokens, spec_from_merges
from reference.toy_tokenizers import HARD, TEXTS, byte_level, write


def toy_ranks() -> dict[bytes, int]:
    """Return the tokens of a small trained tokenizer by rank, bytes first."""
    model = json.loads(byte_level(vocab_size=500).to_str())["model"]
    tokens = [
        bytes(BYTE_CHARACTERS.index(character) for character in text)
        for text, _ in sorted(model["vocab"].items(), key=lambda item: item[1])[1:]
    ]
    return {token: rank for rank, token in enumerate(tokens)}


def write_ranks(path: Path, ranks: dict[bytes, int]) -> Path:
    lines = (f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks.items())
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
def test_ranks_give_tiktokens_ids(pattern: str, tmp_path: Path) -> None:
    ranks = toy_ranks()
    special = {"<|endoftext|>": 600}
    path = write_ranks(tmp_path / "own.tiktoken", ranks)
    ours = Tokenizer.load(path, pattern=pattern, special_tokens=special)
    theirs = tiktoken.Encoding(
        "own", pat_str=PATTERNS[pattern], mergeable_ranks=ranks, special_tokens=special
    )
    for text in TEXTS + HARD:
        assert ours.encode(text).tolist() == theirs.encode_ordinary(text), text
        assert ours.encode(text, special="allow").tolist() == theirs.encode(
            text, allowed_special="all"
        )
        assert ours.decode(ours.encode(text)) == text
    assert (ours.eos_id, ours.vocab_size) == (600, 601)


def test_ranks_are_saved_for_other_libraries_and_read_back_as_ranks(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "own.tiktoken", toy_ranks())
    ours = Tokenizer.load(path, pattern="cl100k", special_tokens={"<|endoftext|>": 600})
    ours.save(tmp_path / "saved")
    assert Tokenizer.load(tmp_path / "saved").fingerprint == ours.fingerprint
    library = LibraryTokenizer.from_file(str(tmp_path / "saved" / "tokenizer.json"))
    library.encode_special_tokens = True
    for text in TEXTS + HARD:
        assert library.encode(text).ids == ours.encode(text).tolist(), text


def test_openais_encodings_are_known_by_file_name() -> None:
    from tiktoken_ext import openai_public

    def no_download(*_: object, **__: object) -> dict[bytes, int]:
        return {b"a": 0}

    for name, encoding in ENCODINGS.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(openai_public, "load_tiktoken_bpe", no_download)
            theirs = getattr(openai_public, name)()
        # tiktoken gives one id two names here, which no other format can; one is left out.
        theirs["special_tokens"].pop("<|reserved_200018|>", None)
        assert dict(encoding.special_tokens) == theirs["special_tokens"], name


def test_ranks_of_an_unknown_name_need_a_pattern(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "own.tiktoken", toy_ranks())
    with pytest.raises(TokenizerError, match=r"pass pattern=.*own\.json"):
        Tokenizer.load(path)
    (tmp_path / "own.json").write_text(json.dumps({"pattern": PATTERNS["gpt2"]}))
    assert Tokenizer.load(path).pretokenize("a 12") == ["a", " 12"]


def test_ranks_that_are_damaged_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r50k_base.tiktoken"
    path.write_text("IQ== 0\nnonsense\n")
    with pytest.raises(TokenizerError, match=r"r50k_base\.tiktoken:2"):
        Tokenizer.load(path)
    path.write_text("IQ== 0\n")
    with pytest.raises(TokenizerError, match="255 of the 256 bytes"):
        Tokenizer.load(path)
    ranks = toy_ranks()
    ranks["가나다".encode()] = 5
    with pytest.raises(TokenizerError, match="rank 5"):
        Tokenizer.load(write_ranks(path, ranks))


def test_tekken_ids_are_ranks_behind_the_special_tokens(tmp_path: Path) -> None:
    ranks = toy_ranks()
    content = {
        "config": {
            "pattern": PATTERNS["tekken"],
            "num_vocab_tokens": len(ranks),
            "default_vocab_size": 420,
            "default_num_special_tokens": 30,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for token, rank in ranks.items()
        ],
    }
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(content))
    ours = Tokenizer.load(path)
    kept = {token: rank for token, rank in ranks.items() if rank < 390}
    theirs = tiktoken.Encoding(
        "t", pat_str=PATTERNS["tekken"], mergeable_ranks=kept, special_tokens={}
    )
    for text in TEXTS + HARD:
        assert ours.encode(text).tolist() == [30 + r for r in theirs.encode_ordinary(text)]
    assert (ours.vocab_size, ours.bos_id, ours.eos_id) == (420, 1, 2)
    assert ours.special_tokens["<SPECIAL_29>"] == 29
    content["special_tokens"] = [{"rank": 40, "token_str": "<s>", "is_control": True}]
    path.write_text(json.dumps(content))
    with pytest.raises(TokenizerError, match="room for 30"):
        Tokenizer.load(tmp_path)


def test_gpt2_files_give_the_librarys_ids(tmp_path: Path) -> None:
    library = byte_level()
    library.model.save(str(tmp_path))
    ours = Tokenizer.load(tmp_path)
    library.encode_special_tokens = True
    for text in TEXTS + HARD:
        assert ours.encode(text).tolist() == library.encode(text).ids, text
    assert ours.eos_id == 0
    assert Tokenizer.load(tmp_path / "merges.txt").fingerprint == ours.fingerprint
    ours.convert("gpt2", tmp_path / "again")
    assert Tokenizer.load(tmp_path / "again").fingerprint == ours.fingerprint
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(TokenizerError, match=r"merges\.txt: no such file"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("pattern", ["gpt2", "o200k", r"\p{L}{1,5}|[^\p{L}]"])
def test_a_trained_tokenizer_is_the_same_in_tiktoken(pattern: str, tmp_path: Path) -> None:
    model = json.loads(byte_level(vocab_size=600).to_str())["model"]
    vocab = model["vocab"]
    pairs = np.array([(vocab[a], vocab[b]) for a, b in model["merges"]], dtype=np.uint32)
    source = PATTERNS.get(pattern, pattern)
    ours = Tokenizer(spec_from_merges(["<|endoftext|>"], *pairs.T, source))
    ranks_file, beside = ours.convert("tiktoken", tmp_path)
    content = json.loads(beside.read_text())
    lines = (line.split() for line in ranks_file.read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    theirs = tiktoken.Encoding(
        "own",
        pat_str=content["pattern"],
        mergeable_ranks=ranks,
        special_tokens=content["special_tokens"],
    )
    back = Tokenizer.load(ranks_file)
    for text in TEXTS + HARD:
        assert theirs.encode_ordinary(text) == ours.encode(text).tolist(), text
        assert back.encode(text).tolist() == ours.encode(text).tolist(), text


def bytes_spec(merges: list[tuple[bytes, bytes]]) -> TokenizerSpec:
    tokens = [bytes((byte,)) for byte in range(256)]
    rows = []
    for left, right in merges:
        if left + right not in tokens:
            tokens.append(left + right)
        rows.append([tokens.index(part) for part in (left, right, left + right)])
    data, offsets = pack_tokens(tokens)
    base = spec_from_merges([], *np.zeros((2, 0), dtype=np.uint32), PATTERNS["gpt2"])
    array = np.array(rows, dtype=np.uint32)
    return replace(base, token_data=data, token_offsets=offsets, merges=array)


def test_merges_that_are_not_consistent_with_ranks_are_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    # By rank `abc` is a + bc; the list makes it of ab + c, so `zabc` would differ.
    listed = [(b"x", b"a"), (b"b", b"c"), (b"a", b"b"), (b"ab", b"c")]
    with pytest.raises(TokenizerError, match=r"b'abc' is made of b'a' and b'bc', a pair not"):
        Tokenizer(bytes_spec(listed)).convert("tiktoken", tmp_path)
    consistent = [(b"x", b"a"), (b"b", b"c"), (b"a", b"b"), (b"a", b"bc")]
    assert Tokenizer(bytes_spec(consistent)).convert("tiktoken", tmp_path)
    spec = bytes_spec(consistent)
    backwards = replace(spec, merges=np.ascontiguousarray(spec.merges[[1, 0, 2, 3]]))
    with pytest.raises(TokenizerError, match="not in the order of the ids"):
        Tokenizer(backwards).convert("tiktoken", tmp_path)


def test_what_a_format_cannot_say_is_refused(tmp_path: Path) -> None:
    nfc = Tokenizer.load(write(byte_level(nfc=True), tmp_path / "nfc.json"))
    for to in ("tiktoken", "gpt2"):
        with pytest.raises(TokenizerError, match="no place for its normalizer"):
            nfc.convert(to, tmp_path)
    plain = byte_level(special=[{"content": "<x>", "special": False}])
    with pytest.raises(TokenizerError, match="'<x>' is matched in plain text"):
        Tokenizer.load(write(plain, tmp_path / "plain.json")).convert("tiktoken", tmp_path)
    ranks = write_ranks(tmp_path / "o200k_base.tiktoken", toy_ranks())
    with pytest.raises(TokenizerError, match="gpt2 pattern"):
        Tokenizer.load(ranks).convert("gpt2", tmp_path)
    with pytest.raises(TokenizerError, match="unknown format 'sqlite'"):
        nfc.convert("sqlite", tmp_path)
