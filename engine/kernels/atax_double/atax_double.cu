// y = A^T (A x) of doubles, as in PolyBench: a thread per row for A x, then warps over columns for A^T.
#define SLICES 8

extern "C" __global__ void atax_rows_double(const double *A, const double *x, double *product, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        double sum = 0.0;
        for (int j = 0; j < cols; j++)
            sum += A[i * cols + j] * x[j];
        product[i] = sum;
    }
}

// A CTA shares 32 columns among SLICES warps, each of which takes every SLICES-th row.
extern "C" __global__ void atax_columns_double(const double *A, const double *product, double *y, int rows, int cols)
{
    __shared__ double sums[SLICES][32];
    int lane = threadIdx.x, slice = threadIdx.y;
    int j = blockIdx.x * 32 + lane;
    double sum = 0.0;
    for (int i = slice; i < rows; i += SLICES)
        sum += A[i * cols + j] * product[i];
    sums[slice][lane] = sum;
    __syncthreads();
    if (slice == 0) {
        for (int other = 1; other < SLICES; other++)
            sum += sums[other][lane];
        y[j] = sum;
    }
}
