// Queries and settings of the device.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

using namespace rfview;
#define OK return cudaSuccess
#define IGNORED(name, ...) API(name)(__VA_ARGS__) { OK; }
#define WAITS(name, ...) API(name)(__VA_ARGS__) { return fail(state()); }

// In a forked process these fail, too, and only there.
static cudaError_t initialized() { return state() == cudaErrorInitializationError ? fail(state()) : cudaSuccess; }
API(cudaGetDeviceCount)(int *n) { *n = 1; return initialized(); }
API(cudaGetDevice)(int *n) { *n = 0; return initialized(); }
API(cudaSetDevice)(int n) { return n ? fail(cudaErrorInvalidDevice) : initialized(); }
API(cudaInitDevice)(int n, unsigned, unsigned) { return n ? fail(cudaErrorInvalidDevice) : cudaSuccess; }
API(cudaChooseDevice)(int *n, const cudaDeviceProp *) { *n = 0; OK; }
API(cudaDeviceGetByPCIBusId)(int *n, const char *) { *n = 0; OK; }
API(cudaDeviceGetPCIBusId)(char *text, int size, int) { snprintf(text, size, "0000:00:00.0"); OK; }
API(cudaDeviceReset)() {
  set_state(cudaSuccess);
  cudaGetLastError();
  return fail(ask(Reset{}));
}
WAITS(cudaDeviceSynchronize)
IGNORED(cudaSetDeviceFlags, unsigned)
IGNORED(cudaDeviceSetCacheConfig, cudaFuncCache)
IGNORED(cudaDeviceSetSharedMemConfig, cudaSharedMemConfig)
IGNORED(cudaFuncSetSharedMemConfig, const void *, cudaSharedMemConfig)
IGNORED(cudaCtxResetPersistingL2Cache)
IGNORED(cudaStreamAttachMemAsync, cudaStream_t, void *, size_t, unsigned)
IGNORED(cudaProfilerStart)
IGNORED(cudaProfilerStop)
API(cudaGetDeviceFlags)(unsigned *flags) { *flags = cudaDeviceScheduleAuto | cudaDeviceMapHost; OK; }
API(cudaDeviceGetCacheConfig)(cudaFuncCache *which) { *which = cudaFuncCachePreferNone; OK; }
API(cudaDeviceGetSharedMemConfig)(cudaSharedMemConfig *which) { *which = cudaSharedMemBankSizeFourByte; OK; }
static size_t *limit(cudaLimit which) {  // without effect here: stored only to be returned
  static size_t all[] = {8192, 1 << 20, 8 << 20, 2, 2048, 128, 0};
  return which >= 0 && which < sizeof all / sizeof *all ? &all[which] : nullptr;
}
API(cudaDeviceSetLimit)(cudaLimit which, size_t n) {
  if (!limit(which)) return fail(cudaErrorUnsupportedLimit);
  *limit(which) = n;
  OK;
}
API(cudaDeviceGetLimit)(size_t *n, cudaLimit which) {
  if (!n || !limit(which)) return fail(n ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue);
  *n = *limit(which);
  OK;
}
API(cudaDeviceCanAccessPeer)(int *can, int, int) { *can = 0; OK; }
// There is one device, and none is its own peer.
API(cudaDeviceEnablePeerAccess)(int, unsigned) { return fail(cudaErrorInvalidDevice); }
API(cudaDeviceDisablePeerAccess)(int) { return fail(cudaErrorInvalidDevice); }
API(cudaDeviceGetP2PAttribute)(int *, cudaDeviceP2PAttr, int, int) { return fail(cudaErrorInvalidDevice); }
API(cudaSetValidDevices)(int *devices, int count) { return !devices || count != 1 || *devices ? fail(cudaErrorInvalidValue) : initialized(); }
API(cudaDriverGetVersion)(int *v) { *v = CUDART_VERSION; OK; }
API(cudaRuntimeGetVersion)(int *v) { *v = CUDART_VERSION; OK; }

API(cudaGetDeviceProperties)(cudaDeviceProp *p, int device) {
  if (device) return fail(cudaErrorInvalidDevice);
  const Properties &of = properties();
  memset(p, 0, sizeof *p);
  strcpy(p->name, "rfview streaming multiprocessor");
  p->totalGlobalMem = (size_t)of.megabytes << 20, p->totalConstMem = 65536;
  p->sharedMemPerBlock = p->sharedMemPerMultiprocessor = p->sharedMemPerBlockOptin = of.shared_bytes;
  p->regsPerBlock = p->regsPerMultiprocessor = of.registers, p->warpSize = 32, p->memPitch = 0x7fffffff;
  p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->major = of.capability / 10, p->minor = of.capability % 10, p->multiProcessorCount = 1;
  p->maxThreadsPerMultiProcessor = of.threads, p->maxBlocksPerMultiProcessor = of.ctas, p->l2CacheSize = of.l2_bytes;
  p->textureAlignment = p->surfaceAlignment = 512, p->texturePitchAlignment = 32, p->memoryBusWidth = 384;
  p->maxTexture1D = p->maxTexture2D[0] = p->maxTexture2D[1] = 131072;
  p->maxTexture2DLinear[0] = p->maxTexture2DLinear[1] = 131072, p->maxTexture2DLinear[2] = 1 << 21;
  p->maxTexture3D[0] = p->maxTexture3D[1] = p->maxTexture3D[2] = 16384;
  p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = 1;
  p->concurrentKernels = p->asyncEngineCount = p->cooperativeLaunch = p->hostRegisterSupported = 1;
  p->canUseHostPointerForRegisteredMem = p->memoryPoolsSupported = p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  OK;
}

API(cudaDeviceGetAttribute)(int *value, cudaDeviceAttr which, int device) {
  cudaDeviceProp p;
  if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  const Properties &of = properties();
  switch (which) {
    case cudaDevAttrMaxThreadsPerBlock: case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *value = 1024; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = of.shared_bytes; break;
    case cudaDevAttrTotalConstantMemory: *value = 65536; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxPitch: *value = 0x7fffffff; break;
    case cudaDevAttrMaxRegistersPerBlock: case cudaDevAttrMaxRegistersPerMultiprocessor: *value = of.registers; break;
    case cudaDevAttrClockRate: *value = of.clock_khz; break;
    case cudaDevAttrMemoryClockRate: *value = of.bandwidth / 96 * 1000; break;     // 384 bits, two transfers per clock
    case cudaDevAttrGlobalMemoryBusWidth: *value = 384; break;
    case cudaDevAttrTextureAlignment: case cudaDevAttrSurfaceAlignment: *value = 512; break;
    case cudaDevAttrMultiProcessorCount: *value = 1; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = of.threads; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = of.ctas; break;
    case cudaDevAttrL2CacheSize: *value = of.l2_bytes; break;
    case cudaDevAttrComputeCapabilityMajor: *value = of.capability / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = of.capability % 10; break;
    case cudaDevAttrCanMapHostMemory: case cudaDevAttrConcurrentKernels: case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrUnifiedAddressing: case cudaDevAttrManagedMemory: case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch: case cudaDevAttrHostRegisterSupported: case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem: case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: *value = 0;
  }
  OK;
}
