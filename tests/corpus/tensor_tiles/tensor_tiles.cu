// Products of small matrices as warps do them on tensor cores: every order in memory, and every type of element.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

// C = A B + first, a tile of M x N x K whose lines lie `stride` elements apart; `sums` in rows of N, or columns of M.
template <int M, int N, int K, typename T, typename LayoutA, typename LayoutB, typename Sum, typename Element>
__device__ void multiply(const Element *a, const Element *b, Sum *sums, int stride, Sum first, layout_t order)
{
    fragment<matrix_a, M, N, K, T, LayoutA> left;
    fragment<matrix_b, M, N, K, T, LayoutB> right;
    fragment<accumulator, M, N, K, Sum> total;
    fill_fragment(total, first);
    load_matrix_sync(left, a, stride);
    load_matrix_sync(right, b, stride);
    mma_sync(total, left, right, total);
    store_matrix_sync(sums, total, order == mem_row_major ? N : M, order);
}

extern "C" __global__ void of_halves(const half *a, const half *b, float *c, half *narrow)
{
    multiply<16, 16, 16, half, row_major, row_major>(a, b, c, 32, 1.0f, mem_row_major);
    multiply<16, 16, 16, half, row_major, col_major>(a, b, c + 256, 32, 1.0f, mem_col_major);
    multiply<16, 16, 16, half, col_major, row_major>(a, b, c + 512, 32, 1.0f, mem_row_major);
    multiply<32, 8, 16, half, row_major, row_major>(a, b, c + 768, 32, 0.0f, mem_row_major);
    multiply<8, 32, 16, half, row_major, row_major>(a, b, c + 1024, 32, 0.0f, mem_row_major);
    multiply<16, 16, 16, half, row_major, row_major>(a, b, narrow, 32, __float2half(0.0f), mem_col_major);
}

extern "C" __global__ void of_bytes(const signed char *a, const signed char *b, int *c)
{
    auto ua = reinterpret_cast<const unsigned char *>(a), ub = reinterpret_cast<const unsigned char *>(b);
    multiply<16, 16, 16, signed char, row_major, row_major>(a, b, c, 32, 5, mem_row_major);
    multiply<16, 16, 16, unsigned char, row_major, col_major>(ua, ub, c + 256, 32, 0, mem_row_major);
}

extern "C" __global__ void of_others(const float *a, const float *b, float *c, const double *da, const double *db, double *dc)
{
    __shared__ __nv_bfloat16 left[256], right[256];
    for (int i = threadIdx.x; i < 256; i += 32) {
        left[i] = __float2bfloat16(a[i / 16 * 32 + i % 16]);
        right[i] = __float2bfloat16(b[i / 16 * 32 + i % 16]);
    }
    __syncwarp();
    multiply<16, 16, 16, __nv_bfloat16, row_major, row_major>(left, right, c, 16, 0.0f, mem_row_major);
    multiply<16, 16, 8, precision::tf32, row_major, row_major>(a, b, c + 256, 32, 0.0f, mem_row_major);
    multiply<8, 8, 4, double, row_major, col_major>(da, db, dc, 32, 0.0, mem_row_major);
}
