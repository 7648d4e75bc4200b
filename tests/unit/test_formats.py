"""tokenizer.json: what is read, written and refused, against Hugging Face's own libraries."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer as LibraryTokenizer

from jogak import formats
from jogak.errors import TokenizerError
from jogak.formats.byte_vocabulary import read_merges
from jogak.pretokenize import PATTERNS
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import (
    BYTE_CHARACTERS,
    BYTE_ORDER,
    AddedToken,
    TokenizerSpec,
    spec_from_merges,
)
from reference.toy_tokenizers import HARD, TEXTS, byte_level, write


def trained(
    pattern: str = "gpt2", form: str = "none", special: Sequence[str] = ("<|endoftext|>",)
) -> TokenizerSpec:
    """Build a spec from the merges that the library's own trainer made, in its numbering."""
    model = json.loads(byte_level().to_str())["model"]
    shift = len(special) - 1
    vocab = {token: index + shift for token, index in model["vocab"].items()}
    pairs = [(vocab[left], vocab[right]) for left, right in model["merges"]]
    left, right = np.array(pairs, dtype=np.uint32).T
    return spec_from_merges(special, left, right, PATTERNS.get(pattern, pattern), form)


def test_the_byte_alphabet_is_gpt2s() -> None:
    from tokenizers.pre_tokenizers import ByteLevel

    assert [BYTE_CHARACTERS[byte] for byte in BYTE_ORDER] == sorted(ByteLevel.alphabet())
    encoded = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str("가 \n")
    assert encoded[0][0] == "".join(BYTE_CHARACTERS[byte] for byte in "가 \n".encode())


def test_ids_are_special_tokens_then_bytes_then_merges_as_in_the_librarys_trainer() -> None:
    spec = trained()
    vocab = json.loads(byte_level().to_str())["model"]["vocab"]
    tokenizer = Tokenizer(spec)
    for token, index in vocab.items():
        if index:
            assert tokenizer.token_bytes(index) == _raw(token)
    assert tokenizer.eos_id == 0
    assert tokenizer.vocab_size == len(vocab)


def _raw(token: str) -> bytes:
    return bytes(BYTE_CHARACTERS.index(character) for character in token)


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\p{L}+|[^\p{L}]"])
@pytest.mark.parametrize("form", ["none", "nfc", "nfkc"])
def test_a_saved_tokenizer_gives_the_same_ids_in_tokenizers(
    pattern: str, form: str, tmp_path: Path
) -> None:
    tokenizer = Tokenizer(trained(pattern, form, ("<s>", "</s>", "<|끝|>")))
    tokenizer.save(tmp_path)
    library = LibraryTokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for special in ("plain", "allow"):
        library.encode_special_tokens = special == "plain"
        for text in [*TEXTS[:6], *HARD, "가<s>나</s> <|끝|>"]:
            ids = tokenizer.encode(text, special=special)
            assert ids.tolist() == library.encode(text).ids, text
            library_text = library.decode(ids.tolist(), skip_special_tokens=False)
            assert tokenizer.decode(ids) == library_text
    again = Tokenizer.load(tmp_path)
    assert again.fingerprint == tokenizer.fingerprint


def test_a_saved_tokenizer_loads_in_transformers_with_its_special_tokens(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    spec = spec_from_merges(
        ("<|endoftext|>", "<|bos|>"),
        *np.zeros((2, 0), dtype=np.uint32),
        PATTERNS["o200k"],
        "nfc",
        eos_token="<|endoftext|>",
        bos_token="<|bos|>",
    )
    tokenizer = Tokenizer(spec)
    tokenizer.save(tmp_path)
    other = AutoTokenizer.from_pretrained(tmp_path)
    assert (
        (other.eos_token_id, other.bos_token_id) == (tokenizer.eos_id, tokenizer.bos_id) == (0, 1)
    )
    for text in [*TEXTS[:6], *HARD]:
        expected = other(text, add_special_tokens=False)["input_ids"]
        assert tokenizer.encode(text, special="allow").tolist() == expected
    assert Tokenizer.load(tmp_path).fingerprint == tokenizer.fingerprint


def test_nfkc_keep_jamo_is_saved_as_nfc() -> None:
    assert [step.kind for step in trained(form="nfkc_keep_jamo").normalizer] == ["nfc"]


def test_special_tokens_of_a_spec_must_be_distinct_and_the_eos_token_one_of_them() -> None:
    none = np.zeros(0, dtype=np.uint32)
    with pytest.raises(TokenizerError, match="'<a>' is empty or listed twice"):
        spec_from_merges(["<a>", "<a>"], none, none, PATTERNS["gpt2"])
    with pytest.raises(TokenizerError, match=r"eos token '<b>'.*found: <a>"):
        spec_from_merges(["<a>"], none, none, PATTERNS["gpt2"], eos_token="<b>")
    with pytest.raises(TokenizerError, match="merge 0: parts 0, 257"):
        spec_from_merges([], np.array([0]), np.array([257]), PATTERNS["gpt2"])


def test_both_spellings_of_merges_are_read(tmp_path: Path) -> None:
    library = byte_level()
    merges = json.loads(library.to_str())["model"]["merges"]
    pairs = formats.load(write(library, tmp_path / "a.json", model__merges=merges))
    strings = [" ".join(merge) for merge in merges]
    texts = formats.load(write(library, tmp_path / "b.json", model__merges=strings))
    assert pairs.fingerprint() == texts.fingerprint()


def test_a_pair_listed_twice_counts_at_its_later_place(tmp_path: Path) -> None:
    library = byte_level()
    merges = json.loads(library.to_str())["model"]["merges"]
    path = write(library, tmp_path / "tokenizer.json", model__merges=[*merges, merges[0]])
    ours, theirs = Tokenizer.load(path), LibraryTokenizer.from_file(str(path))
    for text in TEXTS:
        assert ours.encode(text).tolist() == theirs.encode(text).ids


REFUSED = [
    ({"normalizer": {"type": "nfd_for_hangul"}}, "normalizer 'nfd_for_hangul'"),
    ({"normalizer": {"type": "Lowercase"}}, "normalizer 'Lowercase'"),
    ({"pre_tokenizer__type": "Quantum"}, "pre_tokenizer 'Quantum'"),
    ({"model__type": "Quantum"}, "model 'Quantum'"),
    ({"model__dropout": 0.1}, "dropout"),
    ({"model__end_of_word_suffix": "</w>"}, "end_of_word_suffix"),
    ({"model__merges": [["Ġ", "없"]]}, "needs '없'"),
    ({"model__merges": [["Č", "Č"]]}, "needs 'ČČ'"),
    ({"model__merges": ["a b c"]}, "merge 0 is not two parts"),
    ({"post_processor": {"type": "Quantum"}}, "post_processor 'Quantum'"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_honoured_is_refused_by_name(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = write(byte_level(), tmp_path / "tokenizer.json", **changes)
    with pytest.raises(TokenizerError) as error:
        Tokenizer.load(path)
    assert message in str(error.value)
    assert "tokenizer.json" in str(error.value)


def test_a_vocabulary_without_every_byte_is_refused(tmp_path: Path) -> None:
    library = byte_level()
    vocab = json.loads(library.to_str())["model"]["vocab"]
    del vocab["À"]
    path = write(library, tmp_path / "tokenizer.json", model__vocab=vocab, model__merges=[])
    with pytest.raises(TokenizerError, match=r"lacks 1 of the 256 bytes \(c0\)"):
        Tokenizer.load(path)


def test_two_tokens_with_one_id_are_refused(tmp_path: Path) -> None:
    library = byte_level()
    vocab = json.loads(library.to_str())["model"]["vocab"] | {"없다": 7}
    path = write(library, tmp_path / "tokenizer.json", model__vocab=vocab)
    with pytest.raises(TokenizerError, match="share the id 7"):
        Tokenizer.load(path)


def test_an_added_token_whose_number_the_library_ignores_is_refused(tmp_path: Path) -> None:
    path = write(byte_level(), tmp_path / "tokenizer.json")
    content = json.loads(path.read_text())
    content["added_tokens"].append(content["added_tokens"][0] | {"id": 5000, "content": "<x>"})
    path.write_text(json.dumps(content))
    with pytest.raises(TokenizerError, match="'<x>' has id 5000, but the library gives it 400"):
        Tokenizer.load(path)


def test_a_path_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="no such file"):
        Tokenizer.load(tmp_path / "missing.json")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(TokenizerError, match="no model"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(TokenizerError, match="not JSON"):
        Tokenizer.load(tmp_path)


def test_a_byte_vocabulary_entry_outside_the_alphabet_decodes_but_is_never_produced(
    tmp_path: Path,
) -> None:
    library = byte_level()
    vocab = json.loads(library.to_str())["model"]["vocab"] | {"한": 400}
    path = write(library, tmp_path / "tokenizer.json", model__vocab=vocab)
    ours, theirs = Tokenizer.load(path), LibraryTokenizer.from_file(str(path))
    assert ours.encode("한").tolist() == theirs.encode("한").ids
    assert ours.decode([400]) == "한"
    ours.save(tmp_path / "out")
    assert Tokenizer.load(tmp_path / "out").fingerprint == ours.fingerprint


def test_the_template_is_applied_when_asked_for(tmp_path: Path) -> None:
    from tokenizers.processors import TemplateProcessing

    library = byte_level()
    library.post_processor = TemplateProcessing(
        "<|endoftext|> $A <|endoftext|> <|endoftext|>", special_tokens=[("<|endoftext|>", 0)]
    )
    ours = Tokenizer.load(write(library, tmp_path / "tokenizer.json"))
    for text in ["", *TEXTS]:
        assert ours.encode(text, add_special_tokens=True).tolist() == library.encode(text).ids
        assert ours.encode(text).tolist() == library.encode(text, add_special_tokens=False).ids
    batch = ours.encode_batch(["", *TEXTS], add_special_tokens=True)
    for index, text in enumerate(["", *TEXTS]):
        assert batch[index].tolist() == library.encode(text).ids
    ours.save(tmp_path / "out")
    saved = LibraryTokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert saved.encode("가").ids == library.encode("가").ids


def test_the_prefix_space_of_byte_level_is_applied(tmp_path: Path) -> None:
    from tokenizers.pre_tokenizers import ByteLevel

    library = byte_level()
    library.pre_tokenizer = ByteLevel(add_prefix_space=True)
    ours = Tokenizer.load(write(library, tmp_path / "tokenizer.json"))
    for text in TEXTS + HARD:
        expected = library.encode(text).ids
        assert ours.encode(text, special="allow").tolist() == expected, text
    ours.save(tmp_path / "out")
    assert Tokenizer.load(tmp_path / "out").fingerprint == ours.fingerprint
    saved = LibraryTokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert saved.encode("가 나").ids == library.encode("가 나").ids


def test_settings_beside_the_tokenizer_are_read(tmp_path: Path) -> None:
    write(byte_level(), tmp_path / "tokenizer.json")
    settings = {
        "eos_token": {"content": "<|endoftext|>", "__type": "AddedToken"},
        "pad_token": "<missing>",
        "model_max_length": 2048,
        "chat_template": [{"name": "default", "template": "{{ 1 }}"}],
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    spec = formats.load(tmp_path)
    assert (spec.names.eos, spec.names.pad, spec.names.bos) == ("<|endoftext|>", None, None)
    assert (spec.model_max_length, spec.chat_template) == (2048, "{{ 1 }}")
    (tmp_path / "chat_template.jinja").write_text("{{ 2 }}")
    assert formats.load(tmp_path).chat_template == "{{ 2 }}"


def test_added_tokens_that_are_ordinary_vocabulary_stay_in_it(tmp_path: Path) -> None:
    library = byte_level(special=[{"content": "a", "special": True, "normalized": False}])
    ours = Tokenizer.load(write(library, tmp_path / "tokenizer.json"))
    assert AddedToken(ours.token_id(b"a"), "a") in ours.spec.added
    assert ours.decode(ours.encode("banana")) == "banana"


def test_merges_are_resolved_whatever_characters_their_tokens_hold() -> None:
    odd = ["\0", "\x01", " ", "\n", "가", "\U0010fffe", "##", "a"]
    generator = random.Random(3)
    for prefix in ("", "##"):
        for _ in range(200):
            vocab = {text: index for index, text in enumerate(odd)}
            pairs = []
            for _ in range(generator.randint(1, 12)):
                left, right = generator.choices(list(vocab), k=2)
                vocab.setdefault(left + right[len(prefix) :], len(vocab))
                pairs.append((left, right))
            expected = {
                pair: (vocab[pair[0]], vocab[pair[1]], vocab[pair[0] + pair[1][len(prefix) :]])
                for pair in dict.fromkeys(reversed(pairs))
            }
            found = read_merges(pairs, vocab, "file", prefix)
            assert list(map(tuple, found.tolist())) == list(reversed(expected.values()))


@pytest.mark.parametrize(
    ("merges", "said"),
    [
        (["a b c"], "merge 0 is not two parts"),
        (["a b", "ab"], "merge 1 is not two parts"),
        ([["a", "b"], ["a"]], "merge 1 is not two parts"),
        (["a b", "b c"], r"merge 1 \('b', 'c'\) needs 'c'"),
        (["a b", "b a"], r"merge 1 \('b', 'a'\) needs 'ba'"),
        (["a "], r"merge 0 \('a', ''\) needs ''"),
    ],
)
def test_merges_that_do_not_fit_the_vocabulary_are_named(merges: list[Any], said: str) -> None:
    with pytest.raises(TokenizerError, match=said):
        read_merges(merges, {"a": 0, "b": 1, "ab": 2}, "file")
