"""Buffers as pictures: contents at the cursor, the right contents, and how a wrong pixel came about.

    picture     a buffer as rows of pixels: right, approximate and error, or start, now and changed
    right       the same run without lost bits, simulated as well
    origin      from a pixel to the store that wrote it, and on to the bit that was lost
    shape       a default width and height for a buffer
    png         a picture as a file
"""
