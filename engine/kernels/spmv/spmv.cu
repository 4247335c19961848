// A sparse matrix by jagged diagonals times a vector, as Parboil's spmv: a thread per row, the longest first.
#define WARPS 144
#define DIAGONALS 24

__constant__ int length[WARPS];             // of the rows of each warp: all as long as the longest
__constant__ int diagonal[DIAGONALS];       // where the first value of each row begins, the second, and so on

extern "C" __global__ void spmv(const float *values, const int *columns, const int *order, const float *x, float *y,
                                int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    int count = length[row / 32];
    for (int k = 0; k < count; k++) {
        int at = diagonal[k] + row;
        sum = fmaf(values[at], x[columns[at]], sum);
    }
    y[order[row]] = sum;
}
