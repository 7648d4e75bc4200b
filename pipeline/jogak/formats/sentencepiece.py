"""SentencePiece .model files, read without the sentencepiece package.

BPE: SentencePiece joins the neighbours whose joined piece has the highest score, leftmost first;
here that is the list of all pairs that join to a piece, ranked by the piece (rule `ranks`). Symbols
that a user defined are set apart before merging. Source: google/sentencepiece, bpe_model.cc,
unigram_model.cc, normalizer.cc, sentencepiece_model.proto.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jogak.errors import TokenizerError
from jogak.formats import protobuf
from jogak.formats.piece_vocabulary import check_byte_pieces
from jogak.vocabulary import (
    AddedToken,
    CharacterRules,
    NormalizeStep,
    SpecialNames,
    Split,
    TokenizerSpec,
    pack_tokens,
)

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
UNIGRAM, BPE = 1, 2
MARKER = "▁"


@dataclass(frozen=True, slots=True)
class Piece:
    """One entry of the vocabulary; its place is its id."""

    text: str
    score: float
    kind: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The fields of the model that decide ids, with SentencePiece's defaults."""

    algorithm: int = UNIGRAM
    byte_fallback: bool = False
    suffix_marker: bool = False
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    charsmap: bytes = b""
    unknown_text: str = " \u2047 "
    dummy_prefix: bool = True
    strip_spaces: bool = True
    escape_spaces: bool = True


@dataclass(slots=True)
class _Model:
    pieces: list[Piece] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    charsmap: bytes = b""
    unknown_text: str = " \u2047 "


_TRAINER = {
    3: "algorithm",
    24: "suffix_marker",
    35: "byte_fallback",
    40: "unk_id",
    41: "bos_id",
    42: "eos_id",
    43: "pad_id",
}
_META = re.compile(r"[\\.^$*+?{}\[\]|()]")
_UNKNOWN_TEXT = 44
_NORMALIZER = {3: "dummy_prefix", 4: "strip_spaces", 5: "escape_spaces"}


def load(path: Path) -> TokenizerSpec:
    """Read a .model file.

    Raises:
        TokenizerError: not such a file, or something in it cannot be honoured exactly.
    """
    where = str(path)
    try:
        pieces, settings = parse(path.read_bytes())
    except (ValueError, KeyError) as error:
        message = f"{where}: not a SentencePiece model ({error})"
        raise TokenizerError(message) from error
    if not pieces:
        message = f"{where}: a SentencePiece model without pieces"
        raise TokenizerError(message)
    _refuse_what_is_not_supported(pieces, settings, where)
    if settings.algorithm == BPE:
        return _bpe(pieces, settings, where)
    return _unigram(pieces, settings, where)


def parse(data: bytes) -> tuple[list[Piece], Settings]:
    """Read the pieces and settings out of a ModelProto."""
    model = _Model()
    for number, value in protobuf.fields(data):
        if number == 1:
            model.pieces.append(_piece(protobuf.as_bytes(value)))
        elif number in (2, 3):
            names = _TRAINER if number == 2 else _NORMALIZER
            for inner, content in protobuf.fields(protobuf.as_bytes(value)):
                if inner in names:
                    model.numbers[names[inner]] = protobuf.as_int(content)
                elif number == 3 and inner == 2:
                    model.charsmap = protobuf.as_bytes(content)
                elif number == 2 and inner == _UNKNOWN_TEXT:
                    model.unknown_text = protobuf.as_bytes(content).decode()
    flags = Settings.__dataclass_fields__
    values = {
        name: bool(value) if flags[name].type == "bool" else value
        for name, value in model.numbers.items()
    }
    texts = {"charsmap": model.charsmap, "unknown_text": model.unknown_text}
    return model.pieces, Settings(**texts, **values)  # type: ignore[arg-type]  # each by its kind


def _piece(message: bytes) -> Piece:
    content = dict(protobuf.fields(message))
    score = protobuf.as_float(content[2]) if 2 in content else 0.0
    kind = protobuf.as_int(content.get(3, NORMAL))
    return Piece(protobuf.as_bytes(content[1]).decode(), score, kind)


def _refuse_what_is_not_supported(pieces: list[Piece], settings: Settings, where: str) -> None:
    reason = ""
    if settings.algorithm not in (UNIGRAM, BPE):
        reason = f"model type {settings.algorithm} (only BPE and Unigram are)"
    elif settings.suffix_marker:
        reason = "treat_whitespace_as_suffix"
    elif not settings.escape_spaces:
        reason = "escape_whitespaces off"
    elif any(piece.kind == UNUSED for piece in pieces):
        reason = "a piece marked unused"
    elif settings.algorithm == UNIGRAM and MARKER in _symbols(pieces):
        reason = f"a user-defined {MARKER!r}"  # near ties turn in a way that is not known
    if reason:
        message = f"{where}: {reason} cannot be applied exactly"
        raise TokenizerError(message)
    if settings.byte_fallback:
        check_byte_pieces({piece.text: 0 for piece in pieces if piece.kind == BYTE}, where)


def normalizer(settings: Settings, symbols: Sequence[str]) -> tuple[NormalizeStep, ...]:
    """Return the model's normalization as steps; it leaves the user's symbols as they are."""
    steps: list[NormalizeStep] = []
    if settings.charsmap:
        encoded = base64.b64encode(settings.charsmap).decode()
        steps.append(NormalizeStep("charsmap", encoded, kept=tuple(symbols)))
    if settings.strip_spaces:
        steps += [NormalizeStep("strip_start"), NormalizeStep("squeeze_spaces")]
    if settings.dummy_prefix:
        steps.append(NormalizeStep("prepend", new=MARKER))
    steps.append(NormalizeStep("replace", " ", MARKER))
    if settings.strip_spaces:
        # SentencePiece looks for the marker, so a ▁ of the text itself goes too.
        steps.append(NormalizeStep("strip_end", MARKER))
    return tuple(steps)


def _common(pieces: list[Piece], settings: Settings) -> dict[str, object]:
    special = [
        AddedToken(index, piece.text)
        for index, piece in enumerate(pieces)
        if piece.kind in (CONTROL, UNKNOWN)
    ]
    known = {token.id: token.content for token in special}
    names = SpecialNames(
        bos=known.get(settings.bos_id),
        eos=known.get(settings.eos_id),
        pad=known.get(settings.pad_id),
        unk=known.get(settings.unk_id),
    )
    tokens = [b"" if index in known else piece.text.encode() for index, piece in enumerate(pieces)]
    data, offsets = pack_tokens(tokens)
    return {
        "token_data": data,
        "token_offsets": offsets,
        "normalizer": normalizer(settings, _symbols(pieces)),
        "added": tuple(special),
        "names": names,
        "characters": _rules(settings),
    }


def _symbols(pieces: list[Piece]) -> list[str]:
    return [piece.text for piece in pieces if piece.kind == USER_DEFINED]


def _rules(settings: Settings) -> CharacterRules:
    return CharacterRules(
        byte_fallback=settings.byte_fallback,
        unknown_id=None if settings.byte_fallback else settings.unk_id,
        fuse_unknown=True,
        marker=MARKER,
        strip_start=int(settings.dummy_prefix),
        unknown_text=None if settings.byte_fallback else settings.unknown_text,
    )


def _bpe(pieces: list[Piece], settings: Settings, where: str) -> TokenizerSpec:
    normal = {piece.text: index for index, piece in enumerate(pieces) if piece.kind == NORMAL}
    missing = {character for text in normal for character in text} - set(normal)
    if missing:
        message = (
            f"{where}: characters of pieces are no pieces themselves ({sorted(missing)[:4]}); "
            "their merges cannot be listed"
        )
        raise TokenizerError(message)
    symbols = _symbols(pieces)
    return TokenizerSpec(
        merges=_all_pairs(pieces, normal),
        model="characters",
        rule="ranks",
        tied=_tied(pieces),
        whole_first=bool(symbols),
        splits=_splits(symbols),
        **_common(pieces, settings),  # type: ignore[arg-type]  # one value per field
    )


def _splits(symbols: Sequence[str]) -> tuple[Split, ...]:
    """Set the user's symbols apart, the longest at each place."""
    if len(symbols) < 2:
        return tuple(Split(text, literal=True) for text in symbols)
    # As one step: a shorter symbol must not cut one that was found.
    longest_first = sorted(symbols, key=len, reverse=True)
    return (Split("|".join(_META.sub(r"\\\g<0>", text) for text in longest_first)),)


def _tied(pieces: list[Piece]) -> tuple[tuple[int, ...], ...]:
    """Group the pieces that have one score, as Mistral's runs of spaces have."""
    groups: dict[float, list[int]] = {}
    for index, piece in enumerate(pieces):
        if piece.kind == NORMAL and len(piece.text) > 1:
            groups.setdefault(piece.score, []).append(index)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _all_pairs(pieces: list[Piece], normal: Mapping[str, int]) -> NDArray[np.uint32]:
    """List all pairs that join to a piece, by its score."""
    found: list[tuple[int, int, int]] = []
    for text, index in sorted(normal.items(), key=lambda item: -pieces[item[1]].score):
        for cut in range(1, len(text)):
            left, right = normal.get(text[:cut]), normal.get(text[cut:])
            if left is not None and right is not None:
                found.append((left, right, index))
    return np.array(found, dtype=np.uint32).reshape(-1, 3)


def _unigram(pieces: list[Piece], settings: Settings, where: str) -> TokenizerSpec:
    if not any(piece.kind == UNKNOWN for piece in pieces):
        message = f"{where}: no unknown piece; a Unigram model needs one"
        raise TokenizerError(message)
    common = _common(pieces, settings)
    rules = replace(
        _rules(settings), unknown_id=settings.unk_id, unknown_text=settings.unknown_text
    )
    return TokenizerSpec(
        merges=np.zeros((0, 3), dtype=np.uint32),
        model="unigram",
        scores=np.array([piece.score for piece in pieces], dtype=np.float32),
        user_defined=tuple(i for i, piece in enumerate(pieces) if piece.kind == USER_DEFINED),
        **common | {"characters": rules},  # type: ignore[arg-type]  # one value per field
    )
