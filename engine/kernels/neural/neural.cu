// A net that recognises digits, as the NN of ISPASS 2009: two layers of 5 x 5 convolutions, two full ones.

// Return 1.7159 tanh(2/3 x), by an exponential.
__device__ float activated(float x)
{
    return fmaf(-3.4318f, 1.0f / (__expf(1.33333337f * x) + 1.0f), 1.7159f);
}

// A CTA makes a map of a digit from all maps below; a weight of a map comes first, then 25 for each map below.
extern "C" __global__ void convolve(const float *below, const float *weights, float *above, int maps, int side)
{
    int x = threadIdx.x, y = threadIdx.y, map = blockIdx.x, digit = blockIdx.y;
    const float *weight = weights + map * (25 * maps + 1);
    float sum = *weight++;
    for (int from = 0; from < maps; from++) {
        const float *corner = below + ((digit * maps + from) * side + 2 * y) * side + 2 * x;
#pragma unroll
        for (int i = 0; i < 25; i++)
            sum = fmaf(*weight++, corner[i / 5 * side + i % 5], sum);
    }
    above[((digit * gridDim.x + map) * blockDim.y + y) * blockDim.x + x] = activated(sum);
}

// A CTA of one thread is a neuron of a digit.
extern "C" __global__ void connect(const float *below, const float *weights, float *above, int inputs)
{
    const float *weight = weights + blockIdx.x * (inputs + 1), *input = below + blockIdx.y * inputs;
    float sum = *weight++;
    for (int i = 0; i < inputs; i++)
        sum = fmaf(weight[i], input[i], sum);
    above[blockIdx.y * gridDim.x + blockIdx.x] = activated(sum);
}
