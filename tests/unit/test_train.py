"""train: the tie rules and options on inputs worked by hand, and what Python adds to the core."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import tokenizers

from jogak import _core
from jogak.config import NormalizeOptions, TrainOptions
from jogak.count import PretokenCounts, count_pretokens
from jogak.errors import ConfigError, TokenizerError
from jogak.normalize import normalize_batch
from jogak.read import batch_texts
from jogak.tokenizer import Tokenizer
from jogak.train import TrainProgress, train, train_merges
from jogak.vocabulary import BYTE_ORDER, pack_tokens
from reference.train import Rules, Word, byte_alphabet, train_slowly

ALL_TIES = ("smallest_ids", "lexicographic", "largest", "first_seen")


def merge_words(
    words: Mapping[str, int],
    ties: str = "smallest_ids",
    *,
    merges: int = 100,
    alphabet: list[bytes] | None = None,
    suffix: str = "",
    **options: int | bool | frozenset[bytes],
) -> list[tuple[bytes, bytes]]:
    """Train on words with counts, in the core and in the oracle; return the parts of the merges."""
    characters = alphabet is None
    if alphabet is None:
        alphabet = sorted({unit.encode() for word in words for unit in units(word, suffix)})
    rules = Rules(ties=ties, **options)
    native = _core.TrainOptions()
    native.merges = merges
    native.ties = ties
    native.min_count = rules.min_count
    native.whole_characters = rules.whole_characters
    if rules.max_token_bytes is not None:
        native.max_token_bytes = rules.max_token_bytes
    native.forbid(*pack_tokens(sorted(rules.forbidden)))
    encoded = [word.encode() for word in words]
    first = np.cumsum([0, *map(len, encoded)], dtype=np.uint64)[:-1]
    left, right, counts = _core.train_merges(
        *pack_tokens(encoded),
        np.array(list(words.values()), dtype=np.uint64),
        first,
        *pack_tokens(alphabet),
        native,
        _core.TrainControl(),
        characters,
        suffix,
    )
    found = list(zip(left.tolist(), right.tolist(), counts.tolist(), strict=True))
    ids = {token: i for i, token in enumerate(alphabet)}
    symbols = [
        [
            ids[unit.encode() if isinstance(unit, str) else unit]
            for unit in (units(word, suffix) if characters else split(word.encode()))
        ]
        for word in words
    ]
    slow = [
        Word(symbol, count, int(at))
        for symbol, count, at in zip(symbols, words.values(), first, strict=True)
    ]
    assert found == train_slowly(slow, alphabet, merges, rules)
    tokens = list(alphabet)
    for a, b, _ in found:
        tokens.append(tokens[a] + tokens[b])
    return [(tokens[a], tokens[b]) for a, b, _ in found]


def units(word: str, suffix: str) -> list[str]:
    return [*word[:-1], word[-1] + suffix]


def split(text: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in text]


def pairs(text: str) -> list[tuple[bytes, bytes]]:
    """Read `a+b c+d` as pairs."""
    return [(left.encode(), right.encode()) for left, right in (p.split("+") for p in text.split())]


def made(merges: list[tuple[bytes, bytes]]) -> str:
    return " ".join((left + right).decode() for left, right in merges)


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("smallest_ids", "a+a a+b aa+ab"),
        ("lexicographic", "a+a a+b aa+ab"),
        ("first_seen", "a+a aa+a aaa+b"),
        ("largest", "a+a aa+a aaa+b"),
    ],
)
def test_ties_are_judged_by_pairs_as_they_stand_now(ties: str, expected: str) -> None:
    assert merge_words({"aaab": 2}, ties) == pairs(expected)


@pytest.mark.parametrize("ties", ALL_TIES)
def test_overlapping_pairs_count_each_and_merge_from_the_left(ties: str) -> None:
    assert merge_words({"aaaa": 2}, ties) == pairs("a+a aa+aa")
    by_ids = ties in ("smallest_ids", "lexicographic")
    expected = pairs("a+a aa+a aa+aaa" if by_ids else "a+a aa+aa aaaa+a")
    assert merge_words({"aaaaa": 1}, ties, min_count=1) == expected


@pytest.mark.parametrize("ties", ALL_TIES)
def test_neighbouring_occurrences_meet_in_one_pair(ties: str) -> None:
    assert merge_words({"abab": 2}, ties) == pairs("a+b ab+ab")


@pytest.mark.parametrize(
    ("ties", "expected"),
    [(ties, "ab cd abab cdcd") for ties in ("smallest_ids", "lexicographic", "first_seen")]
    + [("largest", "cd ab cdcd abab")],
)
def test_a_pair_born_at_the_current_count_may_go_before_older_ones(
    ties: str, expected: str
) -> None:
    assert made(merge_words({"abab": 2, "cdcd": 2}, ties)) == expected


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("smallest_ids", "a+b b+a"),
        ("lexicographic", "a+b b+a"),
        ("first_seen", "b+a a+b"),
        ("largest", "b+a a+b"),
    ],
)
def test_words_of_count_one_obey_the_tie_rule(ties: str, expected: str) -> None:
    assert merge_words({"ba": 1, "ab": 1}, ties, min_count=1) == pairs(expected)


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("smallest_ids", "ab cd ef abcd abcdef"),
        ("lexicographic", "ab abc abcd abcde abcdef"),
        ("first_seen", "ab abc abcd abcde abcdef"),
        ("largest", "ef def cdef bcdef abcdef"),
    ],
)
def test_one_word_grows_as_the_tie_rule_says(ties: str, expected: str) -> None:
    assert made(merge_words({"abcdef": 5}, ties)) == expected


def test_max_token_bytes_is_inclusive_and_tests_first_pairs_too() -> None:
    assert made(merge_words({"abcdef": 5}, max_token_bytes=4)) == "ab cd ef abcd"
    assert merge_words({"abcdef": 5}, max_token_bytes=1) == []
    assert made(merge_words({"가나": 5}, max_token_bytes=5)) == ""
    assert made(merge_words({"가나": 5}, max_token_bytes=6)) == "가나"


def test_whole_characters_completes_each_character_before_it_joins_others() -> None:
    merges = merge_words({"가나가나": 2}, alphabet=byte_alphabet(), whole_characters=True)
    assert merges == [
        (b"\xb0", b"\x80"),
        (b"\xea", b"\xb0\x80"),
        (b"\xeb", b"\x82"),
        (b"\xeb\x82", b"\x98"),
        ("가".encode(), "나".encode()),
        ("가나".encode(), "가나".encode()),
    ]


def test_a_forbidden_string_is_never_made_by_any_pair() -> None:
    assert made(merge_words({"abc": 5}, forbidden=frozenset({b"ab"}))) == "bc abc"
    assert made(merge_words({"abc": 5}, forbidden=frozenset({b"abc"}))) == "ab"


def test_min_count_is_the_count_when_merged() -> None:
    words = {"ab": 1, " ab": 1, " cd": 1}
    alphabet = byte_alphabet()  # the space comes after the letters
    assert merge_words(words, alphabet=alphabet, min_count=2) == pairs("a+b")
    assert merge_words(words, alphabet=alphabet, min_count=1) == [
        *pairs("a+b c+d"),
        (b" ", b"ab"),
        (b" ", b"cd"),
    ]


def test_lexicographic_compares_pairs_not_joined_strings() -> None:
    # a|bc and ab|a come to occur twice each: aba < abc, yet a < ab.
    words = {"abc": 2, "aba": 2, "zbc": 12, "ab": 5}
    assert merge_words(words, "lexicographic") == pairs("b+c z+bc a+b a+bc ab+a")


def test_lexicographic_is_over_raw_bytes_not_their_spelling() -> None:
    words = {" ab": 1, "!ab": 1, " cd": 5, "!cd": 5}
    by_bytes = merge_words(words, "lexicographic", alphabet=byte_alphabet())
    by_ids = merge_words(words, "smallest_ids", alphabet=byte_alphabet())
    assert (b" ", b"cd") in by_bytes
    assert by_bytes.index((b" ", b"cd")) < by_bytes.index((b"!", b"cd"))
    assert by_ids.index((b" ", b"cd")) > by_ids.index((b"!", b"cd"))


def test_pairs_are_symbols_and_never_match_inside_longer_ones() -> None:
    merges = merge_words({"xa": 9, "bc": 9, "xabc": 3, "ab": 2}, min_count=2)
    assert merges[:2] == pairs("b+c x+a")
    assert pairs("a+b")[0] in merges  # from "ab" alone: xa|bc holds no (a, b)


def test_words_worked_by_hand_with_first_seen() -> None:
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    assert merge_words(words, "first_seen", merges=3) == pairs("e+s es+t l+o")


def test_counts_above_32_bits_are_exact() -> None:
    assert merge_words({"aaa": 3_000_000_000, "bc": 1000}, merges=3) == pairs("a+a aa+a b+c")
    assert merge_words({"ab": 2**62, "cd": 2**62 + 1, "xy": 7}) == pairs("c+d a+b x+y")


FIVE_SENTENCES = (
    "나는 공부한다",
    "나는 인공지능을 공부한다",
    "우리는 공부한다",
    "우리는 인공지능을 공부했다",
    "인공지능 연구를 한다",
)


def marked_words(*sentences: str) -> dict[str, int]:
    words = [f"▁{word}" for sentence in sentences for word in sentence.split()]
    return {word: words.count(word) for word in dict.fromkeys(words)}


def test_five_sentences_with_a_marker_in_front_merge_as_worked_by_hand() -> None:
    merges = merge_words(marked_words(*FIVE_SENTENCES), "lexicographic", merges=14, min_count=1)
    assert merges == pairs(
        "▁+공 ▁공+부 한+다 ▁+인 ▁공부+한다 ▁인+공 ▁인공+지 ▁인공지+능 ▁+나 ▁+우 ▁나+는 ▁우+리 "
        "▁우리+는 ▁인공지능+을"
    )


EXPRESSIBLE = (
    "characters with </w>",
    "characters, one pretoken",
    "characters, pretoken counts given",
    "byte level",
)


@pytest.mark.shared
def test_reported_bugs_of_other_trainers_do_not_occur_here(shared: Path) -> None:
    lines = (shared / "cases" / "bugs.jsonl").read_text().splitlines()
    tried = 0
    for case in map(json.loads, lines):
        if case["area"] != "train" or not case["tokenizer"].startswith(EXPRESSIBLE):
            continue
        options = case["options"]
        alphabet = None
        words = options.get("counts") or {case["input"]: 1}
        suffix = options.get("end_of_word_suffix", "")
        if suffix:
            split_words = case["input"].split()
            words = {word: split_words.count(word) for word in dict.fromkeys(split_words)}
        if case["tokenizer"].startswith("byte level"):
            alphabet = [bytes([byte]) for byte in range(256)]
            counts = count_pretokens([case["input"]], pattern="gpt2", normalize="none")
            words = {counts.pretoken(i).decode(): int(counts.counts[i]) for i in range(len(counts))}
        found = merge_words(
            words,
            options["ties"],
            merges=options["merges"],
            alphabet=alphabet,
            suffix=suffix,
            min_count=options.get("min_frequency", 2),
        )
        if options.get("right_is") == "hex":
            assert [[left.hex(), right.hex()] for left, right in found] == case["right"], case["id"]
        else:
            assert [[a.decode(), b.decode()] for a, b in found] == case["right"], case["id"]
        tried += 1
    assert tried >= 20


def counts_of(*texts: str) -> PretokenCounts:
    return count_pretokens(texts, pattern="gpt2")


KOREAN = counts_of("나는 학교에 간다. 나는 집에 간다. 너는 학교에 온다. 학교는 크다. " * 3)


def test_ids_are_special_tokens_then_bytes_then_merges() -> None:
    options = TrainOptions(vocab_size=280, special_tokens=("<a>", "<b>"))
    merges = train_merges(KOREAN, options)
    assert merges.first_id == 258
    assert len(merges) == 22
    first = bytes(BYTE_ORDER[i - 2] for i in (int(merges.left[0]), int(merges.right[0])))
    assert merges.tokens()[0] == first
    plain = train_merges(KOREAN, TrainOptions(vocab_size=278, special_tokens=()))
    assert (plain.left + 2).tolist() == merges.left.tolist()
    assert plain.tokens() == merges.tokens()


def test_a_smaller_vocabulary_is_a_prefix_of_a_larger() -> None:
    for ties in ALL_TIES:
        options = {"ties": ties, "special_tokens": ()}
        large = train_merges(KOREAN, TrainOptions(vocab_size=286, **options))
        small = train_merges(KOREAN, TrainOptions(vocab_size=270, **options))
        assert large.left[:14].tolist() == small.left.tolist()
        assert large.right[:14].tolist() == small.right.tolist()


def test_falling_short_of_the_vocabulary_is_an_error_that_names_the_size_reached() -> None:
    with pytest.raises(TokenizerError, match=r"only 2\d\d of 9,000 tokens could be made"):
        train_merges(KOREAN, TrainOptions(vocab_size=9000))
    merges = train_merges(KOREAN, TrainOptions(vocab_size=9000, allow_smaller=True))
    assert 0 < len(merges) < 100
    assert merges.counts.min() >= 2


def test_no_pretokens_are_an_error_even_where_a_smaller_vocabulary_is_allowed() -> None:
    with pytest.raises(TokenizerError, match="no pretokens to train on"):
        train_merges(counts_of(""), TrainOptions(vocab_size=300, allow_smaller=True))


def test_one_word_only_is_enough() -> None:
    merges = train_merges(
        PretokenCounts.from_mapping({"학교": 2}), TrainOptions(vocab_size=300, allow_smaller=True)
    )
    assert merges.tokens()[-1].decode() == "학교"


def test_wrong_settings_are_config_errors_that_name_the_key() -> None:
    with pytest.raises(ConfigError, match="too small"):
        train(KOREAN, vocab_size=257, special_tokens=("<a>", "<b>"))
    with pytest.raises(ConfigError, match="vocab_sise"):
        train(KOREAN, vocab_sise=300)


def test_text_never_becomes_a_special_token() -> None:
    counts = PretokenCounts.from_mapping({"<|end|>": 50, "<|end|>x": 3})
    options = TrainOptions(vocab_size=300, special_tokens=("<|end|>",), allow_smaller=True)
    made = train_merges(counts, options).tokens()
    assert b"<|end|>" not in made
    assert b"<|en" in made
    assert b"d|>" in made


def test_a_special_token_that_is_the_spelling_of_a_byte_is_refused() -> None:
    for content in ("a", "Ġ"):
        with pytest.raises(TokenizerError, match="a token already"):
            train_merges(KOREAN, TrainOptions(vocab_size=300, special_tokens=(content,)))
    train_merges(KOREAN, TrainOptions(vocab_size=300, special_tokens=("끝",), allow_smaller=True))


def test_progress_ends_with_every_merge_reported() -> None:
    reports: list[TrainProgress] = []
    merges = train_merges(KOREAN, TrainOptions(vocab_size=280), on_progress=reports.append)
    assert reports[-1].merges == len(merges) == reports[-1].wanted
    assert sum(report.new for report in reports) == len(merges)
    assert reports[-1].token == merges.tokens()[-1]
    assert reports[-1].count == int(merges.counts[-1])


def test_an_exception_in_the_progress_callback_stops_the_training() -> None:
    def stop(_: TrainProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_merges(KOREAN, TrainOptions(vocab_size=280), on_progress=stop)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("train")]


def test_ctrl_c_stops_a_long_training_soon() -> None:
    draw = np.random.default_rng(5)
    text = draw.integers(97, 123, size=4_000_000, dtype=np.uint8)
    text[::9] = 32
    counts = count_pretokens([text.tobytes()], pattern="whitespace", normalize="none")
    options = TrainOptions(vocab_size=400_000, min_count=1, allow_smaller=True)
    seen: list[int] = []
    pressed: list[float] = []

    def press(progress: TrainProgress) -> None:
        if progress.merges and not seen:
            seen.append(progress.merges)
            pressed.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train_merges(counts, options, on_progress=press)
    assert time.monotonic() - pressed[0] < 2
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("train")]


def test_a_word_of_65536_bytes_trains() -> None:
    counts = PretokenCounts.from_mapping({b"ab" * 32_768: 1, "가" * 21_845: 1})
    merges = train_merges(counts, TrainOptions(vocab_size=300, allow_smaller=True, min_count=1))
    assert merges.tokens()[-1].decode() == "가" * 21_845 or len(merges.tokens()[-1]) == 65_536


def drawn_words(seed: int, words: int) -> PretokenCounts:
    """Draw Korean words from syllables of Zipf's frequencies; some have spaces, runs or Latin."""
    draw = random.Random(seed)
    syllables = [chr(0xAC00 + draw.randrange(11_172)) for _ in range(600)]
    weights = [1 / rank for rank in range(1, 601)]
    mapping: dict[bytes, int] = {}
    for _ in range(words):
        word = "".join(draw.choices(syllables, weights, k=draw.randint(1, 6)))
        word = (
            draw.choice(["", " ", " ", " "]) + word + draw.choice(["", "", "abc", "ㅋ", "ㅋㅋㅋ"])
        )
        mapping[word.encode()] = draw.choice([1, 1, 1, 2, 3, 40, 500])
    return PretokenCounts.from_mapping(mapping)


@pytest.mark.parametrize("ties", ["smallest_ids", "lexicographic", "largest"])
def test_segments_change_no_merge(ties: str) -> None:
    counts = drawn_words(1, 4_000)
    options = TrainOptions(vocab_size=3_000, ties=ties, allow_smaller=True)
    plain = _core.TrainTuning()
    plain.segment_merges = 0
    expected = train_merges(counts, options, tuning=plain)
    for merges, threads in ((10, 1), (300, 2), (2**32, 3)):
        tuning = _core.TrainTuning()
        tuning.segment_merges = merges
        found = train_merges(counts, options, threads=threads, tuning=tuning)
        assert found.left.tolist() == expected.left.tolist()
        assert found.right.tolist() == expected.right.tolist()
        assert found.counts.tolist() == expected.counts.tolist()


def test_runs_of_one_character_of_many_lengths_train_as_without_segments() -> None:
    draw = random.Random(2)
    runs = {"ㅋ".encode() * draw.randint(1, 9_000): 1 for _ in range(200)}
    counts = PretokenCounts.from_mapping(runs | {b"aaa ": 3})
    options = TrainOptions(vocab_size=300, allow_smaller=True)
    plain = _core.TrainTuning()
    plain.segment_merges = 0
    expected, found = train_merges(counts, options, tuning=plain), train_merges(counts, options)
    assert found.left.tolist() == expected.left.tolist()
    assert found.right.tolist() == expected.right.tolist()


@pytest.mark.parametrize("unit", ["각", "각나", "ㅋㅋ가", "뷁"])
def test_a_word_of_a_million_bytes_trains_in_about_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        counts = PretokenCounts.from_mapping({unit.encode() * (size // len(unit.encode())): 1})
        started = time.process_time()
        train_merges(counts, TrainOptions(vocab_size=400, allow_smaller=True, min_count=1))
        return time.process_time() - started

    assert seconds(1_000_000) < 8 * seconds(250_000) + 0.1


def test_segments_cost_little_where_characters_are_random() -> None:
    draw = random.Random(3)
    text = "".join(chr(0xAC00 + draw.randrange(11_172)) for _ in range(300_000))
    counts = PretokenCounts.from_mapping({text.encode(): 1})
    options = TrainOptions(vocab_size=1_000)

    def seconds(merges: int) -> float:
        tuning = _core.TrainTuning()
        tuning.segment_merges = merges
        started = time.process_time()
        train_merges(counts, options, tuning=tuning)
        return time.process_time() - started

    assert seconds(4_096) < 10 * seconds(0) + 0.2


def test_more_tokens_than_16_bits_hold_are_trained_alike() -> None:
    tuning = _core.TrainTuning()
    tuning.narrow_tokens = 0
    for size in (280, 65_534 + 256, 100_000):
        options = TrainOptions(vocab_size=size, allow_smaller=True)
        wide = train_merges(KOREAN, options, tuning=tuning)
        narrow = train_merges(KOREAN, options)
        assert narrow.left.tolist() == wide.left.tolist()
        assert narrow.right.tolist() == wide.right.tolist()


def test_a_trained_tokenizer_round_trips_and_uses_its_merges() -> None:
    tokenizer = train(KOREAN, vocab_size=290, special_tokens=("<|endoftext|>", "<|pad|>"))
    text = "나는 학교에 간다. 처음 보는 글자 😀"
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert len(ids) < len(text.encode())
    assert tokenizer.vocab_size == 290
    assert tokenizer.eos_id == 0


def test_options_and_settings_together_are_refused() -> None:
    with pytest.raises(TypeError, match="vocab_size are both given"):
        train(KOREAN, TrainOptions(vocab_size=280), vocab_size=300)


def test_texts_in_place_of_counts_are_named() -> None:
    with pytest.raises(TokenizerError, match=r"found list\); count the texts"):
        train(["나는"], vocab_size=300)  # type: ignore[arg-type]  # that is the test


def test_normalization_that_a_tokenizer_file_cannot_hold_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for options, said in (
        (NormalizeOptions(), ""),
        (NormalizeOptions(form="nfkc"), ""),
        (NormalizeOptions(form="nfkc_keep_jamo"), "cannot hold form: nfkc_keep_jamo"),
        (NormalizeOptions(newlines="lf", whitespace="collapse"), ""),
        (NormalizeOptions(newlines="lf", control="remove"), "hold control: remove;"),
    ):
        caplog.clear()
        train(count_pretokens(["나는 나는"], normalize=options), vocab_size=258)
        assert said in caplog.text
        assert bool(said) == bool(caplog.text)


def test_cleaning_that_a_tokenizer_file_can_hold_is_in_it(tmp_path: Path) -> None:
    options = NormalizeOptions(form="nfc", newlines="lf", whitespace="collapse")
    tokenizer = train(count_pretokens(["나는 나는\n"] * 3, normalize=options), vocab_size=262)
    tokenizer.save(tmp_path)
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert Tokenizer.load(tmp_path).fingerprint == tokenizer.fingerprint
    clean = "\n 나는 나는\n\n나\u2003는"
    generator = random.Random(5)
    for text in ["\r\n \u3000나는\t\xa0 나\u1102\u1173\u11ab\r\r\n나\u2003는", clean] + [
        "".join(generator.choices("나는 \r\n\t\xa0\u2000\u3000\u1100\u1161é\u0301", k=20))
        for _ in range(300)
    ]:
        batch = next(iter(batch_texts([text])))
        normal, _ = normalize_batch(batch, options)
        ids, spans = tokenizer.encode(text, return_offsets=True)
        assert tokenizer.decode(ids) == normal.data.tobytes().decode(), text
        assert library.encode(text).ids == ids.tolist() == tokenizer.encode(text).tolist(), text
        assert (spans[1:, 0] >= spans[:-1, 0]).all()
        assert not len(spans) or (spans[0, 0], spans[-1, 1]) == (0, len(text))


@pytest.mark.parametrize("ties", ALL_TIES)
def test_a_thousand_ties_go_by_the_rule(ties: str) -> None:
    letters = "하나둘셋넷다섯여일곱덟아홉열백천만억조경해가고기누"
    words = {left + right: 3 for left in reversed(letters[:24]) for right in letters[:24]}
    assert len(merge_words(words, ties, merges=1000)) == len(words)
