"""Dominators, post-dominators and loops against brute force on random graphs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rfview.engine.ptx.optimise.control_flow import (immediate_dominators, immediate_post_dominators, loop_depths,
                                                     reverse_post_order, tree_depths)


@st.composite
def graphs(draw):
    """Draw a graph with root 0 in which every node has at most two successors, as basic blocks have."""
    size = draw(st.integers(1, 9))
    node = st.integers(0, size - 1)
    return [sorted(set(draw(st.lists(node, max_size=2)))) for _ in range(size)]


def reach(successors, start, without=None):
    seen, work = set(), [start]
    while work:
        node = work.pop()
        if node != without and node not in seen:
            seen.add(node)
            work += successors[node]
    return seen


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_dominators_are_the_nodes_that_cut_the_root_off(successors):
    idom = immediate_dominators(successors, 0)
    reachable = reach(successors, 0)
    for node in range(len(successors)):
        if node not in reachable:
            assert idom[node] == -1
            continue
        strict = {d for d in reachable - {node} if node not in reach(successors, 0, d)}
        found, at = set(), node
        while at != 0:
            at = idom[at]
            found.add(at)
        assert found == strict


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_the_reconvergence_point_is_the_nearest_block_on_every_path_to_the_exit(successors):
    post = immediate_post_dominators(successors)
    ends = {node for node, targets in enumerate(successors) if not targets}
    for node in range(len(successors)):
        if not reach(successors, node) & ends:
            continue

        def leaves(start, without):
            return bool(reach(successors, start, without) & ends)

        strict = [d for d in reach(successors, node) - {node} if not leaves(node, d) and reach(successors, d) & ends]
        if not strict:
            assert post[node] == -1
        else:
            # the nearest is post-dominated by every other strict post-dominator
            nearest = [d for d in strict if all(not leaves(d, other) for other in strict if other != d)]
            assert [post[node]] == nearest


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_reverse_post_order_lists_each_reachable_node_once_root_first(successors):
    order = reverse_post_order(successors, 0)
    assert order[0] == 0 and len(set(order)) == len(order) and set(order) == reach(successors, 0)


def test_a_path_into_a_trap_does_not_hold_reconvergence_back():
    #      0 -> 1 (trap) / 2;  2 -> 3 / 4;  3, 4 -> 5
    successors = [[1, 2], [], [3, 4], [5], [5], []]
    assert immediate_post_dominators(successors, frozenset({1})) == [2, -1, 5, 5, 5, -1]
    assert immediate_post_dominators(successors)[0] == -1


def test_branches_in_an_endless_loop_still_reconverge():
    successors = [[1], [2, 3], [4], [4], [1]]
    assert immediate_post_dominators(successors)[1] == 4


def test_nested_loops_are_counted():
    successors = [[1], [2], [2, 3], [1, 4], []]
    idom = immediate_dominators(successors, 0)
    assert loop_depths(successors, idom, tree_depths(idom)) == [0, 1, 2, 1, 0]


def test_a_branch_to_a_bare_exit_does_not_hold_reconvergence_back():
    # 0: return early or continue; 1: if; 2: return early or continue; 3: the rest; 4: only exits.
    successors = [[4, 1], [2, 3], [4, 3], [4], []]
    assert immediate_post_dominators(successors, frozenset(), frozenset({4})) == [1, 3, 3, 4, -1]
    assert immediate_post_dominators(successors) == [4, 4, 4, 4, -1]


def test_a_loop_that_is_left_through_bare_exits_alone_has_an_end():
    # 0 and 1 leave the loop, 2 jumps back: lanes meet only at the exit.
    successors = [[3, 1], [3, 2], [0], []]
    assert immediate_post_dominators(successors, frozenset(), frozenset({3})) == [-1, -1, 0, -1]
