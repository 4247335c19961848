// The discrete cosine transform of 8 x 8 blocks as two matrix products, a CTA of 64 threads per block.
__constant__ float cosines[8][8] = {
    {0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f},
    {0.4903926f, 0.4157348f, 0.2777851f, 0.0975452f, -0.0975452f, -0.2777851f, -0.4157348f, -0.4903926f},
    {0.4619398f, 0.1913417f, -0.1913417f, -0.4619398f, -0.4619398f, -0.1913417f, 0.1913417f, 0.4619398f},
    {0.4157348f, -0.0975452f, -0.4903926f, -0.2777851f, 0.2777851f, 0.4903926f, 0.0975452f, -0.4157348f},
    {0.3535534f, -0.3535534f, -0.3535534f, 0.3535534f, 0.3535534f, -0.3535534f, -0.3535534f, 0.3535534f},
    {0.2777851f, -0.4903926f, 0.0975452f, 0.4157348f, -0.4157348f, -0.0975452f, 0.4903926f, -0.2777851f},
    {0.1913417f, -0.4619398f, 0.4619398f, -0.1913417f, -0.1913417f, 0.4619398f, -0.4619398f, 0.1913417f},
    {0.0975452f, -0.2777851f, 0.4157348f, -0.4903926f, 0.4903926f, -0.4157348f, 0.2777851f, -0.0975452f}
};

extern "C" __global__ void dct8x8(const float *image, float *transformed, int width)
{
    __shared__ float block[8][8], half[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    int at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
    block[y][x] = image[at] - 128.0f;
    __syncthreads();
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 8; k++)
        sum = fmaf(cosines[y][k], block[k][x], sum);
    half[y][x] = sum;
    __syncthreads();
    sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 8; k++)
        sum = fmaf(half[y][k], cosines[x][k], sum);
    transformed[at] = sum;
}
