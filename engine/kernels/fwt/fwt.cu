// Walsh-Hadamard transform in place, two levels (radix 4) per pass: long strides in global memory, the rest in shared.
#define PART 1024
#define THREADS (PART / 4)

__device__ void butterfly(float *data, int at, int stride)
{
    float a = data[at], b = data[at + stride], c = data[at + 2 * stride], d = data[at + 3 * stride];
    float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
    data[at] = ac + bd;
    data[at + stride] = ac - bd;
    data[at + 2 * stride] = a_c + b_d;
    data[at + 3 * stride] = a_c - b_d;
}

// Lowest of the four places of butterfly number `i`: the stride's bits below, four strides per group above.
__device__ int first_of(int i, int stride)
{
    int low = i & (stride - 1);
    return (i - low) * 4 + low;
}

extern "C" __global__ void fwt_global(float *data, int stride)
{
    butterfly(data, first_of(blockIdx.x * blockDim.x + threadIdx.x, stride), stride);
}

extern "C" __global__ void fwt_shared(float *data)
{
    __shared__ float part[PART];
    float *mine = data + blockIdx.x * PART;
    for (int i = threadIdx.x; i < PART; i += THREADS)
        part[i] = mine[i];
#pragma unroll 1
    for (int stride = PART / 4; stride > 0; stride >>= 2) {
        __syncthreads();
        butterfly(part, first_of(threadIdx.x, stride), stride);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < PART; i += THREADS)
        mine[i] = part[i];
}
