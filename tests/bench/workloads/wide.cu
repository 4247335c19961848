// Five kernels measured on GPGPU-Sim that wait for memory in different ways: the loops of PolyBench's gesummv, atax and 2DCONV,
// Rodinia's nn and NVIDIA's BlackScholes sample, in our own words. wide.ptx is `nvcc -ptx wide.cu`, CUDA 13.0.
extern "C" {
__global__ void gesummv(int n, float alpha, float beta, float *A, float *B, float *tmp, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { for (int j = 0; j < n; j++) { tmp[i] += A[i * n + j] * x[j]; y[i] += B[i * n + j] * x[j]; } y[i] = alpha * tmp[i] + beta * y[i]; }
}
__global__ void atax1(int nx, int ny, float *A, float *x, float *tmp) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) { for (int j = 0; j < ny; j++) tmp[i] += A[i * ny + j] * x[j]; }
}
__global__ void atax2(int nx, int ny, float *A, float *y, float *tmp) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < ny) { for (int i = 0; i < nx; i++) y[j] += A[i * ny + j] * tmp[i]; }
}
__global__ void conv2d(int ni, int nj, float *A, float *B) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  float c11 = +0.2f, c21 = +0.5f, c31 = -0.8f, c12 = -0.3f, c22 = +0.6f, c32 = -0.9f, c13 = +0.4f, c23 = +0.7f, c33 = +0.10f;
  if (i < ni - 1 && j < nj - 1 && i > 0 && j > 0)
    B[i * nj + j] = c11 * A[(i - 1) * nj + (j - 1)] + c21 * A[(i - 1) * nj + (j + 0)] + c31 * A[(i - 1) * nj + (j + 1)]
      + c12 * A[(i + 0) * nj + (j - 1)] + c22 * A[(i + 0) * nj + (j + 0)] + c32 * A[(i + 0) * nj + (j + 1)]
      + c13 * A[(i + 1) * nj + (j - 1)] + c23 * A[(i + 1) * nj + (j + 0)] + c33 * A[(i + 1) * nj + (j + 1)];
}
struct LatLong { float lat, lng; };
__global__ void euclid(LatLong *loc, float *dist, int n, float lat, float lng) {
  int id = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  LatLong *l = loc + id; float *d = dist + id;
  if (id < n) *d = sqrtf((lat - l->lat) * (lat - l->lat) + (lng - l->lng) * (lng - l->lng));
}
__device__ inline float cndGPU(float d) {
  const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f, R = 0.39894228040143267793994605993438f;
  float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
  float cnd = R * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
  if (d > 0) cnd = 1.0f - cnd;
  return cnd;
}
__device__ inline void body(float &c, float &p, float S, float X, float T, float R, float V) {
  float sqrtT = __fdividef(1.0F, rsqrtf(T));
  float d1 = __fdividef(__logf(S / X) + (R + 0.5f * V * V) * T, V * sqrtT), d2 = d1 - V * sqrtT;
  float a = cndGPU(d1), b = cndGPU(d2), e = __expf(-R * T);
  c = S * a - X * e * b; p = X * e * (1.0f - b) - S * (1.0f - a);
}
__global__ void blackscholes(float2 *C, float2 *P, float2 *S, float2 *X, float2 *T, float R, float V, int n) {
  int o = blockDim.x * blockIdx.x + threadIdx.x;
  if (o < n / 2) { float c1, c2, p1, p2; body(c1, p1, S[o].x, X[o].x, T[o].x, R, V); body(c2, p2, S[o].y, X[o].y, T[o].y, R, V);
    C[o] = make_float2(c1, c2); P[o] = make_float2(p1, p2); }
}
}
