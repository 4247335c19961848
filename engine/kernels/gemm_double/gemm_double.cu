// General matrix product C = alpha A B + beta C in double, one thread per element of C, as in PolyBench.
extern "C" __global__ void gemm_double(const double *A, const double *B, double *C, double alpha, double beta, int ni,
                                       int nj, int nk)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        double sum = C[i * nj + j] * beta;
        for (int k = 0; k < nk; k++)
            sum += alpha * A[i * nk + k] * B[k * nj + j];
        C[i * nj + j] = sum;
    }
}
