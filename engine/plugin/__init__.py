"""The plug-in kit: how a register-file design is described, found, built, checked and explained.

The bundled designs (registry.BUILT_IN) are in rfview/engine/designs; others are given by the path of their file or by
packages with an entry point `rfview.designs`. A design file imports Design and Parameter from here.

    description   Design and Parameter: the description in a design file
    registry      the designs in this process; finding: a design by its name; files: by its path
    variants      a name and settings to record types and values; energies: the energy of a run
    on_subcore    which designs have a meaning on the sub-core, what it is, and its checks
    selection     the options of a run to the machine that they select
    places        a register's bank, and where the design keeps its newest value
    conformance   whether a file follows the interface, with shapes, facts and spelling; trial compiles hook by hook, and
                  compiler_errors translates the errors; check_design and plain_trial run it, this with plain_records
    host_functions  calls a design file's functions for the host, and names the line of an error
    explaining    the arguments of a design's `why`: the chain, the machine at a moment, the refusal
    holding       those of its `holder`: refusals over many cycles, and whose access they wait for
    origin        the design files that a recording was made with; nodes: the technology nodes of energies
    assumed       which energies of a design no source gives
"""

from rfview.engine.plugin.description import Design, Parameter, greatest
from rfview.engine.plugin.energies import Run, energy, lanes_share, table_energy
from rfview.engine.plugin.finding import design, find, module, names, restated, stalls
from rfview.engine.plugin.places import locate, locates, spec_record
from rfview.engine.plugin.registry import BUILT_IN, add, forget, use
from rfview.engine.wording import plural
from rfview.engine.plugin.variants import Built, build, compiled_part, parse_variant

__all__ = ["BUILT_IN", "Built", "Design", "Parameter", "Run", "add", "build", "compiled_part", "design", "energy", "find",
           "forget", "greatest", "lanes_share", "locate", "locates", "module", "names", "parse_variant",
           "plural", "restated", "spec_record", "stalls", "table_energy", "use"]
