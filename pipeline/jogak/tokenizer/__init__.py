"""Tokenizer: a spec made ready to encode and decode."""

from __future__ import annotations

from jogak.tokenizer.decoding import StreamDecoder
from jogak.tokenizer.pipeline import TokenBatch
from jogak.tokenizer.tokenizer import Tokenizer

__all__ = ["StreamDecoder", "TokenBatch", "Tokenizer"]
