"""What a budget is enough for: epochs for a target, and how a mixture repeats or cuts languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jogak.budget.result import Budget
from jogak.config.messages import suggestion
from jogak.errors import ConfigError

UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Part:
    """One language of a mixture.

    Attributes:
        language: its code.
        share: its part of the tokens, 0 to 1.
        wanted: tokens the mixture asks for.
        available: tokens there are, boundary tokens included.
        epochs: wanted / available: above 1 it is repeated, below 1 cut.
    """

    language: str
    share: float
    wanted: float
    available: float
    epochs: float


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixture of languages for a number of tokens.

    Attributes:
        target: tokens of the whole mixture.
        unrepeated: the largest target that repeats nothing.
        parts: in the order given.
        left_out: languages of the dataset that the mixture does not name.
    """

    target: float
    unrepeated: float
    parts: tuple[Part, ...]
    left_out: tuple[str, ...]


def parse_tokens(text: str) -> int:
    """Return a number of tokens written as `20B`, `1.5T`, `300_000` or the like.

    Raises:
        ConfigError: it is no such number.
    """
    match = re.fullmatch(r"(\d[\d_,]*(?:\.\d+)?) ?([KMBT]?)", text.strip().upper(), re.ASCII)
    number = float(re.sub("[_,]", "", match[1])) * UNITS[match[2]] if match else 0
    if number < 1:
        message = f"--target: expected a number of tokens such as 20B or 300M (found '{text}')"
        raise ConfigError(message)
    return round(number)


def parse_mix(text: str) -> dict[str, float]:
    """Return the shares of `ko=0.6,en=0.3,code=0.1`.

    Raises:
        ConfigError: it is not of this form, names a language twice, or does not add up to 1.
    """
    shares: dict[str, float] = {}
    for item in text.split(","):
        match = re.fullmatch(r"\s*([^=\s]+)\s*=\s*(\d*\.?\d+)\s*", item, re.ASCII)
        if match is None or match[1] in shares or float(match[2]) <= 0:
            message = (
                f"--mix: expected shares above 0, each language once, such as ko=0.6,en=0.4 "
                f"(found '{item.strip()}')"
            )
            raise ConfigError(message)
        shares[match[1]] = float(match[2])
    if abs(sum(shares.values()) - 1) > TOLERANCE:
        message = f"--mix: shares must add up to 1 (found {sum(shares.values()):g})"
        raise ConfigError(message)
    return shares


def mix(available: Mapping[str, float], shares: Mapping[str, float], target: float) -> Mixture:
    """Return what a mixture makes of the tokens there are.

    Args:
        available: tokens by language, boundary tokens included.
        shares: by language, adding up to 1.
        target: tokens wanted in all.

    Raises:
        ConfigError: a language of the mixture has no tokens in the dataset.
    """
    for language in shares:
        if not available.get(language):
            found = ", ".join(available) or "none"
            message = f"--mix: no tokens of language '{language}' (found: {found})"
            raise ConfigError(message + suggestion(language, list(available)))
    parts = tuple(
        Part(name, share, share * target, available[name], share * target / available[name])
        for name, share in shares.items()
    )
    return Mixture(
        target=target,
        unrepeated=min(available[name] / share for name, share in shares.items()),
        parts=parts,
        left_out=tuple(name for name in available if name not in shares),
    )


def mixtures(budget: Budget, shares: Mapping[str, float], target: float | None) -> list[Mixture]:
    """Return the mixture for each tokenizer; for as many tokens as there are without a target.

    Raises:
        ConfigError: a language of the mixture has no tokens in the dataset.
    """
    found = []
    for index in range(len(budget.tokenizers)):
        available = {name: row.totals[index].value for name, row in budget.languages.items()}
        wanted = budget.total.totals[index].value if target is None else target
        found.append(mix(available, shares, wanted))
    return found


def uses_json(budget: Budget, target: float | None, mixed: Sequence[Mixture]) -> dict[str, Any]:
    """Return epochs and mixtures by tokenizer as JSON holds them; nothing where none was asked."""
    uses: dict[str, Any] = {}
    if target is not None:
        totals = [row.value for row in budget.total.totals]
        uses["target"] = target
        uses["epochs"] = [round(target / total, 4) if total else None for total in totals]
    if mixed:
        uses["mixtures"] = [asdict(each) for each in mixed]
    return uses
