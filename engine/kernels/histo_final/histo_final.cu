// Add three partial histograms, saturate each counter at 255 and pack four into a word, as Parboil's histo_final does.
__device__ unsigned int saturated(unsigned int count)
{
    return count > 255u ? 255u : count;
}

extern "C" __global__ void histo_final(const uint4 *first, const uint4 *second, const uint4 *third, unsigned int *packed,
                                       int words)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
        uint4 a = first[i], b = second[i], c = third[i];
        packed[i] = saturated(a.x + b.x + c.x) | saturated(a.y + b.y + c.y) << 8 | saturated(a.z + b.z + c.z) << 16
                  | saturated(a.w + b.w + c.w) << 24;
    }
}
