// Q and R by Gram and Schmidt as PolyBench's gramschmidt: column k's norm by one thread, its scaling, then projections.
extern "C" __global__ void column_norm(const float *A, float *R, int rows, int cols, int k)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++)
            sum = fmaf(A[i * cols + k], A[i * cols + k], sum);
        R[k * cols + k] = sqrtf(sum);
    }
}

extern "C" __global__ void column_scale(const float *A, const float *R, float *Q, int rows, int cols, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        Q[i * cols + k] = A[i * cols + k] / R[k * cols + k];
}

extern "C" __global__ void project(float *A, float *R, const float *Q, int rows, int cols, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > k && j < cols) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++)
            sum = fmaf(Q[i * cols + k], A[i * cols + j], sum);
        R[k * cols + j] = sum;
        for (int i = 0; i < rows; i++)
            A[i * cols + j] = fmaf(-Q[i * cols + k], sum, A[i * cols + j]);
    }
}
