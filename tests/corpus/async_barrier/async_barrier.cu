// Asynchronous barriers in shared memory: phases waited for by token and by parity, and a pipeline of copies.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void reverse_parts(const int *in, int *out)
{
    const int parts = 4, size = 64;
    __shared__ alignas(16) int stage[2][size];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    in += blockIdx.x * parts * size;
    out += blockIdx.x * parts * size;
    for (int ahead = 0, part = 0; part < parts; ++part) {
        for (; ahead < parts && ahead < part + 2; ++ahead) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[ahead % 2], in + ahead * size, cuda::aligned_size_t<16>(sizeof(stage[0])), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[part * size + threadIdx.x] = 3 * stage[part % 2][size - 1 - threadIdx.x] + 1;
        pipe.consumer_release();
    }
}

extern "C" __global__ void count_phases(int *counts)
{
    __shared__ alignas(Barrier) char room[3][sizeof(Barrier)];
    __shared__ int sum;
    Barrier *all = reinterpret_cast<Barrier *>(room[0]);
    Barrier *first_warp = reinterpret_cast<Barrier *>(room[1]);
    Barrier *three = reinterpret_cast<Barrier *>(room[2]);
    if (threadIdx.x == 0) {
        init(all, 64);
        init(first_warp, 33);
        init(three, 3);
        sum = 0;
    }
    __syncthreads();
    for (int round = 1; round <= 10; ++round) {
        atomicAdd(&sum, 1);
        all->arrive_and_wait();
        if (threadIdx.x == 0 && sum == 64 * round)
            ++counts[0];
        all->arrive_and_wait();
    }
    if (threadIdx.x < 32) {
        (void)first_warp->arrive();
    } else if (threadIdx.x == 32) {
        first_warp->arrive_and_wait();
        counts[1] = sum;
        auto token = three->arrive(2);
        (void)three->arrive(1);
        three->wait(std::move(token));
    }
    first_warp->wait_parity(false);
    three->wait_parity(false);
    atomicAdd(&counts[2], 1);
}
