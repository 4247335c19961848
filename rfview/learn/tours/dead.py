"""The dead value: a register file cache keeps short-lived values away from the main register file (rfc)."""

from __future__ import annotations

from rfview.learn.tour import Page, Tour

TOUR = Tour(
    name="dead",
    title="The dead value (rfc)",
    sentence="a register file cache, last-use bits, and what a warp must save when it leaves",
    kernel="sum", design="rfc", scheduler="two_level",
    pages=(
        Page(
            title="A result goes into the cache",
            go=("until event.rfc_writes > 0",),
            let={"written": "event.rf_writes", "warp": "rf.write_warp"},
            panel="lens", warp="$warp",
            claims=("event.rfc_writes > 0",),
            text="Each active warp has a row of six entries in a small cache in front of the main register file. In cycle "
                 "{cycle} the first result has arrived: R{rf.write_reg} of w{rf.write_warp}. The main register file "
                 "has accepted {event.rf_writes} writes so far.",
            source="RFC section 3.1: the result of every operation is allocated in the cache",
            question="How many results will the main register file have accepted 40 cycles later?",
            choices=(("about as many as the cache: each is written to both", "event.rf_writes * 2 > event.rfc_writes"),
                     ("some", "event.rf_writes > 0 and event.rf_writes * 2 <= event.rfc_writes"),
                     ("none", "event.rf_writes == 0")),
            then=("step 40",),
            answer="{event.rfc_writes} results went into the cache, {event.rf_writes} into the main register file: a "
                   "value is written back only when its entry must go.",
        ),
        Page(
            title="The last reader",
            go=("until any(rf.entry[$warp].dead)",),
            let={"entry": "rf.entry[$warp].dead", "reg": "rf.entry[$warp][$entry].reg"},
            panel="lens", warp="$warp",
            claims=("rf.entry[$warp][$entry].dead == 1", "rf.entry[$warp][$entry].dirty != 0"),
            text="An instruction of w{$warp} has fetched R{$reg} from its entry. The compiler knows that nothing reads "
                 "this value again, and a bit in the instruction says so: the entry is marked dead (†). It is dirty, "
                 "too: the main register file has never seen the value.",
            source="RFC section 3.1: compile-time liveness, an additional bit in the instruction encoding",
            question="w{$warp} will write R{$reg} again. What happens to the mark?",
            choices=(("it stays: dead is dead", "rf.entry[$warp][$entry].dead == 1 and rf.entry[$warp][$entry].reg == $reg"),
                     ("it goes: the entry has a new value", "rf.entry[$warp][$entry].dead == 0 and "
                                                            "rf.entry[$warp][$entry].reg == $reg"),
                     ("the new value takes another entry", "rf.entry[$warp][$entry].reg != $reg")),
            then=("until rf.write_warp == $warp and rf.write_reg == $reg and rf.write_cycle == cycle - 1",),
            answer="R{$reg} is written in place in cycle {cycle - 1}, and a new value lives until its own last reader.",
        ),
        Page(
            title="A warp leaves",
            go=("until any(w.state == rfc_flush)",),
            let={"leaver": "rf.left_warp", "live": "rf.left_live", "dead": "rf.left_dead", "flushed": "event.rfc_flushes"},
            panel="lens", warp="$leaver",
            claims=("rf.left_live > 0", "rf.left_dead > 0", "w$leaver.state == rfc_flush"),
            text="w{$leaver} needs a value from global memory and leaves the active set; its cache row goes to "
                 "another warp. It holds {$live} live entries and {$dead} dead ones, none of which "
                 "the main register file has.",
            source="RFC section 3.3: a suspended warp's dirty entries are evicted",
            question="How many entries are written to the main register file before w{$leaver} is gone?",
            choices=(("all of them", "event.rfc_flushes - $flushed == $live + $dead"),
                     ("only the live ones", "event.rfc_flushes - $flushed == $live"),
                     ("only the dead ones", "event.rfc_flushes - $flushed == $dead and $dead != $live"),
                     ("none", "event.rfc_flushes == $flushed")),
            then=("until w$leaver.state != rfc_flush",),
            answer="{event.rfc_flushes - $flushed} writes in {cycle - rf.left_cycle - 1} cycles, one entry per cycle. "
                   "The dead values were never written anywhere but into the cache.",
        ),
        Page(
            title="What it saves",
            go=("goto end",),
            panel="lens",
            claims=("event.rfc_writes > 0",),
            text="The whole run: {event.rfc_writes} results into the cache, {event.rfc_dead} entries dropped because "
                 "their value was dead, {event.rfc_flushes} flushed, {event.rfc_evictions} evicted to make room.",
            source="RFC section 5 claims 43 to 59 % fewer writes to the main register file",
            question="Of all results of this run, how many reached the main register file?",
            choices=(("more than half", "event.rf_writes * 2 > event.rfc_writes + event.rfc_bypasses"),
                     ("a quarter to a half", "event.rf_writes * 4 >= event.rfc_writes + event.rfc_bypasses and "
                                             "event.rf_writes * 2 <= event.rfc_writes + event.rfc_bypasses"),
                     ("less than a quarter", "event.rf_writes * 4 < event.rfc_writes + event.rfc_bypasses")),
            answer="{event.rf_writes}, including the {event.rfc_bypasses} results of loads, which bypass the cache. "
                   "In such a short kernel most values die young; `rfview run gemm --design rfc` is a harder case.",
        ),
    ),
)
