"""A budget as tables for a terminal: one for each tokenizer, then the sample and the mixture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jogak.budget.result import COVERAGE, Budget, Figure, Row
from jogak.budget.uses import Mixture
from jogak.report import aligned

PREFIXES = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


def budget_text(
    budget: Budget, target: float | None = None, mixtures: Sequence[Mixture] = ()
) -> str:
    """Return a budget as text.

    Args:
        budget: the figures.
        target: tokens wanted, to say how many epochs they are.
        mixtures: one for each tokenizer, or none.
    """
    blocks = []
    for index, tokenizer in enumerate(budget.tokenizers):
        total = budget.total.totals[index]
        head = (
            f"{tokenizer.name}: {_shown(total)} tokens, boundary tokens included; "
            f"{_size(total.value * tokenizer.id_bytes)} as {tokenizer.dtype} "
            f"(vocabulary of {tokenizer.vocab_size:,})"
        )
        if target is not None:
            epochs = target / total.value if total.value else float("inf")
            head += f"\n{target:,.0f} tokens are {epochs:.3g} epochs"
            if total.half_width:
                low = target / (total.value + total.half_width)
                high = target / max(total.value - total.half_width, 1)
                head += f" ({low:.3g} to {high:.3g})"
        blocks.append(head)
        blocks += [_table(budget, index, *group) for group in _groups(budget)]
        if mixtures:
            blocks.append(_mixture_text(mixtures[index]))
    return "\n\n".join([*blocks, *_remarks(budget)])


def _groups(budget: Budget) -> Iterator[tuple[str, Mapping[str, Row]]]:
    yield "language", budget.languages
    yield "source", budget.sources


def _table(budget: Budget, index: int, title: str, group: Mapping[str, Row]) -> str:
    rows = [(name, row) for name, row in group.items()] + [("total", budget.total)]
    heading = [title, "documents", "bytes", "tokens", "boundary", "bytes/token"]
    lines = [heading + ["± 95 %"] * (not budget.exact)]
    for name, row in rows:
        tokens = row.tokens[index]
        ratio = f"{row.bytes.value / tokens.value:.3f}" if tokens.value else "-"
        boundary = row.documents.value * budget.boundary
        cells = [row.documents.value, row.bytes.value, tokens.value, boundary]
        line = [name, *(f"{round(cell):,}" for cell in cells), ratio]
        if not budget.exact:
            line.append(_percent(row.totals[index]))
        lines.append(line)
    return aligned(lines, has_total=True)


def _percent(figure: Figure) -> str:
    return f"{100 * figure.half_width / figure.value:.2f} %" if figure.value else "-"


def _shown(figure: Figure) -> str:
    if figure.half_width == 0:
        return f"{round(figure.value):,}"
    return f"about {round(figure.value):,} (± {_percent(figure)})"


def _size(count: float) -> str:
    """Write bytes with a decimal prefix.

    >>> _size(1234567)
    '1.23 MB'
    """
    for factor, prefix in PREFIXES:
        if count >= factor:
            return f"{count / factor:.3g} {prefix}B"
    return f"{count:.0f} B"


def _mixture_text(mixture: Mixture) -> str:
    rows = [["mixture", "share", "tokens wanted", "tokens there are", "epochs", "so it is"]]
    for part in mixture.parts:
        fate = "taken as it is"
        if abs(part.epochs - 1) >= 0.005:
            fate = (
                f"repeated {part.epochs:.2f} times"
                if part.epochs > 1
                else (f"cut to {100 * part.epochs:.1f} %")
            )
        rows.append(
            [
                part.language,
                f"{100 * part.share:g} %",
                f"{part.wanted:,.0f}",
                f"{part.available:,.0f}",
                f"{part.epochs:.3g}",
                fate,
            ]
        )
    wanted = sum(part.wanted for part in mixture.parts)
    rows.append(["total", "100 %", f"{wanted:,.0f}", "", "", ""])
    note = f"Without repeating any, the mixture has {mixture.unrepeated:,.0f} tokens."
    if mixture.left_out:
        note += f" Not in it: {', '.join(mixture.left_out)}."
    return f"{aligned(rows, has_total=True)}\n{note}"


def _remarks(budget: Budget) -> Iterator[str]:
    boundary = {0: "no boundary token", 1: "1 boundary token"}.get(
        budget.boundary, f"{budget.boundary} boundary tokens"
    )
    yield (
        f"Text in form {budget.normalize}, {boundary} for each document; special strings in the "
        "text are plain text. Bytes are of the text as read."
    )
    if budget.design:
        yield from _design(budget)
    if budget.rejected_rows:
        yield f"{budget.rejected_rows:,} rows were not counted as they stand (read.on_bad_row)."
    for each in budget.skipped_files:
        yield f"left out as damaged: {each.reason}"


def _design(budget: Budget) -> Iterator[str]:
    rows = [["sample of", "units", "strata", "read", "size", "read of it", "unit"]]
    for each in budget.design:
        share = 100 * each.drawn_bytes / each.size_bytes if each.size_bytes else 100
        rows.append(
            [
                each.source,
                f"{each.units:,}",
                f"{each.strata:,}",
                f"{each.drawn:,}",
                _size(each.size_bytes),
                f"{share:.1f} %",
                _size(each.unit_bytes),
            ]
        )
    units, drawn = (
        sum(getattr(each, name) for each in budget.design) for name in ("units", "drawn")
    )
    rows.append(["total", f"{units:,}", "", f"{drawn:,}", "", "", ""])
    bases = "; ".join(dict.fromkeys(each.basis for each in budget.design if each.units))
    yield aligned(rows, has_total=True)
    if budget.exact:
        yield "Every unit was read, so the figures are counts."
        return
    yield (
        f"Stratified cluster sample (seed {budget.seed}): units are drawn within strata of "
        f"neighbouring units, without replacement; tokens are a ratio to the known size ({bases}); "
        f"intervals by Student's t. {COVERAGE[0].upper()}{COVERAGE[1:]}."
    )
