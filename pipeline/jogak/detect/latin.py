"""Languages in Latin script, by the model that py3langid carries; many documents at once.

The package walks one document's bytes in Python, about 1 MB/s. Here all documents of a batch take
each step together, and scores are added in a fixed order in double precision: a label is the same
whatever documents stand beside it, and whatever the number of processes. The model needs no
download. Source: Lui and Baldwin (2012); scores as py3langid 0.4.0 computes them.
"""

from __future__ import annotations

import functools
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PACKAGE = "py3langid"
PIECES = 3
PIECE_BYTES = 256
"""A document is judged by three pieces of this size at most: begin, middle and end."""
# fmt: off
LANGUAGES = (
    "af", "az", "bs", "ca", "cs", "cy", "da", "de", "en", "eo", "es", "et", "eu", "fi", "fr", "ga",
    "gl", "ha", "hr", "hu", "id", "is", "it", "la", "lt", "lv", "ms", "mt", "nl", "no", "pl", "pt",
    "ro", "sk", "sl", "so", "sq", "sv", "sw", "tl", "tr", "uz", "vi", "xh", "yo", "zu",
)
# fmt: on
"""The answers that are possible: languages written in Latin script that have much text."""

_TOGETHER = 1024


@dataclass(frozen=True, slots=True)
class _Model:
    """The tables of py3langid, cut down to `LANGUAGES`.

    Attributes:
        moves, rows, outputs: the automaton over bytes: next state, row of a state, feature or -1.
        weights: float32 (features, languages); log-probability of each feature.
        prior: float32 (languages,).
        names: codes of the columns.
    """

    moves: NDArray[Any]
    rows: NDArray[np.int64]
    outputs: NDArray[Any]
    weights: NDArray[np.float32]
    prior: NDArray[np.float32]
    names: tuple[str, ...]


@functools.cache
def installed_version() -> str | None:
    """Return the version of py3langid, or None where the extra is not installed."""
    from importlib import metadata

    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


@functools.cache
def _model() -> _Model:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole = LanguageIdentifier.from_model_file(MODEL_FILE)
    columns = [at for at, name in enumerate(whole.nb_classes) if name in LANGUAGES]
    return _Model(
        moves=np.asarray(whole.tk_nextmove),
        rows=np.asarray(whole.tk_row, dtype=np.int64) << 8,
        outputs=np.asarray(whole.tk_output),
        weights=np.ascontiguousarray(whole.nb_ptc[:, columns]),
        prior=np.asarray(whole.nb_pc[columns]),
        names=tuple(whole.nb_classes[at] for at in columns),
    )


def detect_latin(documents: list[bytes]) -> list[str]:
    """Return the language of each document of valid UTF-8 in Latin script."""
    found: list[str] = []
    for start in range(0, len(documents), _TOGETHER):
        found += _detect([_excerpt(each) for each in documents[start : start + _TOGETHER]])
    return found


def _excerpt(document: bytes) -> bytes:
    """Return what a document is judged by, as py3langid prepares its input."""
    if len(document) > PIECES * PIECE_BYTES:
        middle = (len(document) - PIECE_BYTES) // 2
        starts = (0, middle, len(document) - PIECE_BYTES)
        document = b" ".join(document[start : start + PIECE_BYTES] for start in starts)
    text = document.decode(errors="ignore")  # a character that a piece cuts is left out
    return unicodedata.normalize("NFC", text.lower() if text.isupper() else text).encode()


def _detect(excerpts: list[bytes]) -> list[str]:
    model = _model()
    documents, features, counts = _features(model, excerpts)
    scores = np.tile(model.prior.astype(np.float64), (len(excerpts), 1))
    seen, first = np.unique(documents, return_index=True)
    if len(seen):
        weighted = np.log1p(counts)[:, None] * model.weights[features].astype(np.float64)
        scores[seen] += np.add.reduceat(weighted, first, axis=0)
    return [model.names[best] for best in scores.argmax(axis=1).tolist()]


def _features(
    model: _Model, excerpts: list[bytes]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Walk the automaton; return document, feature and count of what occurs, ascending."""
    lengths = np.array([len(each) for each in excerpts])
    order = np.argsort(-lengths, kind="stable")  # so that those still walking are the first ones
    width = int(lengths.max(initial=0))
    text = np.zeros((width, len(excerpts)), dtype=np.uint8)
    for place, index in enumerate(order.tolist()):
        text[: lengths[index], place] = np.frombuffer(excerpts[index], dtype=np.uint8)
    walking = np.searchsorted(-lengths[order], -np.arange(width), side="left")
    states = np.zeros(len(excerpts), dtype=np.int64)
    keys = []
    for step in range(width):
        active = int(walking[step])
        moved = model.moves[model.rows[states[:active]] + text[step, :active]].astype(np.int64)
        states[:active] = moved
        output = model.outputs[moved].astype(np.int64)
        places = np.flatnonzero(output >= 0)
        keys.append(order[places] * len(model.weights) + output[places])
    found, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]), return_counts=True)
    return found // len(model.weights), found % len(model.weights), counts
