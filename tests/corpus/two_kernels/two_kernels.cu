// A scan by two kernels of one module in three launches: scan per CTA, scan of the sums, add the offsets.
extern "C" __global__ void scan_block(const int *in, int *out, int *sums)
{
    __shared__ int buffer[2][128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, from = 0;
    buffer[0][t] = in[i];
    __syncthreads();
    for (int offset = 1; offset < 128; offset *= 2) {
        int sum = buffer[from][t];
        if (t >= offset)
            sum += buffer[from][t - offset];
        from ^= 1;
        buffer[from][t] = sum;
        __syncthreads();
    }
    out[i] = buffer[from][t];
    if (t == 127 && sums)
        sums[blockIdx.x] = buffer[from][t];
}

extern "C" __global__ void add_offsets(int *out, const int *scanned_sums)
{
    if (blockIdx.x > 0)
        out[blockIdx.x * 128 + threadIdx.x] += scanned_sums[blockIdx.x - 1];
}
