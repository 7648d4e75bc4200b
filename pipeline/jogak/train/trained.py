"""From merges to a tokenizer that cuts and normalizes text as it was counted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from jogak.characters import character_spec
from jogak.config import NormalizeOptions, TrainOptions, options_from
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.pretokenize import Pretokenizer
from jogak.tokenizer import Tokenizer
from jogak.train.continued import continued_spec, read_earlier, start_of
from jogak.train.merges import Merges, TrainProgress, train_merges
from jogak.vocabulary import TokenizerSpec, normalize_steps, spec_from_merges, with_names

logger = logging.getLogger(__name__)


def _warn_of_lost_steps(normalize: NormalizeOptions) -> None:
    """Say which normalization a tokenizer file cannot hold, so that others must apply it too."""
    lost = []
    if normalize.form == "nfkc_keep_jamo":
        lost.append("form: nfkc_keep_jamo (the file says nfc)")
    if normalize.control == "remove":
        lost.append("control: remove")
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
    threads: int = 1,
    on_progress: Callable[[TrainProgress], None] | None = None,
    **settings: object,
) -> Tokenizer:
    """Train a tokenizer that cuts and normalizes text as it was counted.

    Args:
        counts: what to train on.
        options: the section `train` of a job, or leave it out and give its keys as `settings`.
        eos_token: the special token after a document; by default the continued tokenizer's own, or
            the first one.
        bos_token: the special token before a document, if there is one.
        threads: see `train_merges`.
        on_progress: see `train_merges`.
        settings: `vocab_size=32_000`, `ties="first_seen"`, ...: the keys of `train` in a job.
            `continue_from` is a path.

    Raises:
        TokenizerError: see `train_merges`, and `read_earlier` of a tokenizer to continue.
        ConfigError: a setting is unknown or wrong.
        TypeError: both options and settings are given.
    """
    if options is None:
        plain = {k: str(v) if isinstance(v, Path) else v for k, v in settings.items()}
        options = options_from(TrainOptions, plain, "jogak.train")
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
    earlier = read_earlier(options, counts)
    start = None if earlier is None else start_of(earlier, options)
    merges = train_merges(counts, options, start=start, threads=threads, on_progress=on_progress)
    if earlier is not None:
        spec = continued_spec(earlier, options, merges.left, merges.right)
        bos_token, eos_token = bos_token or earlier.names.bos, eos_token or earlier.names.eos
    elif merges.characters is not None:
        spec = character_spec(merges.characters, merges.left, merges.right, counts, options)
    else:
        spec = _byte_spec(merges, counts, options)
    if eos_token is None and options.special_tokens:
        eos_token = options.special_tokens[0]
    return Tokenizer(with_names(spec, bos=bos_token, eos=eos_token), judged=earlier is None)


def _byte_spec(merges: Merges, counts: PretokenCounts, options: TrainOptions) -> TokenizerSpec:
    spec = spec_from_merges(
        options.special_tokens,
        np.concatenate([merges.earlier[:, 0], merges.left]),
        np.concatenate([merges.earlier[:, 1], merges.right]),
        Pretokenizer(counts.pattern).regex,
    )
    return replace(spec, normalizer=normalize_steps(counts.normalize))
