// A LIBOR market model by Monte Carlo with its adjoint, as the LIB of ISPASS 2009: a path per thread, in local arrays.
#define MOST_RATES 20
#define MOST_STEPS 8
#define OPTIONS 4
#define DELTA 0.25f

__constant__ float volatility[MOST_RATES] = {0.20f, 0.21f, 0.22f, 0.22f, 0.23f, 0.23f, 0.22f, 0.21f, 0.20f, 0.20f,
                                        0.19f, 0.19f, 0.18f, 0.18f, 0.17f, 0.17f, 0.16f, 0.16f, 0.15f, 0.15f};
__constant__ int maturity[OPTIONS] = {2, 5, 8, 11};         // twelfths of the rates after the last step
__constant__ float swap_rate[OPTIONS] = {0.045f, 0.05f, 0.055f, 0.05f};

// Move the rates over all steps; kept has the rates before each of them and after the last.
__device__ void walk(const float *noise, int path, int paths, float (*kept)[MOST_RATES], int rates,
                     int steps)
{
    float rate[MOST_RATES];
#pragma unroll 1
    for (int i = 0; i < rates; i++)
        rate[i] = 0.05f;
#pragma unroll 1
    for (int n = 0; n < steps; n++) {
        float shock = 0.5f * noise[n * paths + path], sum = 0.0f;
#pragma unroll 1
        for (int i = 0; i < rates; i++) {
            kept[n][i] = rate[i];
            if (i <= n)
                continue;
            float vol = volatility[i - n - 1], part = DELTA * vol;
            sum = fmaf(part, rate[i] / fmaf(DELTA, rate[i], 1.0f), sum);
            rate[i] *= __expf(fmaf(part, sum, __fmul_rn(vol, fmaf(-0.5f, part, shock))));
        }
    }
#pragma unroll 1
    for (int i = 0; i < rates; i++)
        kept[steps][i] = rate[i];
}

// Return what the swaptions pay today on a path with these last rates; adjoint: the derivative by each of them.
__device__ float payment(const float *rate, float *adjoint, int rates, int steps)
{
    float bond[MOST_RATES], sums[MOST_RATES], bond_adjoint[MOST_RATES], sum_adjoint[MOST_RATES];
    int later = rates - steps;
    float b = 1.0f, sum = 0.0f, paid = 0.0f, discount = 1.0f;
#pragma unroll 1
    for (int m = 0; m < later; m++) {
        b = b / fmaf(DELTA, rate[steps + m], 1.0f);
        sum = fmaf(DELTA, b, sum);
        bond[m] = b;
        sums[m] = sum;
        bond_adjoint[m] = sum_adjoint[m] = 0.0f;
    }
#pragma unroll 1
    for (int o = 0; o < OPTIONS; o++) {
        int m = maturity[o] * later / 12;
        float value = fmaf(swap_rate[o], sums[m], bond[m]) - 1.0f;
        if (value < 0.0f) {
            paid = fmaf(-100.0f, value, paid);
            bond_adjoint[m] -= 100.0f;
            sum_adjoint[m] = fmaf(-100.0f, swap_rate[o], sum_adjoint[m]);
        }
    }
#pragma unroll 1
    for (int n = 0; n < steps; n++)
        discount = discount / fmaf(DELTA, rate[n], 1.0f);
    paid *= discount;
    float carried = 0.0f, sum_carried = 0.0f;
#pragma unroll 1
    for (int m = later - 1; m >= 0; m--) {
        float growth = fmaf(DELTA, rate[steps + m], 1.0f);
        sum_carried += sum_adjoint[m];
        carried = fmaf(DELTA, sum_carried, bond_adjoint[m] + carried) / growth;
        adjoint[steps + m] = __fmul_rn(__fmul_rn(-DELTA * discount, carried), bond[m]);
    }
#pragma unroll 1
    for (int n = 0; n < steps; n++)
        adjoint[n] = -DELTA * paid / fmaf(DELTA, rate[n], 1.0f);
    return paid;
}

extern "C" __global__ void libor(const float *noise, float *value, float *slope, int paths, int rates,
                                 int steps)
{
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    float kept[MOST_STEPS + 1][MOST_RATES], adjoint[MOST_RATES];
    walk(noise, path, paths, kept, rates, steps);
    value[path] = payment(kept[steps], adjoint, rates, steps);
#pragma unroll 1
    for (int n = steps - 1; n >= 0; n--) {
        float carried = 0.0f;
#pragma unroll 1
        for (int i = rates - 1; i > n; i--) {
            float before = kept[n][i], after = kept[n + 1][i], part = DELTA * volatility[i - n - 1];
            float growth = fmaf(DELTA, before, 1.0f);
            carried = fmaf(__fmul_rn(part, after), adjoint[i], carried);
            adjoint[i] = fmaf(carried, part / __fmul_rn(growth, growth), __fmul_rn(after / before, adjoint[i]));
        }
    }
    slope[path] = adjoint[rates - 1];
}
