// Q and R of doubles by Gram and Schmidt, as PolyBench: column k's norm by one thread, its scaling, then projections.
extern "C" __global__ void column_norm_double(const double *A, double *R, int rows, int cols, int k)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        double sum = 0.0;
        for (int i = 0; i < rows; i++)
            sum = fma(A[i * cols + k], A[i * cols + k], sum);
        R[k * cols + k] = sqrt(sum);
    }
}

extern "C" __global__ void column_scale_double(const double *A, const double *R, double *Q, int rows, int cols, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        Q[i * cols + k] = A[i * cols + k] / R[k * cols + k];
}

extern "C" __global__ void project_double(double *A, double *R, const double *Q, int rows, int cols, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > k && j < cols) {
        double sum = 0.0;
        for (int i = 0; i < rows; i++)
            sum = fma(Q[i * cols + k], A[i * cols + j], sum);
        R[k * cols + j] = sum;
        for (int i = 0; i < rows; i++)
            A[i * cols + j] = fma(-Q[i * cols + k], sum, A[i * cols + j]);
    }
}
