"""What a tokenizer cannot give back: the ways in which decoded text may differ from its source."""

from __future__ import annotations

from collections.abc import Iterator

from jogak.vocabulary import TokenizerSpec

FORMS = ("nfc", "nfd", "nfkc", "nfkd")


def losses(spec: TokenizerSpec) -> tuple[str, ...]:
    """Return sentences, one for each loss; none where ids decode to the very text.

    Of models that another library runs, only what the spec says is known.
    """
    kinds = _kinds(spec)
    forms = [f"text is brought into {form.upper()} first" for form in FORMS if form in kinds]
    return (*forms, *_other_losses(spec))


def loses_normalized_text(spec: TokenizerSpec) -> bool:
    """Whether even text in the tokenizer's own normal form may decode to other text."""
    return any(True for _ in _other_losses(spec))


def _kinds(spec: TokenizerSpec) -> set[str]:
    return {step.kind for step in (*spec.normalizer, *spec.prepare)}


def _other_losses(spec: TokenizerSpec) -> Iterator[str]:
    rules = spec.characters
    kinds = _kinds(spec)
    if kinds & {"charsmap", "precompiled"}:
        yield "characters are replaced as the model's own map says"
    if "collapse_spaces" in kinds:
        yield "a run of spaces and tabs becomes one space"
    if any(step.old.startswith("\r") for step in spec.normalizer):
        yield "CR LF and CR become LF"
    if kinds & {"strip_start", "squeeze_spaces", "strip_end"}:
        yield "spaces around the text and doubled spaces are dropped"
    if rules.marker:
        yield f"a {rules.marker!r} in the text decodes as a space"
    if rules.strip_start and kinds & {"prefix", "prefix_first"}:
        yield "one space in front of the text is dropped"
    if rules.suffix:
        yield "white space between words, line ends too, decodes as one space, around the text none"
        yield f"a {rules.suffix!r} in the text may be taken for the end of a word"
    elif any(split.behavior == "removed" and not split.invert for split in spec.splits):
        yield "what the pre-tokenizer removes (white space, mostly) is dropped"
    if rules.unknown_id is not None and not rules.byte_fallback:
        yield "characters outside the vocabulary become the unknown token"
