// x1 += A y1 and x2 += A^T y2 of doubles, a thread per row and then a thread per column, as PolyBench's mvt.
extern "C" __global__ void mvt_rows_double(const double *A, const double *y1, double *x1, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double sum = x1[i];
        for (int j = 0; j < n; j++)
            sum = fma(A[i * n + j], y1[j], sum);
        x1[i] = sum;
    }
}

extern "C" __global__ void mvt_columns_double(const double *A, const double *y2, double *x2, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double sum = x2[i];
        for (int j = 0; j < n; j++)
            sum = fma(A[j * n + i], y2[j], sum);
        x2[i] = sum;
    }
}
