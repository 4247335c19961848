"""Unmodified GPU programs, run without a GPU: their kernels on the machine, their launches listed, recorded, captured.

A program is started with a stand-in for its CUDA runtime, inherits a socket and the device's memory, and asks the server
for whatever needs the machine. `protocol` and `client` need the standard library alone.

    protocol  client    what both sides say; the program's side, in Python
    memory              the device's memory, mapped by both
    server              requests answered
    device  modules     launches on the machine; a module decoded once
    textures            headers of textures and surfaces
    reach               what a launch can touch
    launches            the list of launches, and which is meant
    fatbin              PTX out of what nvcc packs into programs
"""
