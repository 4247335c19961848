// Memory: allocations are requests to the server; all else is plain access, since device memory is mapped at its own
// addresses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "graphs.h"

namespace rfview {

struct Registered { uint64_t first, size, device; };  // whole host pages, and their address on the device
static std::mutex lock_;
static std::map<uint64_t, Registered> registered;  // by the pointer that the program registered
static std::map<uint64_t, std::pair<size_t, Kind>> &blocks() { static auto *all = new std::map<uint64_t, std::pair<size_t, Kind>>; return *all; }

cudaError_t allocate(void **pointer, size_t size, Kind kind) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  if (state()) return fail(state());
  *pointer = nullptr;
  if (!size) return cudaSuccess;
  std::string reply;
  struct __attribute__((packed)) { uint64_t size; uint32_t kind; } body = {size, kind};
  if (int status = ask(MALLOC, raw(body), &reply)) return fail(status);
  memcpy(pointer, reply.data(), 8);
  std::lock_guard<std::mutex> hold(lock_);
  blocks()[(uint64_t)*pointer] = {size, kind};
  return cudaSuccess;
}

static cudaError_t release(void *pointer) {
  cudaError_t error;
  if (!pointer) return cudaSuccess;
  if (freed_as_graphs(pointer, &error)) return error;
  taken_back(pointer);
  {
    std::lock_guard<std::mutex> hold(lock_);
    blocks().erase((uint64_t)pointer);
  }
  return fail(ask(FREE, raw((uint64_t)pointer)));
}

// Whether bytes begin inside a device allocation and end after it: a GPU refuses such a copy, too.
static bool is_past_end(const void *at, size_t size) {
  std::lock_guard<std::mutex> hold(lock_);
  auto found = blocks().upper_bound((uint64_t)at);
  if (found == blocks().begin()) return false;
  uint64_t first = (--found)->first, inside = (uint64_t)at - first;
  auto [whole, kind] = found->second;
  if (kind == HOST || inside >= whole || size <= whole - inside) return false;
  fprintf(stderr, "rfview: a copy or memset takes %zu bytes at %p, %zu more than the %zu bytes allocated at %p\n", size, at,
          size - (whole - inside), whole, (void *)first);
  return true;
}

static bool is_past_end(const void *at, size_t pitch, size_t width, size_t height) {
  return height && is_past_end(at, (height - 1) * pitch + width);
}

static cudaError_t copy(void *to, const void *from, size_t size) {
  if (state()) return fail(state());
  if (size && (!to || !from)) return fail(cudaErrorInvalidValue);
  if (is_past_end(to, size) || is_past_end(from, size)) return fail(cudaErrorInvalidValue);
  memmove(to, from, size);
  return cudaSuccess;
}

static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height) {
  if (state()) return fail(state());
  if (width > to_pitch || width > from_pitch) return fail(height ? cudaErrorInvalidPitchValue : cudaSuccess);
  if (is_past_end(to, to_pitch, width, height) || is_past_end(from, from_pitch, width, height)) return fail(cudaErrorInvalidValue);
  for (size_t y = 0; y < height; y++) memmove((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width);
  return cudaSuccess;
}

// Whether kernels can access an address: in device memory, or in registered host memory.
static bool is_seen(const void *pointer) {
  if (is_device(pointer)) return true;
  std::lock_guard<std::mutex> hold(lock_);
  for (auto &one : registered)
    if ((uint64_t)pointer >= one.second.first && (uint64_t)pointer < one.second.first + one.second.size) return true;
  return false;
}

static cudaError_t fill(void *to, int value, size_t size) {
  if (state()) return fail(state());
  if (size && (!is_seen(to) || is_past_end(to, size))) return fail(cudaErrorInvalidValue);
  memset(to, value, size);
  return cudaSuccess;
}

// The machine's memory consists of 4-byte words.
static uint64_t word(const void *pointer) { return (uint64_t)pointer & ~UINT64_C(3); }

// Replaces host pages by pages of device memory with the same contents, so that both sides see the same bytes. Kernels
// see only what was registered: the rest belongs to the heap, where other threads may write while a kernel runs.
static cudaError_t share(void *pointer, size_t size) {
  uint64_t page = sysconf(_SC_PAGESIZE), first = (uint64_t)pointer / page * page;
  uint64_t length = ((uint64_t)pointer + size - first + page - 1) / page * page;
  std::string reply;
  struct __attribute__((packed)) { uint64_t size; uint32_t kind; } body = {length, HOST};
  if (int status = ask(MALLOC, raw(body), &reply)) return fail(status);
  uint64_t device;
  memcpy(&device, reply.data(), 8);
  memcpy((void *)device, (void *)first, length);
  const char *memory = getenv("RFVIEW_MEMORY");
  void *got = memory ? mmap((void *)first, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, atoi(memory),
                            SCRATCH + device - BASE) : MAP_FAILED;
  if (got == MAP_FAILED) return fail(cudaErrorInvalidValue);
  uint64_t seen = word(pointer);
  struct { uint64_t host, device, size; } alias = {seen, device + seen - first, (uint64_t)pointer + size - seen};
  ask(ALIAS, raw(alias));
  registered[(uint64_t)pointer] = {first, length, device};
  return cudaSuccess;
}

// The copy replaces the pages atomically: they may contain any part of the heap, this library's data included, so the
// copy must not be on the heap either.
static cudaError_t unshare(const void *pointer, const Registered &one) {
  void *kept = mmap(nullptr, one.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (kept == MAP_FAILED) return fail(cudaErrorMemoryAllocation);
  memcpy(kept, (const void *)one.first, one.size);
  if (mremap(kept, one.size, one.size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)one.first) == MAP_FAILED) {
    munmap(kept, one.size);
    return fail(cudaErrorInvalidValue);
  }
  struct { uint64_t host, device, size; } alias = {word(pointer), one.device, 0};
  ask(ALIAS, raw(alias));
  return fail(ask(FREE, raw(one.device)));
}

}  // namespace rfview

using namespace rfview;
#define OK return cudaSuccess

API(cudaMalloc)(void **p, size_t n) { return allocate(p, n, DEVICE); }
API(cudaMallocManaged)(void **p, size_t n, unsigned) { return allocate(p, n, MANAGED); }
API(cudaMallocHost)(void **p, size_t n) { return allocate(p, n, HOST); }
API(cudaHostAlloc)(void **p, size_t n, unsigned) { return allocate(p, n, HOST); }
API(cudaMallocPitch)(void **p, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(p, *pitch * height, DEVICE);
}
API(cudaMalloc3D)(cudaPitchedPtr *p, cudaExtent e) {
  size_t pitch = (e.width + 511) / 512 * 512;
  *p = cudaPitchedPtr{nullptr, pitch, e.width, e.height};
  return allocate(&p->ptr, pitch * e.height * e.depth, DEVICE);
}
API(cudaFree)(void *p) { return release(p); }
API(cudaFreeHost)(void *p) { return release(p); }
API(cudaHostGetDevicePointer)(void **d, void *h, unsigned) {
  *d = h;
  OK;
}
API(cudaHostGetFlags)(unsigned *flags, void *) {
  *flags = cudaHostAllocMapped;
  OK;
}
API(cudaHostRegister)(void *pointer, size_t size, unsigned) {
  if (!pointer || !size) return fail(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> hold(lock_);
  uint64_t page = sysconf(_SC_PAGESIZE), first = (uint64_t)pointer / page * page, end = (uint64_t)pointer + size;
  for (auto &one : registered)
    if (first < one.second.first + one.second.size && one.second.first < end) return fail(cudaErrorHostMemoryAlreadyRegistered);
  return is_device(pointer) ? cudaSuccess : share(pointer, size);
}
API(cudaHostUnregister)(void *pointer) {
  if (is_device(pointer)) OK;
  std::lock_guard<std::mutex> hold(lock_);
  auto found = registered.find((uint64_t)pointer);
  if (found == registered.end()) return fail(cudaErrorHostMemoryNotRegistered);
  Registered one = found->second;
  registered.erase(found);
  return unshare(pointer, one);
}
// Checks that source and destination match the kind of a copy, as a GPU requires.
static cudaError_t ends(const void *to, const void *from, size_t size, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return fail(cudaErrorInvalidMemcpyDirection);
  bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  bool fits = (!to_device || is_seen(to)) && (!from_device || is_seen(from));
  return fits || !size ? cudaSuccess : fail(cudaErrorInvalidValue);
}
API(cudaMemcpy)(void *d, const void *s, size_t n, cudaMemcpyKind kind) {
  cudaError_t error = ends(d, s, n, kind);
  return error ? error : copy(d, s, n);
}
API(cudaMemcpyAsync)(void *d, const void *s, size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
  if (cudaError_t error = ends(d, s, n, kind)) return error;
  return is_captured(stream) ? capture(stream, rows_node(d, n, s, n, n, 1)) : copy(d, s, n);
}
API(cudaMemcpyPeer)(void *d, int, const void *s, int, size_t n) { return copy(d, s, n); }
API(cudaMemcpyPeerAsync)(void *d, int, const void *s, int, size_t n, cudaStream_t stream) { return cudaMemcpyAsync(d, s, n, cudaMemcpyDefault, stream); }
API(cudaMemcpy2D)(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, cudaMemcpyKind) { return copy_rows(d, dp, s, sp, w, h); }
API(cudaMemcpy2DAsync)(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, cudaMemcpyKind, cudaStream_t stream) {
  return is_captured(stream) ? capture(stream, rows_node(d, dp, s, sp, w, h)) : copy_rows(d, dp, s, sp, w, h);
}
API(cudaMemset)(void *d, int v, size_t n) { return fill(d, v, n); }
API(cudaMemsetAsync)(void *d, int v, size_t n, cudaStream_t stream) {
  return is_captured(stream) ? capture(stream, node_of(cudaMemsetParams{d, n, (uint8_t)v, 1, n, 1})) : fill(d, v, n);
}
API(cudaMemset2D)(void *d, size_t pitch, int v, size_t w, size_t h) {
  for (size_t y = 0; y < h; y++)
    if (cudaError_t error = fill((char *)d + y * pitch, v, w)) return error;
  OK;
}
API(cudaMemset2DAsync)(void *d, size_t pitch, int v, size_t w, size_t h, cudaStream_t stream) {
  return is_captured(stream) ? capture(stream, node_of(cudaMemsetParams{d, pitch, (uint8_t)v, 1, w, h})) : cudaMemset2D(d, pitch, v, w, h);
}
API(cudaMemset3D)(cudaPitchedPtr p, int v, cudaExtent e) {
  for (size_t z = 0; z < e.depth; z++)
    if (cudaError_t error = cudaMemset2D((char *)p.ptr + z * p.pitch * p.ysize, p.pitch, v, e.width, e.height)) return error;
  OK;
}
API(cudaMemset3DAsync)(cudaPitchedPtr p, int v, cudaExtent e, cudaStream_t stream) {
  return is_captured(stream) ? (cudaError_t)rfview_not_supported("cudaMemset3DAsync in a captured stream") : cudaMemset3D(p, v, e);
}
API(cudaMemGetInfo)(size_t *free_bytes, size_t *total) {
  size_t used = 0;
  std::lock_guard<std::mutex> hold(lock_);
  for (auto &one : blocks()) used += one.second.first;
  *total = (size_t)properties().megabytes << 20;
  *free_bytes = *total > used ? *total - used : 0;
  OK;
}
API(cudaMemPrefetchAsync)(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t) { OK; }
API(cudaMemAdvise)(const void *, size_t, cudaMemoryAdvise, cudaMemLocation) { OK; }
API(cudaPointerGetAttributes)(cudaPointerAttributes *a, const void *p) {
  memset(a, 0, sizeof *a);
  a->type = !is_device(p) && is_seen(p) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  std::lock_guard<std::mutex> hold(lock_);
  auto found = blocks().upper_bound((uint64_t)p);
  if (found != blocks().begin() && (uint64_t)p < (--found)->first + found->second.first)
    a->type = found->second.second == HOST ? cudaMemoryTypeHost : found->second.second == MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
  if (a->type != cudaMemoryTypeUnregistered) a->devicePointer = (void *)p;
  if (a->type != cudaMemoryTypeDevice) a->hostPointer = (void *)p;
  OK;
}
