// The covariance of columns of doubles, as PolyBench's covar: means, centred data, products of all pairs.
extern "C" __global__ void means_double(const double *data, double *mean, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        double sum = 0.0;
        for (int i = 0; i < rows; i++)
            sum += data[i * cols + j];
        mean[j] = sum / rows;
    }
}

extern "C" __global__ void centre_double(double *data, const double *mean, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols)
        data[i * cols + j] -= mean[j];
}

extern "C" __global__ void products_double(const double *data, double *result, int rows, int cols)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= cols)
        return;
    for (int b = a; b < cols; b++) {
        double sum = 0.0;
        for (int i = 0; i < rows; i++)
            sum = fma(data[i * cols + a], data[i * cols + b], sum);
        result[a * cols + b] = sum;
        result[b * cols + a] = sum;
    }
}
