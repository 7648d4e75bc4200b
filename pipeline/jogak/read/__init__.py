"""read: a unit of the plan -> TextBatches of valid UTF-8, at most about `read.batch_bytes` each.

In: Parquet, JSON lines (.gz, .zst), plain text, Hugging Face datasets, Arrow tables, iterables.
Out: the Arrow buffers themselves wherever they can be shared. A row is delivered, or it is
recorded as rejected under `read.on_bad_row`, or the run stops: none is dropped silently, and a
truncated file is never taken for a whole one.
"""

from __future__ import annotations

from jogak.read.python import batch_texts, is_dataset, read_dataset
from jogak.read.unit import read_unit

__all__ = ["batch_texts", "is_dataset", "read_dataset", "read_unit"]
