"""detect: the language of each document, by its scripts and, in Latin script, by a model.

The rule, for documents of valid UTF-8 (docs/languages.md says it for users):

1. Letters are counted by script and weighed by their bytes in UTF-8. Digits, marks and symbols say
   nothing. No letters at all: `und`.
2. Scripts other than Latin come first: if they have at least a tenth of the weight, the heaviest
   of them decides, where Hangul, kana, Han and Bopomofo are one group. Technical text in any
   language is full of Latin names and code.
3. Within that group: Hangul with at least a tenth of it is `ko`, unless kana outweighs it; kana
   with at least a fiftieth is `ja`; else it is `zh`.
4. Other scripts stand for the language with most text in them: Cyrillic for `ru`, Arabic for `ar`,
   Devanagari for `hi`. They cannot tell `uk` from `ru`.
5. Latin text is for the model (extra `detect`); without it, or with fewer than 20 letters, `und`.

A label depends on the document alone, never on batches, processes or what was read before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jogak.detect.latin import PACKAGE, detect_latin, installed_version
from jogak.detect.scripts import SCRIPTS, WIDTHS, count_scripts
from jogak.documents import UNDETERMINED, TextBatch

__all__ = ["DETECT", "describe_detector", "detect_batch", "detect_languages", "detector_version"]

DETECT = "detect"
"""The language of a source whose documents' languages are to be detected."""
RULES = 1
"""Version of the rule above; a change of it changes outputs."""
LEAST_FOREIGN = 10
"""Scripts other than Latin decide from one part in this many of the weight."""
LEAST_HANGUL, LEAST_KANA = 10, 50
"""Hangul and kana decide from one part in this many of the East Asian letters."""
LEAST_LATIN = 20
"""Letters that the model needs."""

EAST_ASIAN = ("Hangul", "Han", "Hiragana", "Katakana", "Bopomofo")
LANGUAGE_OF = {
    "Thai": "th", "Cyrillic": "ru", "Arabic": "ar", "Devanagari": "hi", "Greek": "el",
    "Hebrew": "he", "Armenian": "hy", "Georgian": "ka", "Bengali": "bn", "Gurmukhi": "pa",
    "Gujarati": "gu", "Oriya": "or", "Tamil": "ta", "Telugu": "te", "Kannada": "kn",
    "Malayalam": "ml", "Sinhala": "si", "Lao": "lo", "Tibetan": "bo", "Myanmar": "my",
    "Khmer": "km", "Ethiopic": "am", "Mongolian": "mn",
}  # fmt: skip
"""The language that each other script stands for."""

_COLUMN = {name: column for column, name in enumerate(SCRIPTS)}
_OTHERS = [_COLUMN[name] for name in LANGUAGE_OF]


def detector_version() -> str:
    """Return what decides labels, for the identity of a run's results."""
    model = installed_version()
    return f"scripts {RULES}" + (f", {PACKAGE} {model}" if model else "")


def describe_detector() -> str:
    """Say how languages are detected here, and what is not."""
    model = installed_version()
    if model:
        return f"languages are detected by script, and in Latin script by {PACKAGE} {model}"
    return (
        "languages are detected by script; Latin script is 'und', since the extra `detect` is not "
        "installed (pip install 'jogak[detect]')"
    )


def detect_batch(batch: TextBatch) -> TextBatch:
    """Return a batch with the detected language of each document."""
    languages, names = detect_languages(batch.data, batch.offsets)
    return replace(batch, languages=languages, language_names=names)


def detect_languages(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Detect the language of each document of valid UTF-8.

    Returns:
        int32 (documents,), indexes into the names; the names, in order.
    """
    counts = count_scripts(data, offsets)
    labels = np.full(len(counts), UNDETERMINED, dtype=object)
    foreign, decided = _by_script(counts * WIDTHS)
    labels[decided] = foreign[decided]
    latin = ~decided & (counts[:, _COLUMN["Latin"]] >= LEAST_LATIN)
    if installed_version() is not None and latin.any():
        chosen = np.flatnonzero(latin)
        texts = [data[offsets[at] : offsets[at + 1]].tobytes() for at in chosen.tolist()]
        labels[chosen] = detect_latin(texts)
    names, codes = np.unique(labels.astype(str), return_inverse=True)
    return codes.astype(np.int32), tuple(names.tolist())


def _by_script(
    weights: NDArray[np.int64],
) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """Return the language that scripts other than Latin say, and where they decide."""
    hangul = weights[:, _COLUMN["Hangul"]]
    kana = weights[:, _COLUMN["Hiragana"]] + weights[:, _COLUMN["Katakana"]]
    east = weights[:, [_COLUMN[name] for name in EAST_ASIAN]].sum(axis=1)
    others = weights[:, _OTHERS]
    languages = np.array([*LANGUAGE_OF.values()], dtype=object)
    labels = languages[others.argmax(axis=1)]
    is_east = east > others.max(axis=1)
    is_korean = (hangul * LEAST_HANGUL >= east) & (hangul >= kana)
    is_japanese = kana * LEAST_KANA >= east
    labels[is_east] = "zh"
    labels[is_east & is_japanese] = "ja"
    labels[is_east & is_korean] = "ko"
    foreign = east + others.sum(axis=1)
    total = foreign + weights[:, _COLUMN["Latin"]]
    return labels, (foreign > 0) & (foreign * LEAST_FOREIGN >= total)
