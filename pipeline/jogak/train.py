"""From the counts of pretokens to merges, and from merges to a tokenizer.

The merges are exactly those of counting every pair anew before each merge; the native core only
finds them sooner. Ids are numbered as Hugging Face's trainer numbers them: the special tokens,
then the 256 bytes in the order of the characters that stand for them, then the merges. What comes
before the merges in a vocabulary of characters stands in `characters`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.characters import Characters, character_spec, read_characters, trainable
from jogak.config import TrainOptions, options_from
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.pretokenize import Pretokenizer
from jogak.pretokenize.words import END_MARKER, SPACE_MARKER, WORD_PATTERNS
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import BYTE_CHARACTERS, BYTE_ORDER, pack_tokens, spec_from_merges, with_names

POLL_S = 0.1
"""How often a running training is looked at, and how late Ctrl-C may be noticed."""


@dataclass(frozen=True, slots=True)
class Merges:
    """The merges of a tokenizer, in order; merge i makes id `first_id` + i.

    Attributes:
        left: uint32 (m,); id of the left part.
        right: uint32 (m,); id of the right part.
        counts: uint64 (m,); occurrences of the pair when it was merged.
        base: the bytes of the ids before the first merge; those of special tokens are empty.
        characters: what those ids are in a vocabulary of characters; None in one of bytes.
    """

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    counts: NDArray[np.uint64]
    base: tuple[bytes, ...]
    characters: Characters | None = None

    def __len__(self) -> int:
        """Return the number of merges."""
        return len(self.left)

    @property
    def first_id(self) -> int:
        """The id of the first merge."""
        return len(self.base)

    def tokens(self) -> list[bytes]:
        """Return the bytes that each merge makes, in order; word markers are in them."""
        made = list(self.base)
        for left, right in zip(self.left.tolist(), self.right.tolist(), strict=True):
            made.append(made[left] + made[right])
        return made[self.first_id :]


@dataclass(frozen=True, slots=True)
class TrainProgress:
    """How far a training has come.

    Attributes:
        merges: merges made.
        new: how many of them since the last report.
        wanted: merges asked for.
        count: the count of the last merge.
        token: the bytes it made.
    """

    merges: int
    new: int
    wanted: int
    count: int
    token: bytes


def train_merges(
    counts: PretokenCounts,
    options: TrainOptions,
    *,
    on_progress: Callable[[TrainProgress], None] | None = None,
    tuning: _core.TrainTuning | None = None,
) -> Merges:
    """Train merges.

    A merge that would make the string of a special token is never made, whatever its count:
    special tokens do not come from ordinary text. (Hugging Face's trainer would give it the special
    token's id; where no special token occurs in the text, nothing differs.)

    Args:
        counts: what to train on.
        options: the section `train` of a job.
        on_progress: called from this thread about ten times a second, and once at the end.
        tuning: parameters of the core that change time and memory, never the result.

    Raises:
        TokenizerError: there is nothing to train on, the special tokens clash with the bytes, or
            `vocab_size` cannot be reached and `allow_smaller` is not set.
    """
    if len(counts) == 0:
        message = "train: no pretokens to train on (found 0); count some text first"
        raise TokenizerError(message)
    base, characters = _base(counts, options)
    symbols = list(base[-256:] if characters is None else characters.symbols)
    wanted = options.vocab_size - len(base)
    if wanted < 0:  # of bytes: a rule of the options
        message = (
            f"train.vocab_size: too small (found {options.vocab_size:,}); the special tokens and "
            f"the alphabet ({len(symbols):,} characters) need {len(base):,}; raise it, or lower "
            "character_coverage"
        )
        raise TokenizerError(message)
    if options.limit is not None:
        wanted = min(wanted, options.limit)
    native = _native_options(options, wanted, tuning)
    native.forbid(*pack_tokens(_reserved(options, characters)))
    text = counts if characters is None else trainable(counts, options)
    left, right, merged = _run(text, symbols, options, native, on_progress)
    if len(left) < wanted and not options.allow_smaller:
        message = (
            f"train.vocab_size: only {len(base) + len(left):,} of {options.vocab_size:,} "
            f"tokens could be made, since no pair is left that occurs {options.min_count} times; "
            "lower vocab_size or min_count, add text, or set allow_smaller"
        )
        raise TokenizerError(message)
    shift = np.uint32(len(base) - len(symbols))
    return Merges(left + shift, right + shift, merged, base, characters)


def _base(
    counts: PretokenCounts, options: TrainOptions
) -> tuple[tuple[bytes, ...], Characters | None]:
    """Return the bytes of the ids before the first merge, and what they are."""
    if options.alphabet == "characters":
        characters = read_characters(counts, options)
        return tuple(characters.tokens()), characters
    if counts.pattern == WORD_PATTERNS[SPACE_MARKER]:
        message = (
            "train.alphabet: the text was counted with a word marker in it, which would become "
            "bytes of the text; set 'characters', or count without word_marker"
        )
        raise TokenizerError(message)
    special = (b"",) * len(options.special_tokens)
    return (*special, *(bytes((byte,)) for byte in BYTE_ORDER)), None


def _reserved(options: TrainOptions, characters: Characters | None) -> list[bytes]:
    if characters is None:
        return _clashing_bytes(options.special_tokens)
    return characters.reserved()


def _native_options(
    options: TrainOptions, merges: int, tuning: _core.TrainTuning | None
) -> _core.TrainOptions:
    native = _core.TrainOptions()
    native.merges = merges
    native.ties = options.ties
    native.min_count = options.min_count
    if options.max_token_bytes is not None:
        native.max_token_bytes = options.max_token_bytes
    if options.max_token_chars is not None:
        native.max_token_chars = options.max_token_chars
    native.whole_characters = options.whole_characters
    if tuning is not None:
        native.tuning = tuning
    return native


def _clashing_bytes(special_tokens: tuple[str, ...]) -> list[bytes]:
    """Return the bytes whose byte-level spelling is a special token's string.

    Most are the special token's own text; one with a space or with Hangul has none, since the byte
    level spells neither as itself.
    """
    byte_of = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}
    clashing = []
    for content in special_tokens:
        if all(character in byte_of for character in content):
            clashing.append(bytes(byte_of[character] for character in content))
            if len(content) == 1:
                message = (
                    f"train.special_tokens: {content!r} is how byte {clashing[-1][0]:#04x} is "
                    "spelled, which is a token already; choose a longer string"
                )
                raise TokenizerError(message)
    return clashing


def _run(
    counts: PretokenCounts,
    symbols: list[bytes],
    options: TrainOptions,
    native: _core.TrainOptions,
    on_progress: Callable[[TrainProgress], None] | None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]:
    """Run the core in a thread of its own, so that this one can report and take Ctrl-C."""
    control = _core.TrainControl()
    suffix = END_MARKER if options.word_marker == END_MARKER else ""
    reported = 0
    with ThreadPoolExecutor(1, thread_name_prefix="train") as pool:
        running = pool.submit(
            _core.train_merges,
            counts.data,
            counts.offsets,
            counts.counts,
            counts.first,
            *pack_tokens(symbols),
            native,
            control,
            options.alphabet == "characters",
            suffix,
        )
        try:
            while True:
                done, _ = wait([running], timeout=POLL_S)
                if on_progress is not None:
                    merges, count, token = control.snapshot()
                    new = merges - reported
                    on_progress(TrainProgress(merges, new, native.merges, count, token))
                    reported = merges
                if done:
                    return running.result()
        except (ValueError, MemoryError) as error:
            message = f"train: {error or 'out of memory'}; train on fewer pretokens"
            raise TokenizerError(message) from error
        finally:
            control.cancel()


def train(
    counts: PretokenCounts,
    options: TrainOptions | None = None,
    *,
    eos_token: str | None = None,
    bos_token: str | None = None,
    on_progress: Callable[[TrainProgress], None] | None = None,
    **settings: object,
) -> Tokenizer:
    """Train a tokenizer that cuts and normalizes text as it was counted.

    Args:
        counts: what to train on.
        options: the section `train` of a job, or leave it out and give its keys as `settings`.
        eos_token: the special token after a document; by default the first one.
        bos_token: the special token before a document, if there is one.
        on_progress: see `train_merges`.
        settings: `vocab_size=32_000`, `ties="first_seen"`, ...: the keys of `train` in a job.

    Raises:
        TokenizerError: see `train_merges`.
        ConfigError: a setting is unknown or wrong.
        TypeError: both options and settings are given.
    """
    if options is None:
        options = options_from(TrainOptions, settings, "jogak.train")
    elif settings:
        message = f"train: options and {', '.join(settings)} are both given; give either"
        raise TypeError(message)
    merges = train_merges(counts, options, on_progress=on_progress)
    if eos_token is None and options.special_tokens:
        eos_token = options.special_tokens[0]
    if merges.characters is not None:
        spec = character_spec(merges.characters, merges.left, merges.right, counts, options)
        return Tokenizer(with_names(spec, bos=bos_token, eos=eos_token))
    return Tokenizer(
        spec_from_merges(
            options.special_tokens,
            merges.left,
            merges.right,
            Pretokenizer(counts.pattern).regex,
            counts.normal_form,
            eos_token=eos_token,
            bos_token=bos_token,
        )
    )
