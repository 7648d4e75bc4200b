"""YAML in, one frozen Job out, or every error at once with file:line:column.

All option types and all defaults stand here and nowhere else; a stage takes its own section.
Reading order: section, options, read_options, train_options, job (what a job is); yaml_tree,
messages, job_file (how it is read and judged); resolved (how it is written and compared).
"""

from __future__ import annotations

from jogak.config.job import Job
from jogak.config.job_file import load_job, options_from
from jogak.config.options import (
    PATTERN_NAMES,
    TRIVIAL_TOKENIZERS,
    Boundary,
    CountOptions,
    EncodeOptions,
    EngineOptions,
    NormalForm,
    NormalizeOptions,
    PretokenizeOptions,
    ReportOptions,
    ShuffleOptions,
    SpecialText,
    TokenizerOptions,
)
from jogak.config.read_options import BadRow, ReadOptions, Source
from jogak.config.resolved import Difference, differences, dump_claim, dump_job, with_folders
from jogak.config.section import Section, Size, format_size, parse_size
from jogak.config.train_options import UNKNOWN, Ties, TrainOptions, WordMarker

__all__ = [
    "PATTERN_NAMES",
    "TRIVIAL_TOKENIZERS",
    "UNKNOWN",
    "BadRow",
    "Boundary",
    "CountOptions",
    "Difference",
    "EncodeOptions",
    "EngineOptions",
    "Job",
    "NormalForm",
    "NormalizeOptions",
    "PretokenizeOptions",
    "ReadOptions",
    "ReportOptions",
    "Section",
    "ShuffleOptions",
    "Size",
    "Source",
    "SpecialText",
    "Ties",
    "TokenizerOptions",
    "TrainOptions",
    "WordMarker",
    "differences",
    "dump_claim",
    "dump_job",
    "format_size",
    "load_job",
    "options_from",
    "parse_size",
    "with_folders",
]
