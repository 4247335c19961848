// Coulomb potential with a cut-off, as Parboil's cutcp: a CTA has a cube of 8 x 8 x 8 points of a lattice and takes the
// atoms of its own bin and of the 26 around through shared memory; a thread has four points above each other.
#define SPACING 0.5f
#define SIDE 4.0f
#define BINS 27
#define MOST_ATOMS 8

// bins: atoms by bin, each with its place within it as parts of the side, and its charge; a border of bins all around.
extern "C" __global__ void cutcp(const float4 *bins, float *potential, int atoms)
{
    __shared__ float4 atom[BINS * MOST_ATOMS];
    int t = (threadIdx.z * 2 + threadIdx.y) * 8 + threadIdx.x;
    int across = gridDim.x + 2, down = gridDim.y + 2;
    for (int i = t; i < BINS * atoms; i += 128) {
        int bin = i / atoms, bx = bin % 3, by = bin / 3 % 3, bz = bin / 9;
        int from = ((blockIdx.z + bz) * down + blockIdx.y + by) * across + blockIdx.x + bx;
        float4 a = bins[from * atoms + i % atoms];
        a.x = (a.x + (bx - 1)) * SIDE;
        a.y = (a.y + (by - 1)) * SIDE;
        a.z = (a.z + (bz - 1)) * SIDE;
        atom[i] = a;
    }
    __syncthreads();
    float x = threadIdx.x * SPACING, z = threadIdx.z * SPACING, y = threadIdx.y * (4 * SPACING);
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
    for (int i = 0; i < BINS * atoms; i++) {
        float4 a = atom[i];
        float dx = a.x - x, dz = a.z - z, dy = a.y - y;
        float flat = fmaf(dx, dx, __fmul_rn(dz, dz));
#pragma unroll
        for (int p = 0; p < 4; p++) {
            float square = fmaf(dy, dy, flat);
            if (square < SIDE * SIDE) {
                float part = fmaf(square, -1.0f / (SIDE * SIDE), 1.0f);
                sum[p] = fmaf(__fmul_rn(__fmul_rn(a.w, rsqrtf(square)), part), part, sum[p]);
            }
            dy -= SPACING;
        }
    }
    int row = blockIdx.y * 8 + threadIdx.y * 4, plane = blockIdx.z * 8 + threadIdx.z;
#pragma unroll
    for (int p = 0; p < 4; p++)
        potential[(plane * gridDim.y * 8 + row + p) * gridDim.x * 8 + blockIdx.x * 8 + threadIdx.x] = sum[p];
}
