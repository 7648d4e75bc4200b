"""From the counts of pretokens to merges, and from merges to a tokenizer.

The merges are exactly those of counting every pair anew before each merge; the native core only
finds them sooner. Ids are numbered as Hugging Face's trainer numbers them: the special tokens,
then the 256 bytes in the order of the characters that stand for them, then the merges. What comes
before the merges in a vocabulary of characters stands in `characters`.
"""

from __future__ import annotations

from jogak.train.merges import Merges, TrainProgress, train_merges
from jogak.train.trained import train

__all__ = ["Merges", "TrainProgress", "train", "train_merges"]
