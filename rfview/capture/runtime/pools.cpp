// Memory pools and stream-ordered allocation: a pool's memory is device memory, which counts towards it until it is freed.
#include <string.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "graphs.h"

namespace rfview {

struct Pool {
  size_t most = 0;                 // maximum bytes, 0 for no limit
  uint64_t threshold = 0;          // bytes that it keeps reserved when they are free
  uint64_t reserved = 0, most_reserved = 0, used = 0, most_used = 0;
  int reuses[3] = {1, 1, 1};       // without effect: everything is done immediately
  bool is_gone = false;            // destroyed while some of its memory is allocated
};

static std::mutex lock_;
static std::map<void *, std::pair<Pool *, size_t>> &given() { static auto *all = new std::map<void *, std::pair<Pool *, size_t>>; return *all; }
static Pool *first() { static Pool *one = new Pool; return one; }
static Pool *current_ = nullptr;
static Pool *current() { return current_ ? current_ : first(); }

static cudaError_t allocate_from(Pool *pool, void **out, size_t size) {
  if (!out || !pool) return fail(cudaErrorInvalidValue);
  if (pool->most && pool->used + size > pool->most) return fail(cudaErrorMemoryAllocation);
  if (cudaError_t error = allocate(out, size, DEVICE)) return error;
  if (!*out) return cudaSuccess;
  std::lock_guard<std::mutex> hold(lock_);
  given()[*out] = {pool, size};
  pool->used += size, pool->most_used = std::max(pool->most_used, pool->used);
  pool->reserved = std::max(pool->reserved, pool->used), pool->most_reserved = std::max(pool->most_reserved, pool->reserved);
  return cudaSuccess;
}

static void keep_no_more_than(Pool *pool, uint64_t bytes) { pool->reserved = std::max(pool->used, std::min(pool->reserved, bytes)); }

void taken_back(void *at) {
  std::lock_guard<std::mutex> hold(lock_);
  auto found = given().find(at);
  if (found == given().end()) return;
  Pool *pool = found->second.first;
  pool->used -= found->second.second;
  keep_no_more_than(pool, pool->threshold);
  given().erase(found);
  if (pool->is_gone && !pool->used) delete pool;
}

// Whether this device can allocate memory in that place; NUMA nodes cannot be distinguished here.
static bool is_ours(const cudaMemLocation &place) { return place.type == cudaMemLocationTypeDevice && place.id == 0; }

static uint64_t *counter(Pool *pool, cudaMemPoolAttr which) {
  switch (which) {
    case cudaMemPoolAttrReleaseThreshold: return &pool->threshold;
    case cudaMemPoolAttrReservedMemCurrent: return &pool->reserved;
    case cudaMemPoolAttrReservedMemHigh: return &pool->most_reserved;
    case cudaMemPoolAttrUsedMemCurrent: return &pool->used;
    case cudaMemPoolAttrUsedMemHigh: return &pool->most_used;
    default: return nullptr;
  }
}

static int *reuse(Pool *pool, cudaMemPoolAttr which) {
  int place = which - cudaMemPoolReuseFollowEventDependencies;
  return place >= 0 && place < 3 ? &pool->reuses[place] : nullptr;
}

static cudaError_t malloc_async(Pool *pool, void **out, size_t size, cudaStream_t stream) {
  if (!is_captured(stream)) return allocate_from(pool, out, size);
  cudaMemAllocNodeParams asked = {};
  asked.bytesize = size;
  Node *node;
  if (cudaError_t error = capture(stream, node_of(asked), 0, &node)) return error;
  *out = node->memory->at;
  return cudaSuccess;
}

}  // namespace rfview

using namespace rfview;
#define OK return cudaSuccess

API(cudaMallocAsync)(void **p, size_t n, cudaStream_t s) { return malloc_async(current(), p, n, s); }
API(cudaMallocFromPoolAsync)(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s) { return malloc_async((Pool *)pool, p, n, s); }
API(cudaFreeAsync)(void *p, cudaStream_t s) { return in_order(s, free_node(p)); }

API(cudaDeviceGetDefaultMemPool)(cudaMemPool_t *pool, int device) {
  if (device || !pool) return fail(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *pool = (cudaMemPool_t)first();
  OK;
}
API(cudaDeviceGetMemPool)(cudaMemPool_t *pool, int device) {
  if (device || !pool) return fail(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *pool = (cudaMemPool_t)current();
  OK;
}
API(cudaDeviceSetMemPool)(int device, cudaMemPool_t pool) {
  if (device || !pool) return fail(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  current_ = (Pool *)pool;
  OK;
}
API(cudaMemPoolCreate)(cudaMemPool_t *pool, const cudaMemPoolProps *p) {
  if (!pool || !p) return fail(cudaErrorInvalidValue);
  if (!is_ours(p->location) || p->allocType != cudaMemAllocationTypePinned) return (cudaError_t)rfview_not_supported("a memory pool that is not of device 0");
  if (p->handleTypes != cudaMemHandleTypeNone) return (cudaError_t)rfview_not_supported("a memory pool for other processes");
  Pool *made = new Pool;
  made->most = p->maxSize;
  *pool = (cudaMemPool_t)made;
  OK;
}
API(cudaMemPoolDestroy)(cudaMemPool_t pool) {
  Pool *one = (Pool *)pool;
  if (!one || one == first()) return fail(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> hold(lock_);
  if (current_ == one) current_ = nullptr;
  one->is_gone = true;
  if (!one->used) delete one;
  OK;
}
API(cudaMemPoolTrimTo)(cudaMemPool_t pool, size_t least) {
  if (!pool) return fail(cudaErrorInvalidValue);
  keep_no_more_than((Pool *)pool, least);
  OK;
}
API(cudaMemPoolGetAttribute)(cudaMemPool_t pool, cudaMemPoolAttr which, void *value) {
  if (!pool || !value) return fail(cudaErrorInvalidValue);
  if (int *found = reuse((Pool *)pool, which)) *(int *)value = *found;
  else if (uint64_t *found = counter((Pool *)pool, which)) *(uint64_t *)value = *found;
  else return fail(cudaErrorInvalidValue);
  OK;
}
// A high-water mark can only be reset to the current value.
API(cudaMemPoolSetAttribute)(cudaMemPool_t pool, cudaMemPoolAttr which, void *value) {
  Pool *one = (Pool *)pool;
  if (!one || !value) return fail(cudaErrorInvalidValue);
  if (int *found = reuse(one, which)) *found = *(int *)value;
  else if (which == cudaMemPoolAttrReleaseThreshold) one->threshold = *(uint64_t *)value;
  else if (which == cudaMemPoolAttrReservedMemHigh && !*(uint64_t *)value) one->most_reserved = one->reserved;
  else if (which == cudaMemPoolAttrUsedMemHigh && !*(uint64_t *)value) one->most_used = one->used;
  else return fail(cudaErrorInvalidValue);
  OK;
}
API(cudaMemPoolSetAccess)(cudaMemPool_t, const cudaMemAccessDesc *list, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (!is_ours(list[k].location)) return fail(cudaErrorInvalidDevice);
  OK;
}
API(cudaMemPoolGetAccess)(cudaMemAccessFlags *flags, cudaMemPool_t, cudaMemLocation *place) {
  *flags = place && is_ours(*place) ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  OK;
}
