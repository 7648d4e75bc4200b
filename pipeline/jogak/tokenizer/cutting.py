"""From a spec's splits to pretokens: by the native scanner where it can, else step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.pretokenize import (
    PATTERNS,
    Pretokenizer,
    SplitStep,
    from_huggingface_regex,
    huggingface_regex,
)
from jogak.pretokenize.dialects import python_regex
from jogak.vocabulary import NormalizeStep, Split, TokenizerSpec

Cut = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]
"""Data and offsets of the pieces (without what was removed), and the pretokens' ends in data."""

_NAMES = {huggingface_regex(source): name for name, source in PATTERNS.items()}


class Cutter:
    """Cuts pieces of text into pretokens.

    Attributes:
        scanner: the native scanner that does all of it, or None.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        """Prepare the splits of a spec.

        Raises:
            TokenizerError: a pattern that cannot be applied exactly.
        """
        splits = _effective(spec)
        self._pretokenizer: Pretokenizer | None = None
        self._steps: list[_Step] = []
        if splits and all(_is_plain(split) for split in splits):
            self._pretokenizer = _pretokenizer(splits)
        else:
            self._steps = [_Step(split) for split in splits]
        self.scanner = self._pretokenizer.scanner if self._pretokenizer else None

    def cut(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Cut:
        """Cut pieces of text, data[offsets[i]:offsets[i + 1]] each."""
        if self._pretokenizer is not None:
            return data, offsets, self._pretokenizer.boundaries(data, offsets)[0]
        cut = _Cut(data, offsets, np.arange(len(offsets) - 1))
        for step in self._steps:
            cut = step.apply(cut)
        ends = cut.bounds[1:]
        places = np.searchsorted(cut.owners, np.arange(len(offsets)))
        return cut.data, cut.bounds[places], ends[np.diff(cut.bounds) > 0]


def _effective(spec: TokenizerSpec) -> list[Split]:
    """Return the splits without those whose string an earlier replacement has taken away."""
    gone: set[str] = set()
    for step in (*spec.normalizer, *spec.prepare):
        if step.kind == "replace":
            gone.add(step.old)
        gone = {text for text in gone if text not in step.new and _stays_gone(step)}
    return [split for split in spec.splits if not (split.literal and split.pattern in gone)]


def _stays_gone(step: NormalizeStep) -> bool:
    return step.kind not in ("nfkc", "nfkd")  # U+00A0 becomes a space under compatibility


def _is_plain(split: Split) -> bool:
    return not split.literal and (
        split.behavior == "isolated" or (split.behavior == "removed" and split.invert)
    )


def _pretokenizer(splits: list[Split]) -> Pretokenizer:
    if len(splits) == 1 and splits[0].behavior == "isolated" and splits[0].pattern in _NAMES:
        return Pretokenizer(_NAMES[splits[0].pattern])
    return Pretokenizer.from_steps(
        [SplitStep(split.pattern, split.behavior, split.invert) for split in splits]
    )


@dataclass(frozen=True, slots=True)
class _Cut:
    data: NDArray[np.uint8]
    bounds: NDArray[np.int64]  # pretokens + 1
    owners: NDArray[np.int64]  # of each pretoken, ascending: the piece it belongs to


class _Step:
    """One split of any behavior. Source: tokenizers, normalizer.rs, `NormalizedString::split`."""

    def __init__(self, split: Split) -> None:
        self._split = split
        self._matcher = _core.Matcher([split.pattern]) if split.literal else None
        self._regex = None
        if not split.literal:
            import regex  # what the core cannot cut is rare

            self._regex = regex.compile(python_regex(from_huggingface_regex(split.pattern)))

    def apply(self, cut: _Cut) -> _Cut:
        """Cut every pretoken further."""
        starts, ends = self._find(cut)
        bounds = np.unique(np.concatenate([cut.bounds, starts, ends]))
        place = np.searchsorted(starts, bounds[:-1], side="right") - 1
        inside = place >= 0
        inside[inside] = bounds[:-1][inside] < ends[place[inside]]
        matched = inside != self._split.invert
        parents = np.searchsorted(cut.bounds, bounds[:-1], side="right") - 1
        joined = self._joined(matched, parents)
        keep_bound = np.concatenate([~joined, np.ones(1, dtype=np.bool_)])
        owners = cut.owners[parents][~joined]
        if self._split.behavior != "removed":
            return _Cut(cut.data, bounds[keep_bound], owners)
        sizes = np.diff(bounds)
        data = cut.data[bounds[0] : bounds[-1]][np.repeat(~matched, sizes)]
        kept = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[~matched])])
        return _Cut(data, kept, owners[~matched])

    def _joined(self, matched: NDArray[np.bool_], parents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which segments belong to the one before them."""
        joined = np.zeros(len(matched), dtype=np.bool_)
        behavior = self._split.behavior
        if behavior in ("isolated", "removed"):
            return joined
        same = parents[1:] == parents[:-1]
        if behavior == "contiguous":
            joined[1:] = same & (matched[1:] == matched[:-1])
        elif behavior == "merged_with_previous":
            joined[1:] = same & matched[1:] & ~matched[:-1]
        else:
            joined[1:] = same & matched[:-1] & ~matched[1:]
        return joined

    def _find(self, cut: _Cut) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self._matcher is not None:
            starts, ends, _ = self._matcher.find(cut.data, cut.bounds)
            return starts, ends
        spans: list[tuple[int, int]] = []
        for start, stop in zip(cut.bounds[:-1].tolist(), cut.bounds[1:].tolist(), strict=True):
            text = cut.data[start:stop].tobytes().decode()
            position, at = 0, start
            for match in self._regex.finditer(text) if self._regex else ():
                at += len(text[position : match.start()].encode())
                end = at + len(match.group().encode())
                if end > at:
                    spans.append((at, end))
                position, at = match.end(), end
        found = np.array(spans, dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]
