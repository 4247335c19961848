// In double precision: G = (A B)(C D) in three launches, a thread per element, as PolyBench's 3mm.
extern "C" __global__ void mm3_double(const double *A, const double *B, double *C, int rows, int cols, int inner)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols) {
        double sum = 0.0;
        for (int k = 0; k < inner; k++)
            sum = fma(A[i * inner + k], B[k * cols + j], sum);
        C[i * cols + j] = sum;
    }
}
