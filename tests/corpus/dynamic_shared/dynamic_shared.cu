// Dynamic shared memory under several names that all begin at the same place, beside static shared memory.
extern __shared__ float as_floats[];
extern __shared__ unsigned as_words[];
extern __shared__ double as_doubles[];

extern "C" __global__ void dynamic_shared(const float *in, unsigned *bits, double *doubles, float *out)
{
    __shared__ float fixed[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    fixed[t] = -in[i];
    as_floats[t] = in[i];
    as_floats[64 + t] = 0.0f;
    __syncthreads();
    bits[i] = as_words[63 - t];
    __syncthreads();
    if (t < 32)
        as_doubles[t + 32] = (double)in[i] * 4.0;
    __syncthreads();
    out[i] = as_floats[t] + fixed[t ^ 1];
    if (t < 32)
        doubles[blockIdx.x * 32 + t] = as_doubles[63 - t];
    __syncthreads();
    if (t < 32)
        as_words[64 + t] = t;
    __syncthreads();
    bits[gridDim.x * blockDim.x + i] = as_words[64 + (t & 31)];
}
