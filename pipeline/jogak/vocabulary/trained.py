"""The spec of a tokenizer that was trained here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalizeOptions
from jogak.errors import TokenizerError
from jogak.pretokenize import huggingface_regex
from jogak.vocabulary.spec import (
    BYTE_ORDER,
    AddedToken,
    NormalizeStep,
    Split,
    TokenizerSpec,
    pack_tokens,
)


def spec_from_merges(
    special_tokens: Iterable[str],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    pattern: str,
    normal_form: str = "none",
    *,
    eos_token: str | None = None,
    bos_token: str | None = None,
) -> TokenizerSpec:
    """Build the spec of a trained byte-level tokenizer.

    Args:
        special_tokens: their ids are 0, 1, ..., in this order.
        left: uint32 (m,); the left parts of the merges.
        right: uint32 (m,); the right parts. Ids count the special tokens, then the 256 bytes
            in `BYTE_ORDER`, then the merges: the numbering of Hugging Face's trainer.
        pattern: the resolved regex, in the dialect of `jogak.pretokenize`.
        normal_form: the job's; `nfkc_keep_jamo` is recorded as `nfc`, which leaves its text
            as it is (no file format can say more).
        eos_token: defaults to the only special token, if there is exactly one.
        bos_token: none by default.
    """
    special = tuple(special_tokens)
    _check_special(special)
    first, count = len(special), len(left)
    base = pack_tokens([b""] * first + [bytes((byte,)) for byte in BYTE_ORDER])
    left, right = left.astype(np.uint32), right.astype(np.uint32)
    try:
        data, offsets = _core.join_merges(*base, left, right)
    except ValueError as error:
        raise TokenizerError(str(error)) from error
    result = np.arange(first + 256, first + 256 + count, dtype=np.uint32)
    if eos_token is None and len(special) == 1:
        eos_token = special[0]
    spec = TokenizerSpec(
        token_data=data,
        token_offsets=offsets,
        merges=np.stack([left, right, result], axis=1),
        normalizer=normal_form_steps(normal_form),
        splits=(Split(huggingface_regex(pattern)),),
        added=tuple(AddedToken(index, content) for index, content in enumerate(special)),
    )
    return with_names(spec, bos=bos_token, eos=eos_token)


def normal_form_steps(normal_form: str) -> tuple[NormalizeStep, ...]:
    """Return the steps for a job's normal form, the nearest that file formats can say."""
    steps = {"none": (), "nfkc": (NormalizeStep("nfkc"),)}
    return steps.get(normal_form, (NormalizeStep("nfc"),))


def normalize_steps(options: NormalizeOptions) -> tuple[NormalizeStep, ...]:
    """Return the steps for a job's normalization, but for `control: remove`, in its order."""
    steps = normal_form_steps(options.form)
    if options.newlines == "lf":
        lines = (NormalizeStep("replace", "\r\n", "\n"), NormalizeStep("replace", "\r", "\n"))
        steps = (*lines, *steps)
    if options.whitespace == "collapse":
        steps = (*steps, NormalizeStep("collapse_spaces"))
    return steps


def _check_special(special: tuple[str, ...]) -> None:
    for content in special:
        if not content or special.count(content) > 1:
            message = f"special tokens: {content!r} is empty or listed twice; name each one once"
            raise TokenizerError(message)


def with_names(spec: TokenizerSpec, *, bos: str | None, eos: str | None) -> TokenizerSpec:
    """Return the spec with these begin and end tokens; each must be one of its added tokens."""
    contents = {token.content for token in spec.added}
    for part, content in (("bos", bos), ("eos", eos)):
        if content is not None and content not in contents:
            found = ", ".join(sorted(contents)[:8]) or "none"
            message = f"{part} token {content!r} is not a special token (found: {found})"
            raise TokenizerError(message)
    return replace(spec, names=replace(spec.names, bos=bos, eos=eos))
