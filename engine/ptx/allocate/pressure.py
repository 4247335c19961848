"""Register pressure: picks the cheapest variables to spill so that the live ones fit into the registers everywhere."""

from __future__ import annotations

from rfview.engine.ptx.allocate.colouring import Colouring
from rfview.engine.ptx.allocate.interference import Interference
from rfview.engine.ptx.optimise.bitsets import bits_of, members
from rfview.engine.ptx.optimise.control_flow import immediate_dominators, loop_depths, tree_depths
from rfview.engine.ptx.optimise.liveness import live_sets
from rfview.engine.ptx.virtual import VirtualInst, VirtualProgram


def costs(program: VirtualProgram) -> list[float]:
    """Return the cost of spilling each variable: its accesses, weighted by loop depth."""
    successors = [block.successors for block in program.blocks]
    idom = immediate_dominators(successors, 0)
    loops = loop_depths(successors, idom, tree_depths(idom))
    weights = [0.0] * len(program.variables.names)
    for block, depth in zip(program.blocks, loops, strict=True):
        for inst in block.insts:
            for var in inst.reads() + inst.writes():
                weights[var] += 10.0 ** min(depth, 8)
    return weights


def choose(program: VirtualProgram, graph: Interference, limit: int, temporaries: set[int], words: list[int]) -> set[int]:
    """Pick the cheapest variables, by cost per conflicting word, until at most `limit` words are live anywhere.

    words: the words that each variable counts for, 0 if it is not a candidate.
    """
    weights = costs(program)
    # data variables conflict with data variables only, predicates with predicates only
    rank = {var: weights[var] / (1 + int(graph.weights[var])) for var in graph.order if words[var]}
    counted = bits_of(rank, len(words))
    chosen: set[int] = set()
    live_out = live_sets(program.blocks, len(words))[1]
    for block, live_mask in zip(program.blocks, live_out, strict=True):
        held = _Held(members(live_mask & counted), chosen, words)
        for inst in reversed(block.insts):
            held.add(inst.writes())
            _relieve(held, inst, rank, limit, temporaries)
            if inst.kills:
                held.remove(inst.writes())
            held.add(inst.reads())
            _relieve(held, inst, rank, limit, temporaries)
    return chosen


class _Held:
    """The variables live at one point, and the words of those not chosen for spilling."""

    def __init__(self, live: list[int], chosen: set[int], words: list[int]) -> None:
        self.live, self.chosen, self.words = set(live), chosen, words
        self.weight = sum(words[var] for var in live if var not in chosen)

    def add(self, variables: list[int]) -> None:
        for var in variables:
            if self.words[var] and var not in self.live:
                self.live.add(var)
                if var not in self.chosen:
                    self.weight += self.words[var]

    def remove(self, variables: list[int]) -> None:
        for var in variables:
            if var in self.live:
                self.live.discard(var)
                if var not in self.chosen:
                    self.weight -= self.words[var]


def _relieve(held: _Held, inst: VirtualInst, rank: dict[int, float], limit: int, temporaries: set[int]) -> None:
    """Choose variables until the words live here fit; a spilled operand of `inst` itself still needs a register."""
    words, chosen = held.words, held.chosen
    own = {*inst.reads(), *inst.writes()}
    weight = held.weight + sum(words[var] for var in own if var in chosen and var in held.live)
    if weight <= limit:
        return
    excluded = chosen | temporaries | own
    candidates = [var for var in held.live if var not in excluded and var in rank]
    for worst in sorted(candidates, key=lambda var: rank[var] / words[var]):
        if weight <= limit:
            return
        chosen.add(worst)
        weight -= words[worst]
        held.weight -= words[worst]


def choose_uncoloured(program: VirtualProgram, graph: Interference, colouring: Colouring, limit: int,
                      temporaries: set[int]) -> set[int]:
    """For each variable coloured beyond the limit, pick the cheapest among it and its neighbours."""
    words, weights = program.variables.words, costs(program)
    chosen: set[int] = set()
    for var in graph.order:
        if words[var] and colouring.registers[var] + words[var] > limit:
            group = [o for o in (var, *graph.neighbours[var].tolist())
                     if o not in temporaries and o not in chosen and words[o]]
            if group:
                chosen.add(min(group, key=lambda o: weights[o] / (1 + len(graph.neighbours[o]))))
    return chosen
