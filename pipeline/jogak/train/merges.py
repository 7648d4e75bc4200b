"""From the counts of pretokens to merges: the native core, run so that it can be watched."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.characters import Characters, trainable
from jogak.config import TrainOptions
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.pretokenize.words import END_MARKER
from jogak.train.continued import encode_words
from jogak.train.memory import check_memory
from jogak.train.start import Start, alphabet_start
from jogak.train.weights import weigh
from jogak.vocabulary import pack_tokens

POLL_S = 0.1
"""How often a running training is looked at, and how late Ctrl-C may be noticed."""


@dataclass(frozen=True, slots=True)
class Merges:
    """The merges of a tokenizer, in order; merge i makes id `first_id` + i.

    Attributes:
        left: uint32 (m,); id of the left part.
        right: uint32 (m,); id of the right part.
        counts: uint64 (m,); occurrences of the pair when it was merged, times `scale`.
        base: the bytes of the ids before the first merge; those of special tokens are empty.
        characters: what those ids are in a vocabulary of characters; None in one of bytes.
        earlier: uint32 (k, 3); the merges that made tokens of the base: left, right, result.
        scale: what weighted counts are multiplied by, to be whole numbers.
    """

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    counts: NDArray[np.uint64]
    base: tuple[bytes, ...]
    characters: Characters | None = None
    earlier: NDArray[np.uint32] = field(default_factory=lambda: np.zeros((0, 3), np.uint32))
    scale: int = 1

    def __len__(self) -> int:
        """Return the number of merges."""
        return len(self.left)

    @property
    def first_id(self) -> int:
        """The id of the first merge."""
        return len(self.base)

    def tokens(self) -> list[bytes]:
        """Return the bytes that each merge makes, in order; word markers are in them."""
        data, offsets = _core.join_merges(*pack_tokens(self.base), self.left, self.right)
        text, bounds = data.tobytes(), offsets.tolist()
        return [text[a:b] for a, b in itertools.pairwise(bounds[self.first_id :])]


@dataclass(frozen=True, slots=True)
class TrainProgress:
    """How far a training has come.

    Attributes:
        merges: merges made.
        new: how many of them since the last report.
        wanted: merges asked for.
        count: the (weighted) count of the last merge.
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
    start: Start | None = None,
    threads: int = 1,
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
        start: what to begin with; the alphabet of the options by default.
        threads: how many threads read words and look for pairs; the merges do not depend on it.
        on_progress: called from this thread about ten times a second, and once at the end.
        tuning: parameters of the core that change time and memory, never the result.

    Raises:
        TokenizerError: there is nothing to train on, the special tokens clash with the bytes,
            `vocab_size` cannot be reached and `allow_smaller` is not set, a language of the weights
            does not occur, or memory would not suffice.
    """
    if len(counts) == 0:
        message = "train: no pretokens to train on (found 0); count some text first"
        raise TokenizerError(message)
    weighted = weigh(counts, options)
    counts, scale = weighted.counts, weighted.scale
    if start is None:
        start = alphabet_start(counts, options)
    wanted = _wanted(options, start)
    native = _native_options(options, wanted, scale, tuning)
    native.threads = threads
    native.forbid(*pack_tokens(start.reserved))
    text = trainable(counts, options) if options.alphabet == "characters" else counts
    check_memory(text, encoded=start.encoded)
    left, right, merged = _run(_task(text, start, options, native), native, scale, on_progress)
    if len(left) < wanted and not options.allow_smaller:
        message = (
            f"train.vocab_size: only {len(start.base) + len(left):,} of {options.vocab_size:,} "
            f"tokens could be made, since no pair is left that occurs {options.min_count} times; "
            "lower vocab_size or min_count, add text, or set allow_smaller"
        )
        raise TokenizerError(message)
    shift = np.uint32(0 if start.encoded else len(start.base) - start.symbols)
    base, earlier = start.base, start.earlier
    return Merges(left + shift, right + shift, merged, base, start.characters, earlier, scale)


def _wanted(options: TrainOptions, start: Start) -> int:
    """Return how many merges to train."""
    wanted = options.vocab_size - len(start.base)
    if wanted < 0:  # of bytes alone: a rule of the options
        if options.continue_from is not None:
            what = f"{options.continue_from} and new special tokens"
            advice = "raise it"
        elif start.characters is None:
            what = "the special tokens, the 256 bytes and the initial syllables"
            advice = "raise it, or leave out initial_syllables"
        else:
            what = f"the special tokens and the alphabet ({start.symbols:,} characters)"
            advice = "raise it, or lower character_coverage"
        message = (
            f"train.vocab_size: too small (found {options.vocab_size:,}); {what} need "
            f"{len(start.base):,}; {advice}"
        )
        raise TokenizerError(message)
    return wanted if options.limit is None else min(wanted, options.limit)


def _native_options(
    options: TrainOptions, merges: int, scale: int, tuning: _core.TrainTuning | None
) -> _core.TrainOptions:
    native = _core.TrainOptions()
    native.merges = merges
    native.ties = options.ties
    native.min_count = options.min_count * scale
    if options.max_token_bytes is not None:
        native.max_token_bytes = options.max_token_bytes
    if options.max_token_chars is not None:
        native.max_token_chars = options.max_token_chars
    native.whole_characters = options.whole_characters
    if tuning is not None:
        native.tuning = tuning
    return native


Result = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]
"""left, right, counts; see Merges."""


def _task(
    counts: PretokenCounts, start: Start, options: TrainOptions, native: _core.TrainOptions
) -> Callable[[_core.TrainControl], Result]:
    """Return the core's work; what it needs is ready."""
    suffix = END_MARKER if options.word_marker == END_MARKER else ""
    if start.encoded:
        words = encode_words(counts, start)
        tokens = pack_tokens(start.base)
        encoded = words.ids, words.offsets, words.counts, words.first
        return lambda control: _core.train_encoded(*encoded, *tokens, native, control, suffix)
    alphabet = pack_tokens(start.base[len(start.base) - start.symbols :])
    characters = options.alphabet == "characters"
    text = counts.data, counts.offsets, counts.counts, counts.first
    return lambda control: _core.train_merges(*text, *alphabet, native, control, characters, suffix)


def _run(
    task: Callable[[_core.TrainControl], Result],
    native: _core.TrainOptions,
    scale: int,
    on_progress: Callable[[TrainProgress], None] | None,
) -> Result:
    """Run the core in a thread of its own, so that this one can report and take Ctrl-C."""
    control = _core.TrainControl()
    reported = 0
    with ThreadPoolExecutor(1, thread_name_prefix="train") as pool:
        running = pool.submit(task, control)
        try:
            while True:
                done, _ = wait([running], timeout=POLL_S)
                if on_progress is not None:
                    merges, count, token = control.snapshot()
                    new = merges - reported
                    on_progress(TrainProgress(merges, new, native.merges, count // scale, token))
                    reported = merges
                if done:
                    return running.result()
        except (ValueError, MemoryError) as error:
            message = f"train: {error or 'out of memory'}; train on fewer pretokens"
            raise TokenizerError(message) from error
        finally:
            control.cancel()
