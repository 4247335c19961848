// Memory: allocations are requests to the server; all else is plain access, since device memory is mapped at its own
// addresses.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <new>

#include "graphs.h"

namespace rfview {

struct Registered { uint64_t first, size, device; };  // whole host pages, and their address on the device
static std::mutex lock_;
static std::map<uint64_t, Registered> registered;  // by the pointer that the program registered
static std::map<uint64_t, std::pair<size_t, Kind>> &blocks() { static auto *all = new std::map<uint64_t, std::pair<size_t, Kind>>; return *all; }

void is_allocated(uint64_t address, size_t size, Kind kind) {
  std::lock_guard<std::mutex> hold(lock_);
  blocks()[address] = {size, kind};
}

cudaError_t allocate(void **pointer, size_t size, Kind kind) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  if (state()) return fail(state());
  *pointer = nullptr;
  if (!size) return cudaSuccess;
  MallocResult result = {};
  if (int status = ask(Malloc{size, kind}, &result)) return fail(status);
  is_allocated(result.address, size, kind);
  *pointer = (void *)result.address;
  return cudaSuccess;
}

cudaError_t rows(size_t *pitch, size_t *size, size_t width, size_t height, size_t depth) {
  size_t slice;
  bool fits = !__builtin_add_overflow(width, 511, pitch);
  *pitch = *pitch / 512 * 512;
  fits = fits && !__builtin_mul_overflow(*pitch, height, &slice) && !__builtin_mul_overflow(slice, depth, size);
  return fits ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

static cudaError_t release(void *pointer) {
  cudaError_t error;
  if (!pointer) return cudaSuccess;
  if (is_forked()) return cudaErrorInitializationError;  // not told: destructors of a forked process come here, too
  if (freed_as_graphs(pointer, &error)) return error;
  taken_back(pointer);
  {
    std::lock_guard<std::mutex> hold(lock_);
    blocks().erase((uint64_t)pointer);
  }
  return fail(ask(Free{(uint64_t)pointer}));
}

// Whether bytes at a device address are not all inside one allocation: a GPU refuses such a copy, too.
static bool is_past_end(const void *at, size_t size) {
  if (!size || !is_device(at)) return false;
  std::lock_guard<std::mutex> hold(lock_);
  auto found = blocks().upper_bound((uint64_t)at);
  uint64_t first = found == blocks().begin() ? 0 : (--found)->first, inside = (uint64_t)at - first;
  if (!first || inside >= found->second.first) {
    fprintf(stderr, "rfview: a copy or memset takes %zu bytes at %p, where nothing is allocated\n", size, at);
    return true;
  }
  size_t whole = found->second.first;
  if (size <= whole - inside) return false;
  fprintf(stderr, "rfview: a copy or memset takes %zu bytes at %p, %zu more than the %zu bytes allocated at %p\n", size, at,
          size - (whole - inside), whole, (void *)first);
  return true;
}

bool is_past_end(const void *at, size_t pitch, size_t width, size_t height) {
  size_t size;
  if (__builtin_mul_overflow(height - 1, pitch, &size) || __builtin_add_overflow(size, width, &size)) size = SIZE_MAX;
  return is_past_end(at, size);
}

void wrote(const void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height) {
  if (!width || !height || !is_device(to) || !properties().tracks) return;
  ask(Wrote{(uint64_t)to, (uint64_t)from, to_pitch, from_pitch, width, height});
}

static cudaError_t copy(void *to, const void *from, size_t size) {
  if (state()) return fail(state());
  if (size && (!to || !from)) return fail(cudaErrorInvalidValue);
  if (is_past_end(to, size) || is_past_end(from, size)) return fail(cudaErrorInvalidValue);
  memmove(to, from, size);
  wrote(to, size, from, size, size, 1);
  return cudaSuccess;
}

static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height) {
  if (state()) return fail(state());
  if (!width || !height) return cudaSuccess;
  if (!to || !from) return fail(cudaErrorInvalidValue);
  if (width > to_pitch || width > from_pitch) return fail(cudaErrorInvalidPitchValue);
  if (is_past_end(to, to_pitch, width, height) || is_past_end(from, from_pitch, width, height)) return fail(cudaErrorInvalidValue);
  for (size_t y = 0; y < height; y++) memmove((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width);
  wrote(to, to_pitch, from, from_pitch, width, height);
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
  wrote(to, size, nullptr, size, size, 1);
  return cudaSuccess;
}

// The machine's memory consists of 4-byte words.
static uint64_t word(const void *pointer) { return (uint64_t)pointer & ~UINT64_C(3); }

// Copies bytes and calls the system, without a write to memory in between: the bytes may be this function's own stack.
static long copy_then(void *to, const void *from, size_t size, long number, long a, long b, long c, long d, long e, long f) {
  register long four asm("r10") = d, five asm("r8") = e, six asm("r9") = f, first asm("r12") = a, second asm("r13") = b;
  asm volatile("rep movsb\n\tmov %%r12, %%rdi\n\tmov %%r13, %%rsi\n\tsyscall"
               : "+a"(number), "+D"(to), "+S"(from), "+c"(size)
               : "d"(c), "r"(four), "r"(five), "r"(six), "r"(first), "r"(second)
               : "r11", "memory");
  return number;
}

// Replaces host pages by pages of device memory with the same contents, so that both sides see the same bytes.
static bool make_shared(const Registered &one) {
  return copy_then((void *)one.device, (void *)one.first, one.size, SYS_mmap, one.first, one.size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED | MAP_NORESERVE, memory(), SCRATCH + one.device - BASE) == (long)one.first;
}

// The copy is outside the heap, part of which it may replace.
static bool make_private(const Registered &one) {
  void *kept = mmap(nullptr, one.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (kept == MAP_FAILED) return false;
  return copy_then(kept, (void *)one.first, one.size, SYS_mremap, (long)kept, one.size, one.size, MREMAP_MAYMOVE | MREMAP_FIXED,
                   one.first, 0) == (long)one.first;
}

// While a process forks, its registered memory is private: the child gets a copy, as of any memory.
static void before_fork() {
  lock_.lock();
  for (auto &one : registered) make_private(one.second);
}
static void in_parent() {
  for (auto &one : registered) make_shared(one.second);
  lock_.unlock();
}
static void in_child() {
  new (&lock_) std::mutex;
  registered.clear();
}

// Whether pages are this process's own, to read and write; -1 if other processes may share them.
static int is_own(uint64_t first, uint64_t end) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[4200], access[5];
  uint64_t from, to;
  int result = 0;
  while (maps && !result && fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || to <= first) continue;
    if (from > first || access[0] != 'r' || access[1] != 'w') break;
    if (access[3] == 's') result = -1;
    else if (to >= end) result = 1;
    else first = to;
  }
  if (maps) fclose(maps);
  return result;
}

// Kernels see only what was registered: the rest of the pages belongs to the heap, where other threads may write meanwhile.
static cudaError_t share(void *pointer, size_t size) {
  uint64_t page = sysconf(_SC_PAGESIZE), first = (uint64_t)pointer / page * page;
  uint64_t length = ((uint64_t)pointer + size - first + page - 1) / page * page;
  int own = is_own(first, first + length);
  if (own < 0) return (cudaError_t)rfview_not_supported("cudaHostRegister of memory that is shared with other processes");
  if (!own) return fail(cudaErrorInvalidValue);
  MallocResult result = {};
  if (int status = ask(Malloc{length, HOST}, &result)) return fail(status);
  Registered one = {first, length, result.address};
  static bool is_handled = !pthread_atfork(before_fork, in_parent, in_child);
  (void)is_handled;
  registered[(uint64_t)pointer] = one;
  if (!make_shared(one)) {
    registered.erase((uint64_t)pointer);
    return fail(cudaErrorInvalidValue);
  }
  uint64_t seen = word(pointer);
  ask(Alias{seen, one.device + seen - first, (uint64_t)pointer + size - seen});
  return cudaSuccess;
}

static cudaError_t unshare(const void *pointer, const Registered &one) {
  if (!make_private(one)) return fail(cudaErrorMemoryAllocation);
  ask(Alias{word(pointer), one.device, 0});
  return fail(ask(Free{one.device}));
}

}  // namespace rfview

using namespace rfview;
#define OK return cudaSuccess

API(cudaMalloc)(void **p, size_t n) { return allocate(p, n, DEVICE); }
API(cudaMallocManaged)(void **p, size_t n, unsigned flags) {
  if (!n || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) return fail(cudaErrorInvalidValue);
  return allocate(p, n, MANAGED);
}
API(cudaMallocHost)(void **p, size_t n) { return allocate(p, n, HOST); }
API(cudaHostAlloc)(void **p, size_t n, unsigned) { return allocate(p, n, HOST); }
API(cudaMallocPitch)(void **p, size_t *pitch, size_t width, size_t height) {
  size_t size;
  if (!p || !pitch) return fail(cudaErrorInvalidValue);
  if (cudaError_t error = rows(pitch, &size, width, height, 1)) return error;
  return allocate(p, size, DEVICE);
}
API(cudaMalloc3D)(cudaPitchedPtr *p, cudaExtent e) {
  size_t pitch, size;
  if (!p) return fail(cudaErrorInvalidValue);
  if (cudaError_t error = rows(&pitch, &size, e.width, e.height, e.depth)) return error;
  *p = cudaPitchedPtr{nullptr, pitch, e.width, e.height};
  return allocate(&p->ptr, size, DEVICE);
}
API(cudaFree)(void *p) { return release(p); }
API(cudaFreeHost)(void *p) { return release(p); }
// Whether the host can use a pointer, too: pinned, managed or registered memory.
static bool is_on_host(const void *pointer) {
  if (!is_device(pointer)) return is_seen(pointer);
  std::lock_guard<std::mutex> hold(lock_);
  auto found = blocks().upper_bound((uint64_t)pointer);
  if (found == blocks().begin()) return false;
  --found;
  return (uint64_t)pointer < found->first + found->second.first && (found->second.second == HOST || found->second.second == MANAGED);
}
API(cudaHostGetDevicePointer)(void **d, void *h, unsigned flags) {
  if (state()) return fail(state());
  if (!d || flags || !is_on_host(h)) return fail(cudaErrorInvalidValue);
  *d = h;
  OK;
}
API(cudaHostGetFlags)(unsigned *flags, void *h) {
  if (!flags || !is_on_host(h)) return fail(cudaErrorInvalidValue);
  *flags = cudaHostAllocMapped;
  OK;
}
API(cudaHostRegister)(void *pointer, size_t size, unsigned flags) {
  if (state()) return fail(state());
  uint64_t page = sysconf(_SC_PAGESIZE), first = (uint64_t)pointer / page * page, end, whole;
  const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (!pointer || !size || flags & ~known || __builtin_add_overflow((uint64_t)pointer, size, &end) || __builtin_add_overflow(end, page, &whole))
    return fail(cudaErrorInvalidValue);
  if (flags & cudaHostRegisterIoMemory) return (cudaError_t)rfview_not_supported("cudaHostRegisterIoMemory");
  if (is_device(pointer)) return fail(is_on_host(pointer) ? cudaErrorHostMemoryAlreadyRegistered : cudaErrorInvalidValue);
  std::lock_guard<std::mutex> hold(lock_);
  for (auto &one : registered)
    if (first < one.second.first + one.second.size && one.second.first < end) return fail(cudaErrorHostMemoryAlreadyRegistered);
  return share(pointer, size);
}
API(cudaHostUnregister)(void *pointer) {
  if (is_forked()) return fail(state());
  std::lock_guard<std::mutex> hold(lock_);
  auto found = registered.find((uint64_t)pointer);
  if (found == registered.end()) return fail(pointer ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue);
  Registered one = found->second;
  registered.erase(found);
  return unshare(pointer, one);
}
// Checks that source and destination match the kind of a copy, as a GPU requires.
static cudaError_t ends(const void *to, const void *from, size_t size, cudaMemcpyKind kind) {
  if (state()) return fail(state());
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
  if (state()) return fail(state());
  if (!w || !h) OK;
  if (w > pitch || is_past_end(d, pitch, w, h)) return fail(cudaErrorInvalidValue);
  for (size_t y = 0; y < h; y++)
    if (cudaError_t error = fill((char *)d + y * pitch, v, w)) return error;
  OK;
}
API(cudaMemset2DAsync)(void *d, size_t pitch, int v, size_t w, size_t h, cudaStream_t stream) {
  return is_captured(stream) ? capture(stream, node_of(cudaMemsetParams{d, pitch, (uint8_t)v, 1, w, h})) : cudaMemset2D(d, pitch, v, w, h);
}
API(cudaMemset3D)(cudaPitchedPtr p, int v, cudaExtent e) {
  if (!e.width || !e.height) OK;
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
