// General matrix product C = alpha A B + beta C, one thread per element of C, as in PolyBench.
extern "C" __global__ void gemm(const float *A, const float *B, float *C, float alpha, float beta, int ni, int nj,
                                int nk)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        float sum = C[i * nj + j] * beta;
        for (int k = 0; k < nk; k++)
            sum += alpha * A[i * nk + k] * B[k * nj + j];
        C[i * nj + j] = sum;
    }
}
