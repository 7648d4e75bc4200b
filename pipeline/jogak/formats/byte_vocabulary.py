"""Byte-level vocabularies: from mapped characters to raw bytes and back, many tokens at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.errors import TokenizerError
from jogak.formats.strangers import table_size
from jogak.vocabulary import BYTE_CHARACTERS, AddedToken, CharacterRules

_NO_BYTE = 256
_MISSING = 2**32 - 1
"""What the core returns for a token that is not in the vocabulary."""
_BYTE_OF = np.full(0x145, _NO_BYTE, dtype=np.uint16)
_BYTE_OF[[ord(character) for character in BYTE_CHARACTERS]] = np.arange(256)
_TO_BYTES = {ord(character): chr(byte) for byte, character in enumerate(BYTE_CHARACTERS)}
_TO_CHARACTERS = dict(enumerate(BYTE_CHARACTERS))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a BPE model's vocabulary and merges say, as arrays (see TokenizerSpec)."""

    token_data: NDArray[np.uint8]
    token_offsets: NDArray[np.int64]
    merges: NDArray[np.uint32]
    inert: tuple[tuple[int, str], ...] = ()
    rules: CharacterRules = field(default_factory=CharacterRules)


def read_model(model: Mapping[str, Any], added: Sequence[AddedToken], where: str) -> Vocabulary:
    """Read `model` of a tokenizer.json whose tokens are bytes.

    Raises:
        TokenizerError: the vocabulary lacks one of the 256 bytes, or merges and vocabulary do not
            fit each other.
    """
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            message = f"{where}: {key} {model[key]!r} together with byte-level tokens"
            raise TokenizerError(message + " is not supported")
    vocab: dict[str, int] = model["vocab"]
    texts = by_id(vocab, where)
    merges = read_merges(model.get("merges", ()), vocab, where)
    skipped = unproducible(added, texts, merges)
    data, offsets, inert = unmap(texts, skipped)
    missing = missing_bytes(data, offsets)
    if missing:
        listed = " ".join(f"{byte:02x}" for byte in missing[:16])
        message = (
            f"{where}: the vocabulary lacks {len(missing)} of the 256 bytes ({listed}); text with "
            "them would be lost; train with the whole byte alphabet"
        )
        raise TokenizerError(message)
    contents = {token.content for token in added}
    kept = tuple((index, texts[index]) for index in inert if texts[index] not in contents)
    return Vocabulary(data, offsets, merges, kept)


def unproducible(
    added: Sequence[AddedToken], texts: Sequence[str], merges: NDArray[np.uint32]
) -> set[int]:
    """Return the ids of special tokens in the vocabulary that no merge has a part in."""
    used = np.zeros(len(texts), dtype=np.bool_)
    used[merges] = True
    special = (token.id for token in added if token.special and token.id < len(texts))
    return {index for index in special if len(texts[index]) > 1 and not used[index]}


def by_id(vocab: Mapping[str, int], where: str) -> list[str]:
    """Return the vocabulary's strings by id, empty where there is none."""
    if not vocab:
        return []
    size = table_size(vocab.values(), where)
    if size == len(vocab) and [*vocab.values()] == list(range(size)):
        texts = list(vocab)
    else:
        texts = [""] * size
        for text, index in vocab.items():
            texts[index] = text
    if sum(map(bool, texts)) != len(vocab):
        message = f"{where}: {doubled_ids(vocab)}; every token needs an id and a text of its own"
        raise TokenizerError(message)
    return texts


def doubled_ids(vocab: Mapping[str, int]) -> str:
    """Say which tokens share an id, for a message."""
    owners: dict[int, str] = {}
    for text, index in vocab.items():
        if index in owners:
            return f"tokens {owners[index]!r} and {text!r} share the id {index}"
        owners[index] = text
    return "an empty token is in the vocabulary"


def unmap(
    texts: Sequence[str], skipped: set[int]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], list[int]]:
    """Turn mapped characters into bytes: the buffer, its offsets, and the ids that have no bytes.

    A text with a character outside the byte alphabet, and one that is `skipped`, has no bytes and
    is returned as inert. Vectorized: 200,000 tokens take about 20 ms.
    """
    kept = list(texts)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    outside = _BYTE_OF[np.minimum(codes, 0x144)] == _NO_BYTE
    owners = np.repeat(np.arange(len(texts)), lengths)
    inert = sorted(set(owners[outside].tolist()) | {index for index in skipped if kept[index]})
    if inert:
        for index in inert:
            kept[index] = ""
        lengths[inert] = 0
        codes = np.frombuffer("".join(kept).encode("utf-32-le"), dtype=np.uint32)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return _BYTE_OF[codes].astype(np.uint8), trim(offsets), inert


def trim(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Drop the ids at the end that have no bytes, so that equal vocabularies are equal arrays."""
    last = int(np.searchsorted(offsets, offsets[-1]))
    return offsets[: last + 1]


def map_bytes(token: bytes) -> str:
    """Return the mapped characters of a token's bytes."""
    return token.decode("latin-1").translate(_TO_CHARACTERS)


def map_tokens(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
    """Return the mapped characters of every token; as `map_bytes`, but a fifth of its time."""
    mapped = map_bytes(data.tobytes())  # a character for each byte, so offsets stay
    bounds = offsets.tolist()
    return [mapped[start:stop] for start, stop in pairwise(bounds)]


def missing_bytes(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[int]:
    """Return the bytes that are not a token of their own."""
    single = offsets[:-1][np.diff(offsets) == 1]
    return sorted(set(range(256)) - set(data[single].tolist()))


def read_merges(
    listed: Sequence[Any], vocab: Mapping[str, int], where: str, prefix: str = ""
) -> NDArray[np.uint32]:
    """Return merges as uint32 (m, 3): left, right, result, in rank order.

    Args:
        listed: `"a b"` strings, or [a, b] pairs; of a pair listed twice the later place counts,
            as in `tokenizers`.
        vocab: from token to id.
        where: the file, for messages.
        prefix: the continuing-subword prefix, which the right part loses in the result.
    """
    if not listed:
        return np.zeros((0, 3), dtype=np.uint32)
    spaced = isinstance(listed[0], str)
    if not spaced and set(map(len, listed)) != {2}:
        split_merges(listed, where)  # refuses
    text, outer = _joined(listed if spaced else list(chain.from_iterable(listed)))
    tokens, separator = _joined(list(vocab))
    ids = np.fromiter(vocab.values(), dtype=np.uint32, count=len(vocab))
    inner = b" " if spaced else outer
    count = len(listed)
    try:
        found = _core.merge_ids(tokens, separator, ids, text, outer, inner, count, len(prefix))
    except ValueError as error:
        split_merges(listed, where)  # refuses, naming the merge
        message = f"{where}: merges that are not two parts each"
        raise TokenizerError(message) from error
    if (found == _MISSING).any():
        misfit = _misfit(split_merges(listed, where), vocab, prefix)
        message = f"{where}: {misfit}; vocabulary and merges do not fit"
        raise TokenizerError(message)
    return keep_last(found.reshape(-1, 3))


def _joined(texts: Sequence[str]) -> tuple[bytes, bytes]:
    """Join texts by a character that is in none of them: the UTF-8, and the separator."""
    for separator in ("\0", "\x01", "\U0010ffff"):
        data = separator.join(texts).encode(errors="surrogatepass")
        if data.count(separator.encode()) == len(texts) - 1:
            return data, separator.encode()
    message = "no character is left to separate the tokens by"
    raise ValueError(message)


def split_merges(listed: Sequence[Any], where: str) -> list[str]:
    """Return left, right, left, right, ... of merges in either spelling."""
    if not listed:
        return []
    parts: list[Any]
    if isinstance(listed[0], str):
        parts = list(map(str.split, listed, repeat(" ")))
    else:
        parts = list(listed)
    if set(map(len, parts)) != {2}:
        index = next(index for index, part in enumerate(parts) if len(part) != 2)
        message = f"{where}: merge {index} is not two parts (found: {listed[index]!r})"
        raise TokenizerError(message)
    return list(chain.from_iterable(parts))


def _misfit(flat: Sequence[str], vocab: Mapping[str, int], prefix: str) -> str:
    for index in range(len(flat) // 2):
        left, right = flat[2 * index : 2 * index + 2]
        for text in (left, right, left + right[len(prefix) :]):
            if text not in vocab:
                return f"merge {index} ({left!r}, {right!r}) needs {text!r}, not in the vocabulary"
    return "a merge names a token outside the vocabulary"


def keep_last(merges: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Drop all but the last listing of each pair."""
    keys = merges[:, 0].astype(np.uint64) << np.uint64(32) | merges[:, 1]
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return merges
    _, last = np.unique(keys[::-1], return_index=True)
    kept: NDArray[np.uint32] = merges[np.sort(len(merges) - 1 - last)]
    return kept
