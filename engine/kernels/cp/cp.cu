// The Coulomb potential of charges on a plane of points, two points per thread, atoms in constant memory.
__constant__ float atoms[64][4] = {
    {0.00f, 0.00f, 0.250f, -3.0f}, {3.70f, 5.30f, 1.700f, 0.0f},
    {7.40f, 0.30f, 3.150f, 3.0f}, {1.00f, 5.60f, 4.600f, -1.0f},
    {4.70f, 0.60f, 0.700f, 2.0f}, {8.40f, 5.90f, 2.150f, -2.0f},
    {2.00f, 0.90f, 3.600f, 1.0f}, {5.70f, 6.20f, 5.050f, -3.0f},
    {9.40f, 1.20f, 1.150f, 0.0f}, {3.00f, 6.50f, 2.600f, 3.0f},
    {6.70f, 1.50f, 4.050f, -1.0f}, {0.30f, 6.80f, 5.500f, 2.0f},
    {4.00f, 1.80f, 1.600f, -2.0f}, {7.70f, 7.10f, 3.050f, 1.0f},
    {1.30f, 2.10f, 4.500f, -3.0f}, {5.00f, 7.40f, 0.600f, 0.0f},
    {8.70f, 2.40f, 2.050f, 3.0f}, {2.30f, 7.70f, 3.500f, -1.0f},
    {6.00f, 2.70f, 4.950f, 2.0f}, {9.70f, 8.00f, 1.050f, -2.0f},
    {3.30f, 3.00f, 2.500f, 1.0f}, {7.00f, 8.30f, 3.950f, -3.0f},
    {0.60f, 3.30f, 5.400f, 0.0f}, {4.30f, 8.60f, 1.500f, 3.0f},
    {8.00f, 3.60f, 2.950f, -1.0f}, {1.60f, 8.90f, 4.400f, 2.0f},
    {5.30f, 3.90f, 0.500f, -2.0f}, {9.00f, 9.20f, 1.950f, 1.0f},
    {2.60f, 4.20f, 3.400f, -3.0f}, {6.30f, 9.50f, 4.850f, 0.0f},
    {10.00f, 4.50f, 0.950f, 3.0f}, {3.60f, 9.80f, 2.400f, -1.0f},
    {7.30f, 4.80f, 3.850f, 2.0f}, {0.90f, 10.10f, 5.300f, -2.0f},
    {4.60f, 5.10f, 1.400f, 1.0f}, {8.30f, 0.10f, 2.850f, -3.0f},
    {1.90f, 5.40f, 4.300f, 0.0f}, {5.60f, 0.40f, 0.400f, 3.0f},
    {9.30f, 5.70f, 1.850f, -1.0f}, {2.90f, 0.70f, 3.300f, 2.0f},
    {6.60f, 6.00f, 4.750f, -2.0f}, {0.20f, 1.00f, 0.850f, 1.0f},
    {3.90f, 6.30f, 2.300f, -3.0f}, {7.60f, 1.30f, 3.750f, 0.0f},
    {1.20f, 6.60f, 5.200f, 3.0f}, {4.90f, 1.60f, 1.300f, -1.0f},
    {8.60f, 6.90f, 2.750f, 2.0f}, {2.20f, 1.90f, 4.200f, -2.0f},
    {5.90f, 7.20f, 0.300f, 1.0f}, {9.60f, 2.20f, 1.750f, -3.0f},
    {3.20f, 7.50f, 3.200f, 0.0f}, {6.90f, 2.50f, 4.650f, 3.0f},
    {0.50f, 7.80f, 0.750f, -1.0f}, {4.20f, 2.80f, 2.200f, 2.0f},
    {7.90f, 8.10f, 3.650f, -2.0f}, {1.50f, 3.10f, 5.100f, 1.0f},
    {5.20f, 8.40f, 1.200f, -3.0f}, {8.90f, 3.40f, 2.650f, 0.0f},
    {2.50f, 8.70f, 4.100f, 3.0f}, {6.20f, 3.70f, 5.550f, -1.0f},
    {9.90f, 9.00f, 1.650f, 2.0f}, {3.50f, 4.00f, 3.100f, -2.0f},
    {7.20f, 9.30f, 4.550f, 1.0f}, {0.80f, 4.30f, 0.650f, -3.0f}
};

extern "C" __global__ void cp(float *potential, int width, int count, float spacing)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float px = spacing * x, qx = spacing * (x + 16), py = spacing * y;
    float first = potential[y * width + x], second = potential[y * width + x + 16];
    for (int n = 0; n < count; n++) {
        float dy = py - atoms[n][1];
        float away = fmaf(dy, dy, atoms[n][2]);
        float near = px - atoms[n][0], far = qx - atoms[n][0];
        first += atoms[n][3] / sqrtf(fmaf(near, near, away));
        second += atoms[n][3] / sqrtf(fmaf(far, far, away));
    }
    potential[y * width + x] = first;
    potential[y * width + x + 16] = second;
}
