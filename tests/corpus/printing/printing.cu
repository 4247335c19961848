// printf of several types, and an assertion that holds.
#include <assert.h>
#include <stdio.h>

extern "C" __global__ void printing(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, value = in[i];
    assert(value >= 0);
    if (value % 20 == 7) {
        int written = printf("thread %d: value %5d, half %.3f, %s %c %llu %%\n", i, value, value * 0.5,
                             value > 50 ? "large" : "small", 'x', 1ull << 40);
        out[i] = written;  // the number of arguments, as CUDA's printf returns it
    } else {
        out[i] = -value;
    }
}
