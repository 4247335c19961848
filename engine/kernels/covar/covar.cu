// The covariance of columns, as PolyBench's covar: means, centred data, then the products of all pairs.
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

extern "C" __global__ void centre(float *data, const float *mean, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols)
        data[i * cols + j] -= mean[j];
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
