"""pretokenize: patterns, classes, dialects, the fallback, and what is refused."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from numpy.typing import NDArray
from tiktoken_ext import openai_public
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

from jogak import _core
from jogak.errors import ConfigError, TokenizerError
from jogak.pretokenize import (
    DEEPSEEK_V3_STEPS,
    PATTERNS,
    Pretokenizer,
    SplitStep,
    from_huggingface_regex,
    huggingface_regex,
)
from reference.pretokenize import members, pretokens

ROOT = Path(__file__).parents[2]
EVERY_CHARACTER = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)


def mask_of(characters: str) -> NDArray[np.bool_]:
    """Return which code points occur in a text."""
    mask = np.zeros(0x110000, dtype=bool)
    mask[np.frombuffer(characters.encode("utf-32-le"), dtype=np.uint32)] = True
    return mask


def native_members(pattern: str) -> NDArray[np.bool_]:
    """Return which code points a class holds, surrogates apart."""
    mask = np.zeros(0x110000, dtype=bool)
    for first, last in _core.character_class(pattern).reshape(-1, 2).tolist():
        mask[first : last + 1] = True
    mask[0xD800:0xE000] = False
    return mask


def tiktoken_members(pattern: str) -> NDArray[np.bool_]:
    """Ask tiktoken, which drops what the pattern does not match."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return mask_of(bytes(encoding.encode_ordinary(EVERY_CHARACTER)).decode())


def tokenizers_members(pattern: str) -> NDArray[np.bool_]:
    """Ask tokenizers: Removed and invert leave the matches alone."""
    split = Split(Regex(f"(?:{pattern})+"), "removed", invert=True)
    return mask_of("".join(piece for piece, _ in split.pre_tokenize_str(EVERY_CHARACTER)))


def test_unicode_tables_are_what_the_generator_writes() -> None:
    command = [sys.executable, ROOT / "scripts/generate_unicode_tables", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr


def test_unicode_is_version_16_with_the_sets_that_other_engines_hold() -> None:
    assert _core.unicode_version() == "16.0.0"
    sizes = {"L": 141_028, "N": 1_911, "M": 2_501, "P": 855, "S": 8_514, "Lu": 1_858}
    sizes |= {"Ll": 2_258, "Lt": 31, "Lm": 404, "Lo": 136_477, "Han": 99_030, "White_Space": 25}
    for name, size in sizes.items():
        assert native_members(rf"\p{{{name}}}").sum() == size


@pytest.mark.parametrize("pattern", [r"\p{L}", r"\p{Lu}", r"\p{N}", r"\p{M}", r"\s", r"\p{Han}"])
def test_classes_equal_those_of_tokenizers_and_tiktoken(pattern: str) -> None:
    native = native_members(pattern)
    assert np.array_equal(native, tiktoken_members(pattern))
    assert np.array_equal(native, tokenizers_members(pattern))


EVERY_NAME = (
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn "
    "L M N P S Z C Hangul Hiragana Katakana Latin Cyrillic Greek Arabic Thai Devanagari Common "
    "Inherited Bopomofo Hebrew Tamil Armenian Georgian Mongolian Tibetan"
)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_NAME.split())
def test_every_class_equals_that_of_tiktoken(name: str) -> None:
    pattern = rf"\p{{{name}}}"
    assert np.array_equal(native_members(pattern), tiktoken_members(pattern))


@pytest.mark.parametrize("pattern", [r"\w", r"\d", r"[^\W\d]"])
def test_word_characters_and_digits_equal_those_of_tiktoken(pattern: str) -> None:
    assert np.array_equal(native_members(pattern), tiktoken_members(pattern))


def test_word_characters_of_hugging_face_are_translated() -> None:
    theirs = tokenizers_members(r"\w")
    assert np.array_equal(native_members(from_huggingface_regex(r"\w")), theirs)
    assert np.array_equal(native_members(from_huggingface_regex(r"[^\W]")), theirs)
    ours = native_members(r"\w")
    assert np.array_equal(tokenizers_members(huggingface_regex(r"[\w]")), ours)
    assert np.array_equal(tokenizers_members(huggingface_regex(r"[^\W]")), ours)


@pytest.mark.parametrize("letter", ["a", "i", "k", "s"])
def test_ignoring_case_equals_tiktoken(letter: str) -> None:
    pattern = f"(?i:{letter})"
    assert np.array_equal(native_members(pattern), tiktoken_members(pattern))


def test_folds_beyond_ascii() -> None:
    assert np.flatnonzero(native_members("(?i:k)")).tolist() == [0x4B, 0x6B, 0x212A]
    assert np.flatnonzero(~native_members("(?i:[^s])")[:0xD800]).tolist() == [0x53, 0x73, 0x17F]


@pytest.mark.parametrize(
    ("longer", "short"),
    [
        (r"\p{Letter}", r"\p{L}"),
        (r"\p{uppercase letter}", r"\p{Lu}"),
        (r"\p{gc=Decimal_Number}", r"\d"),
        (r"\p{Script=Han}", r"\p{Han}"),
        (r"\p{^L}", r"\P{L}"),
        (r"\pL", r"\p{L}"),
        (r"\p{White_Space}", r"\s"),
        (r"[\P{L}&&[^\s\p{N}]]", r"[^\p{L}\p{N}\s]"),
        (r"[]a]", r"[a\]]"),
        (r"[\x41\x{42}\u0043\u{44}\U00000045]", "[A-E]"),
        (r"(?s:.)", r"[\s\S]"),
    ],
)
def test_spellings_of_one_class(longer: str, short: str) -> None:
    assert _core.character_class(longer).tolist() == _core.character_class(short).tolist()


# Each line: a pattern, a text with its cuts marked by "|", which rule it shows.
CASES = [
    ("gpt2", "눈이| 2026|년| 3|월에| 왔다|!|  | 또", "numbers keep their space"),
    ("cl100k", "눈이| |202|6|년| |3|월에| 왔다|!|  | 또", "a lone space, then three digits"),
    ("qwen2", "눈이| |2|0|2|6|년", "single digits"),
    ("o200k", "눈Snow눈a|BC눈Re|Do", "a capital behind a small letter begins anew"),
    ("o200k", "can't| I'D|ſ|’s", "contractions stay with their word"),
    ("llama3", "can|'t| I|'D", "contractions stand alone, whatever their case"),
    ("gpt2", "can|'t| I|'|D", "contractions in lower case only"),
    ("llama3", "it|'ſ", "the long s folds to s"),
    ("cl100k", "끝|\n|  | 줄|\n  ", "white space at the end of the text is one pretoken"),
    ("llama3", "끝|\n|  ", "white space behind a last newline is its own pretoken"),
    ("llama3", "끝| \r\n\r\n| | 줄", "newlines take the spaces before them"),
    ("llama3", "가| |\u3000나", "the last space is a character, not a byte"),
    ("gpt2", "가|\u200b|나", "a zero-width space is no space and no letter"),
    ("llama3", "가|\u200b나", "and prefixes a letter"),
    ("gpt2", "가\u3164나", "a Hangul filler is a letter"),
    ("o200k", "길|//\n/|다", "newlines and slashes follow punctuation"),
    ("llama3", "길|//\n|/다", "only newlines do"),
    ("tekken", "눈Snow|2|6|'s", "single digits and no contractions"),
    ("deepseek_v3", "202|6|년에|漢字ア|・|ア|,| !|abc|!de", "digits, CJK runs, then the rest"),
    ("whitespace", "두| 낱말,| 그리고|  | 셋|\n", "at white space only"),
    ("none", "한 글은\n하나", "one pretoken for each document"),
]


@pytest.mark.parametrize(("name", "marked", "rule"), CASES)
def test_named_patterns(name: str, marked: str, rule: str) -> None:
    pieces = marked.split("|")
    text = "".join(pieces)
    assert pretokens(PATTERNS[name], text) == pieces, rule
    assert Pretokenizer(name).split(text) == pieces, rule


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_named_patterns_are_native_and_linear(name: str) -> None:
    scanner = Pretokenizer(name).scanner
    assert scanner is not None
    assert scanner.linear
    assert scanner.states < 64
    # DeepSeek's leaves control characters unmatched; they are kept as gaps.
    assert scanner.matches_everything == (name != "deepseek_v3")


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (r"(?<=a)b", r"\(\?<"),
        (r"^a", r"\^"),
        (r"\bword", r"\\b"),
        (r"(a)\1", r"\\1"),
        (r"(?>a+)b", r"\(\?>"),
        (r"a(?!bc)", "look-ahead for more than one"),
        (r"a++a", "possessive"),
        (r"(?:a|ab)++c", "possessive"),
        (r"(?:a*)+b", "match nothing"),
        (r"[[:alpha:]]", "POSIX"),
        (r"[a--b]", "--"),
        (r"\p{Klingon}", "Klingon"),
        (r"(?i:é)", "beyond ASCII"),
        (r"(?i:\p{Lu})", "beyond ASCII"),
        (r"a*", "empty string"),
        (r"a|b?|", "empty string"),
        (r"[^\r\n", "never closed"),
        (r"(a", "never closed"),
        (r"a)", r"unmatched '\)'"),
        (r"a{3,2}", "malformed"),
        (r"a{2001}", "count above 1000"),
        (r"(?:(?:a{1000}){1000}){1000}", "too large"),
        (r"[b-a]", "malformed range"),
        ("(" * 200 + "a" + ")" * 200, "nested too deep"),
        ("a\\", "backslash"),
        (r"(?:[ab]*a[ab]{13}|b)", "states"),
    ],
)
def test_what_lies_outside_the_subset_is_named(pattern: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        _core.Scanner(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"a++", r"a++b", r"a{2,3}+b", r"(?:a++b?)+", r"\s++$|\S", r"[^a]?+a++", r"(?:ab|c)++"],
)
def test_possessive_quantifiers_that_give_nothing_back_are_native(pattern: str) -> None:
    for text in ("aaab", "abab a", "  \n", "aabbb ccab  ", "caab" * 3):
        assert Pretokenizer(pattern).split(text) == pretokens(pattern, text)


def test_a_long_text_is_cut_as_its_parts_are() -> None:
    # More pretokens than one call of the core returns; the parts meet where every pattern cuts.
    part = " 눈이 왔다, 2026년  don't\n stop"
    for name in sorted(set(PATTERNS) - {"none"}):
        pretokenizer = Pretokenizer(name)
        assert pretokenizer.split(part * 3_000) == pretokenizer.split(part) * 3_000


def test_text_that_nothing_matches_is_one_pretoken_for_each_gap() -> None:
    assert Pretokenizer(r"[0-9]+").split("눈이 12월 3") == ["눈이 ", "12", "월 ", "3"]
    assert Pretokenizer(r"x").split("눈이") == ["눈이"]
    assert Pretokenizer(r"x").split("") == []
    # The longer match ends right where the gap begins.
    assert Pretokenizer(r"ab(?=[!c])|a|b").split("ab!abx") == ["ab", "!", "a", "b", "x"]


def test_a_pattern_that_reads_in_vain_stays_usable_on_long_text() -> None:
    # Backtracking engines need n * n / 2 steps here.
    scanner = _core.Scanner("a*b|a")
    assert not scanner.linear
    data = np.full(300_000, ord("a"), dtype=np.uint8)
    ends, _ = scanner.scan(data, np.array([0, len(data)]))
    assert len(ends) == len(data)
    spaces = np.full(300_000, ord(" "), dtype=np.uint8)
    assert _core.Scanner(r"\s*\S+").scan(spaces, np.array([0, len(spaces)]))[0].tolist() == [
        300_000
    ]


def test_the_fallback_says_why_and_that_it_is_slow(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="jogak.pretokenize"):
        pretokenizer = Pretokenizer(r"(?<=\p{N})\p{L}+|\p{L}|[^\p{L}]")
    assert pretokenizer.scanner is None
    assert "(?<" in caplog.text
    assert "slower" in caplog.text
    assert pretokenizer.split("3개월 눈") == ["3", "개월", " ", "눈"]


def test_the_fallback_uses_unicode_16() -> None:
    # U+1C89 is new in 16, U+A7CE in 17; U+0295 is a lower-case letter until 17.
    slow = Pretokenizer(r"(?<![\s\S]{9})\p{Ll}+|[^\p{Ll}]")
    assert slow.split("a\u0295\u1c8aa") == ["a\u0295\u1c8aa"]
    assert not native_members(r"\p{L}")[0xA7CE]
    assert Pretokenizer(r"(?<![\s\S]{9})\p{L}+").split("a\ua7ce") == ["a", "\ua7ce"]


@pytest.mark.parametrize(
    "pattern", [r"a**(", r"(?<=a", r"[[:alpha:]]+", r"\Rx", r"\p{Klingon}", r"(?<=a)\h", "a*", "\\"]
)
def test_a_pattern_that_no_engine_takes_is_an_error(pattern: str) -> None:
    with pytest.raises(TokenizerError):
        Pretokenizer(pattern)


def test_hugging_face_gets_plain_counts_and_the_end_of_text() -> None:
    written = huggingface_regex(PATTERNS["cl100k"])
    assert r"\p{N}{1,3}|" in written
    assert r"\s++\z|" in written
    with pytest.raises(TokenizerError, match="possessive"):
        huggingface_regex(r"a{1,3}+a")


def test_hugging_face_counts_followed_by_plus_repeat() -> None:
    assert from_huggingface_regex(r"\p{N}{1,3}+") == r"(?:\p{N}{1,3})+"
    assert from_huggingface_regex(r"x(?:ab|[c\]]){2}+y") == r"x(?:(?:ab|[c\]]){2})+y"
    assert from_huggingface_regex(r"x+$") == r"x+(?![^\n])"
    for pattern in (r"^a", r"a\Z", r"(?m:.)", r"\h"):
        with pytest.raises(TokenizerError, match="engine"):
            from_huggingface_regex(pattern)


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_named_patterns_cut_alike_in_tokenizers(name: str) -> None:
    texts = [marked.replace("|", "") for _, marked, _ in CASES] + ["12345가67 ", "\n \n", "a\n\n  "]
    split = Split(Regex(huggingface_regex(PATTERNS[name])), "isolated")
    for text in texts:
        expected = [piece for piece, _ in split.pre_tokenize_str(text)]
        assert Pretokenizer(name).split(text) == expected


def test_steps_cut_inside_the_pieces_of_the_step_before() -> None:
    steps = [SplitStep(r"\p{N}{1,3}"), SplitStep(r"\s+(?!\S)|\s*\S+")]
    pretokenizer = Pretokenizer.from_steps(steps)
    assert pretokenizer.scanner is None
    # The space before the digits ends its piece, so look-ahead sees the end of a text there.
    assert pretokenizer.split("눈 이  2026 년") == ["눈", " 이", "  ", "202", "6", " 년"]
    data = np.frombuffer("..눈 12ab 3".encode(), dtype=np.uint8)
    ends, document_ends = pretokenizer.boundaries(data, np.array([2, 2, 8, 8, 12]))
    assert ends.tolist() == [5, 6, 8, 10, 11, 12]
    assert document_ends.tolist() == [0, 3, 3, 6]


def test_known_steps_become_one_native_pattern() -> None:
    assert Pretokenizer.from_steps(DEEPSEEK_V3_STEPS).scanner is not None
    assert Pretokenizer.from_steps([SplitStep(r"\p{N}{1,3}")]).scanner is not None
    assert Pretokenizer.from_steps([]).split("한 글") == ["한 글"]


def test_behaviors_that_do_not_keep_every_piece_are_refused() -> None:
    kept = SplitStep(PATTERNS["o200k"], "removed", invert=True)
    assert Pretokenizer.from_steps([kept]).split("눈이 왔다") == ["눈이", " 왔다"]
    for step in (
        SplitStep(" ", "merged_with_previous"),
        SplitStep(" ", "removed"),
        SplitStep(r"\p{L}+", "removed", invert=True),
    ):
        with pytest.raises(TokenizerError, match="isolated"):
            Pretokenizer.from_steps([step])


@pytest.mark.parametrize(
    "pretokenizer",
    [Pretokenizer("o200k"), Pretokenizer(r"\p{L}+|."), Pretokenizer.from_steps(DEEPSEEK_V3_STEPS)],
)
def test_pretokenizers_cross_process_boundaries(pretokenizer: Pretokenizer) -> None:
    copy = pickle.loads(pickle.dumps(pretokenizer))
    assert (copy.pattern, copy.steps) == (pretokenizer.pattern, pretokenizer.steps)
    assert copy.split("눈이 12") == pretokenizer.split("눈이 12")


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "llama3", "o200k", "qwen2", "tekken"])
def test_vector_kernels_know_every_spelling_of_a_pattern(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not _core.Scanner(PATTERNS[name]).by_masks:
        pytest.skip("no kernels for this processor, or JOGAK_ISA is scalar")
    spellings = [from_huggingface_regex(huggingface_regex(PATTERNS[name]))]
    if name in ("gpt2", "cl100k", "o200k"):
        encoding = {"gpt2": "r50k_base", "cl100k": "cl100k_base", "o200k": "o200k_base"}[name]
        monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
        spellings.append(getattr(openai_public, encoding)()["pat_str"])
    for spelling in spellings:
        assert _core.Scanner(spelling).by_masks


def test_an_unusable_instruction_set_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JOGAK_ISA", "mmx")
    with pytest.raises(ConfigError, match=r"JOGAK_ISA.*mmx.*scalar"):
        Pretokenizer("gpt2")
    monkeypatch.setenv("JOGAK_ISA", "scalar")
    scanner = Pretokenizer("gpt2").scanner
    assert scanner is not None
    assert not scanner.by_masks


def test_offsets_outside_the_data_are_refused() -> None:
    scanner = _core.Scanner("a")
    data = np.frombuffer(b"aaa", dtype=np.uint8)
    for offsets in ([0, 4], [2, 1], [-1, 2], []):
        with pytest.raises(ValueError, match="offsets"):
            scanner.scan(data, np.array(offsets, dtype=np.int64))


def test_reference_sets_are_unicode_16() -> None:
    assert len(members("L")) == 141_028


@pytest.mark.parametrize("pattern", [r"(?=(?:a+)+[cd])a|b", r"(?:(a)|\1)+[cd]", r"(.*)*[cd]"])
def test_a_pattern_that_backtracks_without_end_is_an_error(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The native scanner takes no such pattern; a stranger's tokenizer may hold one."""
    monkeypatch.setattr("jogak.pretokenize.SLOWEST_S", 0.2)
    pretokenizer = Pretokenizer(pattern)
    assert pretokenizer.scanner is None
    with pytest.raises(TokenizerError, match=r"took more than .* rewrite it without"):
        pretokenizer.split("a" * 3_000 + "b")
    assert "".join(pretokenizer.split("aab")) == "aab"
