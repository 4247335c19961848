// Electric and magnetic fields in doubles, step by step on a grid, as PolyBench's fdtd-2d: three launches per step.
extern "C" __global__ void fdtd_ey_double(double *ey, const double *hz, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < rows && j < cols)
        ey[i * cols + j] = fma(-0.5, hz[i * cols + j] - hz[(i - 1) * cols + j], ey[i * cols + j]);
}

extern "C" __global__ void fdtd_ex_double(double *ex, const double *hz, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j > 0 && j < cols)
        ex[i * cols + j] = fma(-0.5, hz[i * cols + j] - hz[i * cols + j - 1], ex[i * cols + j]);
}

extern "C" __global__ void fdtd_hz_double(const double *ex, const double *ey, double *hz, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows - 1 && j < cols - 1) {
        double across = ex[i * cols + j + 1] - ex[i * cols + j];
        double along = ey[(i + 1) * cols + j] - ey[i * cols + j];
        hz[i * cols + j] = fma(-0.7, across + along, hz[i * cols + j]);
    }
}
