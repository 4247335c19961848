// Ray tracing as the RAY of ISPASS 2009: spheres on a chequered plane under one light, with shadows and reflections.
#define FAR 100.0f
#define NEAR 0.001f

struct Vector {
    float x, y, z;
};

__device__ float dot(Vector a, Vector b)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, __fmul_rn(a.z, b.z)));
}

// Return a + t b.
__device__ Vector along(Vector a, float t, Vector b)
{
    return {fmaf(t, b.x, a.x), fmaf(t, b.y, a.y), fmaf(t, b.z, a.z)};
}

// Return a sphere's centre, from four numbers in 0..1; its radius goes to *radius.
__device__ Vector sphere(const float4 *spheres, int i, float *radius)
{
    float4 s = spheres[i];
    *radius = fmaf(s.w, 0.5f, 0.3f);
    return {fmaf(s.x, 4.0f, -2.0f), fmaf(s.y, 2.0f, -0.8f), fmaf(s.z, 5.0f, 1.0f)};
}

// Return how far along a ray the nearest sphere is met, FAR if none nearer than that; which goes to *which.
__device__ float nearest(const float4 *spheres, int count, Vector from, Vector to, int *which)
{
    float least = FAR;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        float radius;
        Vector apart = along(sphere(spheres, i, &radius), -1.0f, from);
        float b = dot(apart, to);
        float inside = fmaf(b, b, fmaf(radius, radius, -dot(apart, apart)));
        if (inside > 0.0f) {
            float t = b - sqrtf(inside);
            if (t > NEAR && t < least) {
                least = t;
                *which = i;
            }
        }
    }
    return least;
}

extern "C" __global__ void ray(const float4 *spheres, const float *colours, unsigned int *image, int count, int bounces)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    Vector from = {0.0f, 0.5f, -4.0f};
    Vector to = {(2 * x + 1 - width) / (float)width, (height - 2 * y - 1) / (float)width, 2.0f};
    to = along({0.0f, 0.0f, 0.0f}, 1.0f / sqrtf(dot(to, to)), to);
    Vector light = {0.577350259f, 0.577350259f, -0.577350259f};
    float red = 0.0f, green = 0.0f, blue = 0.0f, weight = 1.0f;
#pragma unroll 1
    for (int bounce = 0; bounce < bounces; bounce++) {
        int which = -1, other = -1;
        float t = nearest(spheres, count, from, to, &which);
        if (to.y < 0.0f) {
            float down = (-1.0f - from.y) / to.y;
            if (down > NEAR && down < t) {
                t = down;
                which = -1;
            }
        }
        if (t >= FAR) {
            red = fmaf(weight, 0.5f, red);
            green = fmaf(weight, 0.7f, green);
            blue = fmaf(weight, 1.0f, blue);
            break;
        }
        Vector at = along(from, t, to), normal = {0.0f, 1.0f, 0.0f};
        float r, g, b;
        if (which >= 0) {
            float radius;
            Vector apart = along(at, -1.0f, sphere(spheres, which, &radius));
            normal = along({0.0f, 0.0f, 0.0f}, 1.0f / radius, apart);
            r = colours[3 * which];
            g = colours[3 * which + 1];
            b = colours[3 * which + 2];
        } else {
            r = g = b = (int)floorf(at.x) + (int)floorf(at.z) & 1 ? 0.9f : 0.2f;
        }
        Vector start = along(at, NEAR, normal);
        float bright = fmaxf(dot(normal, light), 0.0f);
        if (bright > 0.0f && nearest(spheres, count, start, light, &other) < FAR)
            bright = 0.0f;
        bright = __fmul_rn(fmaf(bright, 0.8f, 0.2f), weight);
        red = fmaf(bright, r, red);
        green = fmaf(bright, g, green);
        blue = fmaf(bright, b, blue);
        weight *= 0.5f;
        from = start;
        to = along(to, -2.0f * dot(to, normal), normal);
    }
    unsigned int packed = (unsigned int)(fminf(red, 1.0f) * 255.0f) | (unsigned int)(fminf(green, 1.0f) * 255.0f) << 8
                        | (unsigned int)(fminf(blue, 1.0f) * 255.0f) << 16;
    image[y * width + x] = packed;
}
