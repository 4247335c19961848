// A function that calls itself a thousand deep: its stack does not hold that many.
__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void stack_overflow(int *data)
{
    data[threadIdx.x] = fibonacci(threadIdx.x + 1000);
}
