"""Kernels of one's own, launched with arrays and numbers: from Python by `rfview.launch`, or by words of a command line.

    session       `rfview.launch`: a session whose results come back into the arrays
    words         --grid, --block, --arg: what a launch is given, as words
    arguments     arrays and numbers as a launch takes them
    signature     what a kernel's parameters are to those who call it: pointers, numbers, arrays of numba, scratch
    pointees      what pointers point to, as far as the PTX shows it
    text          the launch file that all of it makes
    sources       PTX, CUDA C++ or Python, and the kernel that is meant, as PTX
    nvrtc         CUDA C++ compiled by the library of NVIDIA's wheel
    python_kernels    PTX of numba's and Triton's kernels; runs in the user's Python, with the standard library and theirs
"""
