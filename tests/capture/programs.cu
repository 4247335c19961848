// Own small programs for the tests, one by its number: what it does is checked by itself, and said by its exit code.
#include <assert.h>
#include <stdint.h>
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

// Two streams that meet are captured as one graph; launched twice, then with another kernel argument and a copy added.
static int graphs(float *h, int n) {
  cudaStream_t s, t;
  cudaEvent_t forked, joined;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t nodes[8], copied;
  cudaKernelNodeParams kernel;
  cudaGraphExecUpdateResultInfo info;
  size_t count = 8;
  float *a, *b;
  int called = 0;
  if (cudaStreamCreate(&s) || cudaStreamCreate(&t) || cudaEventCreate(&forked) || cudaEventCreate(&joined)) return 20;
  if (cudaMalloc(&a, 4 * n) || cudaMalloc(&b, 4 * n)) return 21;
  for (int i = 0; i < n; i++) h[i] = i;
  if (cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) || cudaMemcpyAsync(a, h, 4 * n, cudaMemcpyDefault, s)) return 22;
  if (cudaEventRecord(forked, s) || cudaStreamWaitEvent(t, forked) || cudaMemsetAsync(b, 0, 4 * n, t)) return 23;
  if (cudaEventRecord(joined, t) || cudaStreamWaitEvent(s, joined)) return 24;
  add<<<4, 64, 0, s>>>(a, b, b, n);
  if (cudaLaunchHostFunc(s, [](void *p) { ++*(int *)p; }, &called) || called) return 25;
  if (cudaStreamEndCapture(s, &graph) || cudaGraphGetNodes(graph, nodes, &count) || count != 4) return 26;
  if (cudaGraphInstantiate(&exec, graph, 0) || cudaGraphLaunch(exec, s) || cudaGraphLaunch(exec, s)) return 27;
  if (cudaMemcpy(h + n, b, 4 * n, cudaMemcpyDefault) || called != 2) return 28;
  for (int i = 0; i < n; i++) if (h[n + i] != i) return 29;
  if (cudaGraphKernelNodeGetParams(nodes[2], &kernel) || kernel.gridDim.x != 4) return 30;
  void *others[4] = {&a, &a, &b, &n};
  kernel.kernelParams = others;
  if (cudaGraphExecKernelNodeSetParams(exec, nodes[2], &kernel) || cudaGraphLaunch(exec, s)) return 31;
  if (cudaMemcpy(h + n, b, 4 * n, cudaMemcpyDefault) || h[n + 7] != 14) return 32;
  if (cudaGraphExecUpdate(exec, graph, &info) || cudaGraphLaunch(exec, s)) return 33;  // as it was captured
  if (cudaMemcpy(h + n, b, 4 * n, cudaMemcpyDefault) || h[n + 7] != 7) return 34;
  if (cudaGraphAddMemcpyNode1D(&copied, graph, &nodes[2], 1, h + 2 * n, b, 4 * n, cudaMemcpyDeviceToHost)) return 35;
  if (cudaGraphExecUpdate(exec, graph, &info) != cudaErrorGraphExecUpdateFailure || info.result != cudaGraphExecUpdateErrorTopologyChanged) return 36;
  if (cudaGraphExecDestroy(exec) || cudaGraphInstantiate(&exec, graph, 0) || cudaGraphLaunch(exec, s) || h[2 * n + 9] != 9) return 37;
  if (cudaGraphAddDependencies(graph, &copied, &nodes[0], nullptr, 1) || cudaGraphInstantiate(&exec, graph, 0) != cudaErrorInvalidValue) return 38;
  if (cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed) || cudaStreamSynchronize(s) != cudaErrorStreamCaptureUnsupported) return 39;
  return cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated && !graph ? 3 : 40;
}

// What a pool counts, and memory that a graph allocates, frees, or leaves to the program.
static int pools(float *h, int n) {
  cudaMemPool_t pool;
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaMemPoolProps props = {};
  uint64_t used, kept, keep = ~0ull;
  float *a, *b, *c;
  props.allocType = cudaMemAllocationTypePinned, props.location = {cudaMemLocationTypeDevice, 0};
  if (cudaStreamCreate(&s) || cudaMemPoolCreate(&pool, &props) || cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep)) return 20;
  if (cudaMallocFromPoolAsync(&a, 4 * n, pool, s) || cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) || used != 4 * n) return 21;
  if (cudaFreeAsync(a, s) || cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) || used) return 22;
  if (cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &kept) || kept != 4 * n || cudaMemPoolTrimTo(pool, 0)) return 23;
  if (cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &kept) || kept || cudaMemPoolDestroy(pool)) return 24;
  for (int i = 0; i < n; i++) h[i] = i;
  if (cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) || cudaMallocAsync(&a, 4 * n, s) || cudaMallocAsync(&b, 4 * n, s)) return 25;
  if (cudaMemcpyAsync(a, h, 4 * n, cudaMemcpyHostToDevice, s)) return 26;
  add<<<4, 64, 0, s>>>(a, a, b, n);
  if (cudaFreeAsync(a, s) || cudaStreamEndCapture(s, &graph) || cudaGraphInstantiate(&exec, graph, 0) || cudaGraphLaunch(exec, s)) return 27;
  if (cudaMemcpy(h + n, b, 4 * n, cudaMemcpyDefault) || h[n + 5] != 10 || cudaFree(a) != cudaErrorInvalidValue) return 28;
  if (cudaGraphLaunch(exec, s) != cudaErrorInvalidValue || cudaFreeAsync(b, s) || cudaGraphLaunch(exec, s)) return 29;  // b was not free
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
  if (cudaMalloc(&c, 4 * n) || cudaMemcpy(h + n, b, 4 * n, cudaMemcpyDefault) || h[n + 5] != 10) return 30;  // b outlives its graph
  return cudaFree(b) || cudaFree(c) ? 31 : 3;
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
      size_t pitch;              // rows with a gap behind them
      if (cudaMallocPitch(&r.res.pitch2D.devPtr, &pitch, 4 * w, rows) || pitch == 4 * w) return 26;
      if (cudaMemcpy2D(r.res.pitch2D.devPtr, pitch, h, 4 * w, 4 * w, rows, cudaMemcpyHostToDevice)) return 27;
      r.resType = cudaResourceTypePitch2D, r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
      r.res.pitch2D.width = w, r.res.pitch2D.height = rows, r.res.pitch2D.pitchInBytes = pitch;
      if (cudaCreateTextureObject(&texture, &r, &t, nullptr) || cudaMemset(p[0], 0, 4 * w * rows)) return 28;
      fetch<<<rows, w>>>(texture, p[0], w);
      return cudaMemcpy(h + w * rows, p[0], 4 * w * rows, cudaMemcpyDefault) || memcmp(h, h + w * rows, 4 * w * rows) ? 29 : 3;
    }
    case 8: {  // what is not there says so
      cudaMemPool_t pool;
      cudaMemPoolPtrExportData data;
      if (cudaDeviceGetDefaultMemPool(&pool, 0)) return 21;
      return cudaMemPoolExportPointer(&data, nullptr) == cudaErrorNotSupported ? 3 : 20;
    }
    case 9: {  // events show modelled time, occupancy the machine's
      cudaEvent_t begin, end;
      float ms;
      int blocks;
      if (cudaMalloc(&p[0], 4 * n) || cudaEventCreate(&begin) || cudaEventCreate(&end) || cudaEventRecord(begin)) return 20;
      add<<<1, 64>>>(p[0], p[0], p[0], n);
      if (cudaEventRecord(end) || cudaEventSynchronize(end) || cudaEventElapsedTime(&ms, begin, end)) return 21;
      if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0)) return 22;
      cudaFuncAttributes of;  // Thrust chooses its kernels by the version of the PTX
      if (cudaFuncGetAttributes(&of, add) || of.ptxVersion * 10 != __CUDA_ARCH_LIST__) return 24;
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
    case 12: return graphs(h, n);
    case 13: return pools(h, n);
    case 14:  // copies past the end of an allocation are refused, up to its end they are not
      if (cudaMalloc(&p[0], 4 * n) || cudaMemcpy(p[0] + n - 1, h, 4, cudaMemcpyDefault) || cudaMemcpy(p[0] + n, h, 0, cudaMemcpyDefault)) return 20;
      if (cudaMemcpy(p[0], h, 4 * n + 1, cudaMemcpyDefault) != cudaErrorInvalidValue) return 21;
      if (cudaMemcpy(h, p[0] + n - 1, 8, cudaMemcpyDefault) != cudaErrorInvalidValue) return 22;
      if (cudaMemcpy2D(p[0], 80, h, 80, 80, 10, cudaMemcpyDefault) || cudaMemset(p[0] + 1, 0, 4 * n) != cudaErrorInvalidValue) return 23;
      if (cudaMemcpy2D(p[0], 80, h, 80, 80, 11, cudaMemcpyDefault) != cudaErrorInvalidValue) return 24;
      return cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536) == cudaErrorInvalidValue ? 3 : 25;
    case 15: {  // events: without a handle, before they are recorded, and recorded in a captured stream
      cudaEvent_t e;
      cudaStream_t s;
      cudaGraph_t graph;
      float ms;
      if (cudaEventCreateWithFlags(&e, 64) != cudaErrorInvalidValue || cudaEventCreate(nullptr) != cudaErrorInvalidValue) return 20;
      if (cudaEventQuery(nullptr) != cudaErrorInvalidResourceHandle || cudaEventSynchronize(nullptr) != cudaErrorInvalidResourceHandle) return 21;
      if (cudaEventDestroy(nullptr) != cudaErrorInvalidResourceHandle) return 22;
      if (cudaEventCreate(&e) || cudaStreamCreate(&s) || cudaEventQuery(e) || cudaEventElapsedTime(&ms, e, e) != cudaErrorInvalidResourceHandle) return 23;
      if (cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) || cudaEventRecord(e, s)) return 24;
      if (cudaEventQuery(e) != cudaErrorCapturedEvent || strcmp(cudaGetErrorName(cudaGetLastError()), "cudaErrorCapturedEvent")) return 25;
      if (cudaStreamEndCapture(s, &graph) != cudaErrorStreamCaptureInvalidated || cudaEventRecord(e, s)) return 26;
      return cudaEventQuery(e) == cudaSuccess ? 3 : 27;
    }
    case 17: {  // sizes and addresses that no host memory has, and rows whose sizes overflow
      static char area[1 << 16];
      void *q;
      size_t pitch, huge = ~(size_t)0;
      cudaPitchedPtr rows;
      cudaChannelFormatDesc f = cudaCreateChannelDesc<float4>();
      cudaArray_t array = nullptr;
      char stack[20000];
      memset(stack, 5, sizeof stack);
      if (cudaHostRegister(area, huge, 0) != cudaErrorInvalidValue || cudaHostRegister(area, huge - 9000, 0) != cudaErrorInvalidValue) return 20;
      if (cudaHostRegister(area, 0, 0) != cudaErrorInvalidValue || cudaHostRegister(nullptr, 8, 0) != cudaErrorInvalidValue) return 21;
      if (cudaHostRegister(area, (size_t)1 << 40, 0) != cudaErrorInvalidValue || cudaHostRegister(area, 8, 1 << 20) != cudaErrorInvalidValue) return 22;
      if (cudaHostRegister((void *)"read-only", 8, 0) != cudaErrorInvalidValue || cudaHostRegister((void *)4096, 8, 0) != cudaErrorInvalidValue) return 23;
      if (cudaHostGetDevicePointer(&q, area, 0) != cudaErrorInvalidValue || cudaHostUnregister(area) != cudaErrorHostMemoryNotRegistered) return 24;
      if (cudaHostRegister(area, sizeof area, 0) || cudaHostRegister(area + 100, 8, 0) != cudaErrorHostMemoryAlreadyRegistered) return 25;
      if (cudaHostGetDevicePointer(&q, area, 0) || q != area || cudaHostUnregister(area)) return 26;
      if (cudaHostRegister(stack, sizeof stack, 0)) return 27;
      add<<<1, 64>>>((float *)stack, (float *)stack, (float *)stack, 0);
      if (cudaDeviceSynchronize() || cudaHostUnregister(stack)) return 28;
      for (char byte : stack) if (byte != 5) return 29;
      if (cudaMallocHost(&q, huge) != cudaErrorMemoryAllocation || cudaMallocManaged(&q, huge) != cudaErrorMemoryAllocation) return 30;
      if (cudaMallocManaged(&q, 8, 7) != cudaErrorInvalidValue || cudaMallocManaged(&q, 0) != cudaErrorInvalidValue) return 31;
      if (cudaMallocPitch(&q, &pitch, huge, 2) != cudaErrorMemoryAllocation || cudaMallocPitch(&q, &pitch, 512, huge / 256) != cudaErrorMemoryAllocation) return 32;
      if (cudaMalloc3D(&rows, make_cudaExtent(1 << 20, (size_t)1 << 32, 1 << 20)) != cudaErrorMemoryAllocation) return 33;
      if (cudaMallocArray(&array, &f, (size_t)1 << 40, (size_t)1 << 20) != cudaErrorMemoryAllocation) return 34;
      // what a failed cudaMallocArray leaves is used all the same
      cudaResourceDesc r = {}, linear = {};
      r.resType = cudaResourceTypeArray, linear.resType = cudaResourceTypeLinear, linear.res.linear.sizeInBytes = 64;
      cudaTextureObject_t texture;
      if (array || cudaMemcpy2DToArray(array, 0, 0, area, 4, 4, 4, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 41;
      if (cudaMemcpyFromArray(area, array, 0, 0, 16, cudaMemcpyDeviceToHost) != cudaErrorInvalidValue || cudaGetChannelDesc(&f, array) != cudaErrorInvalidValue) return 42;
      if (cudaArrayGetInfo(&f, nullptr, nullptr, array) != cudaErrorInvalidValue || cudaCreateTextureObject(&texture, &r, nullptr, nullptr) != cudaErrorInvalidValue) return 43;
      if (cudaCreateTextureObject(&texture, &linear, nullptr, nullptr) != cudaErrorInvalidChannelDescriptor) return 44;
      if (cudaMallocHost(&q, 4096) || cudaHostRegister(q, 4096, 0) != cudaErrorHostMemoryAlreadyRegistered || cudaHostUnregister(q) != cudaErrorHostMemoryNotRegistered) return 35;
      if (cudaMalloc(&p[0], 4096) || cudaHostGetDevicePointer(&q, p[0], 0) != cudaErrorInvalidValue) return 36;
      if (cudaMemset(p[0], 0, huge) != cudaErrorInvalidValue || cudaMemset2D(p[0], 64, 0, 64, huge) != cudaErrorInvalidValue) return 37;
      if (cudaMemcpy(area, p[0], huge, cudaMemcpyDefault) != cudaErrorInvalidValue || cudaMemcpy2D(p[0], 8, area, 8, 0, huge, cudaMemcpyDefault)) return 38;
      if (cudaMemset2D(p[0], 8, 0, 64, 2) != cudaErrorInvalidValue || cudaFree(p[0])) return 39;
      return cudaMemset(p[0], 0, 8) == cudaErrorInvalidValue ? 3 : 40;  // freed
    }
    case 18: {  // copies between arrays, also of bytes over the ends of rows; none leaves its array or allocation
      cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
      cudaArray_t a, b;
      cudaPitchedPtr rows;
      cudaMemcpy3DParms c = {};
      for (int i = 0; i < 96; i++) h[i] = i;
      if (cudaMallocArray(&a, &f, 8, 4) || cudaMallocArray(&b, &f, 8, 4) || cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 4, cudaMemcpyHostToDevice)) return 20;
      if (cudaMemcpy2DArrayToArray(b, 8, 1, a, 0, 0, 16, 2) || cudaMemcpy2DFromArrayAsync(h + 32, 32, b, 0, 0, 32, 4, cudaMemcpyDeviceToHost)) return 21;
      if (h[32 + 8 + 2] != 0 || h[32 + 16 + 5] != 11) return 22;
      if (cudaMemcpyArrayToArray(b, 0, 0, a, 16, 0, 64) || cudaMemcpyFromArray(h + 64, b, 0, 0, 64, cudaMemcpyDeviceToHost) || h[64] != 4 || h[79] != 19) return 23;
      if (cudaMemcpy2DArrayToArray(b, 4, 0, a, 0, 0, 32, 1) != cudaErrorInvalidValue || cudaMemcpy2DArrayToArray(b, 0, 1, a, 0, 0, 32, 4) != cudaErrorInvalidValue) return 24;
      if (cudaMemcpyToArray(b, 0, 1, h, 97, cudaMemcpyHostToDevice) != cudaErrorInvalidValue || cudaMemcpyToArray(b, 0, 1, h, 96, cudaMemcpyHostToDevice)) return 25;
      if (cudaMemcpy2DToArray(a, 0, 4, h, 32, 32, 1, cudaMemcpyHostToDevice) != cudaErrorInvalidValue || cudaMemcpy2DToArray(a, 32, 0, h, 32, 4, 1, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 26;
      c.srcPtr = make_cudaPitchedPtr(h, 32, 8, 4), c.dstArray = a, c.extent = make_cudaExtent(8, 4, 1), c.kind = cudaMemcpyHostToDevice;
      if (cudaMemcpy3D(&c) || (c.dstPos.y = 1, cudaMemcpy3D(&c)) != cudaErrorInvalidValue) return 27;
      if (cudaMalloc3D(&rows, make_cudaExtent(32, 4, 2))) return 28;
      c.dstArray = nullptr, c.dstPtr = rows, c.dstPos.y = 0, c.extent = make_cudaExtent(32, 4, 2), c.srcPtr.ysize = 4;
      return cudaMemcpy3D(&c) || (c.dstPos.z = 1, cudaMemcpy3D(&c)) != cudaErrorInvalidValue ? 29 : 3;
    }
    case 19: {  // what can be asked of a kernel and of peers
      cudaKernel_t kernel;
      size_t offset, size;
      int value;
      if (cudaGetKernel(&kernel, (void *)add) || cudaFuncGetParamInfo((void *)add, 3, &offset, &size) || offset != 24 || size != 4) return 20;
      if (cudaFuncGetParamInfo((void *)add, 4, &offset, &size) != cudaErrorInvalidValue || cudaGetKernel(&kernel, h) != cudaErrorInvalidDeviceFunction) return 21;
      if (cudaDeviceEnablePeerAccess(0, 0) != cudaErrorInvalidDevice || cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1) != cudaErrorInvalidDevice) return 22;
      return cudaSetValidDevices(&(value = 0), 1) ? 23 : 3;
    }
    case 16:  // a fault that the program does not look at
      add<<<1, 64>>>(nullptr, nullptr, nullptr, n);
      return 0;
  }
  return 1;
}
