// x1 += A y1 and x2 += A^T y2, a thread per row and then a thread per column, as PolyBench's mvt computes them.
extern "C" __global__ void mvt_rows(const float *A, const float *y1, float *x1, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = x1[i];
        for (int j = 0; j < n; j++)
            sum = fmaf(A[i * n + j], y1[j], sum);
        x1[i] = sum;
    }
}

extern "C" __global__ void mvt_columns(const float *A, const float *y2, float *x2, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = x2[i];
        for (int j = 0; j < n; j++)
            sum = fmaf(A[j * n + i], y2[j], sum);
        x2[i] = sum;
    }
}
