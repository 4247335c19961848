// Vector loads and stores: float4, float2, double2, uchar4, ushort2, int4 through global, shared and read-only paths.
extern "C" __global__ void vector_access(const float4 *f4, const double2 *d2, const uchar4 *c4, const ushort2 *s2,
                                         const int4 *i4, float4 *f4_out, double2 *d2_out, uchar4 *c4_out,
                                         ushort2 *s2_out, int4 *i4_out, float2 *f2_out)
{
    __shared__ float4 tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = f4[i];
    __syncthreads();
    float4 f = tile[63 - t];
    f4_out[i] = make_float4(f.w, f.z * 2.0f, f.y, f.x + 1.0f);
    f2_out[i] = make_float2(f.x - f.y, f.z);
    double2 d = d2[i];
    d2_out[i] = make_double2(d.y, d.x * 0.5);
    uchar4 c = c4[i];
    c4_out[i] = make_uchar4(c.w, c.x + 1, c.y ^ c.z, c.z);
    ushort2 s = __ldg(&s2[i]);
    s2_out[i] = make_ushort2(s.y, s.x * 3);
    int4 v = i4[i];
    i4_out[i] = make_int4(v.x + v.y, v.y - v.z, v.z & v.w, -v.w);
}
