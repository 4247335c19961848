// Needleman-Wunsch: align many pairs of sequences; one launch per diagonal of tiles, one CTA of 16 lanes per tile.
#define TILE 16
#define MATCH 5
#define MISMATCH -4

extern "C" __global__ void nw(const unsigned char *a, const unsigned char *b, int *score, int length, int diagonal,
                              int penalty)
{
    __shared__ int cell[TILE + 1][TILE + 2];  // one more column, so that a diagonal lies in banks of its own
    __shared__ unsigned char letter[TILE];
    int t = threadIdx.x, pair = blockIdx.y;
    int tile_row = max(diagonal - length / TILE + 1, 0) + blockIdx.x;
    int row = tile_row * TILE, col = (diagonal - tile_row) * TILE;
    score += pair * length * length;
    int mine = a[pair * length + row + t];
    letter[t] = b[pair * length + col + t];

    // What lies above and to the left: other tiles, or at the edge a gap per letter.
    cell[0][t + 1] = row > 0 ? score[(row - 1) * length + col + t] : -penalty * (col + t + 1);
    cell[t + 1][0] = col > 0 ? score[(row + t) * length + col - 1] : -penalty * (row + t + 1);
    if (t == 0)
        cell[0][0] = row > 0 && col > 0 ? score[(row - 1) * length + col - 1] : -penalty * (row + col);
    __syncthreads();

#pragma unroll 1
    for (int d = 0; d < 2 * TILE - 1; d++) {
        int j = d - t;
        if (j >= 0 && j < TILE) {
            int gap = max(cell[t][j + 1], cell[t + 1][j]) - penalty;
            cell[t + 1][j + 1] = max(cell[t][j] + (mine == letter[j] ? MATCH : MISMATCH), gap);
        }
        __syncthreads();
    }
#pragma unroll 4
    for (int i = 0; i < TILE; i++)
        score[(row + i) * length + col + t] = cell[i + 1][t + 1];
}
