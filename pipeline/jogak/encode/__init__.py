"""A unit becomes a shard: read, measure, normalize, encode, mark the boundaries, write.

What the report needs is measured on the way, on the text as it was read. The sidecar is written
last, so a shard with a sidecar is a finished one, and the sidecar says of what it was made.
"""

from __future__ import annotations

from jogak.encode.boundary import boundary_ids, with_boundaries
from jogak.encode.measuring import read_usage, usage_file
from jogak.encode.shuffle import document_order, shard_units
from jogak.encode.sidecar import finished_in_store, finished_shard, rejected_rows, sidecar
from jogak.encode.stream import tokenize
from jogak.encode.unit import EncodeTask, encode_unit

__all__ = [
    "EncodeTask",
    "boundary_ids",
    "document_order",
    "encode_unit",
    "finished_in_store",
    "finished_shard",
    "read_usage",
    "rejected_rows",
    "shard_units",
    "sidecar",
    "tokenize",
    "usage_file",
    "with_boundaries",
]
