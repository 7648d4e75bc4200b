"""TokenizerSpec and its parts: the ids, the merges, and what is done to text before them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Model = Literal["bytes", "characters", "wordpiece", "unigram"]
Rule = Literal["pairs", "ranks"]
StepKind = Literal[
    "nfc",
    "nfd",
    "nfkc",
    "nfkd",
    "replace",
    "prepend",
    "prefix",
    "prefix_first",
    "strip_start",
    "squeeze_spaces",
    "collapse_spaces",
    "strip_end",
    "charsmap",
    "precompiled",
]
Behavior = Literal["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]

BYTE_ORDER: tuple[int, ...] = tuple(
    sorted(range(256), key=lambda byte: (byte < 33 or 127 <= byte < 161 or byte == 173, byte))
)
"""The bytes in the order of the characters GPT-2 maps them to: the printable ones stand for
themselves, the rest become U+0100 onward. Hugging Face's trainer numbers its alphabet so."""

BYTE_CHARACTERS: tuple[str, ...] = tuple(
    chr(byte) if rank < 188 else chr(256 + rank - 188)
    for byte, rank in sorted((byte, rank) for rank, byte in enumerate(BYTE_ORDER))
)
"""The character that stands for each byte, by byte. Source: openai/gpt-2 encoder.py."""


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token matched as a string before any other step. Source: Hugging Face `AddedToken`."""

    id: int
    content: str
    special: bool = True
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """One cut of the pre-tokenizer: every match of `pattern` is set apart.

    Attributes:
        pattern: a regex as tokenizer.json holds it (the dialect of Oniguruma), or a plain string
            where `literal`.
        behavior: what becomes of the match; `isolated` keeps it as a pretoken of its own.
        invert: the match is what lies between the matches.
    """

    pattern: str
    literal: bool = False
    behavior: Behavior = "isolated"
    invert: bool = False


@dataclass(frozen=True, slots=True)
class NormalizeStep:
    """One change of the text before it is cut.

    Attributes:
        kind: `nfc`, `nfd`, `nfkc`, `nfkd`; `replace` (every `old` by `new`); `prepend` (`new` in
            front of a text that is not empty); `prefix` (`new` in front unless the text starts
            with it); `prefix_first` (the same, only where the text begins its document);
            `strip_start` (U+0020 off the front), `squeeze_spaces` (one for a run of several),
            `collapse_spaces` (one U+0020 for a run of U+0009 and category Zs),
            `strip_end` (`old` off the end, as often as it is there);
            `charsmap` (a SentencePiece model's own map, `old` is its base64); `precompiled` (the
            same map as Hugging Face's `Precompiled` applies it, by grapheme).
        kept: strings that a `charsmap` leaves as they are.
    """

    kind: StepKind
    old: str = ""
    new: str = ""
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CharacterRules:
    """What a character-level model adds to its merges.

    Attributes:
        byte_fallback: a character outside the vocabulary becomes its bytes' pieces `<0xNN>`.
        unknown_id: the token of a character that is outside the vocabulary, if there is one.
        fuse_unknown: neighbouring unknown characters are one token.
        suffix: what the last character of a word is looked up with, such as `</w>`.
        prefix: what every character but a word's first is looked up with, such as `##`.
        marker: the character that stands for a space in the pieces (`▁`), or nothing.
        strip_start: spaces that decoding takes off the front of a text.
        unknown_text: what the unknown token decodes to, where that is not its content.
    """

    byte_fallback: bool = False
    unknown_id: int | None = None
    fuse_unknown: bool = False
    suffix: str = ""
    prefix: str = ""
    marker: str = ""
    strip_start: int = 0
    unknown_text: str | None = None


@dataclass(frozen=True, slots=True)
class SpecialNames:
    """Which token plays which part, by content."""

    bos: str | None = None
    eos: str | None = None
    pad: str | None = None
    unk: str | None = None


@dataclass(frozen=True, eq=False)
class TokenizerSpec:
    """Everything a tokenizer file says.

    Attributes:
        token_data, token_offsets: uint8 (n,), int64 (ids + 1,); token i is
            token_data[token_offsets[i]:token_offsets[i + 1]].
        merges: uint32 (m, 3); left, right, result, in rank order. Empty under the rule `ranks`.
        rule: `pairs` (the listed pair of lowest index first) or `ranks` (the pair whose joined
            bytes have the lowest id first; tiktoken).
        whole_first: a pretoken that is a token stays whole (Hugging Face `ignore_merges`).
        normalizer: changes of the text between non-normalized added tokens.
        prepare: changes of the text between all added tokens, right before the splits.
        splits: applied in order, each to the pieces the one before made.
        inert: vocabulary entries that no text can produce, (id, content), as some files list.
        before, after: ids that the file's template puts around a text, when asked for.
        scores: float32 (ids,); of a unigram model that runs natively.
        user_defined: ids that a unigram model chooses wherever it can.
        tied: under the rule `ranks`, groups of ids whose merges have one rank; of those the
            leftmost pair comes first.
        source: the tokenizer.json that the `tokenizers` library runs (wordpiece and unigram).
    """

    token_data: NDArray[np.uint8]
    token_offsets: NDArray[np.int64]
    merges: NDArray[np.uint32]
    model: Model = "bytes"
    rule: Rule = "pairs"
    whole_first: bool = False
    normalizer: tuple[NormalizeStep, ...] = ()
    prepare: tuple[NormalizeStep, ...] = ()
    splits: tuple[Split, ...] = ()
    added: tuple[AddedToken, ...] = ()
    inert: tuple[tuple[int, str], ...] = ()
    characters: CharacterRules = CharacterRules()
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    names: SpecialNames = SpecialNames()
    model_max_length: int | None = None
    chat_template: str | None = None
    scores: NDArray[np.float32] | None = None
    user_defined: tuple[int, ...] = ()
    tied: tuple[tuple[int, ...], ...] = ()
    source: str | None = field(default=None, repr=False)

    @property
    def vocab_size(self) -> int:
        """The largest id plus one."""
        others = [token.id for token in self.added] + [index for index, _ in self.inert]
        return max(len(self.token_offsets) - 1, max(others, default=-1) + 1)

    def token(self, token_id: int) -> bytes:
        """Return the bytes of one token of the vocabulary, empty where it has none."""
        start, stop = self.token_offsets[token_id : token_id + 2].tolist()
        return self.token_data[start:stop].tobytes()

    def tokens(self) -> list[bytes]:
        """Return the bytes of all tokens, by id."""
        data = self.token_data.tobytes()
        ends = self.token_offsets.tolist()
        return [data[start:stop] for start, stop in pairwise(ends)]

    def find(self, content: str) -> int | None:
        """Return the id of a token by its content: added tokens first, then the vocabulary."""
        for token in self.added:
            if token.content == content:
                return token.id
        for index, text in self.inert:
            if text == content:
                return index
        wanted = content.encode()
        sizes = np.diff(self.token_offsets)
        for index in np.flatnonzero(sizes == len(wanted)).tolist():
            if self.token(index) == wanted:
                return int(index)
        return None

    def fingerprint(self) -> str:
        """Return the SHA-256 of everything that decides ids and text, independent of the format."""
        digest = hashlib.sha256(b"jogak tokenizer 1\n")
        for array, kind in (
            (self.token_data, np.uint8),
            (self.token_offsets, "<i8"),
            (self.merges, "<u4"),
        ):
            content = np.ascontiguousarray(array, dtype=kind)
            digest.update(f"{content.shape}\n".encode())
            digest.update(content.tobytes())
        rest = {
            "model": self.model,
            "rule": self.rule,
            "whole_first": self.whole_first,
            "normalizer": [asdict(step) for step in self.normalizer],
            "prepare": [asdict(step) for step in self.prepare],
            "splits": [asdict(split) for split in self.splits],
            "added": [asdict(token) for token in sorted(self.added, key=lambda token: token.id)],
            "inert": sorted(self.inert),
            "characters": asdict(self.characters),
            "template": [self.before, self.after],
            "names": asdict(self.names),
            "chat_template": self.chat_template,
            "scores": None if self.scores is None else self.scores.astype("<f4").tobytes().hex(),
            "user_defined": self.user_defined,
            "tied": self.tied,
            "source": self.source,
        }
        digest.update(json.dumps(rest, sort_keys=True, ensure_ascii=True).encode())
        return digest.hexdigest()


def pack_tokens(tokens: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return tokens, by id, as one buffer and its offsets."""
    offsets = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens)), out=offsets[1:])
    return np.frombuffer(b"".join(tokens), dtype=np.uint8), offsets
