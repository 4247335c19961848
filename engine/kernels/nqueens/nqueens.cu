// Count the solutions of n queens: each thread has the first three rows given and walks the rest with a stack of masks.
#define DEPTH 10
#define THREADS 96

extern "C" __global__ void nqueens(int *solutions, int n)
{
    __shared__ unsigned int columns[DEPTH][THREADS], left[DEPTH][THREADS], right[DEPTH][THREADS], open[DEPTH][THREADS];
    int t = threadIdx.x, number = blockIdx.x * THREADS + t, count = 0;
    unsigned int all = (1u << n) - 1;
    unsigned int first = 1u << number / n / n, second = 1u << number / n % n, third = 1u << number % n;
    bool possible = number < n * n * n && !(second & (first | first << 1 | first >> 1))
                 && !(third & (first | first << 2 | first >> 2 | second | second << 1 | second >> 1));
    if (possible) {
        int depth = 0;
        columns[0][t] = first | second | third;
        left[0][t] = ((first << 1 | second) << 1 | third) << 1;
        right[0][t] = ((first >> 1 | second) >> 1 | third) >> 1;
        open[0][t] = all & ~(columns[0][t] | left[0][t] | right[0][t]);
        while (depth >= 0) {
            unsigned int places = open[depth][t];
            if (places == 0) {
                depth--;
                continue;
            }
            unsigned int queen = places & (0u - places);
            open[depth][t] = places ^ queen;
            if (depth == n - 4) {
                count++;
                continue;
            }
            columns[depth + 1][t] = columns[depth][t] | queen;
            left[depth + 1][t] = (left[depth][t] | queen) << 1;
            right[depth + 1][t] = (right[depth][t] | queen) >> 1;
            depth++;
            open[depth][t] = all & ~(columns[depth][t] | left[depth][t] | right[depth][t]);
        }
    }
    solutions[number] = count;
}
