// The two products of a step of BiCG as PolyBench has them: s = A^T r, a thread per column, and q = A p, one per row.
extern "C" __global__ void bicg_columns(const float *A, const float *r, float *s, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++)
            sum = fmaf(A[i * cols + j], r[i], sum);
        s[j] = sum;
    }
}

extern "C" __global__ void bicg_rows(const float *A, const float *p, float *q, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        float sum = 0.0f;
        for (int j = 0; j < cols; j++)
            sum = fmaf(A[i * cols + j], p[j], sum);
        q[i] = sum;
    }
}
