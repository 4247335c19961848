// Lennard-Jones forces by neighbour lists, one thread per atom, as molecular dynamics does it.
extern "C" __global__ void lj(const float *place, const int *neighbour, float *force, int atoms, int neighbours)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms)
        return;
    float x = place[i], y = place[atoms + i], z = place[2 * atoms + i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int k = 0; k < neighbours; k++) {
        int j = neighbour[k * atoms + i];
        float dx = x - place[j], dy = y - place[atoms + j], dz = z - place[2 * atoms + j];
        float square = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.5f)));
        if (square < 100.0f) {
            float inverse = 1.0f / square;
            float sixth = inverse * inverse * inverse;
            float strength = inverse * sixth * fmaf(1.5f, sixth, -2.0f);
            fx = fmaf(strength, dx, fx);
            fy = fmaf(strength, dy, fy);
            fz = fmaf(strength, dz, fz);
        }
    }
    force[i] = fx;
    force[atoms + i] = fy;
    force[2 * atoms + i] = fz;
}
