// Double precision: correctly rounded operations, and library functions with their slow paths (.func, local memory).
extern "C" __global__ void f64_math(const double *a, const double *b, const double *angle, double *exact,
                                    double *library, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = a[i], y = b[i];
    exact[i] = x / y;
    exact[n + i] = sqrt(fabs(x));
    exact[2 * n + i] = fma(x, y, -1.0);
    exact[3 * n + i] = __drcp_rn(x);
    exact[4 * n + i] = fmin(x, y) - fmax(x, 0.5);
    exact[5 * n + i] = x > y ? floor(x) : ceil(y);
    library[i] = sin(angle[i]);
    library[n + i] = cos(angle[i]);
    library[2 * n + i] = pow(fabs(x), y);
    library[3 * n + i] = exp(x);
    library[4 * n + i] = log(fabs(x));
    library[5 * n + i] = cbrt(x);
}
