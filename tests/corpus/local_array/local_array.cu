// A local array with indices known only at run time: a sort per thread and a table look-up (.local depot).
#define LENGTH 12

extern "C" __global__ void local_array(const int *in, int *sorted, float *looked_up)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int items[LENGTH];
    for (int k = 0; k < LENGTH; k++)
        items[k] = in[i * LENGTH + k];
#pragma unroll 1
    for (int k = 1; k < LENGTH; k++) {
        int item = items[k], at = k;
        while (at > 0 && items[at - 1] > item) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = item;
    }
#pragma unroll 1
    for (int k = 0; k < LENGTH; k++)
        sorted[i * LENGTH + k] = items[k];
    float squares[8];
#pragma unroll 1
    for (int k = 0; k < 8; k++)
        squares[(k * 3 + i) & 7] = (float)(k * k);
    looked_up[i] = squares[in[i] & 7] + squares[(in[i] >> 3) & 7];
}
