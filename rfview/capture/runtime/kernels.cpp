// Modules, kernels and symbols as code compiled by nvcc registers them, and launches.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "graphs.h"

namespace rfview {

static std::mutex lock_;
static std::map<const void *, Function> &functions() { static auto *all = new std::map<const void *, Function>; return *all; }
static std::map<const void *, Variable> &symbols() { static auto *all = new std::map<const void *, Variable>; return *all; }

int load(Module *module) {
  if (module->status >= 0) return module->status;
  LoadResult result = {};
  int status = ask(Load{module->form}, &result, std::string((const char *)module->data, module->size));
  module->number = result.module;
  return module->status = status;
}

static int resolve(Function *one) {
  if (one->known) return 0;
  if (int status = load(one->module)) return status;
  std::string params;
  if (int status = ask(Facts{one->module->number}, &one->facts, one->name, &params)) return status;
  for (size_t at = 0; at + sizeof(Param) <= params.size(); at += sizeof(Param)) {
    Param param;
    memcpy(&param, &params[at], sizeof param);
    one->params.push_back(param);
  }
  one->known = true;
  return 0;
}

static thread_local int why = 0;  // the error of the last lookup

Function *function_of(const void *host) {
  std::lock_guard<std::mutex> hold(lock_);
  auto found = functions().find(host);
  why = found == functions().end() ? cudaErrorInvalidDeviceFunction : resolve(&found->second);
  return why ? nullptr : &found->second;
}

static int place(Variable *one) {
  if (one->address) return 0;
  if (int status = load(one->module)) return status;
  SymbolResult result = {};
  if (int status = ask(Symbol{one->module->number}, &result, one->name)) return status;
  one->address = result.address, one->size = one->size ? one->size : result.size;
  is_allocated(result.address, result.size, DEVICE);
  if (one->managed) *one->managed = (void *)one->address;
  return 0;
}

Variable *symbol_of(const void *host) {
  std::lock_guard<std::mutex> hold(lock_);
  auto found = symbols().find(host);
  return found == symbols().end() || place(&found->second) ? nullptr : &found->second;
}

const void *add_function(Module *module, const char *name) {
  std::lock_guard<std::mutex> hold(lock_);
  const void *key = new char;
  functions()[key] = Function{module, name, false, {}, {}};
  return key;
}

const void *add_symbol(Module *module, const char *name) {
  std::lock_guard<std::mutex> hold(lock_);
  const void *key = new char;
  symbols()[key] = Variable{module, name, 0, 0, nullptr};
  return key;
}

struct Configuration { dim3 grid, block; size_t shared; cudaStream_t stream; };
static thread_local std::vector<Configuration> pushed;

// A launch of a kernel that cannot be run; the server adds it to the list with its reason.
static void list_refused(const void *host, dim3 grid, dim3 block, size_t shared, uint32_t flags) {
  std::lock_guard<std::mutex> hold(lock_);
  auto found = functions().find(host);
  if (found == functions().end() || found->second.module->status) return;
  const Function &one = found->second;
  ask(Launch{one.module->number, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, (uint32_t)shared, flags, (uint32_t)one.name.size()},
      nullptr, one.name);
}

cudaError_t run_kernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, uint32_t flags) {
  if (state()) return fail(state());
  Function *one = function_of(host);
  if (!one) {
    list_refused(host, grid, block, shared, flags);
    return fail(why);
  }
  std::string params, printed;
  for (size_t k = 0; k < one->params.size(); k++) {
    const Param &param = one->params[k];
    if (params.size() < param.offset + param.size) params.resize(param.offset + param.size);
    memcpy(&params[param.offset], args[k], param.size);
  }
  Launch head = {one->module->number, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, (uint32_t)shared, flags, (uint32_t)one->name.size()};
  LaunchResult result = {};
  fflush(stdout);  // the kernel's output must follow what the program has printed so far
  int status = ask(head, &result, one->name + params, &printed);
  if (status == cudaErrorInitializationError) return fail(status);
  advance(result.cycles);
  fwrite(printed.data(), 1, printed.size(), stdout);
  if (status == STOPPED) {
    fflush(nullptr);
    _exit(0);
  }
  switch (status) {  // these happen while the kernel runs: the next call that waits reports them
    case cudaErrorIllegalAddress: case cudaErrorMisalignedAddress: case cudaErrorAssert: case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: case cudaErrorLaunchTimeout:
      set_state((cudaError_t)status);
      return cudaSuccess;
  }
  return fail(status);
}

}  // namespace rfview

using namespace rfview;

API_OTHER(void **, __cudaRegisterFatBinary)(void *wrapper) {
  struct Wrapper { int magic, version; const uint8_t *data; void *file; } *given = (Wrapper *)wrapper;
  auto size = [](const uint8_t *fatbin) {  // of a damaged one only the header: the server says what is wrong with it
    struct { uint32_t magic; uint16_t version, header; uint64_t rest; } head;
    memcpy(&head, fatbin, sizeof head);
    return head.magic == 0xba55ed50 && head.rest < MAX_MODULE ? head.header + head.rest : sizeof head;
  };
  if (given->version != 2 || !given->file) return (void **)new Module{given->data, size(given->data), 0, -1, FATBIN};
  std::string *parts = new std::string;  // linked from parts (-rdc=true): these have PTX, the linked result is machine code
  for (uint8_t **one = (uint8_t **)given->file; *one; one++) parts->append((char *)*one, size(*one));
  parts->append((char *)given->data, size(given->data));
  return (void **)new Module{parts->data(), parts->size(), 0, -1, PARTS};
}
API_OTHER(void, __cudaRegisterFatBinaryEnd)(void **) {}
API_OTHER(void, __cudaUnregisterFatBinary)(void **) {}
API_OTHER(char, __cudaInitModule)(void **module) {
  std::lock_guard<std::mutex> hold(lock_);
  for (auto &one : symbols())
    if (one.second.managed && one.second.module == (Module *)module) place(&one.second);
  return 1;
}
API_OTHER(void, __cudaRegisterFunction)(void **module, const char *host, char *, const char *name, int, uint3 *, uint3 *, dim3 *, dim3 *, int *) {
  std::lock_guard<std::mutex> hold(lock_);
  functions()[host] = Function{(Module *)module, name, false, {}, {}};
}
API_OTHER(void, __cudaRegisterVar)(void **module, char *host, char *, const char *name, int, size_t size, int, int) {
  std::lock_guard<std::mutex> hold(lock_);
  symbols()[host] = Variable{(Module *)module, name, size, 0, nullptr};
}
API_OTHER(void, __cudaRegisterManagedVar)(void **module, void **host, char *, const char *name, int, size_t size, int, int) {
  std::lock_guard<std::mutex> hold(lock_);
  symbols()[host] = Variable{(Module *)module, name, size, 0, host};
}
API(__cudaPushCallConfiguration)(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  pushed.push_back({grid, block, shared, stream});
  return cudaSuccess;
}
API(__cudaPopCallConfiguration)(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (pushed.empty()) return fail(cudaErrorMissingConfiguration);
  Configuration one = pushed.back();
  pushed.pop_back();
  *grid = one.grid, *block = one.block, *shared = one.shared, *(cudaStream_t *)stream = one.stream;
  return cudaSuccess;
}
API(__cudaGetKernel)(cudaKernel_t *kernel, const void *host) {
  *kernel = (cudaKernel_t)host;
  return cudaSuccess;
}
API(cudaGetKernel)(cudaKernel_t *kernel, const void *host) {
  if (!kernel || !function_of(host)) return fail(kernel ? (cudaError_t)why : cudaErrorInvalidValue);
  return __cudaGetKernel(kernel, host);
}
static cudaError_t launch(const void *f, dim3 g, dim3 b, void **args, size_t s, uint32_t flags, cudaStream_t stream) {
  if (!is_captured(stream)) return run_kernel(f, g, b, args, s, flags);
  return capture(stream, node_of(cudaKernelNodeParams{(void *)f, g, b, (unsigned)s, args, nullptr}), flags);
}
API(cudaLaunchKernel)(const void *f, dim3 g, dim3 b, void **args, size_t s, cudaStream_t stream) { return launch(f, g, b, args, s, 0, stream); }
API(__cudaLaunchKernel)(cudaKernel_t f, dim3 g, dim3 b, void **args, size_t s, cudaStream_t stream) { return launch((const void *)f, g, b, args, s, 0, stream); }
API(cudaLaunchCooperativeKernel)(const void *f, dim3 g, dim3 b, void **args, size_t s, cudaStream_t stream) { return launch(f, g, b, args, s, 1, stream); }
API(cudaLaunchKernelExC)(const cudaLaunchConfig_t *c, const void *f, void **args) {
  uint32_t flags = 0;
  for (unsigned k = 0; k < c->numAttrs; k++) {
    const cudaLaunchAttributeValue &value = c->attrs[k].val;
    if (c->attrs[k].id == cudaLaunchAttributeCooperative && value.cooperative) flags |= COOPERATIVE;
    if (c->attrs[k].id == cudaLaunchAttributeClusterDimension && value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1) flags |= CLUSTERS;
  }
  return launch(f, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, flags, c->stream);
}
API(cudaGetSymbolAddress)(void **pointer, const void *host) {
  Variable *one = symbol_of(host);
  if (!one) return fail(cudaErrorInvalidSymbol);
  *pointer = (void *)one->address;
  return cudaSuccess;
}
API(cudaGetSymbolSize)(size_t *size, const void *host) {
  Variable *one = symbol_of(host);
  if (!one) return fail(cudaErrorInvalidSymbol);
  *size = one->size;
  return cudaSuccess;
}
// The address of bytes of a symbol, null if they are not inside it.
static char *within_symbol(const void *host, size_t size, size_t offset, cudaError_t *error) {
  Variable *one = symbol_of(host);
  *error = !one ? cudaErrorInvalidSymbol : offset > one->size || size > one->size - offset ? cudaErrorInvalidValue : cudaSuccess;
  return *error ? nullptr : (char *)one->address + offset;
}
#define AT_SYMBOL cudaError_t error; char *at = within_symbol(s, n, o, &error); if (error) return fail(error);
API(cudaMemcpyToSymbol)(const void *s, const void *h, size_t n, size_t o, cudaMemcpyKind kind) { AT_SYMBOL return cudaMemcpy(at, h, n, kind); }
API(cudaMemcpyFromSymbol)(void *h, const void *s, size_t n, size_t o, cudaMemcpyKind kind) { AT_SYMBOL return cudaMemcpy(h, at, n, kind); }
API(cudaMemcpyToSymbolAsync)(const void *s, const void *h, size_t n, size_t o, cudaMemcpyKind kind, cudaStream_t stream) { AT_SYMBOL return cudaMemcpyAsync(at, h, n, kind, stream); }
API(cudaMemcpyFromSymbolAsync)(void *h, const void *s, size_t n, size_t o, cudaMemcpyKind kind, cudaStream_t stream) { AT_SYMBOL return cudaMemcpyAsync(h, at, n, kind, stream); }
API(cudaGraphAddMemcpyNodeToSymbol)(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *d, size_t count, const void *s, const void *h, size_t n, size_t o, cudaMemcpyKind kind) { AT_SYMBOL return cudaGraphAddMemcpyNode1D(out, g, d, count, at, h, n, kind); }
API(cudaGraphAddMemcpyNodeFromSymbol)(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *d, size_t count, void *h, const void *s, size_t n, size_t o, cudaMemcpyKind kind) { AT_SYMBOL return cudaGraphAddMemcpyNode1D(out, g, d, count, h, at, n, kind); }
API(cudaGraphMemcpyNodeSetParamsToSymbol)(cudaGraphNode_t node, const void *s, const void *h, size_t n, size_t o, cudaMemcpyKind kind) { AT_SYMBOL return cudaGraphMemcpyNodeSetParams1D(node, at, h, n, kind); }
API(cudaGraphMemcpyNodeSetParamsFromSymbol)(cudaGraphNode_t node, void *h, const void *s, size_t n, size_t o, cudaMemcpyKind kind) { AT_SYMBOL return cudaGraphMemcpyNodeSetParams1D(node, h, at, n, kind); }
API(cudaGraphExecMemcpyNodeSetParamsToSymbol)(cudaGraphExec_t exec, cudaGraphNode_t node, const void *s, const void *h, size_t n, size_t o, cudaMemcpyKind kind) { AT_SYMBOL return cudaGraphExecMemcpyNodeSetParams1D(exec, node, at, h, n, kind); }
API(cudaGraphExecMemcpyNodeSetParamsFromSymbol)(cudaGraphExec_t exec, cudaGraphNode_t node, void *h, const void *s, size_t n, size_t o, cudaMemcpyKind kind) { AT_SYMBOL return cudaGraphExecMemcpyNodeSetParams1D(exec, node, h, at, n, kind); }

API(cudaFuncGetAttributes)(cudaFuncAttributes *a, const void *host) {
  memset(a, 0, sizeof *a);
  Function *one = function_of(host);
  if (!one) return fail(why);
  a->sharedSizeBytes = one->facts.shared_bytes, a->localSizeBytes = one->facts.local_bytes, a->numRegs = one->facts.registers;
  a->maxThreadsPerBlock = one->facts.max_threads ? one->facts.max_threads : 1024;
  a->ptxVersion = one->facts.target, a->binaryVersion = properties().capability;
  a->maxDynamicSharedSizeBytes = properties().shared_bytes - one->facts.shared_bytes;
  return cudaSuccess;
}
API(cudaFuncSetAttribute)(const void *host, cudaFuncAttribute what, int value) {
  Function *one = function_of(host);
  if (!one) return fail(why);
  if (what != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  uint64_t wanted = (uint64_t)value + one->facts.shared_bytes;
  if (value >= 0 && wanted <= properties().shared_bytes) return cudaSuccess;
  if (value >= 0)
    fprintf(stderr, "rfview: %s may need %llu bytes of shared memory, but the SM has %u; --set sm.shared_bytes=%llu provides it\n",
            one->name.c_str(), (unsigned long long)wanted, properties().shared_bytes, (unsigned long long)wanted);
  return fail(cudaErrorInvalidValue);
}
API(cudaFuncGetName)(const char **name, const void *host) {
  Function *one = function_of(host);
  if (!one || !name) return fail(one ? cudaErrorInvalidValue : (cudaError_t)why);
  *name = one->name.c_str();
  return cudaSuccess;
}
API(cudaFuncGetParamInfo)(const void *host, size_t index, size_t *offset, size_t *size) {
  Function *one = function_of(host);
  if (!one || !offset || index >= one->params.size()) return fail(one ? cudaErrorInvalidValue : (cudaError_t)why);
  *offset = one->params[index].offset;
  if (size) *size = one->params[index].size;
  return cudaSuccess;
}
API(cudaFuncSetCacheConfig)(const void *, cudaFuncCache) { return cudaSuccess; }
API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int *blocks, const void *host, int threads, size_t dynamic, unsigned) {
  Function *one = function_of(host);
  if (!one) return fail(why);
  OccupancyResult result = {};
  if (int status = ask(Occupancy{one->module->number, (uint32_t)threads, (uint32_t)dynamic}, &result, one->name)) return fail(status);
  *blocks = (int)result.blocks;
  return cudaSuccess;
}
API(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, const void *host, int threads, size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, dynamic, 0);
}
API(cudaOccupancyAvailableDynamicSMemPerBlock)(size_t *bytes, const void *host, int blocks, int) {
  Function *one = function_of(host);
  if (!one || blocks < 1) return fail(one ? cudaErrorInvalidValue : (cudaError_t)why);
  size_t each = properties().shared_bytes / blocks;
  *bytes = each > one->facts.shared_bytes ? each - one->facts.shared_bytes : 0;
  return cudaSuccess;
}
