// In double precision: C = alpha A A^T + beta C, a thread per element, as PolyBench's syrk.
extern "C" __global__ void syrk_double(const double *A, double *C, double alpha, double beta, int rows, int inner)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < rows) {
        double sum = beta * C[i * rows + j];
        for (int k = 0; k < inner; k++)
            sum = fma(alpha * A[i * inner + k], A[j * inner + k], sum);
        C[i * rows + j] = sum;
    }
}
