"""From merges to a tokenizer that cuts and normalizes text as it was counted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from jogak.characters import character_spec
from jogak.config import NormalizeOptions, TrainOptions, options_from
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.pretokenize import Pretokenizer
from jogak.tokenizer import Tokenizer
from jogak.train.merges import TrainProgress, train_merges
from jogak.vocabulary import normalize_steps, spec_from_merges, with_names

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
    if merges.characters is not None:
        spec = character_spec(merges.characters, merges.left, merges.right, counts, options)
        return Tokenizer(with_names(spec, bos=bos_token, eos=eos_token))
    spec = spec_from_merges(
        options.special_tokens,
        merges.left,
        merges.right,
        Pretokenizer(counts.pattern).regex,
        eos_token=eos_token,
        bos_token=bos_token,
    )
    return Tokenizer(replace(spec, normalizer=normalize_steps(counts.normalize)))
