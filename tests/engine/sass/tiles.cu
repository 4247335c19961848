// C = A B of halves, with sums in f32, by one warp: tiles of k are copied to shared memory while the one before is multiplied.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cstdint>

constexpr int ROWS = 16, COLUMNS = 16, DEPTH = 64, STEP = 16;

extern "C" __global__ void tiles(const half *a, const half *b, float *c) {
    __shared__ alignas(16) half rows[2][ROWS * STEP], columns[2][STEP * COLUMNS];
    int lane = threadIdx.x, line = lane / 2, part = lane % 2 * 8;
    float sums[2][4] = {};
    auto copy = [&](int step) {
        __pipeline_memcpy_async(&rows[step % 2][line * STEP + part], a + line * DEPTH + step * STEP + part, 16);
        __pipeline_memcpy_async(&columns[step % 2][line * COLUMNS + part], b + (step * STEP + line) * COLUMNS + part, 16);
        __pipeline_commit();
    };
    copy(0);
    for (int step = 0; step < DEPTH / STEP; ++step) {
        if (step + 1 < DEPTH / STEP) {
            copy(step + 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        uint32_t x[4], y[4];
        uint32_t at = __cvta_generic_to_shared(rows[step % 2] + lane % 16 * STEP + lane / 16 * 8);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at));
        at = __cvta_generic_to_shared(columns[step % 2] + lane % 16 * COLUMNS + lane / 16 * 8);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(at));
        for (int side = 0; side < 2; ++side)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(sums[side][0]), "+f"(sums[side][1]), "+f"(sums[side][2]), "+f"(sums[side][3])
                         : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * side]), "r"(y[2 * side + 1]));
        __syncthreads();
    }
    for (int side = 0; side < 2; ++side)
        for (int k = 0; k < 4; ++k)
            c[(lane / 4 + k / 2 * 8) * COLUMNS + side * 8 + lane % 4 * 2 + k % 2] = sums[side][k];
}
