// Dot products of many pairs of vectors, one CTA per pair: 256 partial sums in shared memory, then a tree.
#define PARTIALS 256

extern "C" __global__ void scalarprod(float *out, const float *a, const float *b, int length)
{
    __shared__ float partial[PARTIALS];
    const float *va = a + blockIdx.x * length;
    const float *vb = b + blockIdx.x * length;
    for (int p = threadIdx.x; p < PARTIALS; p += blockDim.x) {
        float sum = 0.0f;
        for (int i = p; i < length; i += PARTIALS)
            sum += va[i] * vb[i];
        partial[p] = sum;
    }
    for (int stride = PARTIALS / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        for (int p = threadIdx.x; p < stride; p += blockDim.x)
            partial[p] += partial[stride + p];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}
