"""The files of a report."""

from __future__ import annotations

from jogak.manifest import Manifest
from jogak.output import Output, write_file, write_json
from jogak.report.data import report_json
from jogak.report.gather import Report, gather
from jogak.report.page import report_html
from jogak.report.text import report_markdown
from jogak.tokenizer import Tokenizer


def write_report(output: Output, manifest: Manifest, tokenizer: Tokenizer | None = None) -> Report:
    """Write report.json, report.md and report.html, and return what they tell.

    Args:
        output: a finished output.
        manifest: its own.
        tokenizer: its own, where the caller has it already.
    """
    report = gather(output, manifest, tokenizer)
    write_json(output.folder / "report.json", report_json(report))
    write_file(output.folder / "report.md", report_markdown(report))
    write_file(output.folder / "report.html", report_html(report))
    return report
