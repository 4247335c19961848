"""What runs in the user's Python: its launches caught. The standard library, `protocol`, `client`, and the user's packages.

    start           a script run as it is, with hooks that wait for its imports
    hooks           the import hook; a launch given to the server; modelled time
    versions        which releases of the packages are known
    numba_driver    numba-cuda's driver, answered by the server
    triton_driver   Triton's driver: PTX instead of machine code, tensors copied to the device and back
    torch_on_cpu    torch programs that ask for device='cuda', on the CPU's memory
"""
