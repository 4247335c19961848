// A function that calls itself.
__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(int *data)
{
    data[threadIdx.x] = fibonacci(threadIdx.x & 7);
}
