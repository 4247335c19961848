// What it would save to open a centre at a point: the inner kernel of Rodinia's streamcluster, a thread per point.
#define MOST_DIMENSIONS 256

// savings: per point a row, by centre what keeping the point costs there; last what the point itself would save.
extern "C" __global__ void gain(const float *coordinates, const float *weight, const float *cost, const int *centre_of,
                                float *savings, unsigned char *switched, int points, int dimensions, int centres,
                                int candidate)
{
    __shared__ float place[MOST_DIMENSIONS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int d = threadIdx.x; d < dimensions; d += blockDim.x)
        place[d] = coordinates[d * points + candidate];
    __syncthreads();
    if (i >= points)
        return;
    float sum = 0.0f;
    for (int d = 0; d < dimensions; d++) {
        float apart = coordinates[d * points + i] - place[d];
        sum = fmaf(apart, apart, sum);
    }
    float mine = sum * weight[i], now = cost[i];
    float *row = savings + i * (centres + 1);
    if (mine < now) {
        switched[i] = 1;
        row[centres] = mine - now;
    } else {
        row[centre_of[i]] = now - mine;
    }
}
