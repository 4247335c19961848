// Parameters by value: a struct with an array indexed at run time, narrow scalars, 64-bit values, padding.
struct Filter {
    char kind;
    float taps[5];
    short bias;
    double scale;
    int4 corner;
};

extern "C" __global__ void struct_params(unsigned char shift, Filter filter, unsigned short limit, const int *in,
                                         signed char sign, double *out, long long big, float factor, bool negate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 5; k++)
        sum = fmaf(filter.taps[(k + i) % 5], (float)(in[i] >> shift), sum);
    double value = (double)sum * filter.scale + filter.bias + filter.corner.z;
    if (filter.kind == 'b')
        value += (double)(big >> 30) * factor;
    if (in[i] > limit)
        value = value * sign;
    out[i] = negate ? -value : value;
}
