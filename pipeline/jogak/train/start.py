"""What merges begin with: an alphabet, or the tokens of a vocabulary that goes on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jogak.characters import Characters, read_characters
from jogak.config import TrainOptions
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.pretokenize.words import SPACE_MARKER, WORD_PATTERNS
from jogak.train.syllables import syllable_merges
from jogak.vocabulary import BYTE_CHARACTERS, BYTE_ORDER, Rule, TokenizerSpec


@dataclass(frozen=True, slots=True)
class Start:
    """What stands before the first merge that is trained.

    Attributes:
        base: the bytes of the ids so far; those of special tokens are empty.
        symbols: how many ids at the end of `base` text is made of, when it is not encoded first.
        reserved: the strings that no merge may make.
        characters: what the ids are in a vocabulary of characters.
        earlier: the merges so far, uint32 (k, 3): left, right, result; text is encoded by them
            before training.
        rule: how the merges so far apply; see TokenizerSpec.
        whole_first: a pretoken that is a token stays whole when it is encoded.
        encoded: whether text is encoded first.
        earlier_spec: the vocabulary of characters that goes on, which text is encoded with.
    """

    base: tuple[bytes, ...]
    symbols: int
    reserved: tuple[bytes, ...] = ()
    characters: Characters | None = None
    earlier: NDArray[np.uint32] = field(default_factory=lambda: np.zeros((0, 3), np.uint32))
    rule: Rule = "pairs"
    whole_first: bool = False
    encoded: bool = False
    earlier_spec: TokenizerSpec | None = None


def alphabet_start(counts: PretokenCounts, options: TrainOptions) -> Start:
    """Return the start of a vocabulary of its own: special tokens, then the alphabet.

    Raises:
        TokenizerError: the counts do not suit the alphabet, or a special token clashes with it.
    """
    if options.alphabet == "characters":
        characters = read_characters(counts, options)
        return Start(
            tuple(characters.tokens()),
            len(characters.symbols),
            tuple(characters.reserved()),
            characters,
        )
    refuse_marked(counts)
    special = (b"",) * len(options.special_tokens)
    base = (*special, *(bytes((byte,)) for byte in BYTE_ORDER))
    reserved = tuple(clashing_bytes(options.special_tokens))
    if options.initial_syllables is None:
        return Start(base, 256, reserved)
    made, earlier = syllable_merges(base)
    return Start((*base, *made), 0, reserved, earlier=earlier, encoded=True)


def continued_start(spec: TokenizerSpec, new_special: tuple[str, ...]) -> Start:
    """Return the start of a vocabulary that goes on: its ids, then new special tokens.

    No merge makes the string of a token that is there: an improper list of merges may have tokens
    that its merges do not reach.
    """
    tokens = spec.tokens()
    tokens += [b""] * (spec.vocab_size - len(tokens))
    names = [token.content for token in spec.added] + [text for _, text in spec.inert]
    is_bytes = spec.model == "bytes"
    clashing = (_spelled(n) if is_bytes else n.encode() for n in (*names, *new_special))
    reserved = {token for token in (*tokens, *clashing) if token}
    base = (*tokens, *(b"" for _ in new_special))
    return Start(
        base,
        0,
        tuple(sorted(reserved)),
        earlier=spec.merges,
        rule=spec.rule,
        whole_first=spec.whole_first,
        encoded=True,
        earlier_spec=None if is_bytes else spec,
    )


def refuse_marked(counts: PretokenCounts) -> None:
    """Refuse text that was counted with word markers in it, where bytes are what it is made of.

    Raises:
        TokenizerError: it was.
    """
    if counts.pattern == WORD_PATTERNS[SPACE_MARKER]:
        message = (
            "train.alphabet: the text was counted with a word marker in it, which would become "
            "bytes of the text; set 'characters', or count without word_marker"
        )
        raise TokenizerError(message)


_BYTE_OF = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


def _spelled(content: str) -> bytes:
    """Return the bytes whose byte-level spelling this is; none where there are none."""
    if not all(character in _BYTE_OF for character in content):
        return b""
    return bytes(_BYTE_OF[character] for character in content)


def clashing_bytes(special_tokens: tuple[str, ...]) -> list[bytes]:
    """Return the bytes whose byte-level spelling is a special token's string.

    Most are the special token's own text; one with a space or with Hangul has none, since the byte
    level spells neither as itself.

    Raises:
        TokenizerError: a special token is how a byte is spelled.
    """
    clashing = []
    for content in special_tokens:
        spelled = _spelled(content)
        if spelled:
            clashing.append(spelled)
        if len(spelled) == 1:
            message = (
                f"train.special_tokens: {content!r} is how byte {spelled[0]:#04x} is "
                "spelled, which is a token already; choose a longer string"
            )
            raise TokenizerError(message)
    return clashing
