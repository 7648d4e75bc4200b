"""pretokenize: documents in, the ends of their pretokens out; every byte belongs to one pretoken.

A pattern is compiled by the native core into an automaton that scans in linear time. What lies
outside its subset is run by the `regex` package instead, with the same Unicode 16 classes and the
same results, and a warning. Text that a pattern leaves unmatched is kept: each gap becomes one
pretoken, as a Hugging Face Split with `isolated` does (tiktoken drops such text).
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.errors import ConfigError, TokenizerError
from jogak.pretokenize.dialects import (
    from_huggingface_regex,
    huggingface_regex,
    python_regex,
)
from jogak.pretokenize.patterns import DEEPSEEK_V3_STEPS, PATTERNS, SplitStep

if TYPE_CHECKING:
    import regex

__all__ = [
    "DEEPSEEK_V3_STEPS",
    "PATTERNS",
    "Pretokenizer",
    "SplitStep",
    "from_huggingface_regex",
    "huggingface_regex",
]

logger = logging.getLogger(__name__)

_DEEPSEEK_V3_PATTERNS = [step.pattern for step in DEEPSEEK_V3_STEPS]

SLOWEST_S = 10.0
SLOWEST_CHARACTERS_PER_S = 10_000
"""A document may take the `regex` package so long, a tenth of its speed on harmless patterns; one
that backtracks without end is then an error."""

Boundaries = tuple[NDArray[np.int64], NDArray[np.int64]]


class _Scans(Protocol):
    @property
    def matches_everything(self) -> bool: ...

    def scan(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Boundaries: ...


class Pretokenizer:
    """Cuts documents into pretokens by one pattern, or by several steps; immutable.

    Attributes:
        pattern: what was configured: a name of PATTERNS, or a regex.
        regex: the regex source that the name stands for; for several steps, the last one's.
        steps: the Split steps it was made from; empty for a pattern.
        scanner: the native scanner; None where there are several steps, or where the pattern lies
            outside its subset and the `regex` package is used (a warning was logged).
    """

    def __init__(self, pattern: str) -> None:
        """Compile a pattern.

        Raises:
            TokenizerError: the pattern cannot be compiled, or can match the empty string.
            ConfigError: JOGAK_ISA names instructions that are unknown or that this machine lacks.
        """
        self.pattern = pattern
        self.regex = PATTERNS.get(pattern, pattern)
        self.steps: tuple[SplitStep, ...] = ()
        self._scans: tuple[_Scans, ...] = (_compile(pattern, self.regex),)
        self.scanner = self._native()

    @classmethod
    def from_steps(cls, steps: Sequence[SplitStep]) -> Pretokenizer:
        """Compile the Split steps of a tokenizer.json, each applied inside the last one's pieces.

        No steps mean one pretoken for each document.

        Raises:
            TokenizerError: a behavior that does not keep every piece as it is, or a pattern that
                cannot be compiled.
        """
        isolated = all(step.behavior.lower() == "isolated" for step in steps)
        if isolated and [step.pattern for step in steps] == _DEEPSEEK_V3_PATTERNS:
            self = cls("deepseek_v3")
        elif not steps:
            self = cls("none")
        else:
            sources = [from_huggingface_regex(step.pattern) for step in steps]
            self = cls(sources[-1])
            first = [_compile(source, source) for source in sources[:-1]]
            self._scans = (*first, *self._scans)
            self.scanner = self._native()
            for step, scans in zip(steps, self._scans, strict=True):
                _check_behavior(step, scans.matches_everything)
        self.steps = tuple(steps)
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        """Cross process boundaries as the pattern or the steps; compiling takes milliseconds."""
        if self.steps:
            return Pretokenizer.from_steps, (self.steps,)
        return Pretokenizer, (self.pattern,)

    def __repr__(self) -> str:
        """Name the pattern."""
        return f"Pretokenizer({self.pattern!r})"

    def _native(self) -> _core.Scanner | None:
        only = self._scans[0] if len(self._scans) == 1 else None
        return only if isinstance(only, _core.Scanner) else None

    def boundaries(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Boundaries:
        """Find the pretokens of documents.

        Args:
            data: uint8 (n,); valid UTF-8.
            offsets: int64 (documents + 1,), as in TextBatch.

        Returns:
            The ends of the pretokens as offsets into data, int64 (pretokens,), and how many there
            are up to each document's end, int64 (documents,).
        """
        ends, document_ends = self._scans[0].scan(data, offsets)
        for scans in self._scans[1:]:
            # The pieces of one step are the documents of the next: they lie side by side.
            inner = np.concatenate((offsets[:1], ends))
            ends, piece_ends = scans.scan(data, inner)
            document_ends = np.concatenate(([0], piece_ends))[document_ends]
        return ends, document_ends

    def split(self, text: str) -> list[str]:
        """Cut one text into its pretokens; joined they give the text."""
        data = text.encode()
        if not data:
            return []
        offsets = np.array([0, len(data)], dtype=np.int64)
        ends, _ = self.boundaries(np.frombuffer(data, dtype=np.uint8), offsets)
        starts = [0, *ends[:-1].tolist()]
        return [data[a:b].decode() for a, b in zip(starts, ends.tolist(), strict=True)]


def _check_behavior(step: SplitStep, matches_everything: bool) -> None:
    behavior = step.behavior.lower()
    # Removing what does not match removes nothing where everything does: GPT-4o's file says so.
    if behavior == "isolated" or (behavior == "removed" and step.invert and matches_everything):
        return
    message = (
        f"Split {step.pattern!r}: behavior {step.behavior!r} (invert: {step.invert}) does not keep "
        "every piece as it is; only 'isolated' can be applied exactly"
    )
    raise TokenizerError(message)


@lru_cache(maxsize=16)
def _scanner(source: str, isa: str) -> _core.Scanner:
    """Compile a pattern once for all who use it; `isa` is what the core reads of JOGAK_ISA."""
    del isa
    return _core.Scanner(source)


def _compile(pattern: str, source: str) -> _Scans:
    try:
        return _scanner(source, os.environ.get("JOGAK_ISA", ""))
    except ValueError as error:
        reason = str(error)
    except RuntimeError as error:  # JOGAK_ISA names no instruction set that can be used
        raise ConfigError(str(error)) from error
    if "empty string" in reason:
        message = (
            f"pretokenize.pattern {pattern!r}: it can match the empty string, which is no "
            "pretoken; use + in place of *"
        )
        raise TokenizerError(message)
    scans = _RegexScans(pattern, source, reason)
    logger.warning(
        "pretokenize.pattern %r is outside the native scanner's subset (%s); the regex package is "
        "used instead, which is some hundred times slower",
        pattern,
        reason,
    )
    return scans


class _RegexScans:
    """The native scanner's interface over the `regex` package; slow."""

    matches_everything = False  # not known

    def __init__(self, pattern: str, source: str, reason: str) -> None:
        import regex

        self._pattern = pattern if len(pattern) <= 200 else pattern[:200] + ".."
        try:
            self._compiled: regex.Pattern[str] = regex.compile(python_regex(source))
        except regex.error as error:
            message = (
                f"pretokenize.pattern {pattern!r}: not a regex ({error}), and outside the native "
                f"scanner's subset ({reason}); correct it or use a name: {', '.join(PATTERNS)}"
            )
            raise TokenizerError(message) from error

    def scan(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Boundaries:
        """Find the pretokens as Scanner.scan does; empty matches count as none."""
        ends: list[int] = []
        document_ends: list[int] = []
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            ends.extend(start + end for end in self._ends(data[start:stop].tobytes().decode()))
            document_ends.append(len(ends))
        return np.array(ends, dtype=np.int64), np.array(document_ends, dtype=np.int64)

    def _ends(self, text: str) -> list[int]:
        cuts = [0]
        timeout_s = SLOWEST_S + len(text) / SLOWEST_CHARACTERS_PER_S
        try:
            for match in self._compiled.finditer(text, timeout=timeout_s):
                if match.end() > match.start():
                    cuts.extend(cut for cut in match.span() if cut > cuts[-1])
        except TimeoutError as error:
            message = (
                f"pretokenize.pattern {self._pattern!r}: took more than {timeout_s:.0f} s on a "
                f"document of {len(text):,} characters, which it searches again and again; rewrite "
                "it without nested repeats, look-behind and long look-ahead"
            )
            raise TokenizerError(message) from error
        if cuts[-1] < len(text):
            cuts.append(len(text))
        byte, ends = 0, []
        for start, end in itertools.pairwise(cuts):
            byte += len(text[start:end].encode())
            ends.append(byte)
        return ends
