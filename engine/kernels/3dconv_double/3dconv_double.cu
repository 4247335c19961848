// One plane of a volume of doubles is convolved with eleven taps in it, before and behind it; the border stays 0.
extern "C" __global__ void convolution3d_double(const double *A, double *B, int rows, int cols, int plane)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < cols - 1 && y > 0 && y < rows - 1) {
        int size = rows * cols;
        const double *here = A + plane * size + y * cols + x;
        double sum = 0.5 * here[0];
        sum = fma(0.2, here[-size - cols - 1], sum);
        sum = fma(-0.3, here[-size], sum);
        sum = fma(0.4, here[-size + cols + 1], sum);
        sum = fma(0.6, here[-cols], sum);
        sum = fma(-0.8, here[-1], sum);
        sum = fma(-0.9, here[1], sum);
        sum = fma(0.1, here[cols], sum);
        sum = fma(0.7, here[size - cols - 1], sum);
        sum = fma(-0.25, here[size], sum);
        sum = fma(0.35, here[size + cols + 1], sum);
        B[plane * size + y * cols + x] = sum;
    }
}
