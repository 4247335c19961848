// Cloud physics of a column of air per thread, after the WP (WSM5) of ISPASS 2009: water changes between vapour, cloud
// and rain level by level, then rain falls through the levels in shorter steps.
#define MOST_LEVELS 32
#define STEP 20.0f
#define THICKNESS 500.0f

// Return x to a power.
__device__ float power(float x, float exponent)
{
    return __expf(exponent * __logf(x));
}

extern "C" __global__ void weather(float *heat, float *vapour, float *cloud, float *rain, const float *pressure,
                                   float *fallen, int levels)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int width = gridDim.x * blockDim.x, layer = width * gridDim.y * blockDim.y, column = y * width + x;
    float drops[MOST_LEVELS], density[MOST_LEVELS], speed[MOST_LEVELS];
    float fastest = 0.0f;
#pragma unroll 1
    for (int k = 0; k < levels; k++) {
        int at = k * layer + column;
        float t = heat[at], qv = vapour[at], qc = cloud[at], qr = rain[at], p = pressure[at];
        float rho = p / __fmul_rn(287.0f, t);
        float steam = __fmul_rn(610.78f, __expf(17.27f * (t - 273.16f) / (t - 35.86f)));
        float saturated = __fmul_rn(0.622f, steam) / (p - steam);
        // clouds form, or evaporate, towards saturation
        float gain = (qv - saturated) / fmaf(__fmul_rn(10.5f, saturated) / __fmul_rn(t, t), 1.0e6f, 1.0f);
        gain = fmaxf(gain, -qc);
        qv -= gain;
        qc += gain;
        t = fmaf(2488.0f, gain, t);
        // rain from clouds by themselves, and by what falls through them
        float grown = 0.0f;
        if (qc > 0.0005f)
            grown = __fmul_rn(0.001f * STEP, qc - 0.0005f);
        if (qc > 0.0f && qr > 1.0e-9f)
            grown = fmaf(__fmul_rn(2.2f * STEP, qc), power(qr, 0.875f), grown);
        grown = fminf(grown, qc);
        qc -= grown;
        qr += grown;
        // rain evaporates into dry air
        if (qv < saturated && qr > 1.0e-9f) {
            float dry = 1.0f - qv / saturated;
            float lost = fminf(__fmul_rn(__fmul_rn(0.004f * STEP, dry), power(__fmul_rn(rho, qr), 0.525f)), qr);
            lost = fminf(lost, saturated - qv);
            qr -= lost;
            qv += lost;
            t = fmaf(-2488.0f, lost, t);
        }
        heat[at] = t;
        vapour[at] = qv;
        cloud[at] = qc;
        drops[k] = qr;
        density[k] = rho;
        speed[k] = 0.0f;
        if (qr > 1.0e-9f)
            speed[k] = __fmul_rn(14.2f, power(__fmul_rn(rho, qr), 0.1364f)) / sqrtf(rho);
        fastest = fmaxf(fastest, speed[k]);
    }
    int parts = (int)(fastest * (STEP / THICKNESS)) + 2;
    float scale = STEP / THICKNESS / parts, ground = 0.0f;
#pragma unroll 1
    for (int part = 0; part < parts; part++) {
        float coming = 0.0f;
#pragma unroll 1
        for (int k = levels - 1; k >= 0; k--) {
            float leaving = __fmul_rn(__fmul_rn(density[k], drops[k]), __fmul_rn(speed[k], scale));
            drops[k] += (coming - leaving) / density[k];
            coming = leaving;
        }
        ground = fmaf(THICKNESS, coming, ground);
    }
#pragma unroll 1
    for (int k = 0; k < levels; k++)
        rain[k * layer + column] = drops[k];
    fallen[column] += ground;
}
