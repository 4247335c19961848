// Functions that call themselves: twice, in turns, with an array at each depth, and through pointers.
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ double climb(int n, double x);
__device__ __noinline__ double fall(int n, double x)
{
    return n <= 0 ? x : climb(n - 1, x - 0.5) * 2.0 + n;
}
__device__ double climb(int n, double x)
{
    return n <= 0 ? -x : fall(n - 2, x + n) - fall(n - 3, x);
}

// Changes its caller's array and its own.
__device__ __noinline__ int stir(int *above, int depth)
{
    int own[4];
    for (int k = 0; k < 4; k++)
        own[k] = above[k] * 3 + k;
    if (depth > 0)
        own[depth & 3] += stir(own, depth - 1) + stir(above, depth - 2);
    above[(depth + 1) & 3] ^= own[1];
    return own[0] + own[1] * 3 + own[2] * 5 + own[3] * 7;
}

struct Term {
    __device__ virtual float at(float x) const = 0;
};
struct Leaf : Term {
    __device__ float at(float x) const override { return x; }
};
struct Sum : Term {
    const Term *left, *right;
    __device__ Sum(const Term *a, const Term *b) : left(a), right(b) {}
    __device__ float at(float x) const override { return left->at(x) + right->at(x * 2.0f); }
};

// Each calls itself by name and either through a table.
typedef int (*Step)(int, int);
__device__ int count(int n, int x);
__device__ int halve(int n, int x);
__device__ Step steps[2] = {halve, count};
__device__ __noinline__ int count(int n, int x)
{
    if (n <= 0)
        return x;
    int own = x * 3 + n, first = count(n - 3, x + 1);
    return first * 5 + steps[(n + x + 1) & 1](n - 1, own) * 3 + own;
}
__device__ __noinline__ int halve(int n, int x)
{
    if (n <= 0)
        return 5 - x;
    int own = n * x, first = halve(n - 2, x + 2);
    return first - steps[x & 1](n - 3, own & 31) * 2 + own;
}

extern "C" __global__ void recursion(unsigned *tower, double *turns, int *stirred, float *sums)
{
    int i = threadIdx.x;
    tower[i] = ackermann(i % 3, i % 5);
    turns[i] = climb(i % 9, i * 0.25) + fall(i % 4, 1.0);
    int start[4] = {i, i * 2, i * 3, i * 5};
    int last = stir(start, i % 4);
    stirred[i] = last + start[0] + start[1] * 11 + start[2] * 13 + start[3] * 17;
    Leaf leaf;
    Sum two(&leaf, &leaf), three(&two, &leaf), five(&two, &three);
    const Term *term = i & 1 ? &five : &three;
    sums[i] = term->at(i);
}

extern "C" __global__ void both_ways(int *mixed)
{
    int i = threadIdx.x;
    mixed[i] = count(i % 7, i) + halve(i % 5, i);
}
