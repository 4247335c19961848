"""The register-file designs, and what the machine asks about any of them.

A design is one file: sram, stt, hcrf, hrf, rfc, single_buffer, edram and racetrack here (registry.BUILT_IN lists them), and
template, which `rfview designs --new` copies. Others are given by the path of their file (files.py), or by packages with an
entry point rfview.designs. A design file imports Design and Parameter from here; its hooks are those of engine/hooks.py.

    description   Design and Parameter: what a file says of itself
    registry      the designs of this process; finding: a design by its name; files: by its path
    variants      name and settings to record types and values; places: where a value is; energies: what a run costs
    conformance   whether a file keeps to the interface, with facts and spelling; trial asks the compiler, hook by hook,
                  and compiler_errors says what it says
    origin        which file a recording was made with; nodes: the technology that its energies are of
"""

from engine.designs.description import Design, Parameter, greatest
from engine.designs.energies import Run, energy, table_energy
from engine.designs.finding import design, find, module, names
from engine.designs.places import in_main_rows, locate, locates, spec_record
from engine.designs.registry import BUILT_IN, add, forget, use
from engine.designs.variants import Built, build, compiled_part, parse_variant

__all__ = ["BUILT_IN", "Built", "Design", "Parameter", "Run", "add", "build", "compiled_part", "design", "energy", "find",
           "forget", "greatest", "in_main_rows", "locate", "locates", "module", "names", "parse_variant", "spec_record",
           "table_energy", "use"]
