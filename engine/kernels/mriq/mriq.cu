// MRI reconstruction's matrix Q, as in Parboil: every voxel sums cosines and sines over samples in constant memory.
#define SAMPLES 32

__constant__ float4 samples[SAMPLES];  // place in k-space times 2 pi, and squared magnitude of phi

extern "C" __global__ void mriq(const float *x, const float *y, const float *z, float *q_real, float *q_imag,
                                int first, int count)
{
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float vx = x[voxel], vy = y[voxel], vz = z[voxel];
    float real = q_real[voxel], imag = q_imag[voxel];
#pragma unroll 2
    for (int k = first; k < first + count; k++) {
        float4 sample = samples[k];
        float angle = sample.x * vx + sample.y * vy + sample.z * vz;
        real += sample.w * __cosf(angle);
        imag += sample.w * __sinf(angle);
    }
    q_real[voxel] = real;
    q_imag[voxel] = imag;
}
