// An assertion that fails in thread 5.
#include <assert.h>

extern "C" __global__ void assert_fails(int *data)
{
    assert(threadIdx.x != 5);
    data[threadIdx.x] = threadIdx.x;
}
