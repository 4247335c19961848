"""Launches users' kernels with arrays and numbers: from Python by `rfview.launch`, or from the command line.

    session       `rfview.launch`: a session whose results come back into the arrays
    words         --grid, --block, --arg: the launch options of the command line
    arguments     arrays and numbers as arguments of a launch
    signature     a kernel's arguments as its callers see them: pointers, numbers, arrays of numba, scratch
    pointees      the types to which pointers point, as far as the PTX shows them
    text          the launch file made from all of this
    sources       finds the kernel in PTX, CUDA C++ or Python, and its PTX
    nvrtc         compiles CUDA C++ with the library of NVIDIA's wheel
    python_kernels    PTX of numba's and Triton's kernels; runs in the user's Python, with the standard library and theirs
"""
