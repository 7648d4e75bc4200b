"""A sample of the documents, by a hash of what they hold.

Whether a document is taken depends on its bytes and the seed alone: not on its file, its row, the
units, the batches or the workers. So equal documents are taken or left out together, and a larger
share takes all that a smaller one does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from jogak.config import CountOptions
from jogak.documents import TextBatch

HASH_BITS = 64


@dataclass(frozen=True, slots=True)
class Sample:
    """Which documents are counted.

    Attributes:
        share: how many of them, more than 0 and at most 1; 1 takes all.
        seed: another one takes other documents.
    """

    share: float = 1.0
    seed: int = 0

    @classmethod
    def of(cls, options: CountOptions, text_bytes: int) -> Sample:
        """Return the sample that options ask for of so much text, as planned."""
        if options.sample_bytes is None:
            return cls(options.sample, options.seed)
        return cls(min(options.sample_bytes / max(text_bytes, 1), 1.0), options.seed)

    @property
    def description(self) -> str:
        """What counts say of how they were sampled; empty where they were not."""
        return "" if self.share == 1 else f"{self.share} of the documents, seed {self.seed}"

    def take(self, batch: TextBatch) -> TextBatch:
        """Return the documents of a batch that belong to the sample.

        A document does where the first 64 bits of BLAKE2b of its text as it was read, keyed with
        the seed (8 bytes, little-endian), are below share x 2^64.
        """
        if self.share == 1:
            return batch
        limit = int(self.share * 2**HASH_BITS)
        keyed = hashlib.blake2b(digest_size=HASH_BITS // 8, key=self.seed.to_bytes(8, "little"))
        bounds = batch.offsets.tolist()
        kept = []
        for index, start in enumerate(bounds[:-1]):
            digest = keyed.copy()
            digest.update(batch.data[start : bounds[index + 1]].data)
            if int.from_bytes(digest.digest(), "big") < limit:
                kept.append(index)
        return _chosen(batch, kept)


ALL = Sample()
"""Every document."""


def _chosen(batch: TextBatch, kept: list[int]) -> TextBatch:
    if len(kept) == len(batch):
        return batch
    texts = [batch.data[batch.offsets[index] : batch.offsets[index + 1]] for index in kept]
    offsets = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return replace(
        batch,
        data=np.concatenate([np.zeros(0, dtype=np.uint8), *texts]),
        offsets=offsets,
        languages=batch.languages[kept],
        rows=batch.rows[kept],
    )
