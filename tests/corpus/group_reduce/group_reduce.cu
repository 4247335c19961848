// Reductions by cooperative groups: tiles of 32 and 8 lanes, barrier.sync of the CTA, sums across warps.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void group_reduce(const int *in, int *cta_sums, int *tile_max, int *ranks)
{
    __shared__ int partial[8];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> octet = cg::tiled_partition<8>(warp);
    int i = blockIdx.x * blockDim.x + block.thread_rank();
    int sum = in[i], largest = in[i];
    for (int offset = warp.size() / 2; offset > 0; offset /= 2)
        sum += warp.shfl_down(sum, offset);
    if (warp.thread_rank() == 0)
        partial[warp.meta_group_rank()] = sum;
    cg::sync(block);
    if (block.thread_rank() == 0) {
        int total = 0;
        for (unsigned w = 0; w < blockDim.x / 32; w++)
            total += partial[w];
        cta_sums[blockIdx.x] = total;
    }
    for (int mask = octet.size() / 2; mask > 0; mask /= 2)
        largest = max(largest, octet.shfl_xor(largest, mask));
    if (octet.thread_rank() == 0)
        tile_max[i / 8] = largest;
    if (in[i] & 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        ranks[i] = active.thread_rank() * 100 + active.size();
    }
}
