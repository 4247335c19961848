// Gaussian elimination without pivoting as in Rodinia: a column of multipliers, then all rows below, once per column.
extern "C" __global__ void multipliers(const float *a, float *m, int n, int t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1 - t)
        m[(t + 1 + i) * n + t] = a[(t + 1 + i) * n + t] / a[t * n + t];
}

extern "C" __global__ void eliminate(float *a, float *b, const float *m, int n, int t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n - 1 - t || j >= n - t)
        return;
    int row = t + 1 + i;
    float factor = -m[row * n + t];
    a[row * n + t + j] = fmaf(factor, a[t * n + t + j], a[row * n + t + j]);
    if (j == 0)
        b[row] = fmaf(factor, b[t], b[row]);
}
