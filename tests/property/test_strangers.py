"""Tokenizer files of strangers: a tokenizer or a TokenizerError, soon and in bounded memory."""

from __future__ import annotations

import copy
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from jogak.errors import TokenizerError
from jogak.tokenizer import Tokenizer
from reference.toy_tokenizers import byte_level

TEXT = ["나는 학교에 간다 the lower newest"] * 50


def byte_fallback() -> LibraryTokenizer:
    made = LibraryTokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    pieces = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    made.decoder = decoders.Sequence([*pieces, decoders.Strip(" ", 1, 0)])
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    made.train_from_iterator(TEXT, trainer)
    return made


def unigram() -> LibraryTokenizer:
    made = LibraryTokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=60, unk_token="<unk>", special_tokens=["<unk>", "<s>"], show_progress=False
    )
    made.train_from_iterator(TEXT, trainer)
    return made


def wordpiece() -> LibraryTokenizer:
    made = LibraryTokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    trainer = trainers.WordPieceTrainer(
        vocab_size=80, special_tokens=["[UNK]", "[CLS]"], show_progress=False
    )
    made.train_from_iterator(TEXT, trainer)
    return made


@pytest.fixture(scope="module")
def originals() -> list[Any]:
    makers = (byte_level, byte_fallback, unigram, wordpiece)
    return [json.loads(make().to_str()) for make in makers]


HOSTILE: list[Any] = [None, True, False, 0, 1, -1, 7, 2**31 - 1, 2**31, 2**32, 2**63, 2**64]
HOSTILE += [10**30, 1.5, float("inf"), "", "a", "Ġ", "\ud800", "\x00", "[", "(?", "(a*)*b"]
HOSTILE += [r"\p{L}{1000}{1000}", "가" * 1_000, [], {}, [[]], [None], [["a"]], [["a", "b", "c"]]]
HOSTILE += [{"type": "ByteLevel"}, {"type": "Sequence"}, {"type": None}, {"a": -1}, {"a": 2**31}]
HOSTILE += [{"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False}]
HOSTILE += [{"type": "Replace", "pattern": {"String": ""}, "content": "x"}]


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Yield the places in a JSON value, a few of long lists and objects."""
    yield place
    if isinstance(value, dict):
        keys = list(value)
        for key in keys if len(keys) < 30 else keys[:5] + keys[-5:]:
            yield from places(value[key], (*place, key))
    elif isinstance(value, list):
        for index in range(len(value)) if len(value) < 10 else (0, 1, len(value) - 1):
            yield from places(value[index], (*place, index))


def find(value: Any, place: tuple[Any, ...]) -> Any:  # noqa: ANN401 - JSON
    for key in place:
        value = value[key]
    return value


def change(rng: random.Random, value: Any) -> None:  # noqa: ANN401 - JSON
    """Remove something, replace it by something hostile, or put it where it does not belong."""
    where = [place for place in places(value) if place]
    if not where:
        return
    place, other = rng.choice(where), rng.choice(where)
    holder = find(value, place[:-1])
    kind = rng.randrange(5)
    if kind == 0:
        del holder[place[-1]]
    elif kind < 4:
        holder[place[-1]] = copy.deepcopy(rng.choice(HOSTILE))
    else:
        holder[place[-1]] = copy.deepcopy(find(value, other))


def try_file(folder: Path) -> str:
    """Load and use a tokenizer; only a TokenizerError may come of it."""
    try:
        tokenizer = Tokenizer.load(folder)
        ids = tokenizer.encode("나는 school 12 <s> \n")
        tokenizer.decode_bytes(ids)
    except TokenizerError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("seed", range(4))
def test_files_changed_at_random_load_or_are_refused(
    seed: int, originals: list[Any], tmp_path: Path
) -> None:
    rng = random.Random(seed)
    refused = 0
    for number in range(60):
        value = copy.deepcopy(rng.choice(originals))
        for _ in range(rng.choice([1, 1, 2, 3])):
            change(rng, value)
        (tmp_path / "tokenizer.json").write_text(json.dumps(value))
        try:
            said = try_file(tmp_path)
        except Exception as error:
            message = f"seed {seed}, file {number}: {type(error).__name__}: {error}"
            raise AssertionError(message) from error
        refused += bool(said)
        assert not said or "tokenizer" in said
    assert refused > 20


def merged(content: Any, merges: object) -> Any:  # noqa: ANN401 - JSON
    return {**content, "model": {**content["model"], "merges": merges}}


def numbered(content: Any, index: object) -> Any:  # noqa: ANN401 - JSON
    vocab = {**content["model"]["vocab"], "없다": index}
    return {**content, "model": {**content["model"], "vocab": vocab}}


@pytest.mark.parametrize(
    ("change_file", "says"),
    [
        (lambda file: merged(file, [["a", "b"], ["ab", "a"], ["aba", "b"]] * 3), "needs"),
        (lambda file: merged(file, [["a", "a"]] * 1_000_000), "needs 'aa'"),
        (lambda file: merged(file, [["Ġ", ""]]), ""),
        (lambda file: merged(file, [["", ""]]), ""),
        (lambda file: merged(file, "ab"), ""),
        (lambda file: numbered(file, -1), "-1 is no id"),
        (lambda file: numbered(file, 2**31), f"{2**31} is no id"),
        (lambda file: numbered(file, 2**40), f"{2**40} is no id"),
        (lambda file: numbered(file, 1.0), "1.0 is no id"),
        (lambda file: numbered(file, True), "True is no id"),
        (lambda file: numbered(file, 7), "share the id 7"),
        (lambda file: {**file, "normalizer": nested("normalizers", 400)}, ""),
        (lambda file: {**file, "pre_tokenizer": nested("pretokenizers", 400)}, ""),
    ],
)
def test_a_hostile_file_is_refused(
    change_file: Any,  # noqa: ANN401 - a function of the parameters
    says: str,
    originals: list[Any],
    tmp_path: Path,
) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(change_file(originals[0])))
    started = time.perf_counter()
    said = try_file(tmp_path)
    assert "tokenizer.json: " in said
    assert says in said
    assert time.perf_counter() - started < 30


def nested(key: str, depth: int) -> Any:  # noqa: ANN401 - JSON
    value: dict[str, Any] = {"type": "Quantum"}
    for _ in range(depth):
        value = {"type": "Sequence", key: [value]}
    return value


def test_nesting_beyond_reason_is_refused(tmp_path: Path) -> None:
    for opening, closing in (("[", "]"), ('{"model":', "}")):
        text = opening * 200_000 + "1" + closing * 200_000
        (tmp_path / "tokenizer.json").write_text(text)
        assert "not a well-formed tokenizer file (RecursionError" in try_file(tmp_path)


def test_a_token_of_one_id_far_away_takes_no_memory(originals: list[Any], tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(numbered(originals[0], 2**31 - 1)))
    program = (
        "from jogak.errors import TokenizerError\nfrom jogak.tokenizer import Tokenizer\n"
        f"try: Tokenizer.load({str(tmp_path)!r})\nexcept TokenizerError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )
    assert f"{2**31 - 1} is no id of a vocabulary of 401 tokens" in done.stdout, done.stderr
