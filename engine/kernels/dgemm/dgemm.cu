// C = A B + beta C in double precision, scheduled by hand: eight columns of one row per thread, eight rows of B shared,
// and the next value of A on its way while one is multiplied.
#define COLUMNS 8
#define DEPTH 8

extern "C" __global__ void dgemm(const double *A, const double *B, double *C, double beta, int rows, int cols,
                                 int inner)
{
    __shared__ double tile[DEPTH][COLUMNS];
    int thread = threadIdx.x, row = blockIdx.x * 64 + thread, first = blockIdx.y * COLUMNS;
    double sum[COLUMNS];
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        sum[j] = 0.0;
    A += row;
    double a = A[0];
#pragma unroll 1
    for (int k = 0; k < inner; k += DEPTH) {
        double mine = B[(k + thread / COLUMNS) * cols + first + thread % COLUMNS];
        __syncthreads();
        tile[thread / COLUMNS][thread % COLUMNS] = mine;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            int next = k + i + 1 < inner ? k + i + 1 : 0;
            double coming = A[next * rows];
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                sum[j] = fma(a, tile[i][j], sum[j]);
            a = coming;
        }
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        C[(first + j) * rows + row] = fma(beta, C[(first + j) * rows + row], sum[j]);
}
