"""Fuzz targets: bytes -> an input of one part of the core, compared with its slow oracle.

A target takes any bytes: it decodes them into an input that lies in the domain of its part, so that
every difference and every error it does not expect is a fault.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import random
import re
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import regex

from fakes.training import compare_training
from jogak import _core
from jogak.config import NormalizeOptions
from jogak.documents import TextBatch
from jogak.errors import ShardError
from jogak.normalize import normalize_batch
from jogak.pretokenize import PATTERNS
from jogak.shards import ShardWriter, read_shard
from reference import normalize as slow_normalize
from reference.encode import ReferenceEncoder, Vocabulary
from reference.pretokenize import compiled
from reference.vocabularies import KINDS, random_text, random_vocabulary

Target = Callable[[bytes], None]
NAMES = sorted(PATTERNS)
UNKNOWN_TO_ORACLE = re.compile(r"\\[pP](\{\^?[^A-Z]|[^A-Z{])")
"""Names of properties in small letters, which the scanner takes as UTS #18 has it."""


def usable_isas() -> list[str]:
    """Return the instruction sets that this machine has, the scalar one among them."""
    found = []
    for isa in ("scalar", "avx2", "avx512"):
        with contextlib.suppress(RuntimeError):
            _core.Scanner(PATTERNS["gpt2"], isa)
            found.append(isa)
    return found


ISAS = usable_isas()
OWN_PATTERN = 232
"""Inputs of the scanner whose first byte is at least this bring a pattern of their own."""
ORACLE_S = 0.5
"""Patterns that the backtracking oracle needs longer for are not compared."""


def text_of(data: bytes) -> str:
    """Return the valid UTF-8 in bytes as text."""
    return data.decode("utf-8", "ignore")


def pack(documents: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return documents as data and offsets that end where the buffer ends."""
    data = np.frombuffer(b"".join(documents), np.uint8)
    return data, np.cumsum([0, *map(len, documents)], dtype=np.int64)


def scan_pieces(scanner: _core.Scanner, data: bytes) -> list[bytes]:
    """Scan one document; every byte must be in exactly one pretoken."""
    ends, document_ends = scanner.scan(*pack([data]))
    places = [0, *ends.tolist()]
    assert places == sorted(set(places)), "ends do not ascend"
    assert places[-1] == len(data), "bytes are lost"
    assert document_ends.tolist() == [len(ends)]
    return [data[a:b] for a, b in itertools.pairwise(places)]


def scanner(data: bytes) -> None:
    """A named pattern, or one of the input's own, on text and on bytes that are not text."""
    choice, rest = (data[0], data[1:]) if data else (0, b"")
    if choice < OWN_PATTERN:
        pattern, body = PATTERNS[NAMES[choice % len(NAMES)]], rest
    else:
        pattern, _, body = rest.partition(b"\n")[0].decode("utf-8", "ignore"), b"", rest[-160:]
    natives = []
    for isa in ISAS if choice < OWN_PATTERN else ("",):
        try:
            natives.append(_core.Scanner(pattern, isa))
        except ValueError:
            return
    text = text_of(body)
    for native in natives:
        scan_pieces(native, body)
    founds = [scan_pieces(native, text.encode()) for native in natives]
    if UNKNOWN_TO_ORACLE.search(pattern) or (choice >= OWN_PATTERN and len(pattern) > 80):
        return  # the oracle writes every class out, which takes it seconds for a long pattern
    with contextlib.suppress(TimeoutError, regex.error):
        expected, done = [], 0
        for match in compiled(pattern).finditer(text, timeout=ORACLE_S):
            expected += [text[done : match.start()], match.group()]
            done = match.end()
        expected = [piece for piece in [*expected, text[done:]] if piece]
        for native, pieces in zip(natives, founds, strict=True):
            found = [piece.decode() for piece in pieces]
            assert found == expected, (pattern, native.by_masks, text)
    if compiled.cache_info().currsize > 500:
        compiled.cache_clear()


def normalizer(data: bytes) -> None:
    """Validity and measures of any bytes, and every normal form with every cleaning rule."""
    parts = data[2:].split(b"\xfe")
    assert _core.validate_utf8(*pack(parts)).tolist() == [
        slow_normalize.first_invalid_byte(part) for part in parts
    ]
    choice = data[0] if data else 0
    form = ("none", "nfc", "nfkc", "nfkc_keep_jamo")[choice % 4]
    rules = {
        "newlines": ("keep", "lf")[choice >> 2 & 1],
        "whitespace": ("keep", "collapse")[choice >> 3 & 1],
        "control": ("keep", "remove")[choice >> 4 & 1],
    }
    # The oracle has stand-ins among the private-use characters of plane 15.
    texts = ["".join(c for c in text_of(part) if not 0xF0000 <= ord(c) < 0xFFFFE) for part in parts]
    values, offsets = pack([text.encode() for text in texts])
    characters, eojeol = _core.measure_text(values, offsets)
    measures = list(zip(characters.tolist(), eojeol.tolist(), strict=True))
    assert measures == [slow_normalize.measure(text.encode()) for text in texts], texts
    count = len(texts)
    zeros = np.zeros(count, np.int32)
    batch = TextBatch(values, offsets, zeros, ("und",), np.arange(count), "fuzz", 0)
    options = NormalizeOptions.model_validate({"form": form, **rules})
    result, changed = normalize_batch(batch, options)
    expected = [slow_normalize.normalize(text, form, **rules) for text in texts]
    assert [result.document(i).decode() for i in range(count)] == expected, (form, rules, texts)
    assert changed == sum(a != b for a, b in zip(texts, expected, strict=True))


@contextlib.contextmanager
def use_isa(isa: str) -> Iterator[None]:
    """Let an encoder made within choose this instruction set; the best one where it is empty."""
    before = os.environ.pop("JOGAK_ISA", None)
    try:
        if isa:
            os.environ["JOGAK_ISA"] = isa
        yield
    finally:
        os.environ.pop("JOGAK_ISA", None)
        if before is not None:
            os.environ["JOGAK_ISA"] = before


@functools.lru_cache(maxsize=64)
def vocabulary(kind: int, seed: int, sample: bytes) -> tuple[Vocabulary, list[_core.Encoder]]:
    """Return a vocabulary of a text, and encoders of it with caches and kernels of all kinds."""
    rng = random.Random(seed)
    texts = [sample[i : i + 40].decode("utf-8", "ignore").encode() for i in range(0, 240, 40)]
    texts = [text for text in texts if len(text) > 1] + [random_text(rng, 40).encode()]
    name, rule = KINDS[kind % len(KINDS)], ("pairs", "ranks")[kind >> 3 & 1]
    made = random_vocabulary(rng, name, rule, bool(kind >> 4 & 1), texts)
    encoders = []
    sizes = [(isa, 2, 2, True) for isa in ISAS] + [("scalar", 2, 2, False), ("", 1024, 64, True)]
    for isa, narrow, wide, cutting in sizes:
        with use_isa(isa):
            encoders.append(
                _core.Encoder(
                    *made.arrays(),
                    made.rule,
                    made.whole_first,
                    _narrow_slots=narrow,
                    _wide_slots=wide,
                    _cutting=cutting,
                )
            )
    return made, encoders


def encoder(data: bytes) -> None:
    """Vocabularies of every kind and rule, made of the input's text, on pretokens of any length."""
    head, body = data[:3].ljust(3, b"\0"), text_of(data[3:])[:600]
    half = len(body) // 2
    made, encoders = vocabulary(head[0], head[1], body[:half].encode()[:240])
    rng, start, pretokens = random.Random(head[2]), 0, []
    longest = rng.choice([1, 3, 8, 40, 600])
    while start < len(body):
        stop = start + rng.randint(1, longest)
        pretokens.append(body[start:stop].encode())
        start = stop
    expected = ReferenceEncoder(made).encode(pretokens)
    ends = np.cumsum([len(pretoken) for pretoken in pretokens], dtype=np.int64)
    values, offsets = pack([body.encode()])
    for native in encoders:
        ids, document_ends = native.encode(None, values, offsets, ends)
        assert ids.tolist() == expected, (made.rule, made.whole_first, pretokens)
        assert document_ends.tolist() == [len(expected)]


def trainer(data: bytes) -> None:
    """Words of the input with counts of every size, under drawn rules and internal parameters."""
    draw = random.Random(data[:2])
    words: dict[bytes, int] = {}
    for word in text_of(data[2:600]).split(" ")[:40]:
        if word:
            highest = draw.choice([1, 2, 5, 100, 70_000, 2**33, 2**40])
            words[word.encode()[:60].decode("utf-8", "ignore").encode()] = draw.randint(1, highest)
    words.pop(b"", None)
    if words:
        compare_training(draw, words)


HEADER = struct.Struct("<9sQBQQ")


def read_slowly(index: bytes, ids: bytes) -> list[list[int]] | None:
    """Read a shard as its layout says; None where it is not one."""
    if len(index) < HEADER.size:
        return None
    magic, version, code, count, documents = HEADER.unpack_from(index)
    size = {8: 2, 4: 4}.get(code)
    if (magic, version, documents) != (b"MMIDIDX\0\0", 1, count + 1) or size is None:
        return None
    if len(index) != HEADER.size + 20 * count + 8 or len(ids) % size:
        return None
    lengths = struct.unpack_from(f"<{count}i", index, HEADER.size)
    pointers = struct.unpack_from(f"<{count}q", index, HEADER.size + 4 * count)
    place, found = 0, []
    for length, pointer in zip(lengths, pointers, strict=True):
        if length < 0 or pointer != place or place + length * size > len(ids):
            return []  # of the layout, but the index is wrong: only verify says so
        found.append([int.from_bytes(ids[i : i + size], "little")
                      for i in range(place, place + length * size, size)])  # fmt: skip
        place += length * size
    return found


@contextlib.contextmanager
def files() -> Iterator[Path]:
    """Give a folder in memory, where there is one."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def index(data: bytes) -> None:
    """A damaged shard: refused, or read as its layout says; never read beyond its files."""
    size = int.from_bytes(data[:2], "little")
    idx, ids = data[2 : 2 + size], data[2 + size :]
    with files() as folder:
        (folder / "s.idx").write_bytes(idx)
        (folder / "s.bin").write_bytes(ids)
        expected = read_slowly(idx, ids)
        try:
            shard = read_shard(folder / "s")
        except ShardError:
            assert expected is None, "refused"
            return
        assert expected is not None, "taken for a shard"
        if expected or not len(shard):
            assert [shard[i].tolist() for i in range(len(shard))] == expected


def shard_seed(dtype: str) -> bytes:
    """Return the files of a small shard as one input of `index`."""
    with files() as folder:
        with ShardWriter(folder / "s", np.dtype(dtype)) as writer:
            writer.append(np.arange(9), np.array([3, 0, 4, 2]))
        parts = [(folder / f"s.{end}").read_bytes() for end in ("idx", "bin")]
    return len(parts[0]).to_bytes(2, "little") + b"".join(parts)


KOREAN = "나는 학교에서 책을 읽었다 ㅋㅋㅋ 그래서 GPT는 3개월 동안 the lower newest 1234".encode()


def seeds(name: str) -> list[bytes]:
    """Return what to start from: ordinary inputs of a target, and those of the tests."""
    rng = random.Random(name)
    if name == "index":
        return [shard_seed("<u2"), shard_seed("<u4")]
    bodies = [KOREAN, b"", b"aaaa bbb ab", "가" * 30, "e\u0301\uac00\u11a8 \r\n\t 漢字"]
    encoded = [body if isinstance(body, bytes) else body.encode() for body in bodies]
    found = [bytes(rng.randrange(128) for _ in range(3)) + body for body in encoded]
    if name == "scanner":
        patterns = [PATTERNS[key].encode() for key in NAMES] + [rb"\p{L}+|\s+(?!\S)|(?i:'s)|.{1,3}"]
        found += [b"\xff" + pattern + b"\n" + KOREAN for pattern in patterns]
    return found


TARGETS: dict[str, Target] = {
    "scanner": scanner,
    "normalizer": normalizer,
    "encoder": encoder,
    "trainer": trainer,
    "index": index,
}
