"""Why a warp does not issue: the links that one machine state can prove, each with its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from engine import state as layout
from rfview.render.operation import (
    PIPE_NAMES,
    UNIT_NAMES,
    barrier_progress,
    frozen_until,
    is_frozen,
    is_shared,
    operation,
    producer_of,
    register_list,
)
from rfview.render.scene import Machine, Scene
from rfview.render.text import number, plural

NONE = layout.NONE8
MAX_LINKS = 8


@dataclass(frozen=True)
class Link:
    """One step of the answer. text: the sentence. evidence: what proves it. code: the state it belongs to, -1 for none.

    since, until: cycles it holds, -1 when not known. warp: whom it speaks of. conclusion: the last line, in green.
    """

    text: str
    evidence: str = ""
    code: int = -1
    since: int = -1
    until: int = -1
    warp: int = -1
    conclusion: bool = False


class Chain:
    """Collects links for one warp of one state."""

    def __init__(self, scene: Scene):
        assert scene.now is not None
        self.scene, self.machine = scene, scene.now
        self.links: list[Link] = []
        self.seen: set[int] = set()
        self.ready = -1

    def add(self, text: str, evidence: str = "", code: int = -1, since: int = -1, until: int = -1,
            warp: int = -1) -> None:
        """Append a link."""
        self.links.append(Link(text, evidence, code, since, until, warp))

    def follow(self, warp: int) -> None:
        """Explain one warp; called again for the warp that a barrier waits for."""
        if warp in self.seen or len(self.links) >= MAX_LINKS:
            return
        self.seen.add(warp)
        machine = self.machine
        code = machine.state[warp]
        name = self.scene.look(code).name
        since = machine.since[warp]
        so_far = max(1, machine.cycle - since)
        handler = {
            "issued": self._issued, "not_selected": self._not_selected, "finished": self._finished,
            "no_cta": self._empty, "barrier": self._barrier, "no_instruction": self._fetch,
            "suspended": self._suspended, "pipe_throttle": self._unit, "collector_full": self._collectors,
        }.get(name, self._held)
        handler(warp, code, since, so_far)

    def _issued(self, warp: int, code: int, since: int, so_far: int) -> None:
        machine = self.machine
        pc = machine.last_pc[warp]
        entry = machine.instruction(pc)
        text = str(entry["text"]) if entry else "?"
        self.add(f"w{warp} issued {operation(machine, pc)} in this cycle", f"{text}  line {entry['line'] if entry else '?'}",
                 code, since, warp=warp)
        if so_far > 1:
            self.add(f"and in each of the last {plural(so_far, 'cycle')}", "", -1, since)
        self.add(f"next: {operation(machine, machine.pc[warp])}", _text_at(machine, machine.pc[warp]))

    def _not_selected(self, warp: int, code: int, since: int, so_far: int) -> None:
        machine = self.machine
        self.add(f"w{warp} is ready; another was chosen", f"ready for {plural(so_far, 'cycle')}", code, since,
                 warp=warp)
        which = warp % machine.num_schedulers
        chosen = int(machine.sm["scheduler"][which]["issued_warp"])
        policy = str(self.scene.info.get("scheduler", ""))
        if chosen < machine.num_warps:
            role = "the greedy warp" if policy == "gto" else "next in turn" if policy == "lrr" else "chosen"
            self.add(f"w{chosen} issued {operation(machine, machine.last_pc[chosen])}: {role}",
                     f"scheduler {which}, {policy}", 0, warp=chosen)
        others = sum(1 for w, state in enumerate(machine.state)
                     if w != warp and w % machine.num_schedulers == which and state == code)
        if others:
            self.add(f"{plural(others, 'other warp')} waited too")

    def _finished(self, warp: int, code: int, since: int, so_far: int) -> None:
        machine = self.machine
        self.add(f"w{warp} has ended", f"since {number(since)}", code, since, warp=warp)
        cta = machine.cta[warp]
        if cta >= layout.MAX_CTAS:
            return
        live = [w for w in range(machine.num_warps) if machine.cta[w] == cta
                and self.scene.look(machine.state[w]).name not in ("finished", "no_cta")]
        if live:
            self.add(f"its CTA still runs {plural(len(live), 'warp')}",
                     " ".join(f"w{w}" for w in live[:8]), warp=live[0])

    def _empty(self, warp: int, code: int, since: int, so_far: int) -> None:
        launch = self.machine.sm["launch"]
        self.add(f"slot {warp} holds no warp", "", code, warp=warp)
        total, begun = int(launch["num_ctas"]), int(launch["next_cta"])
        if total and begun >= total:
            self.add("all CTAs have been dispatched", f"{number(begun)} of {number(total)}")
        elif total:
            self.add("the next CTA does not fit yet", f"{number(begun)} of {number(total)} dispatched")

    def _barrier(self, warp: int, code: int, since: int, so_far: int) -> None:
        machine = self.machine
        if machine.blocker_kind[warp] == layout.BLOCK_MEMORY:
            stores = int(machine.sm["warp"][warp]["stores_pending"])
            self.add(f"w{warp} waits for its own stores", f"{plural(stores, 'store')} on the way", code, since,
                     warp=warp)
            return
        arrived, expected = barrier_progress(machine, warp)
        self.add(f"w{warp} waits at a barrier for {plural(so_far, 'cycle')}", f"since {number(since)}", code, since,
                 warp=warp)
        late = self._late_warps(warp)
        if expected:
            self.add(f"{arrived} of {expected} warps have arrived", " ".join(f"w{w}" for w in late[:8]))
        if late:
            behind = min(late, key=lambda w: int(machine.sm["warp"][w]["num_issued"]))
            self.add(f"w{behind} is furthest behind", "", machine.state[behind], machine.since[behind], warp=behind)
            self.follow(behind)

    def _late_warps(self, warp: int) -> list[int]:
        """Return the warps of the same CTA that have not arrived and have not ended."""
        machine = self.machine
        waiting = machine.state[warp]
        return [w for w in range(machine.num_warps) if machine.cta[w] == machine.cta[warp] and w != warp
                and machine.state[w] != waiting and self.scene.look(machine.state[w]).name not in ("finished", "no_cta")]

    def _fetch(self, warp: int, code: int, since: int, so_far: int) -> None:
        machine = self.machine
        self.add(f"w{warp} has nothing decoded, {plural(so_far, 'cycle')}", f"since {number(since)}", code, since,
                 warp=warp)
        last = operation(machine, machine.last_pc[warp])
        if last in ("bra", "brx", "call", "ret", "exit"):
            self.add(f"it has just branched to {operation(machine, machine.pc[warp])}", _text_at(machine, machine.pc[warp]))
        else:
            self.add("the fetch unit serves other warps first", f"{int(machine.sm['warp'][warp]['ibuffer'])} in the buffer")

    def _suspended(self, warp: int, code: int, since: int, so_far: int) -> None:
        machine = self.machine
        active = int(machine.sm["scheduler"][warp % machine.num_schedulers]["active"])
        names = [f"w{w}" for w in range(machine.num_warps) if (active >> w) & 1]
        self.add(f"w{warp} is ready but not in the active set", f"for {plural(so_far, 'cycle')}", code, since, warp=warp)
        if names:
            self.add(f"the active set holds {plural(len(names), 'warp')}", " ".join(names[:8]))

    def _unit(self, warp: int, code: int, since: int, so_far: int) -> None:
        machine = self.machine
        unit = UNIT_NAMES.get(machine.blocker[warp], "its unit")
        self.add(f"w{warp} waits for {unit}, {plural(so_far, 'cycle')}", _text_at(machine, machine.pc[warp]), code, since,
                 warp=warp)
        pipes = {0: (layout.PIPE_SP0, layout.PIPE_SP1), 1: (layout.PIPE_SFU,), 2: (layout.PIPE_LDST,)}
        for index in pipes.get(machine.blocker[warp], ()):
            pipe = machine.pipe[index]
            if pipe["owner_warp"] < machine.num_warps:
                until = pipe["until_cycle"]
                busy = f"until {number(until)}" if until > machine.cycle else f"{pipe['queued']} queued before it"
                self.add(f"{PIPE_NAMES[index]} works for w{pipe['owner_warp']}", busy, -1, pipe["since_cycle"], until,
                         pipe["owner_warp"])

    def _collectors(self, warp: int, code: int, since: int, so_far: int) -> None:
        machine = self.machine
        units = [entry for entry in machine.collectors if entry is not None]
        self.add(f"all {len(machine.collectors)} collectors are taken, {plural(so_far, 'cycle')}",
                 f"since {number(since)}", code, since, warp=warp)
        if units:
            oldest = min(units, key=lambda entry: int(machine.inflight[entry]["issue_cycle"]))
            row = machine.inflight[oldest]
            self.add(f"the oldest is w{int(row['warp'])} {operation(machine, int(row['pc']))}",
                     f"issued {number(int(row['issue_cycle']))}", -1, int(row["issue_cycle"]), warp=int(row["warp"]))
            self._collecting(oldest)

    def _held(self, warp: int, code: int, since: int, so_far: int) -> None:
        """Explain a wait for a register, a predicate or the design."""
        machine = self.machine
        entry = producer_of(machine, warp)
        refused = entry is not None and int(machine.inflight[entry]["code"]) == code
        if is_frozen(machine, warp) and not refused:
            self._frozen(warp, code, since, so_far)
            return
        kind, what = machine.blocker_kind[warp], machine.blocker[warp]
        label = {layout.BLOCK_REGISTER: f"R{what}", layout.BLOCK_PREDICATE: f"P{what}",
                 layout.BLOCK_READER: f"a reader of R{what}"}.get(kind, self.scene.look(code).name.replace("_", " "))
        self.add(f"w{warp} waits {plural(so_far, 'cycle')} for {label}", _text_at(machine, machine.pc[warp]), code, since,
                 warp=warp)
        if entry is None:
            sentence = self.scene.look(code).sentence
            if sentence:
                self.add(sentence[0].lower() + sentence[1:].rstrip("."))
            return
        row = machine.inflight[entry]
        verb = "reads" if kind == layout.BLOCK_READER else "writes"
        self.add(f"{operation(machine, int(row['pc']))} {verb} it, issued {number(int(row['issue_cycle']))}",
                 _text_at(machine, int(row["pc"])), -1, int(row["issue_cycle"]), warp=warp)
        stage = int(row["stage"])
        {layout.COLLECT: self._collecting, layout.EXECUTE: self._executing, layout.MEMORY: self._in_memory,
         layout.WRITE_BACK: self._writing}.get(stage, lambda _: None)(entry)

    def _frozen(self, warp: int, code: int, since: int, so_far: int) -> None:
        """Explain a pipeline that the register file holds up as a whole."""
        machine = self.machine
        self.add(f"w{warp} waits {plural(so_far, 'cycle')}: pipeline frozen", _text_at(machine, machine.pc[warp]), code,
                 since, warp=warp)
        until = frozen_until(machine)
        self.add("a slow write freezes everything", f"until {number(until)}" if until > 0 else "", code, since,
                 until)
        held = sum(state == code for state in machine.state)
        self.add(f"{plural(held, 'warp')} wait for the same write")
        if until > machine.cycle:
            self.ready = until

    def _collecting(self, entry: int) -> None:
        machine = self.machine
        row = machine.inflight[entry]
        unread, lost = int(row["unread"]), int(row["lost"])
        instruction = machine.instruction(int(row["pc"]))
        sources = instruction["src"] if instruction else []
        missing = register_list(reg for slot, reg in enumerate(sources[:6]) if (unread >> slot) & 1)
        names = " ".join(f"R{reg}" for reg in missing)
        where = f"collector {int(row['collector'])}" if int(row["collector"]) != NONE else "a collector"
        self.add(f"{names} not read yet, in {where}" if names else f"it leaves {where}", "", -1,
                 int(row["since_cycle"]))
        if lost or int(row["code"]):
            self._bank(int(row["bank"]), int(row["code"]))

    def _bank(self, index: int, code: int) -> None:
        """Say who has a bank."""
        machine = self.machine
        if index >= machine.num_banks:
            return
        bank = machine.bank[index]
        verb = {layout.BANK_READ: "is read for", layout.BANK_WRITE: "is written for",
                layout.BANK_BUSY: "is busy for"}.get(bank["activity"], "was taken by")
        if bank["owner_warp"] < machine.num_warps:
            text = f"bank {index} {verb} w{bank['owner_warp']} R{bank['owner_reg']}"
        else:
            text = f"bank {index} refused it"
        until = bank["until_cycle"] if bank["until_cycle"] > machine.cycle else -1
        evidence = f"queue {bank['queue']}" + (f", free at {number(until)}" if until > 0 else "")
        self.add(text, evidence, code or -1, bank["since_cycle"], until, bank["owner_warp"])

    def _executing(self, entry: int) -> None:
        machine = self.machine
        row = machine.inflight[entry]
        pipe = PIPE_NAMES.get(int(row["pipe"]), "its pipe")
        done = int(row["done_cycle"])
        self.add(f"it is in {pipe} since {number(int(row['since_cycle']))}", "", -1, int(row["since_cycle"]), done)
        if machine.cycle <= done < layout.FOREVER:
            self.ready = done

    def _in_memory(self, entry: int) -> None:
        machine = self.machine
        row = machine.inflight[entry]
        warp = int(row["warp"])
        left = int(row["transactions"])
        done = int(row["done_cycle"])
        known = machine.cycle <= done < layout.FOREVER
        shared = is_shared(machine, int(row["pc"]))
        missed = int(row["missed"]) and machine.config["l1_enabled"]
        what = "is in shared memory" if shared else "missed L1" if missed else "is in memory"
        self.add(f"it {what} since {number(int(row['since_cycle']))}",
                 f"{plural(left, 'pass' if shared else 'line')} still to send" if left else "all sent", -1,
                 int(row["since_cycle"]), done if known else -1)
        if known:
            self.ready = done
        used = int(machine.sm["mshrs_used"])
        waiting = [m for m in machine.sm["mshr"][: layout.MAX_MSHRS] if int(m["until_cycle"]) > machine.cycle
                   and int(m["owner_warp"]) == warp] if used and not shared else []
        if waiting:
            last = max(waiting, key=lambda m: int(m["until_cycle"]))
            until = int(last["until_cycle"])
            self.add(f"line 0x{int(last['line']):x} is on its way", f"{used} MSHRs in use", -1, int(last["since_cycle"]),
                     until)
            if not known:
                self.ready = until

    def _writing(self, entry: int) -> None:
        row = self.machine.inflight[entry]
        rows = int(row["unwritten"])
        self.add(f"result not written yet: {plural(rows, 'row')}", f"since {number(int(row['since_cycle']))}",
                 int(row["code"]) or -1, int(row["since_cycle"]))
        if int(row["code"]):
            self._bank(int(row["bank"]), 0)

    def losers(self, warp: int) -> list[int]:
        """Return the other states that would have blocked the warp too."""
        machine = self.machine
        bits = machine.losers[warp]
        return [code for code in sorted(self.scene.looks) if code < 32 and (bits >> code) & 1
                and code != machine.state[warp]]


def _text_at(machine: Machine, pc: int) -> str:
    """Return a decoded instruction with its line."""
    entry = machine.instruction(pc)
    return f"{entry['text']}  line {entry['line']}" if entry else ""


def links_of(scene: Scene, warp: int) -> tuple[list[Link], list[int]]:
    """Return (the chain for one warp, the codes of the other true conditions)."""
    if scene.now is None or not 0 <= warp < scene.now.num_warps:
        return [], []
    chain = Chain(scene)
    chain.follow(warp)
    links = chain.links[:MAX_LINKS]
    if chain.ready > scene.now.cycle:
        left = chain.ready - scene.now.cycle
        links.append(Link(f"back at {number(chain.ready)} (in {number(left)})", until=chain.ready, conclusion=True))
    return links, chain.losers(warp)
