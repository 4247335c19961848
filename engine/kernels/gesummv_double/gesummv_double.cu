// In double precision: y = alpha A x + beta B x, one thread per row, as PolyBench's gesummv computes it.
extern "C" __global__ void gesummv_double(const double *A, const double *B, const double *x, double *y, double alpha,
                                          double beta, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        double first = 0.0, second = 0.0;
        for (int j = 0; j < cols; j++) {
            first = fma(A[i * cols + j], x[j], first);
            second = fma(B[i * cols + j], x[j], second);
        }
        y[i] = fma(alpha, first, beta * second);
    }
}
