// Convolve one plane of a volume with eleven taps in it and in the planes before and behind; the border stays 0.
extern "C" __global__ void convolution3d(const float *A, float *B, int rows, int cols, int plane)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < cols - 1 && y > 0 && y < rows - 1) {
        int size = rows * cols;
        const float *here = A + plane * size + y * cols + x;
        float sum = 0.5f * here[0];
        sum = fmaf(0.2f, here[-size - cols - 1], sum);
        sum = fmaf(-0.3f, here[-size], sum);
        sum = fmaf(0.4f, here[-size + cols + 1], sum);
        sum = fmaf(0.6f, here[-cols], sum);
        sum = fmaf(-0.8f, here[-1], sum);
        sum = fmaf(-0.9f, here[1], sum);
        sum = fmaf(0.1f, here[cols], sum);
        sum = fmaf(0.7f, here[size - cols - 1], sum);
        sum = fmaf(-0.25f, here[size], sum);
        sum = fmaf(0.35f, here[size + cols + 1], sum);
        B[plane * size + y * cols + x] = sum;
    }
}
