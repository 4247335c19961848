// The two products of a step of PolyBench's BiCG in doubles: s = A^T r, a thread per column, and q = A p, one per row.
extern "C" __global__ void bicg_columns_double(const double *A, const double *r, double *s, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        double sum = 0.0;
        for (int i = 0; i < rows; i++)
            sum = fma(A[i * cols + j], r[i], sum);
        s[j] = sum;
    }
}

extern "C" __global__ void bicg_rows_double(const double *A, const double *p, double *q, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        double sum = 0.0;
        for (int j = 0; j < cols; j++)
            sum = fma(A[i * cols + j], p[j], sum);
        q[i] = sum;
    }
}
