"""NumPy reference of mummer: every substring of the text is known; and the text with its suffix tree."""

from __future__ import annotations

import numpy as np

LENGTH, LETTERS = 600, 25


def inputs() -> dict[str, np.ndarray]:
    """Return a random text of four letters, and its suffix tree: children, then edge and link, of each node."""
    text = np.random.RandomState(156).randint(0, 4, LENGTH)
    letters = [*text.tolist(), 4]           # the last letter occurs once, so that every suffix ends in a leaf
    paths: dict[tuple[int, ...], int] = {}
    nodes: list[list[int]] = []

    def add(suffixes: list[int], depth: int, length: int) -> int:
        """Add the node that some suffixes share, `length` letters below its parent at `depth`; return its number."""
        number = len(nodes)
        nodes.append([0, 0, 0, 0, suffixes[0] + depth, length, 0, 0])
        depth += length
        paths[tuple(letters[suffixes[0]:suffixes[0] + depth])] = number
        if len(suffixes) > 1:
            for letter in range(4):
                below = [suffix for suffix in suffixes if letters[suffix + depth] == letter]
                if below:
                    nodes[number][letter] = add(below, depth, common(below, depth))
        return number

    def common(suffixes: list[int], depth: int) -> int:
        """Return how many letters from `depth` on the suffixes share; of one suffix all but the last letter."""
        reach = 0
        if len(suffixes) == 1:
            return LENGTH - suffixes[0] - depth
        while len({letters[suffix + depth + reach] for suffix in suffixes}) == 1:
            reach += 1
        return reach

    add(list(range(LENGTH + 1)), 0, 0)
    for path, number in paths.items():
        nodes[number][6] = paths[path[1:]] if len(path) > 1 else 0
    return {"nodes": np.array(nodes, np.int16), "text": text.astype(np.uint8)}


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return how many letters of each query match somewhere in the text, from each start on."""
    text = memory["text"].tobytes()
    known = {text[i:i + size] for size in range(1, LETTERS + 1) for i in range(len(text) - size + 1)}
    matched = memory["matched"].copy()
    for number, query in enumerate(memory["queries"].T):
        letters = query.tobytes()
        for start in range(len(matched)):
            size = 0
            while start + size < LETTERS and letters[start:start + size + 1] in known:
                size += 1
            matched[start, number] = size
    return {"matched": matched}
