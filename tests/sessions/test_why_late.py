"""`why` and the pipeline's cells while an operand that was read has not arrived yet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rfview.sessions import Session
from rfview.sessions.reports.pipeline import COLLECTING, EXECUTING, lives
from rfview.sessions.why import why
from tests.conftest import WITHOUT_JIT
from tests.engine import late_design
from tests.harness import Assembly, added
from tests.sessions.why_programs import session, stalled_at

pytestmark = [pytest.mark.nojit, pytest.mark.skipif(not WITHOUT_JIT, reason="a compile, for what plain Python shows as well")]


@pytest.fixture(scope="module")
def late() -> Iterator[Session]:
    """Return a session in which R1 is decompressed for 7 cycles."""
    with added("late", late_design):
        yield session(Assembly().mov(1, 5).add(2, 1, imm=1).add(3, 2, imm=1).exit(), design="late[decompress_cycles=7]")


def test_the_chain_says_what_is_on_the_way_and_until_when(late: Session) -> None:
    chain = why(late, 0, stalled_at(late, 0, "decompress"))
    text = chain.text()
    link = chain.links[-2]
    assert link.sentence == "it has read R1, which is on the way" and link.until == link.since + 9
    assert "an operand is being decompressed" in text and "register file late: an operand is on the way (decompress)" in text
    assert chain.resource is not None and chain.resource.kind == "register file"


def test_the_cells_of_the_pipeline_say_that_it_collects_operands(late: Session) -> None:
    reader = next(life for life in lives(late.timeline, 0, 0, late.timeline.last) if life.n == 2)
    assert reader.issue is not None
    cells = reader.cells[reader.issue + 1 :].tolist()
    assert cells[:9] == [COLLECTING] * 8 + [EXECUTING]
