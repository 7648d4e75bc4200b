r"""The named patterns, as regex sources in the dialect of tiktoken (fancy-regex).

`cl100k` and `llama3` differ in one place: white space that ends a text and holds a newline is one
pretoken in cl100k (`\s++$` comes first), and is cut behind its last newline in llama3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class SplitStep:
    r"""One `Split` of a tokenizer.json; a sequence of them is applied piece by piece.

    Attributes:
        pattern: the regex as tokenizer.json holds it, in the dialect of Oniguruma.
        behavior: what becomes of the matches, in any case; `isolated` is the one that keeps every
            piece as it is.
        invert: whether matches and the text between them change places.
    """

    pattern: str
    behavior: str = "isolated"
    invert: bool = False


_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_PREFIX = r"[^\r\n\p{L}\p{N}]?"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"

_LLAMA3 = (
    rf"{_CONTRACTION}|{_PREFIX}\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
)
_O200K = (
    rf"{_PREFIX}{_UPPER}*{_LOWER}+{_CONTRACTION}?|{_PREFIX}{_UPPER}+{_LOWER}*{_CONTRACTION}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
_TEKKEN = (
    rf"{_PREFIX}{_UPPER}*{_LOWER}+|{_PREFIX}{_UPPER}+{_LOWER}*"
    rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)

# DeepSeek-V3 splits three times: digits, then runs of CJK and kana, then the rest. What the first
# two cut off is a text of its own for the third, so in one pattern every class of the third comes
# twice: within the runs, and outside the runs and the digits, where look-ahead ends at them.
_CJK = r"\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff"
_OUT = rf"[^\p{{N}}{_CJK}]"
_DEEPSEEK_ASCII = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
_DEEPSEEK_V3 = (
    r"\p{N}{1,3}"
    rf"|[[{_CJK}]&&[^\p{{L}}\p{{P}}\p{{S}}]]?[[{_CJK}]&&[\p{{L}}\p{{M}}]]+"
    rf"|[[{_CJK}]&&[\p{{P}}\p{{S}}]]+"
    rf"|[[{_CJK}]&&\p{{Cn}}]+(?![[{_CJK}]&&[\p{{L}}\p{{M}}]])"
    rf"|{_DEEPSEEK_ASCII}"
    rf"|[{_OUT}&&[^\r\n\p{{L}}\p{{P}}\p{{S}}]]?[{_OUT}&&[\p{{L}}\p{{M}}]]+"
    rf"| ?[{_OUT}&&[\p{{P}}\p{{S}}]]+[\r\n]*"
    rf"|\s*[\r\n]+|\s+(?![{_OUT}&&\S])|\s+"
)
DEEPSEEK_V3_STEPS = (
    SplitStep(r"\p{N}{1,3}"),
    SplitStep("[一-龥\u3040-ゟ゠-ヿ]+"),
    SplitStep(
        _DEEPSEEK_ASCII + "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
        "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
    ),
)
"""The pre-tokenizer of DeepSeek-V3 as its tokenizer.json states it."""

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        "cl100k": (
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
        "llama3": _LLAMA3,
        "o200k": _O200K,
        "qwen2": _LLAMA3.replace("{1,3}", ""),
        "deepseek_v3": _DEEPSEEK_V3,
        "tekken": _TEKKEN,
        "whitespace": r" ?\S+|\s+(?!\S)|\s+",
        "none": r"[\s\S]+",
    }
)
"""Name -> regex source. `whitespace` cuts at white space only, one space staying with the word
behind it; `none` makes a document one pretoken."""
