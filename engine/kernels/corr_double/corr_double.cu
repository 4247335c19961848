// The correlation of columns of doubles, as PolyBench's corr: means, deviations, normed data, products of all pairs.
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

extern "C" __global__ void deviations_double(const double *data, const double *mean, double *deviation, int rows,
                                             int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        double sum = 0.0;
        for (int i = 0; i < rows; i++) {
            double apart = data[i * cols + j] - mean[j];
            sum = fma(apart, apart, sum);
        }
        double root = sqrt(sum / rows);
        deviation[j] = root <= 0.005 ? 1.0 : root;
    }
}

extern "C" __global__ void centre_double(double *data, const double *mean, const double *deviation, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols)
        data[i * cols + j] = (data[i * cols + j] - mean[j]) / (sqrt((double)rows) * deviation[j]);
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
