// y = A^T (A x), as in PolyBench: one thread per row of A for A x, then warps over columns for the product with A^T.
#define SLICES 8

extern "C" __global__ void atax_rows(const float *A, const float *x, float *product, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        float sum = 0.0f;
        for (int j = 0; j < cols; j++)
            sum += A[i * cols + j] * x[j];
        product[i] = sum;
    }
}

// A CTA shares 32 columns among SLICES warps, each of which takes every SLICES-th row.
extern "C" __global__ void atax_columns(const float *A, const float *product, float *y, int rows, int cols)
{
    __shared__ float sums[SLICES][32];
    int lane = threadIdx.x, slice = threadIdx.y;
    int j = blockIdx.x * 32 + lane;
    float sum = 0.0f;
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
