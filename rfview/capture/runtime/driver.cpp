// The core of CUDA's driver API: modules from PTX or fat binaries, kernels, memory, launches, streams and events, for programs that
// are linked with libcuda or load it. The runtime's functions do the work; errors have the same numbers in both. standin.py lets the
// others that cuda.h declares report their names.
#include <cuda.h>
#include <stdio.h>

#include <fstream>
#include <sstream>

#include "standin.h"

using namespace rfview;

#define DRIVER(name) extern "C" __attribute__((visibility("default"))) CUresult name
#define RETURN(call) return (CUresult)(call)

static CUcontext context() { static int one; return (CUcontext)&one; }      // there is one device, and one context
static void *at(CUdeviceptr address) { return (void *)address; }

DRIVER(cuInit)(unsigned) { RETURN(cudaFree(nullptr)); }
DRIVER(cuDriverGetVersion)(int *version) { RETURN(cudaDriverGetVersion(version)); }
DRIVER(cuDeviceGetCount)(int *count) { RETURN(cudaGetDeviceCount(count)); }
DRIVER(cuDeviceGet)(CUdevice *device, int ordinal) { *device = ordinal; return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
DRIVER(cuDeviceGetAttribute)(int *value, CUdevice_attribute which, CUdevice device) {
  RETURN(cudaDeviceGetAttribute(value, (cudaDeviceAttr)which, device));
}
DRIVER(cuDeviceGetName)(char *name, int size, CUdevice device) {
  cudaDeviceProp all;
  cudaError_t error = cudaGetDeviceProperties(&all, device);
  if (!error) snprintf(name, size, "%s", all.name);
  RETURN(error);
}
DRIVER(cuDeviceTotalMem)(size_t *bytes, CUdevice) { size_t unused; RETURN(cudaMemGetInfo(&unused, bytes)); }

DRIVER(cuCtxCreate)(CUcontext *made, CUctxCreateParams *, unsigned, CUdevice) { *made = context(); return CUDA_SUCCESS; }
#undef cuCtxCreate_v2
DRIVER(cuCtxCreate_v2)(CUcontext *made, unsigned, CUdevice) { *made = context(); return CUDA_SUCCESS; }     // of programs of CUDA 12
DRIVER(cuCtxDestroy)(CUcontext) { return CUDA_SUCCESS; }
DRIVER(cuDevicePrimaryCtxRetain)(CUcontext *made, CUdevice) { *made = context(); return CUDA_SUCCESS; }
DRIVER(cuDevicePrimaryCtxRelease)(CUdevice) { return CUDA_SUCCESS; }
DRIVER(cuCtxSetCurrent)(CUcontext) { return CUDA_SUCCESS; }
DRIVER(cuCtxPushCurrent)(CUcontext) { return CUDA_SUCCESS; }
DRIVER(cuCtxGetCurrent)(CUcontext *current) { *current = context(); return CUDA_SUCCESS; }
DRIVER(cuCtxPopCurrent)(CUcontext *current) { *current = context(); return CUDA_SUCCESS; }
DRIVER(cuCtxGetDevice)(CUdevice *device) { *device = 0; return CUDA_SUCCESS; }
DRIVER(cuCtxSynchronize)() { RETURN(cudaDeviceSynchronize()); }

// A module's data: a fat binary, or the text of PTX, which ends with a zero. It is copied: the program may free it.
static CUresult load_module(CUmodule *made, const void *data) {
  struct { uint32_t magic; uint16_t version, header; uint64_t rest; } head;
  uint32_t magic;
  memcpy(&magic, data, sizeof magic);
  if (magic == 0x464c457f) {
    fprintf(stderr, "rfview: cuModuleLoad of a cubin is not supported: load the module's PTX (nvcc -ptx)\n");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  bool is_fatbin = magic == 0xba55ed50;
  if (is_fatbin) memcpy(&head, data, sizeof head);
  std::string *copy = new std::string((const char *)data, is_fatbin ? head.header + head.rest : strlen((const char *)data));
  Module *one = new Module{copy->data(), copy->size(), 0, -1, (uint32_t)(is_fatbin ? FATBIN : PTX)};
  *made = (CUmodule)one;
  RETURN(load(one));
}
DRIVER(cuModuleLoadData)(CUmodule *made, const void *data) { return load_module(made, data); }
DRIVER(cuModuleLoadDataEx)(CUmodule *made, const void *data, unsigned, CUjit_option *, void **) { return load_module(made, data); }
DRIVER(cuModuleLoadFatBinary)(CUmodule *made, const void *data) { return load_module(made, data); }
DRIVER(cuModuleLoad)(CUmodule *made, const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return CUDA_ERROR_FILE_NOT_FOUND;
  return load_module(made, text.str().c_str());
}
DRIVER(cuModuleUnload)(CUmodule) { return CUDA_SUCCESS; }      // its launches may still be listed
DRIVER(cuModuleGetFunction)(CUfunction *found, CUmodule module, const char *name) {
  const void *key = add_function((Module *)module, name);
  *found = (CUfunction)key;
  return function_of(key) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
DRIVER(cuModuleGetGlobal)(CUdeviceptr *address, size_t *size, CUmodule module, const char *name) {
  Variable *one = symbol_of(add_symbol((Module *)module, name));
  if (!one) return CUDA_ERROR_NOT_FOUND;
  if (address) *address = one->address;
  if (size) *size = one->size;
  return CUDA_SUCCESS;
}
DRIVER(cuFuncSetAttribute)(CUfunction f, CUfunction_attribute which, int value) { RETURN(cudaFuncSetAttribute(f, (cudaFuncAttribute)which, value)); }
DRIVER(cuLaunchKernel)(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                       CUstream stream, void **args, void **extra) {
  std::vector<void *> unpacked;
  Function *one = function_of(f);
  for (int k = 0; one && !args && extra && extra[k] != CU_LAUNCH_PARAM_END; k += 2)
    if (extra[k] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      for (const Param &param : one->params) unpacked.push_back((char *)extra[k + 1] + param.offset);
  RETURN(cudaLaunchKernel(f, dim3{gx, gy, gz}, dim3{bx, by, bz}, args ? args : unpacked.data(), shared, stream));
}

DRIVER(cuMemAlloc)(CUdeviceptr *address, size_t bytes) { RETURN(bytes ? cudaMalloc((void **)address, bytes) : cudaErrorInvalidValue); }
DRIVER(cuMemAllocManaged)(CUdeviceptr *address, size_t bytes, unsigned flags) { RETURN(cudaMallocManaged((void **)address, bytes, flags)); }
DRIVER(cuMemAllocHost)(void **memory, size_t bytes) { RETURN(cudaMallocHost(memory, bytes)); }
DRIVER(cuMemFree)(CUdeviceptr address) { RETURN(cudaFree(at(address))); }
DRIVER(cuMemFreeHost)(void *memory) { RETURN(cudaFreeHost(memory)); }
DRIVER(cuMemGetInfo)(size_t *free_bytes, size_t *total) { RETURN(cudaMemGetInfo(free_bytes, total)); }
DRIVER(cuMemcpyHtoD)(CUdeviceptr to, const void *from, size_t n) { RETURN(cudaMemcpy(at(to), from, n, cudaMemcpyHostToDevice)); }
DRIVER(cuMemcpyDtoH)(void *to, CUdeviceptr from, size_t n) { RETURN(cudaMemcpy(to, at(from), n, cudaMemcpyDeviceToHost)); }
DRIVER(cuMemcpyDtoD)(CUdeviceptr to, CUdeviceptr from, size_t n) { RETURN(cudaMemcpy(at(to), at(from), n, cudaMemcpyDeviceToDevice)); }
DRIVER(cuMemcpyHtoDAsync)(CUdeviceptr to, const void *from, size_t n, CUstream s) { RETURN(cudaMemcpyAsync(at(to), from, n, cudaMemcpyHostToDevice, s)); }
DRIVER(cuMemcpyDtoHAsync)(void *to, CUdeviceptr from, size_t n, CUstream s) { RETURN(cudaMemcpyAsync(to, at(from), n, cudaMemcpyDeviceToHost, s)); }
DRIVER(cuMemsetD8)(CUdeviceptr to, unsigned char value, size_t n) { RETURN(cudaMemset(at(to), value, n)); }
DRIVER(cuMemsetD32)(CUdeviceptr to, unsigned value, size_t n) {
  std::vector<unsigned> all(n, value);
  RETURN(cudaMemcpy(at(to), all.data(), n * sizeof value, cudaMemcpyHostToDevice));
}

DRIVER(cuStreamCreate)(CUstream *made, unsigned flags) { RETURN(cudaStreamCreateWithFlags(made, flags)); }
DRIVER(cuStreamSynchronize)(CUstream stream) { RETURN(cudaStreamSynchronize(stream)); }
DRIVER(cuStreamDestroy)(CUstream stream) { RETURN(cudaStreamDestroy(stream)); }
DRIVER(cuEventCreate)(CUevent *made, unsigned flags) { RETURN(cudaEventCreateWithFlags(made, flags)); }
DRIVER(cuEventRecord)(CUevent event, CUstream stream) { RETURN(cudaEventRecord(event, stream)); }
DRIVER(cuEventSynchronize)(CUevent event) { RETURN(cudaEventSynchronize(event)); }
DRIVER(cuEventElapsedTime)(float *ms, CUevent begin, CUevent end) { RETURN(cudaEventElapsedTime(ms, begin, end)); }
DRIVER(cuEventDestroy)(CUevent event) { RETURN(cudaEventDestroy(event)); }

DRIVER(cuGetErrorName)(CUresult error, const char **name) { *name = cudaGetErrorName((cudaError_t)error); return CUDA_SUCCESS; }
DRIVER(cuGetErrorString)(CUresult error, const char **text) { *text = cudaGetErrorString((cudaError_t)error); return CUDA_SUCCESS; }
