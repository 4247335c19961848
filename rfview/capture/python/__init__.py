"""Runs in the user's Python and captures its launches.

It imports only the standard library, the user's packages, and rfview's `messages`, `protocol` and `client`.

    start           runs a script unchanged, with hooks that wait for its imports
    sitecustomize   the same hooks in each Python that the program starts
    hooks           the import hook; launches passed to the server; modelled time
    versions        which releases of the packages are supported
    numba_driver    numba-cuda's driver, whose calls the server answers
    triton_driver   Triton's driver: PTX instead of machine code, tensors copied to the device and back
    torch_on_cpu    runs torch programs that use device='cuda' in the CPU's memory
"""
