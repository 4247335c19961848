"""The front end of machine code (SASS): cubins, listings, and PTX by way of ptxas, to decoded kernels.

Whatever it comes from, machine code becomes a listing, and only the text of a listing becomes a module:

    cubin  info  lines       reads the ELF file: sections and relocations; attributes of functions; line tables
    tools                    finds and runs NVIDIA's ptxas and nvdisasm
    disassemble              a cubin, with nvdisasm's words for it, to a listing
    listing  write  read     a listing as data, to text (`.sass`), and back
    operands  form           an instruction's operands, and their roles
    table  lower/            what is executed: opcodes, modifiers, lowering
    draft                    an instruction while it is lowered
    driver                   printf, assert, malloc and free, whose code comes with the driver
    refusal                  the sentence that refuses what is not executed
    constants                the constant banks of a launch
    module                   a listing's text to a module
    load                     cubins and PTX to the text of a listing
"""

