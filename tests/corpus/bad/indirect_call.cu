// A call through a null pointer to a function.
typedef int (*Function)(int);
__device__ int twice(int n) { return 2 * n; }
__device__ int square(int n) { return n * n; }
__device__ Function table[2] = {twice, square};

extern "C" __global__ void indirect_call(int *data, Function function)
{
    data[threadIdx.x] = function(threadIdx.x) + table[data[threadIdx.x] & 1](threadIdx.x);
}
