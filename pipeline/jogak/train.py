"""From the counts of pretokens to merges, and from merges to a tokenizer.

The merges are exactly those of counting every pair anew before each merge; the native core only
finds them sooner. Ids are numbered as Hugging Face's trainer numbers them: the special tokens,
then the 256 bytes in the order of the characters that stand for them, then the merges.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalizeOptions, TrainOptions, options_from
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.pretokenize import Pretokenizer
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import BYTE_CHARACTERS, BYTE_ORDER, pack_tokens, spec_from_merges

logger = logging.getLogger(__name__)

POLL_S = 0.1
"""How often a running training is looked at, and how late Ctrl-C may be noticed."""


@dataclass(frozen=True, slots=True)
class Merges:
    """The merges of a byte-level tokenizer, in order; merge i makes id `first_id` + i.

    Attributes:
        left: uint32 (m,); id of the left part.
        right: uint32 (m,); id of the right part.
        counts: uint64 (m,); occurrences of the pair when it was merged.
        first_id: the number of special tokens plus 256.
    """

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    counts: NDArray[np.uint64]
    first_id: int

    def __len__(self) -> int:
        """Return the number of merges."""
        return len(self.left)

    def tokens(self) -> list[bytes]:
        """Return the bytes that each merge makes, in order."""
        special = self.first_id - 256
        made = [b""] * special + [bytes((byte,)) for byte in BYTE_ORDER]
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
    """Train byte-level merges.

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
    special = len(options.special_tokens)
    wanted = options.vocab_size - special - 256  # not below 0: a rule of the options
    native = _native_options(options, wanted, tuning)
    left, right, merged = _run(counts, native, on_progress)
    if len(left) < wanted and not options.allow_smaller:
        message = (
            f"train.vocab_size: only {256 + special + len(left):,} of {options.vocab_size:,} "
            f"tokens could be made, since no pair is left that occurs {options.min_count} times; "
            "lower vocab_size or min_count, add text, or set allow_smaller"
        )
        raise TokenizerError(message)
    shift = np.uint32(special)
    return Merges(left + shift, right + shift, merged, 256 + special)


def _native_options(
    options: TrainOptions, merges: int, tuning: _core.TrainTuning | None
) -> _core.TrainOptions:
    native = _core.TrainOptions()
    native.merges = merges
    native.ties = options.ties
    native.min_count = options.min_count
    if options.max_token_bytes is not None:
        native.max_token_bytes = options.max_token_bytes
    native.whole_characters = options.whole_characters
    native.forbid(*pack_tokens(_clashing_bytes(options.special_tokens)))
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
    native: _core.TrainOptions,
    on_progress: Callable[[TrainProgress], None] | None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]:
    """Run the core in a thread of its own, so that this one can report and take Ctrl-C."""
    control = _core.TrainControl()
    alphabet = pack_tokens([bytes((byte,)) for byte in BYTE_ORDER])
    reported = 0
    with ThreadPoolExecutor(1, thread_name_prefix="train") as pool:
        running = pool.submit(
            _core.train_merges,
            counts.data,
            counts.offsets,
            counts.counts,
            counts.first,
            *alphabet,
            native,
            control,
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


def _warn_of_lost_steps(normalize: NormalizeOptions) -> None:
    """Say which normalization a tokenizer file cannot hold, so that others must apply it too."""
    lost = [
        f"{name}: {value}"
        for name, value in normalize.model_dump(exclude={"form"}).items()
        if value != "keep"
    ]
    if normalize.form == "nfkc_keep_jamo":
        lost.insert(0, "form: nfkc_keep_jamo (the file says nfc)")
    if lost:
        logger.warning(
            "normalize: the tokenizer's file cannot hold %s; text that was not normalized so "
            "before gets other ids from it than in the shards",
            ", ".join(lost),
        )


def train(
    counts: PretokenCounts,
    options: TrainOptions | None = None,
    *,
    eos_token: str | None = None,
    bos_token: str | None = None,
    on_progress: Callable[[TrainProgress], None] | None = None,
    **settings: object,
) -> Tokenizer:
    """Train a byte-level tokenizer that cuts and normalizes text as it was counted.

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
    if not isinstance(counts, PretokenCounts):
        message = (
            f"jogak.train: expected PretokenCounts (found {type(counts).__name__}); count the "
            "texts with jogak.count_pretokens first"
        )
        raise TokenizerError(message)
    _warn_of_lost_steps(counts.normalize)
    merges = train_merges(counts, options, on_progress=on_progress)
    if eos_token is None and options.special_tokens:
        eos_token = options.special_tokens[0]
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
