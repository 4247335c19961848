// The correlation of columns, as PolyBench's corr: means, deviations, normed data, then the products of all pairs.
extern "C" __global__ void means(const float *data, float *mean, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++)
            sum += data[i * cols + j];
        mean[j] = sum / rows;
    }
}

extern "C" __global__ void deviations(const float *data, const float *mean, float *deviation, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++) {
            float apart = data[i * cols + j] - mean[j];
            sum = fmaf(apart, apart, sum);
        }
        float root = sqrtf(sum / rows);
        deviation[j] = root <= 0.005f ? 1.0f : root;
    }
}

extern "C" __global__ void centre(float *data, const float *mean, const float *deviation, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols)
        data[i * cols + j] = (data[i * cols + j] - mean[j]) / (sqrtf(rows) * deviation[j]);
}

extern "C" __global__ void products(const float *data, float *result, int rows, int cols)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= cols)
        return;
    for (int b = a; b < cols; b++) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++)
            sum = fmaf(data[i * cols + a], data[i * cols + b], sum);
        result[a * cols + b] = sum;
        result[b * cols + a] = sum;
    }
}
