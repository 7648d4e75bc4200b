"""normalize: TextBatch -> TextBatch in one normal form; text already in form is not copied.

A native quick check finds the documents that a form leaves alone (nearly all) and those where it
only composes conjoining jamo, which is done natively too. The few others go through
`unicodedata2`, whose Unicode 16 is that of the check. A document is always taken whole: forms
compose across any chunk edge (U+AC00 | U+11A8).

The order is: control, newlines, form, white space. The result is idempotent:

control: remove       drops general category Cc, except the white space among it (U+0009-000D,
                      U+0085). Format characters stay: joiners hold emoji and Indic text together.
newlines: lf          CR LF and lone CR become LF.
whitespace: collapse  a run of U+0009 and category Zs (U+0020, U+00A0, U+3000, ..) becomes one
                      U+0020. Line breaks stay, and nothing is trimmed.
form: nfkc_keep_jamo  NFKC as it would be if U+3131-318E had no decomposition: laughter and the
                      middle dot U+318D stay as they are, half-width jamo (U+FFA0-FFDC) become
                      U+3131-3164, and everything else is as in NFKC.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace

import numpy as np
import unicodedata2
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalForm, NormalizeOptions
from jogak.documents import TextBatch

JAMO, UNKNOWN = 1, 2
"""What `_core.check_form` finds: jamo to compose, or that `unicodedata2` must look."""

COMPATIBILITY_JAMO = re.compile("([\u3131-\u318e]+)")
MARKS = range(0x300, 0x20000)
"""Where the characters are whose combining class is not 0."""
LONG_RUN = 64
STRIDE = 16
"""Of this many characters one is looked at first: a long run holds LONG_RUN // STRIDE of them."""
HALF_WIDTH_JAMO = re.compile("[\uffa0-\uffdc]")


def normalize_batch(batch: TextBatch, options: NormalizeOptions) -> tuple[TextBatch, int]:
    """Normalize the documents of a batch.

    Returns:
        The batch itself if nothing changed, else one with new data and offsets; and how many
        documents changed.
    """
    normal, changed = normalize_documents(batch, options)
    return normal, int(changed.sum())


def normalize_documents(
    batch: TextBatch, options: NormalizeOptions
) -> tuple[TextBatch, NDArray[np.uint8]]:
    """Do the same; return which documents changed, uint8 (documents,)."""
    changed = np.zeros(len(batch), np.uint8)
    lf, control = options.newlines == "lf", options.control == "remove"
    if lf or control:
        batch = _clean(batch, changed, lf_newlines=lf, remove_control=control)
    if options.form != "none":
        batch = _apply_form(batch, changed, options.form)
    if options.whitespace == "collapse":
        batch = _clean(batch, changed, collapse_spaces=True)
    return batch, changed


def normalize_text(text: str, form: NormalForm) -> str:
    """Put one text in a normal form.

    >>> normalize_text("가ㄳ", "nfkc_keep_jamo") == "가ㄳ"
    True
    """
    if form == "none":
        return text
    if _marks(LONG_RUN // STRIDE).search(text[::STRIDE]):
        text = _marks(LONG_RUN).sub(_order_marks, text)
    if form == "nfc":
        return str(unicodedata2.normalize("NFC", text))
    if form == "nfkc":
        return str(unicodedata2.normalize("NFKC", text))
    # A compatibility jamo is a starter that composes with nothing, so the text falls apart there.
    pieces = COMPATIBILITY_JAMO.split(HALF_WIDTH_JAMO.sub(_full_width, text))
    pieces[::2] = [unicodedata2.normalize("NFKC", piece) for piece in pieces[::2]]
    return "".join(pieces)


@functools.cache
def _marks(least: int) -> re.Pattern[str]:
    """Match runs of so many combining marks; no language has LONG_RUN of them, hostile text does.

    `unicodedata2` orders a run by insertion, so 1 MB of marks in the worst order takes minutes;
    a run that is in order already costs it nothing.
    """
    marks = (chr(code) for code in MARKS if unicodedata2.combining(chr(code)))
    return re.compile(f"[{''.join(marks)}]{{{least},}}")


def _order_marks(run: re.Match[str]) -> str:
    """Put marks in canonical order: by combining class, those of one class as they stand."""
    # No mark decomposes into one of another class, so ordering may come before decomposing.
    return "".join(sorted(run[0], key=unicodedata2.combining))


def _full_width(match: re.Match[str]) -> str:
    """Return the compatibility jamo that a half-width jamo is a narrow form of."""
    decomposition = unicodedata2.decomposition(match[0])
    return chr(int(decomposition.removeprefix("<narrow> "), 16)) if decomposition else match[0]


def _clean(
    batch: TextBatch,
    changed: NDArray[np.uint8],
    *,
    lf_newlines: bool = False,
    remove_control: bool = False,
    collapse_spaces: bool = False,
) -> TextBatch:
    """Apply cleaning rules and note the documents that they change."""
    data, offsets, differs = _core.clean_text(
        batch.data,
        batch.offsets,
        lf_newlines=lf_newlines,
        remove_control=remove_control,
        collapse_spaces=collapse_spaces,
    )
    if not differs.any():
        return batch
    changed |= differs
    return replace(batch, data=data, offsets=offsets)


def _apply_form(batch: TextBatch, changed: NDArray[np.uint8], form: NormalForm) -> TextBatch:
    """Put documents in a normal form and note those that it changes."""
    checks = _core.check_form(batch.data, batch.offsets, form)
    if not checks.any():
        return batch
    if (checks == JAMO).any():
        # Harmless to the unknown ones: composing jamo is a part of every form.
        data, offsets, differs = _core.compose_jamo(batch.data, batch.offsets)
        if differs.any():
            changed |= differs
            batch = replace(batch, data=data, offsets=offsets)
    replaced: dict[int, bytes] = {}
    for index in np.flatnonzero(checks == UNKNOWN).tolist():
        document = batch.document(index)
        normal = normalize_text(document.decode("utf-8"), form).encode("utf-8")
        if normal != document:
            replaced[index] = normal
            changed[index] = 1
    return _replace_documents(batch, replaced) if replaced else batch


def _replace_documents(batch: TextBatch, replaced: dict[int, bytes]) -> TextBatch:
    """Put new documents in the place of some; the keys ascend."""
    lengths = np.diff(batch.offsets)
    pieces: list[NDArray[np.uint8]] = []
    start = 0
    for index, document in replaced.items():
        pieces.append(batch.data[batch.offsets[start] : batch.offsets[index]])
        pieces.append(np.frombuffer(document, np.uint8))
        lengths[index] = len(document)
        start = index + 1
    pieces.append(batch.data[batch.offsets[start] : batch.offsets[-1]])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return replace(batch, data=np.concatenate(pieces), offsets=offsets)
