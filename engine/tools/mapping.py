"""The racetrack mapping: from a trace of register accesses to a table of each register's position in its bank.

Liang & Wang, JCST 31(1), 2016, section 4.3. Registers accessed one after the other are grouped under the ports of one
offset (Algorithm 1), groups accessed one after the other get neighbouring offsets (Algorithm 2). Algorithm 1 is printed
with mistakes (loop bounds, the appended variable, a group number reset in the loop); this is what section 4.3.2 describes.
Instead of enumerating all orders of at most 8 groups, the best order of up to 16 is found by dynamic programming over
subsets, also exactly. Both together are a heuristic that can be worse than the identity, so the better is returned.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import files

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

FORMAT = 1
MAX_GROUPS = 16
MAX_SLOTS = 4096
BANKS, ROWS, SPREAD = 16, 128, "spread-"     # of the racetrack paper's register file; a mapping over its ports


def count_moves(trace: Iterable[int], num_registers: int) -> np.ndarray:
    """Return C: (n, n) i8, C[i, j] = how often register j is accessed right after register i (section 4.3.1)."""
    order = np.asarray(list(trace), np.int64)
    moves = np.zeros((num_registers, num_registers), np.int64)
    np.add.at(moves, (order[:-1], order[1:]), 1)
    return moves


def shifts_of(moves: np.ndarray, offsets: Sequence[int] | np.ndarray) -> int:
    """Return S, the shift steps of a trace for registers at these offsets (equations 3 and 4)."""
    at = np.asarray(offsets, np.int64)
    return int((moves * np.abs(at[:, None] - at[None, :])).sum())


def group(moves: np.ndarray, num_ports: int) -> list[list[int]]:
    """Partition registers into groups of `num_ports`, each in the order of joining, which is the order of its ports.

    A group grows by the register, or the pair connected by an edge, that makes it heaviest; by a pair only if that is
    strictly heavier and two places are left; ties go to the lowest index. The last num_ports registers form a group.
    """
    weight = moves + moves.T
    np.fill_diagonal(weight, 0)
    left = list(range(len(weight)))
    groups: list[list[int]] = []
    while left:
        chosen = left if len(left) <= num_ports else _heavy_subgraph(weight, left, num_ports)
        groups.append(chosen)
        left = [register for register in left if register not in chosen]
    return groups


def _heavy_subgraph(weight: np.ndarray, among: Sequence[int], size: int) -> list[int]:
    """Return `size` registers with many moves among them, in the order in which they were chosen."""
    chosen: list[int] = []
    left = np.array(among)
    while len(chosen) < size:
        gain = weight[np.ix_(left, np.array(chosen, np.int64))].sum(axis=1)
        single = int(np.argmax(gain))
        taken = [single]
        if len(chosen) + 2 <= size and len(left) > 1:
            edges = np.triu(weight[np.ix_(left, left)], 1)
            pairs = np.where(edges > 0, gain[:, None] + gain[None, :] + edges, -1)
            first, second = divmod(int(np.argmax(pairs)), len(left))
            if pairs[first, second] > gain[single]:
                taken = [first, second]
        chosen += [int(left[index]) for index in taken]
        left = np.delete(left, taken)
    return chosen


def arrange(weight: np.ndarray) -> list[int]:
    """Return the offset of each group in an order with the least sum of weight x distance, exactly.

    weight: (n, n) moves between groups, n at most MAX_GROUPS. The cost of an order is the sum, over its prefixes, of the
    weight between placed and unplaced groups; so the best order of each subset extends that of a smaller one.
    """
    number = len(weight)
    if number > MAX_GROUPS:
        raise ValueError(f"{number} groups, but at most {MAX_GROUPS} can be arranged; use more ports")
    edges = weight + weight.T
    np.fill_diagonal(edges, 0)
    cut = np.zeros(1, np.int64)
    for item in range(number):
        inside = np.zeros(1, np.int64)
        for other in range(item):
            inside = np.concatenate([inside, inside + edges[item, other]])
        cut = np.concatenate([cut, cut + edges[item].sum() - 2 * inside])
    best = np.zeros(1 << number, np.int64)
    last = np.zeros(1 << number, np.int8)
    sets = np.arange(1 << number)
    sizes = np.array([int(subset).bit_count() for subset in sets])
    for size in range(1, number + 1):
        these = sets[sizes == size]
        costs = np.stack([np.where(these >> item & 1, best[these & ~(1 << item)], np.iinfo(np.int64).max)
                          for item in range(number)])
        last[these] = costs.argmin(axis=0)
        best[these] = costs.min(axis=0) + cut[these]
    offsets = [0] * number
    subset = (1 << number) - 1
    for place in range(number - 1, -1, -1):
        offsets[last[subset]] = place
        subset &= ~(1 << int(last[subset]))
    return offsets


@dataclass(frozen=True)
class Mapping:
    """The registers' positions in one bank: positions[i] = p * (domains / ports) + offset; steps: of the trace."""

    positions: tuple[int, ...]
    shifts: int
    identity_shifts: int


def algorithm_positions(moves: np.ndarray, num_ports: int, num_domains: int) -> list[int]:
    """Return the position of each register by Algorithms 1 and 2."""
    groups = group(moves, num_ports)
    member = np.zeros((len(groups), len(moves)), np.int64)
    for index, registers in enumerate(groups):
        member[index, registers] = 1
    offsets = arrange(member @ moves @ member.T)
    per_port = -(-num_domains // num_ports)
    positions = [0] * len(moves)
    for registers, offset in zip(groups, offsets):
        for port, register in enumerate(registers):
            positions[register] = port * per_port + offset
    return positions


def optimise(moves: np.ndarray, num_ports: int, num_domains: int) -> Mapping:
    """Return the better of the identity and Algorithms 1 + 2 for one bank of num_domains = num_ports x offsets places.

    moves: (n, n), n <= num_domains registers in use; the others take the remaining places, in order. A tie keeps the
    identity.
    """
    per_port = -(-num_domains // num_ports)
    identity = list(range(len(moves)))
    positions = algorithm_positions(moves, num_ports, num_domains) if len(moves) else []
    before = shifts_of(moves, [position % per_port for position in identity])
    after = shifts_of(moves, [position % per_port for position in positions])
    chosen = positions if after < before else identity
    taken = set(chosen)
    rest = [position for position in range(num_domains) if position not in taken]
    return Mapping((*chosen, *rest[: num_domains - len(chosen)]), min(before, after), before)


def rows_in_use(simulator: Simulator) -> list[int]:
    """Return how many registers each bank holds with all warps resident: the physical slots of the launches."""
    banks = int(simulator.config["sm.num_banks"])
    slots = max(
        placed.resident_ctas * placed.warps_per_cta * placed.registers for placed in simulator.placement.launches
    )
    return [(slots - bank + banks - 1) // banks for bank in range(banks)]


def optimise_banks(moves: np.ndarray, rows: Sequence[int], num_ports: int) -> list[Mapping]:
    """Return the mapping of every bank; moves: (banks, rows, rows), rows: registers in use per bank."""
    num_domains = moves.shape[1]
    return [optimise(moves[bank, :used, :used], num_ports, num_domains) for bank, used in enumerate(rows)]


def table_text(mappings: Sequence[Mapping], kernel: str, num_ports: int) -> str:
    """Return a mapping table as TOML, one line per bank."""
    lines = [
        "# Where each register of a bank lies on its tapes: `--set racetrack.mapping=THIS_FILE` (rfview map).",
        f"format = {FORMAT}",
        f'kernel = "{kernel}"',
        f"ports = {num_ports}",
        f"identity_shifts = {sum(mapping.identity_shifts for mapping in mappings)}",
        f"shifts = {sum(mapping.shifts for mapping in mappings)}",
        "# a line per bank: position of row 0, 1, ...",
        "positions = [",
    ]
    lines += [f"  {list(mapping.positions)}," for mapping in mappings]
    return "\n".join([*lines, "]", ""])


def load_table(path: Path) -> list[list[int]]:
    """Read a mapping table: the positions of every bank. Raises ValueError naming what is wrong."""
    try:
        data = tomllib.loads(files.read_text(path))
    except OSError as error:
        raise ValueError(f"expected 'identity', {SPREAD}16 or a table of `rfview map`: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:       # errors of TOML and UTF-8, and a number of thousands of digits
        raise ValueError(f"not a mapping table: {error}") from None
    if data.get("format") != FORMAT:
        raise ValueError(f"mapping table of format {data.get('format')!r}, expected {FORMAT}")
    positions = data.get("positions")
    if not isinstance(positions, list) or not positions or not all(isinstance(bank, list) for bank in positions):
        raise ValueError("positions: expected a list of lists, one per bank")
    rows = len(positions[0])
    for bank, places in enumerate(positions):
        if not all(isinstance(place, int) for place in places) or sorted(places) != list(range(rows)):
            raise ValueError(f"positions: bank {bank} is not a permutation of 0..{rows - 1}")
    if rows * len(positions) > MAX_SLOTS:
        raise ValueError(f"positions: {rows * len(positions)} registers, at most {MAX_SLOTS}")
    return positions


def spread(text: str) -> list[list[int]]:
    """Return the positions of "spread-N": row r of a bank under port r % N at offset r // N. Raises ValueError."""
    ports = text.removeprefix(SPREAD)
    if not ports.isascii() or not ports.isdecimal() or len(ports) > 3 or not 0 < int(ports) <= ROWS or ROWS % int(ports):
        raise ValueError(f"expected {SPREAD}N for N ports, which divide the {ROWS} rows of a bank")
    number = int(ports)
    return [[row % number * (ROWS // number) + row // number for row in range(ROWS)]] * BANKS


def codes_of(value: Any) -> Any:
    """Convert the text of racetrack.mapping for a run: "identity", or position XOR row (its code) for every slot.

    A file contains the positions; slot = row * banks + bank. "spread-16" spreads the rows of each of 16 banks over 16 ports
    first, so that fewer rows take fewer offsets (B5.13). Codes are returned unchanged. Raises ValueError.
    """
    if isinstance(value, list | tuple):
        codes = [code if isinstance(code, int | np.integer) else -1 for code in value]
        if len(codes) > MAX_SLOTS or any(not 0 <= code < MAX_SLOTS for code in codes):
            raise ValueError(f"expected at most {MAX_SLOTS} codes in 0..{MAX_SLOTS - 1}")
        return [int(code) for code in codes]
    if str(value) == "identity":
        return "identity"
    positions = spread(str(value)) if str(value).startswith(SPREAD) else load_table(Path(str(value)))
    banks, rows = len(positions), len(positions[0])
    return [positions[slot % banks][slot // banks] ^ (slot // banks) for slot in range(banks * rows)]
