// Fourier transforms of 512 complex numbers in three passes of radix 8: a CTA of 64 threads, eight numbers per thread.
#define C8 0.707106769f

__device__ float2 plus(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ float2 minus(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

// Return a number turned by -i.
__device__ float2 turned(float2 a)
{
    return make_float2(a.y, -a.x);
}

// Transform four numbers; the results are the numbers first, first + 2, first + 4, first + 6 of eight.
__device__ void four(float2 a, float2 b, float2 c, float2 d, float2 *all, int first)
{
    float2 ac = plus(a, c), bd = plus(b, d), a_c = minus(a, c), b_d = turned(minus(b, d));
    all[first] = plus(ac, bd);
    all[first + 2] = plus(a_c, b_d);
    all[first + 4] = minus(ac, bd);
    all[first + 6] = minus(a_c, b_d);
}

__device__ void eight(float2 *v)
{
    float2 a = plus(v[0], v[4]), b = plus(v[1], v[5]), c = plus(v[2], v[6]), d = plus(v[3], v[7]);
    float2 e = minus(v[0], v[4]), f = minus(v[1], v[5]), g = minus(v[2], v[6]), h = minus(v[3], v[7]);
    f = make_float2(__fmul_rn(C8, f.x + f.y), __fmul_rn(C8, f.y - f.x));
    h = make_float2(__fmul_rn(C8, h.y - h.x), __fmul_rn(-C8, h.x + h.y));
    four(a, b, c, d, v, 0);
    four(e, f, turned(g), h, v, 1);
}

// Turn number k of eight by k times an angle.
__device__ void twiddle(float2 *v, float angle)
{
#pragma unroll
    for (int k = 1; k < 8; k++) {
        float c = __cosf(angle * k), s = __sinf(angle * k);
        v[k] = make_float2(fmaf(v[k].x, c, -__fmul_rn(v[k].y, s)), fmaf(v[k].x, s, __fmul_rn(v[k].y, c)));
    }
}

// Thread t writes its numbers k at to + k * step and takes those at from + k * stride; one row of banks is left out.
__device__ void exchange(float2 *v, float *shared, int to, int step, int from, int stride)
{
#pragma unroll
    for (int k = 0; k < 8; k++)
        shared[to + k * step] = v[k].x;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k].x = shared[from + k * stride];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
        shared[to + k * step] = v[k].y;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k].y = shared[from + k * stride];
    __syncthreads();
}

extern "C" __global__ void fft8(const float2 *input, float2 *output)
{
    __shared__ float shared[8 * 72];
    int t = threadIdx.x, high = t >> 3, low = t & 7;
    float2 v[8];
    input += 512 * blockIdx.x + t;
    output += 512 * blockIdx.x + t;
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = input[64 * k];
    eight(v);
    twiddle(v, -0.0122718466f * t);
    exchange(v, shared, t + high, 72, 72 * high + low, 9);
    eight(v);
    twiddle(v, -0.0981747732f * low);
    exchange(v, shared, 72 * high + low, 9, 72 * low + 9 * high, 1);
    eight(v);
#pragma unroll
    for (int k = 0; k < 8; k++)
        output[64 * k] = v[k];
}
