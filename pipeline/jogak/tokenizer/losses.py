"""What a tokenizer cannot give back: the ways in which decoded text may differ from its source."""

from __future__ import annotations

from collections.abc import Iterator

from jogak.vocabulary import TokenizerSpec

FORMS = ("nfc", "nfd", "nfkc", "nfkd")


def losses(spec: TokenizerSpec) -> tuple[str, ...]:
    """Return sentences, one for each loss; none where ids decode to the very text.

    Of models that another library runs, only what the spec says is known.
    """
    return tuple(_losses(spec))


def _losses(spec: TokenizerSpec) -> Iterator[str]:
    rules = spec.characters
    steps = (*spec.normalizer, *spec.prepare)
    kinds = {step.kind for step in steps}
    for form in FORMS:
        if form in kinds:
            yield f"text is brought into {form.upper()} first"
    if kinds & {"charsmap", "precompiled"}:
        yield "characters are replaced as the model's own map says"
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
