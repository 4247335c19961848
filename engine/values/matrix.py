"""How matrices of 8 x 8 halves lie in the lanes: transposing one, and moving rows of 16 bytes to all lanes and back."""

from __future__ import annotations

from rfview.engine.compile.device import device
from rfview.engine.isa import MATRIX_TRANSPOSED
from rfview.engine.values.arithmetic import I64, U32
from rfview.engine.values.rounding import has
from rfview.engine.values.words import load, store


@device
def half_of(rows, row, lane, upper):
    """One of the halves in a lane of a row."""
    return (load(rows, row, lane) >> U32(16 * upper)) & U32(0xFFFF)


@device
def movm_rows(rows, src, dst):
    """OP_MOVM: transpose a matrix, of which lane n has halves 2 (n % 4) and the next of row n / 4."""
    for lane in range(32):
        row, column = 2 * (lane & 3), lane >> 2
        source, upper = I64(4 * row + (column >> 1)), column & 1
        store(rows, dst, lane, half_of(rows, src, source, upper) | half_of(rows, src, source + 4, upper) << U32(16))


@device
def spread_rows(rows, whole, dst, aux):
    """Give every lane its part of matrices (LDSM): lane 8 m + r has row r of matrix m in the four rows from `whole` on.

    Row dst + m gets what lane n holds of matrix m: halves 2 (n % 4) and the next of row n / 4, or those of column n / 4.
    """
    for matrix in range(I64(aux) & I64(7)):
        for lane in range(32):
            if has(aux, MATRIX_TRANSPOSED):
                first, column = I64(8 * matrix + 2 * (lane & 3)), lane >> 2
                word = (half_of(rows, whole + (column >> 1), first, column & 1)
                        | half_of(rows, whole + (column >> 1), first + 1, column & 1) << U32(16))
            else:
                word = load(rows, whole + (lane & 3), I64(8 * matrix + (lane >> 2)))
            store(rows, dst + matrix, lane, word)


@device
def gather_rows(rows, parts, whole, aux):
    """Do the opposite (STSM): from the rows `parts` + m to the four rows from `whole` on."""
    for matrix in range(I64(aux) & I64(7)):
        for row in range(8):
            for place in range(4):
                if has(aux, MATRIX_TRANSPOSED):
                    lane, upper = I64(8 * place + (row >> 1)), row & 1
                    word = (half_of(rows, parts + matrix, lane, upper)
                            | half_of(rows, parts + matrix, lane + 4, upper) << U32(16))
                else:
                    word = load(rows, parts + matrix, I64(4 * row + place))
                store(rows, whole + place, I64(8 * matrix + row), word)
