"""Tokenizer: a spec made ready to encode and decode."""

from __future__ import annotations

from jogak.tokenizer.decoding import StreamDecoder
from jogak.tokenizer.tokenizer import TokenBatch, Tokenizer

__all__ = ["StreamDecoder", "TokenBatch", "Tokenizer"]
