// In double precision: D = alpha A B C + beta D in two launches, a thread per element, as PolyBench's 2mm.
__device__ double row_by_column(const double *A, const double *B, int i, int j, int inner, int cols)
{
    double sum = 0.0;
    for (int k = 0; k < inner; k++)
        sum = fma(A[i * inner + k], B[k * cols + j], sum);
    return sum;
}

extern "C" __global__ void mm2_first_double(const double *A, const double *B, double *product, double alpha, int rows,
                                            int cols, int inner)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols)
        product[i * cols + j] = alpha * row_by_column(A, B, i, j, inner, cols);
}

extern "C" __global__ void mm2_second_double(const double *product, const double *C, double *D, double beta, int rows,
                                             int cols, int inner)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols)
        D[i * cols + j] = fma(beta, D[i * cols + j], row_by_column(product, C, i, j, inner, cols));
}
