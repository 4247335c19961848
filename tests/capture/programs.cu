// Own small programs for the tests, one by its number: what it does is checked by itself, and said by its exit code.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__managed__ int total;
__device__ float table[4] = {1, 2, 3, 4};

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void count(int n) {
  if (threadIdx.x < n) atomicAdd(&total, 1);
  table[threadIdx.x & 3] *= 2;
}
__global__ void say(int n) { printf("thread %d of %d\n", threadIdx.x, n); }
__global__ void check(int n) { assert(threadIdx.x < n); }
__global__ void fetch(cudaTextureObject_t t, float *out, int w) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * w + x] = tex2D<float>(t, x, y);
}
__global__ void draw(cudaSurfaceObject_t s, int w) { surf2Dwrite((float)(blockIdx.x * w + threadIdx.x), s, threadIdx.x * 4, blockIdx.x); }
__global__ void endless(volatile int *p) { while (*p == 0) {} }

static int vectors(float *a, float *b, float *c, int n) {
  for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
  add<<<(n + 63) / 64, 64>>>(a, b, c, n);
  add<<<(n + 63) / 64, 64>>>(a, c, c, n);
  if (cudaDeviceSynchronize()) return 10;
  for (int i = 0; i < n; i++) if (c[i] != 4 * i) return 11;
  return 3;
}

int main(int argc, char **argv) {
  const int n = 200;
  float *p[3], *h = (float *)malloc(3 * 4 * n);
  switch (atoi(argv[1])) {
    case 0:  // managed memory, an exit code of its own
      for (int k = 0; k < 3; k++) if (cudaMallocManaged(&p[k], 4 * n)) return 20;
      return vectors(p[0], p[1], p[2], n);
    case 1:  // pinned memory
      for (int k = 0; k < 3; k++) if (cudaMallocHost(&p[k], 4 * n)) return 20;
      return vectors(p[0], p[1], p[2], n);
    case 2: {  // any memory, registered: its own address is the device's
      if (cudaHostRegister(h, 3 * 4 * n, cudaHostRegisterMapped) || cudaHostGetDevicePointer(&p[0], h, 0)) return 20;
      int code = vectors(p[0], p[0] + n, p[0] + 2 * n, n);
      if (cudaHostUnregister(h) || h[2 * n + 7] != 28) return 21;
      for (size_t size = 4096; size <= 65536; size += 4096) {  // wherever the heap puts what the runtime needs meanwhile
        char *q = (char *)malloc(size), *hole = (char *)malloc(4096 + size);
        for (size_t i = 0; i < size; i++) q[i] = (char)(i * 7);
        if (cudaHostRegister(q, size, cudaHostRegisterMapped)) return 22;
        free(hole);
        if (cudaHostUnregister(q)) return 23;
        for (size_t i = 0; i < size; i++) if (q[i] != (char)(i * 7)) return 24;
        free(q);
      }
      free(h);
      return code;
    }
    case 3: {  // symbols, managed ones among them
      total = 5;
      float got[4], two[2] = {10, 20};
      if (cudaMemcpyToSymbol(table, two, 8, 8)) return 20;
      count<<<1, 4>>>(3);
      if (cudaMemcpyFromSymbol(got, table, 16)) return 21;
      return total == 8 && got[0] == 2 && got[2] == 20 && got[3] == 40 ? 3 : 22;
    }
    case 4: {  // a fault comes with the next call that waits, and stays until a reset
      if (cudaMalloc(&p[0], 4 * n)) return 20;
      add<<<4, 128>>>(p[0], p[0], p[0], 2 * n);
      if (cudaGetLastError() != cudaSuccess) return 21;
      if (cudaDeviceSynchronize() != cudaErrorIllegalAddress || cudaMalloc(&p[1], 4) != cudaErrorIllegalAddress) return 22;
      if (cudaDeviceReset() || cudaMalloc(&p[0], 4 * n)) return 23;
      add<<<4, 64>>>(p[0], p[0], p[0], n);
      return cudaDeviceSynchronize() ? 24 : 3;
    }
    case 5:  // an assertion, and a launch that no GPU takes
      check<<<1, 2048>>>(1);
      if (cudaGetLastError() != cudaErrorInvalidConfiguration) return 21;
      check<<<1, 32>>>(5);
      return cudaDeviceSynchronize() == cudaErrorAssert ? 3 : 20;
    case 6:  // what the kernel prints stands between what the program prints
      printf("before\n");
      say<<<1, 2>>>(2);
      cudaDeviceSynchronize();
      printf("after\n");
      return 3;
    case 7: {  // a texture over an array, and one over linear memory drawn by a surface
      const int w = 16, rows = 4;
      cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
      cudaArray_t array;
      for (int i = 0; i < w * rows; i++) h[i] = i * i;
      if (cudaMallocArray(&array, &f, w, rows, cudaArraySurfaceLoadStore) || cudaMalloc(&p[0], 4 * w * rows)) return 20;
      if (cudaMemcpy2DToArray(array, 0, 0, h, w * 4, w * 4, rows, cudaMemcpyHostToDevice)) return 21;
      cudaResourceDesc r = {};
      r.resType = cudaResourceTypeArray, r.res.array.array = array;
      cudaTextureDesc t = {};
      cudaTextureObject_t texture;
      cudaSurfaceObject_t surface;
      if (cudaCreateTextureObject(&texture, &r, &t, nullptr) || cudaCreateSurfaceObject(&surface, &r)) return 22;
      fetch<<<rows, w>>>(texture, p[0], w);
      if (cudaMemcpy(h + w * rows, p[0], 4 * w * rows, cudaMemcpyDeviceToHost) || memcmp(h, h + w * rows, 4 * w * rows)) return 23;
      draw<<<rows, w>>>(surface, w);
      fetch<<<rows, w>>>(texture, p[0], w);
      if (cudaMemcpy(h, p[0], 4 * w * rows, cudaMemcpyDeviceToHost)) return 24;
      for (int i = 0; i < w * rows; i++) if (h[i] != i) return 25;
      return 3;
    }
    case 8: {  // what is not there says so
      cudaMemPool_t pool;
      return cudaDeviceGetDefaultMemPool(&pool, 0) == cudaErrorNotSupported ? 3 : 20;
    }
    case 9: {  // events show modelled time, occupancy the machine's
      cudaEvent_t begin, end;
      float ms;
      int blocks;
      if (cudaMalloc(&p[0], 4 * n) || cudaEventCreate(&begin) || cudaEventCreate(&end) || cudaEventRecord(begin)) return 20;
      add<<<1, 64>>>(p[0], p[0], p[0], n);
      if (cudaEventRecord(end) || cudaEventSynchronize(end) || cudaEventElapsedTime(&ms, begin, end)) return 21;
      if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0)) return 22;
      return ms > 0 && ms < 1 && blocks == 6 ? 3 : 23;
    }
    case 10:  // for ever, after it has said its number
      if (cudaMallocManaged(&p[0], 4)) return 20;
      *(int *)p[0] = 0;
      printf("%d\n", getpid());
      fflush(stdout);
      endless<<<1, 32>>>((int *)p[0]);
      return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 3 : 21;
    case 11:
      abort();
  }
  return 1;
}
