// C = A B + beta C, register tiled as Parboil's sgemm: a thread has sixteen columns of one row, eight rows of B are shared.
#define COLUMNS 16
#define DEPTH 8

extern "C" __global__ void sgemm(const float *A, const float *B, float *C, float beta, int rows, int cols, int inner)
{
    __shared__ float tile[DEPTH][COLUMNS];
    int thread = threadIdx.y * 16 + threadIdx.x;
    int row = blockIdx.x * 128 + thread, first = blockIdx.y * COLUMNS;
    float sum[COLUMNS];
    #pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        sum[j] = 0.0f;
    for (int k = 0; k < inner; k += DEPTH) {
        __syncthreads();
        tile[thread / COLUMNS][thread % COLUMNS] = B[(k + thread / COLUMNS) * cols + first + thread % COLUMNS];
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            float a = A[(k + i) * rows + row];
            #pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                sum[j] = fmaf(a, tile[i][j], sum[j]);
        }
    }
    #pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        C[(first + j) * rows + row] = fmaf(beta, C[(first + j) * rows + row], sum[j]);
}
