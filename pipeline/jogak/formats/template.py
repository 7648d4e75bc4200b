"""The key `post_processor` of tokenizer.json: the ids a template puts around a text."""

from __future__ import annotations

from jogak.formats.steps import Part, flatten, refuse


def read_template(part: Part | None, where: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Read the key `post_processor`: the ids around a single text."""
    before: list[int] = []
    after: list[int] = []
    for element in flatten(part, "processors"):
        kind = element.get("type")
        if kind == "ByteLevel":  # moves offsets, which Jogak computes itself; no ids
            continue
        if before or after:
            raise refuse(where, "second post_processor", element)
        if kind in ("RobertaProcessing", "BertProcessing"):
            before, after = [int(element["cls"][1])], [int(element["sep"][1])]
        elif kind == "TemplateProcessing":
            before, after = _single_template(element, where)
        else:
            raise refuse(where, "post_processor", element)
    return tuple(before), tuple(after)


def _single_template(element: Part, where: str) -> tuple[list[int], list[int]]:
    sides: tuple[list[int], list[int]] = ([], [])
    side = 0
    known = element.get("special_tokens", {})
    for piece in element.get("single", ()):
        if "Sequence" in piece:
            if side:
                raise refuse(where, "post_processor with the text twice", element)
            side = 1
        else:
            name = piece["SpecialToken"]["id"]
            if name not in known:
                raise refuse(where, f"post_processor with an undefined {name!r}", element)
            sides[side].extend(int(number) for number in known[name]["ids"])
    return sides
