// Electric and magnetic fields step by step on a grid, as PolyBench's fdtd-2d: three launches per step.
extern "C" __global__ void fdtd_ey(float *ey, const float *hz, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < rows && j < cols)
        ey[i * cols + j] = fmaf(-0.5f, hz[i * cols + j] - hz[(i - 1) * cols + j], ey[i * cols + j]);
}

extern "C" __global__ void fdtd_ex(float *ex, const float *hz, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j > 0 && j < cols)
        ex[i * cols + j] = fmaf(-0.5f, hz[i * cols + j] - hz[i * cols + j - 1], ex[i * cols + j]);
}

extern "C" __global__ void fdtd_hz(const float *ex, const float *ey, float *hz, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows - 1 && j < cols - 1) {
        float across = ex[i * cols + j + 1] - ex[i * cols + j];
        float along = ey[(i + 1) * cols + j] - ey[i * cols + j];
        hz[i * cols + j] = fmaf(-0.7f, across + along, hz[i * cols + j]);
    }
}
