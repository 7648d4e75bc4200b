"""report: what a run made, as tables, JSON and a page; everything from sums.

Reading order: gather (the sums of the manifest and of the usage files), vocabulary (what the ids
say), data (report.json), tables (the same as rows), text (terminal and Markdown), charts and page
(report.html), write.
"""

from __future__ import annotations

from jogak.report.data import report_json
from jogak.report.gather import Report, gather
from jogak.report.page import report_html
from jogak.report.text import aligned, display_width, report_markdown, report_text
from jogak.report.write import write_report

__all__ = [
    "Report",
    "aligned",
    "display_width",
    "gather",
    "report_html",
    "report_json",
    "report_markdown",
    "report_text",
    "write_report",
]
