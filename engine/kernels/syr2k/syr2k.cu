// C = alpha (A B^T + B A^T) + beta C, a thread per element, as PolyBench's syr2k.
extern "C" __global__ void syr2k(const float *A, const float *B, float *C, float alpha, float beta, int rows, int inner)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < rows) {
        float sum = beta * C[i * rows + j];
        for (int k = 0; k < inner; k++) {
            sum = fmaf(alpha * A[i * inner + k], B[j * inner + k], sum);
            sum = fmaf(alpha * B[i * inner + k], A[j * inner + k], sum);
        }
        C[i * rows + j] = sum;
    }
}
