// Convolve an image of doubles with a fixed 3 x 3 filter, one thread per pixel; the border keeps its value.
extern "C" __global__ void convolution2d_double(const double *A, double *B, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < rows - 1 && j > 0 && j < cols - 1) {
        const double *here = A + i * cols + j;
        double sum = 0.2 * here[-cols - 1];
        sum = fma(0.5, here[-cols], sum);
        sum = fma(-0.8, here[-cols + 1], sum);
        sum = fma(-0.3, here[-1], sum);
        sum = fma(0.6, here[0], sum);
        sum = fma(-0.9, here[1], sum);
        sum = fma(0.4, here[cols - 1], sum);
        sum = fma(0.7, here[cols], sum);
        sum = fma(0.1, here[cols + 1], sum);
        B[i * cols + j] = sum;
    }
}
