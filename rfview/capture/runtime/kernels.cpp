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
static std::map<const void *, Symbol> &symbols() { static auto *all = new std::map<const void *, Symbol>; return *all; }

static int load(Module *module) {
  if (module->status >= 0) return module->status;
  std::string reply, body = raw((uint32_t)(module->is_parts ? 2 : 1));
  body.append((const char *)module->data, module->size);
  module->status = ask(LOAD, body, &reply);
  if (!module->status) memcpy(&module->number, reply.data(), 4);
  return module->status;
}

static int resolve(Function *one) {
  if (one->known) return 0;
  if (int status = load(one->module)) return status;
  std::string reply;
  if (int status = ask(FACTS, raw(one->module->number) + one->name, &reply)) return status;
  const uint32_t *words = (const uint32_t *)reply.data();
  one->registers = words[1], one->shared_bytes = words[2], one->local_bytes = words[3];
  one->max_threads = words[4], one->code_bytes = words[5], one->target = words[6];
  for (uint32_t k = 0; k < words[0]; k++) one->params.push_back({words[7 + 2 * k], words[8 + 2 * k]});
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

static int place(Symbol *one) {
  if (one->address) return 0;
  if (int status = load(one->module)) return status;
  std::string reply;
  if (int status = ask(SYMBOL, raw(one->module->number) + one->name, &reply)) return status;
  memcpy(&one->address, reply.data(), 8);
  if (one->managed) *one->managed = (void *)one->address;
  return 0;
}

Symbol *symbol_of(const void *host) {
  std::lock_guard<std::mutex> hold(lock_);
  auto found = symbols().find(host);
  return found == symbols().end() || place(&found->second) ? nullptr : &found->second;
}

struct Configuration { dim3 grid, block; size_t shared; cudaStream_t stream; };
static thread_local std::vector<Configuration> pushed;

cudaError_t run_kernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, uint32_t flags) {
  if (state()) return fail(state());
  Function *one = function_of(host);
  if (!one) return fail(why);
  std::string params;
  for (size_t k = 0; k < one->params.size(); k++) {
    size_t end = one->params[k].first + one->params[k].second;
    if (params.size() < end) params.resize(end);
    memcpy(&params[one->params[k].first], args[k], one->params[k].second);
  }
  uint32_t head[10] = {one->module->number, grid.x, grid.y, grid.z, block.x, block.y, block.z, (uint32_t)shared, flags,
                       (uint32_t)one->name.size()};
  std::string reply;
  fflush(stdout);  // the kernel's output must follow what the program has printed so far
  int status = ask(LAUNCH, raw(head) + one->name + params, &reply);
  if (reply.size() >= 8 && (!status || status == STOPPED || status >= cudaErrorIllegalAddress)) {
    uint64_t cycles;
    memcpy(&cycles, reply.data(), 8);
    advance(cycles);
    fwrite(reply.data() + 8, 1, reply.size() - 8, stdout);
  }
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
  if (given->version != 2 || !given->file) return (void **)new Module{given->data, size(given->data), 0, -1, false};
  std::string *parts = new std::string;  // linked from parts (-rdc=true): the linked result is machine code, the parts have PTX
  for (uint8_t **one = (uint8_t **)given->file; *one; one++) parts->append((char *)*one, size(*one));
  return (void **)new Module{parts->data(), parts->size(), 0, -1, true};
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
  functions()[host] = Function{(Module *)module, name, false, 0, 0, 0, 0, 0, 0, {}};
}
API_OTHER(void, __cudaRegisterVar)(void **module, char *host, char *, const char *name, int, size_t size, int, int) {
  std::lock_guard<std::mutex> hold(lock_);
  symbols()[host] = Symbol{(Module *)module, name, size, 0, nullptr};
}
API_OTHER(void, __cudaRegisterManagedVar)(void **module, void **host, char *, const char *name, int, size_t size, int, int) {
  std::lock_guard<std::mutex> hold(lock_);
  symbols()[host] = Symbol{(Module *)module, name, size, 0, host};
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
    if (c->attrs[k].id == cudaLaunchAttributeCooperative && c->attrs[k].val.cooperative) flags = 1;
    if (c->attrs[k].id == cudaLaunchAttributeClusterDimension) return (cudaError_t)rfview_not_supported("a launch with clusters");
  }
  return launch(f, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, flags, c->stream);
}
API(cudaGetSymbolAddress)(void **pointer, const void *host) {
  Symbol *one = symbol_of(host);
  if (!one) return fail(cudaErrorInvalidSymbol);
  *pointer = (void *)one->address;
  return cudaSuccess;
}
API(cudaGetSymbolSize)(size_t *size, const void *host) {
  Symbol *one = symbol_of(host);
  if (!one) return fail(cudaErrorInvalidSymbol);
  *size = one->size;
  return cudaSuccess;
}
// The address of bytes of a symbol, null if they are not inside it.
static char *within_symbol(const void *host, size_t size, size_t offset, cudaError_t *error) {
  Symbol *one = symbol_of(host);
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
  a->sharedSizeBytes = one->shared_bytes, a->localSizeBytes = one->local_bytes, a->numRegs = one->registers;
  a->maxThreadsPerBlock = one->max_threads ? one->max_threads : 1024;
  a->ptxVersion = one->target, a->binaryVersion = properties().capability;
  a->maxDynamicSharedSizeBytes = properties().shared_bytes - one->shared_bytes;
  return cudaSuccess;
}
API(cudaFuncSetAttribute)(const void *host, cudaFuncAttribute what, int value) {
  Function *one = function_of(host);
  if (!one) return fail(why);
  if (what != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  uint64_t wanted = (uint64_t)value + one->shared_bytes;
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
API(cudaFuncSetCacheConfig)(const void *, cudaFuncCache) { return cudaSuccess; }
API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int *blocks, const void *host, int threads, size_t dynamic, unsigned) {
  Function *one = function_of(host);
  if (!one) return fail(why);
  std::string reply;
  uint32_t head[3] = {one->module->number, (uint32_t)threads, (uint32_t)dynamic};
  if (int status = ask(OCCUPANCY, raw(head) + one->name, &reply)) return fail(status);
  *blocks = *(const int *)reply.data();
  return cudaSuccess;
}
API(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, const void *host, int threads, size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, dynamic, 0);
}
API(cudaOccupancyAvailableDynamicSMemPerBlock)(size_t *bytes, const void *host, int blocks, int) {
  Function *one = function_of(host);
  if (!one || blocks < 1) return fail(one ? cudaErrorInvalidValue : (cudaError_t)why);
  size_t each = properties().shared_bytes / blocks;
  *bytes = each > one->shared_bytes ? each - one->shared_bytes : 0;
  return cudaSuccess;
}
