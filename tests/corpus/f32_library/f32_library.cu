// Single precision library functions: Payne-Hanek reduction with a .global table and a local array, pow, exp, log, tanh.
extern "C" __global__ void f32_library(const float *angle, const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = sinf(angle[i]);
    out[n + i] = cosf(angle[i]);
    out[2 * n + i] = powf(fabsf(x[i]), 1.7f);
    out[3 * n + i] = expf(x[i]);
    out[4 * n + i] = logf(fabsf(x[i]));
    out[5 * n + i] = tanhf(x[i]);
    out[6 * n + i] = atan2f(x[i], 0.7f);
    out[7 * n + i] = erff(x[i]);
}
