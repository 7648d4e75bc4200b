"""Character-level BPE, slowly: as Hugging Face's `tokenizers` does it, one rule a function.

Source: tokenizers, models/bpe/{model,word}.rs.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class CharacterBpe:
    """A vocabulary of pieces, merges as pairs of pieces in rank order, and what else counts."""

    vocab: dict[str, int]
    merges: list[tuple[str, str]]
    byte_fallback: bool = False
    unknown: str | None = None
    fuse_unknown: bool = False
    prefix: str = ""
    suffix: str = ""
    whole_first: bool = False
    ranks: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look up the pair and the result of every merge."""
        for rank, (left, right) in enumerate(self.merges):
            result = self.vocab[left + right[len(self.prefix) :]]
            self.ranks[self.vocab[left], self.vocab[right]] = (rank, result)

    def encode(self, word: str) -> list[int]:
        """Encode one pretoken."""
        if self.whole_first and word in self.vocab:
            return [self.vocab[word]]
        return self.merge(self.symbols(word))

    def symbols(self, word: str) -> list[int]:
        """Return the ids of a word's characters."""
        found: list[int] = []
        after_unknown = False
        for index, character in enumerate(word):
            text = character
            if index:
                text = self.prefix + text
            if index == len(word) - 1:
                text += self.suffix
            if text in self.vocab:
                found.append(self.vocab[text])
                after_unknown = False
            elif self.byte_fallback:
                found += [self.vocab[f"<0x{byte:02X}>"] for byte in text.encode()]
            elif not (after_unknown and self.fuse_unknown):
                assert self.unknown is not None
                found.append(self.vocab[self.unknown])
                after_unknown = True
        return found

    def merge(self, ids: list[int]) -> list[int]:
        """Merge the pair of lowest rank, leftmost first.

        An entry of the queue is dropped when its pair has changed, unless the new pair makes the
        same token: then it fires at the old rank. That needs the queue itself, hence the places.
        """
        nodes: list[int | None] = list(ids)
        queue: list[tuple[int, int, int]] = []

        def following(place: int) -> int | None:
            return next((i for i in range(place + 1, len(nodes)) if nodes[i] is not None), None)

        def push(place: int | None) -> None:
            right = None if place is None else following(place)
            if place is None or right is None:
                return
            entry = self.ranks.get((nodes[place], nodes[right]))  # type: ignore[arg-type]
            if entry is not None:
                queue.append((entry[0], place, entry[1]))

        for place in range(len(nodes)):
            push(place)
        while queue:
            best = min(queue)
            queue.remove(best)
            _, place, result = best
            right = following(place) if nodes[place] is not None else None
            if right is None:
                continue
            entry = self.ranks.get((nodes[place], nodes[right]))  # type: ignore[arg-type]
            if entry is None or entry[1] != result:
                continue
            nodes[place], nodes[right] = result, None
            push(next((i for i in range(place - 1, -1, -1) if nodes[i] is not None), None))
            push(place)
        return [node for node in nodes if node is not None]
