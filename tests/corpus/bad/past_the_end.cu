// Writes past the end of a buffer; compiled with -lineinfo, so the message names this file's line.
__global__ void past_the_end(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        data[i] = i;
}
