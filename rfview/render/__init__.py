"""Pure functions that turn a scene (a machine state and the facts around it) into lines of text; no app, no widgets.

    scene             what a frame is drawn from
    text              lines of styled text and the shapes that painters share
    panel   panels    what a panel is; all of them
    frame   layout    every panel painted into its place; the places by terminal size
    slots             which warp slots a run never fills
    status  overview  warps  lens  collectors  why  code  stalls  registers  timeline  pipeline  lines
    watches event     summary     a panel each: its painter, its place, its keys, its sources; lens chooses one of lenses/
    holders           below LINES: for whom a line waits, and in whom it causes waits
    footer            the row of keys
    after             what stood still for one instruction: WHY turned round
    relief  study     the measured result of a relief that WHY named; all of them over the whole run
    machine_code      control codes, marks of the reuse cache and dependence counters of machine code
    chain   operation the chain of reasons as WHY draws it; short words for instructions
    grid              what windows of values on a grid have in common; these are:
    image  image_details          a buffer as a picture; the pixel in focus
    image_pixels                  its panes in pixels, for terminals with graphics
    heat  heat_details            a register's lanes, or a buffer's elements, over time; who wrote them
    overlay           another run laid over the panels
    breaks  choose  findings  help  statistics      the contents of windows
    compare  pair  multiples      two runs side by side; the data shown of them; several runs as small multiples
    by_line           two programs, or two versions of one, line by line
"""
