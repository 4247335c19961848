"""Buffers as pictures: what one holds at the cursor, what it should hold, and how a wrong pixel came to be.

    picture     a buffer as rows of pixels: right, approximate and error, or start, now and changed
    right       the same run without a lost bit, simulated beside it
    origin      from a pixel to the store that wrote it, and on to the bit that was lost
    shape       how wide and high a buffer is, where nobody says
    png         a picture as a file
"""
