"""Tokenizer files of strangers: a tokenizer or a TokenizerError, soon and in bounded memory."""

from __future__ import annotations

import copy
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from jogak.errors import TokenizerError
from jogak.tokenizer import Tokenizer
from jogak.tokenizer.templates import BUILT_IN, render
from reference.toy_tokenizers import byte_level

TEXT = ["나는 학교에 간다 the lower newest"] * 50


def byte_fallback() -> LibraryTokenizer:
    made = LibraryTokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    pieces = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    made.decoder = decoders.Sequence([*pieces, decoders.Strip(" ", 1, 0)])
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    made.train_from_iterator(TEXT, trainer)
    return made


def unigram() -> LibraryTokenizer:
    made = LibraryTokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=60, unk_token="<unk>", special_tokens=["<unk>", "<s>"], show_progress=False
    )
    made.train_from_iterator(TEXT, trainer)
    return made


def wordpiece() -> LibraryTokenizer:
    made = LibraryTokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    trainer = trainers.WordPieceTrainer(
        vocab_size=80, special_tokens=["[UNK]", "[CLS]"], show_progress=False
    )
    made.train_from_iterator(TEXT, trainer)
    return made


@pytest.fixture(scope="module")
def originals() -> list[Any]:
    makers = (byte_level, byte_fallback, unigram, wordpiece)
    return [json.loads(make().to_str()) for make in makers]


HOSTILE: list[Any] = [None, True, False, 0, 1, -1, 7, 2**31 - 1, 2**31, 2**32, 2**63, 2**64]
HOSTILE += [10**30, 1.5, float("inf"), "", "a", "Ġ", "\ud800", "\x00", "[", "(?", "(a*)*b"]
HOSTILE += [r"\p{L}{1000}{1000}", "가" * 1_000, [], {}, [[]], [None], [["a"]], [["a", "b", "c"]]]
HOSTILE += [{"type": "ByteLevel"}, {"type": "Sequence"}, {"type": None}, {"a": -1}, {"a": 2**31}]
HOSTILE += [{"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False}]
HOSTILE += [{"type": "Replace", "pattern": {"String": ""}, "content": "x"}]


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Yield the places in a JSON value, a few of long lists and objects."""
    yield place
    if isinstance(value, dict):
        keys = list(value)
        for key in keys if len(keys) < 30 else keys[:5] + keys[-5:]:
            yield from places(value[key], (*place, key))
    elif isinstance(value, list):
        for index in range(len(value)) if len(value) < 10 else (0, 1, len(value) - 1):
            yield from places(value[index], (*place, index))


def find(value: Any, place: tuple[Any, ...]) -> Any:  # noqa: ANN401 - JSON
    for key in place:
        value = value[key]
    return value


def change(rng: random.Random, value: Any) -> None:  # noqa: ANN401 - JSON
    """Remove something, replace it by something hostile, or put it where it does not belong."""
    where = [place for place in places(value) if place]
    if not where:
        return
    place, other = rng.choice(where), rng.choice(where)
    holder = find(value, place[:-1])
    kind = rng.randrange(5)
    if kind == 0:
        del holder[place[-1]]
    elif kind < 4:
        holder[place[-1]] = copy.deepcopy(rng.choice(HOSTILE))
    else:
        holder[place[-1]] = copy.deepcopy(find(value, other))


def try_file(folder: Path) -> str:
    """Load and use a tokenizer; only a TokenizerError may come of it."""
    try:
        tokenizer = Tokenizer.load(folder)
        ids = tokenizer.encode("나는 school 12 <s> \n")
        tokenizer.decode_bytes(ids)
    except TokenizerError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("seed", range(4))
def test_files_changed_at_random_load_or_are_refused(
    seed: int, originals: list[Any], tmp_path: Path
) -> None:
    rng = random.Random(seed)
    refused = 0
    for number in range(60):
        value = copy.deepcopy(rng.choice(originals))
        for _ in range(rng.choice([1, 1, 2, 3])):
            change(rng, value)
        (tmp_path / "tokenizer.json").write_text(json.dumps(value))
        try:
            said = try_file(tmp_path)
        except Exception as error:
            message = f"seed {seed}, file {number}: {type(error).__name__}: {error}"
            raise AssertionError(message) from error
        refused += bool(said)
        assert not said or "tokenizer" in said
    assert refused > 20


def merged(content: Any, merges: object) -> Any:  # noqa: ANN401 - JSON
    return {**content, "model": {**content["model"], "merges": merges}}


def numbered(content: Any, index: object) -> Any:  # noqa: ANN401 - JSON
    vocab = {**content["model"]["vocab"], "없다": index}
    return {**content, "model": {**content["model"], "vocab": vocab}}


@pytest.mark.parametrize(
    ("change_file", "says"),
    [
        (lambda file: merged(file, [["a", "b"], ["ab", "a"], ["aba", "b"]] * 3), "needs"),
        (lambda file: merged(file, [["a", "a"]] * 1_000_000), "needs 'aa'"),
        (lambda file: merged(file, [["Ġ", ""]]), ""),
        (lambda file: merged(file, [["", ""]]), ""),
        (lambda file: merged(file, "ab"), ""),
        (lambda file: numbered(file, -1), "-1 is no id"),
        (lambda file: numbered(file, 2**31), f"{2**31} is no id"),
        (lambda file: numbered(file, 2**40), f"{2**40} is no id"),
        (lambda file: numbered(file, 1.0), "1.0 is no id"),
        (lambda file: numbered(file, True), "True is no id"),
        (lambda file: numbered(file, 7), "share the id 7"),
        (lambda file: {**file, "normalizer": nested("normalizers", 400)}, ""),
        (lambda file: {**file, "pre_tokenizer": nested("pretokenizers", 400)}, ""),
    ],
)
def test_a_hostile_file_is_refused(
    change_file: Any,  # noqa: ANN401 - a function of the parameters
    says: str,
    originals: list[Any],
    tmp_path: Path,
) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(change_file(originals[0])))
    started = time.perf_counter()
    said = try_file(tmp_path)
    assert "tokenizer.json: " in said
    assert says in said
    assert time.perf_counter() - started < 30


def nested(key: str, depth: int) -> Any:  # noqa: ANN401 - JSON
    value: dict[str, Any] = {"type": "Quantum"}
    for _ in range(depth):
        value = {"type": "Sequence", key: [value]}
    return value


def test_nesting_beyond_reason_is_refused(tmp_path: Path) -> None:
    for opening, closing in (("[", "]"), ('{"model":', "}")):
        text = opening * 200_000 + "1" + closing * 200_000
        (tmp_path / "tokenizer.json").write_text(text)
        assert "not a well-formed tokenizer file (RecursionError" in try_file(tmp_path)


def test_a_token_of_one_id_far_away_takes_no_memory(originals: list[Any], tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(numbered(originals[0], 2**31 - 1)))
    program = (
        "from jogak.errors import TokenizerError\nfrom jogak.tokenizer import Tokenizer\n"
        f"try: Tokenizer.load({str(tmp_path)!r})\nexcept TokenizerError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )
    assert f"{2**31 - 1} is no id of a vocabulary of 401 tokens" in done.stdout, done.stderr


def replaced(file: Any, *pairs: tuple[str, str]) -> Any:  # noqa: ANN401 - JSON
    steps = [{"type": "Replace", "pattern": {"String": old}, "content": new} for old, new in pairs]
    return {**file, "normalizer": {"type": "Sequence", "normalizers": steps}}


def test_replacements_that_blow_text_up_are_refused(originals: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(replaced(originals[0], (" ", "▁"), ("▁", " "), ("a", "b" * 50))))
    assert try_file(tmp_path) == ""
    for pairs in ([("a", "aa")] * 40, [("a", "b" * 1000), ("b", "a" * 1000)]):
        path.write_text(json.dumps(replaced(originals[0], *pairs)))
        assert "times as long" in try_file(tmp_path)


TEMPLATES = {
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}": "without end",
    "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}": "",
    "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}": "",
    "{% set x = namespace(a='ab') %}{% for i in range(99) %}{% set x.a = x.a ~ x.a %}{% endfor %}":
        "without end",
    "{% set x = namespace(a='ab') %}{% for i in range(99) %}{% set x.a = x.a + x.a %}{% endfor %}":
        "without end",
    "{% for i in range(99999) %}{{ 'a' * 100000 }}{% endfor %}": "without end",
    "{% set x %}{% for i in range(99999) %}{{ 'a' * 100000 }}{% endfor %}{% endset %}": "",
    "{{ 'a' * 10**10 }}": "", "{{ ('a' * 10**6) * 10**6 }}": "", "{{ [1] * 10**9 }}": "",
    "{{ '%1000000000d' % 1 }}": "", "{{ '{:>1000000000}'.format(1) }}": "fills up",
    "{{ 'x'.center(10**10) }}": "", "{{ 'x' | center(10**10) }}": "",
    "{{ 'x' | indent(10**10) }}": "", "{{ messages | tojson(indent=10**9) }}": "",
    "{{ lipsum(n=100000000) }}": "", "{{ [1, 2] | batch(10**9, 0) | list }}": "",
    "{{ ('x' * 10**6) | replace('x', 'x' * 10**6) }}": "128 million",
    "{{ ('x' * 10**6).replace('x', 'x' * 10**6) }}": "128 million",
    "{{ (['x' * 10**6] * 10**6) | join }}": "", "{{ ''.join(['x' * 10**6] * 10**6) }}": "",
    "{{ 1 / 0 }}": "division by zero", "{{ 9 ** 9 ** 9 }}": "", "{{ 7 ** 999999 }}": "power",
    "{{ '\ud800' }}": "surrogates", "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}": "",
    "{{ ''.__class__.__mro__ }}": "unsafe", "{{ (1).__class__.__base__.mro() }}": "unsafe",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}": "unsafe",
    "{{ messages.append.__self__.__class__ }}": "", "{% include '/etc/passwd' %}": "no loader",
    "{{ raise_exception.__globals__['json'] }}": "", "{{ lipsum.__globals__.os.system('id') }}": "",
    "{{ messages.append(1) }}": "", "{{ namespace.__init__.__globals__ }}": "unsafe",
}  # fmt: skip
"""Templates of strangers, and what the refusal says."""


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template[:40])
def test_a_hostile_template_is_refused_soon(
    template: str, originals: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(originals[0]))
    tokenizer = Tokenizer.load(tmp_path)
    started = time.process_time()
    with pytest.raises(TokenizerError, match="chat template: ") as raised:
        tokenizer.apply_chat_template([{"role": "user", "content": "x"}], template=template)
    assert TEMPLATES[template] in str(raised.value)
    assert time.process_time() - started < 30


def test_a_long_chat_stays_within_the_budget_of_a_template() -> None:
    messages = [{"role": role, "content": "글 " * 500} for role in ("user", "assistant")] * 2_000
    text, spans = render(BUILT_IN["chatml"], messages, {"add_generation_prompt": True})
    assert len(spans) == 2_000
    assert len(text) > 4_000_000
