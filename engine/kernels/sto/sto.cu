// MD5 of short messages, as StoreGPU hashes chunks: words pass through shared memory, one block of 64 steps per message.
#define THREADS 128
#define WORDS 13

__constant__ unsigned int sines[64] = {
    0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 0xf57c0fafu, 0x4787c62au, 0xa8304613u, 0xfd469501u,
    0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 0x6b901122u, 0xfd987193u, 0xa679438eu, 0x49b40821u,
    0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 0xd62f105du, 0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u,
    0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu, 0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au,
    0xfffa3942u, 0x8771f681u, 0x6d9d6122u, 0xfde5380cu, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u,
    0x289b7ec6u, 0xeaa127fau, 0xd4ef3085u, 0x04881d05u, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u,
    0xf4292244u, 0x432aff97u, 0xab9423a7u, 0xfc93a039u, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u,
    0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu, 0xeb86d391u
};

__device__ unsigned int turned(unsigned int x, int by)
{
    return x << by | x >> (32 - by);
}

extern "C" __global__ void sto(const unsigned int *messages, unsigned int *digests, int each)
{
    __shared__ unsigned int words[WORDS][THREADS];
    const int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    int thread = threadIdx.x, total = gridDim.x * THREADS * each;
    for (int round = 0; round < each; round++) {
        int number = (blockIdx.x * each + round) * THREADS + thread;
        __syncthreads();
        for (int w = 0; w < WORDS; w++)
            words[w][thread] = messages[w * total + number];
        __syncthreads();
        unsigned int a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
        #pragma unroll
        for (int i = 0; i < 64; i++) {
            unsigned int mixed;
            int which;
            if (i < 16) {
                mixed = d ^ (b & (c ^ d));
                which = i;
            } else if (i < 32) {
                mixed = c ^ (d & (b ^ c));
                which = (5 * i + 1) % 16;
            } else if (i < 48) {
                mixed = b ^ c ^ d;
                which = (3 * i + 5) % 16;
            } else {
                mixed = c ^ (b | ~d);
                which = 7 * i % 16;
            }
            unsigned int word = which < WORDS ? words[which][thread] : which == 13 ? 0x80u : which == 14 ? 32u * WORDS : 0u;
            unsigned int next = b + turned(a + mixed + sines[i] + word, turns[i / 16][i % 4]);
            a = d;
            d = c;
            c = b;
            b = next;
        }
        digests[number] = a + 0x67452301u;
        digests[total + number] = b + 0xefcdab89u;
        digests[2 * total + number] = c + 0x98badcfeu;
        digests[3 * total + number] = d + 0x10325476u;
    }
}
