"""WordPiece and Unigram: a tokenizer.json that the `tokenizers` library itself runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from jogak.errors import TokenizerError
from jogak.formats.strangers import table_size
from jogak.formats.template import read_template
from jogak.vocabulary import AddedToken, CharacterRules, TokenizerSpec, pack_tokens


def read(content: Mapping[str, Any], where: str) -> TokenizerSpec:
    """Read a WordPiece or Unigram tokenizer.json.

    Raises:
        TokenizerError: the library refuses the file.
    """
    source = json.dumps(content, ensure_ascii=False)
    model = content["model"]
    if model["type"] == "WordPiece":
        texts = {int(index): text for text, index in model["vocab"].items()}
        prefix = model.get("continuing_subword_prefix", "##")
        rules = CharacterRules(prefix=prefix)
    else:
        texts = dict(enumerate(entry[0] for entry in model["vocab"]))
        rules = CharacterRules(
            byte_fallback=bool(model.get("byte_fallback")), unknown_id=model.get("unk_id")
        )
    tokens = [b""] * table_size(texts, where)
    for index, text in texts.items():
        tokens[index] = text.encode()
    data, offsets = pack_tokens(tokens)
    library = load(source, where)
    before, after = read_template(content.get("post_processor"), where)
    added = library.get_added_tokens_decoder().items()
    return TokenizerSpec(
        token_data=data,
        token_offsets=offsets,
        merges=np.zeros((0, 3), dtype=np.uint32),
        model="wordpiece" if model["type"] == "WordPiece" else "unigram",
        added=tuple(
            AddedToken(
                index,
                token.content,
                token.special,
                token.normalized,
                token.lstrip,
                token.rstrip,
                token.single_word,
            )
            for index, token in sorted(added)
        ),
        characters=rules,
        before=before,
        after=after,
        source=source,
    )


def load(source: str, where: str) -> Any:  # noqa: ANN401  # a tokenizers.Tokenizer
    """Return the library's tokenizer for the content of a tokenizer.json."""
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_str(source)
    except Exception as error:  # the library raises bare Exception
        message = f"{where}: the tokenizers library refuses the file ({error})"
        raise TokenizerError(message) from error
