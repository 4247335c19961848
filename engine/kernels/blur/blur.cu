// One direction of a separable blur of radius 8: a CTA takes 512 pixels of a row, each thread eight of them.
#define RADIUS 8
#define EACH 8

__constant__ float weights[2 * RADIUS + 1] = {
    0.0025899f, 0.0066135f, 0.0149039f, 0.0296398f, 0.0520195f, 0.0805695f,
    0.1101254f, 0.1328366f, 0.1414038f, 0.1328366f, 0.1101254f, 0.0805695f,
    0.0520195f, 0.0296398f, 0.0149039f, 0.0066135f, 0.0025899f
};

extern "C" __global__ void blur(const float *image, float *blurred, int width)
{
    __shared__ float row[64 * EACH + 2 * RADIUS];
    int thread = threadIdx.x, first = blockIdx.x * 64 * EACH;
    image += blockIdx.y * width;
    blurred += blockIdx.y * width;
    for (int i = thread; i < 64 * EACH + 2 * RADIUS; i += 64) {
        int x = min(max(first + i - RADIUS, 0), width - 1);
        row[i] = image[x];
    }
    __syncthreads();
    float sum[EACH];
    #pragma unroll
    for (int e = 0; e < EACH; e++)
        sum[e] = 0.0f;
    #pragma unroll
    for (int tap = 0; tap <= 2 * RADIUS; tap++) {
        float weight = weights[tap];
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            sum[e] = fmaf(weight, row[thread + 64 * e + tap], sum[e]);
    }
    #pragma unroll
    for (int e = 0; e < EACH; e++)
        blurred[first + thread + 64 * e] = sum[e];
}
