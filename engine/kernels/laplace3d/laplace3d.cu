// One Jacobi step of the Laplace equation in three dimensions, as the LPS benchmark: planes pass through shared memory.
#define WIDTH 32
#define HEIGHT 4

extern "C" __global__ void laplace3d(const float *u, float *w, int nx, int ny, int nz)
{
    __shared__ float plane[HEIGHT + 2][WIDTH + 2];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * WIDTH + tx, y = blockIdx.y * HEIGHT + ty;
    int size = nx * ny, at = y * nx + x;
    bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    float below = u[at], here = u[at], above = u[at];
    if (nz > 1)
        above = u[at + size];
    w[at] = here;
    for (int z = 1; z < nz; z++) {
        below = here;
        here = above;
        above = z + 1 < nz ? u[at + (z + 1) * size] : here;
        __syncthreads();
        plane[ty + 1][tx + 1] = here;
        if (ty == 0 && y > 0)
            plane[0][tx + 1] = u[at + z * size - nx];
        if (ty == HEIGHT - 1 && y < ny - 1)
            plane[HEIGHT + 1][tx + 1] = u[at + z * size + nx];
        if (tx == 0 && x > 0)
            plane[ty + 1][0] = u[at + z * size - 1];
        if (tx == WIDTH - 1 && x < nx - 1)
            plane[ty + 1][WIDTH + 1] = u[at + z * size + 1];
        __syncthreads();
        float next = here;
        if (inside && z < nz - 1) {
            float sum = plane[ty + 1][tx] + plane[ty + 1][tx + 2];
            sum = sum + plane[ty][tx + 1];
            sum = sum + plane[ty + 2][tx + 1];
            sum = sum + below;
            sum = sum + above;
            next = sum * 0.16666667f;
        }
        w[at + z * size] = next;
    }
}
