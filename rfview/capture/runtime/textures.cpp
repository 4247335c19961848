// Arrays, textures and surfaces: an array is texels in device memory, row by row; a texture is a header made by the server.
#include <string.h>

#include "graphs.h"

using namespace rfview;
#define OK return cudaSuccess

namespace {

struct Array { void *data; cudaChannelFormatDesc format; cudaExtent size; unsigned flags; };

size_t texel(const cudaChannelFormatDesc &f) { return (f.x + f.y + f.z + f.w) / 8; }
size_t at_least_1(size_t n) { return n ? n : 1; }

cudaError_t make(Array **out, const cudaChannelFormatDesc *f, cudaExtent size, unsigned flags) {
  size_t bytes;
  if (!out || !f) return fail(cudaErrorInvalidValue);
  if (__builtin_mul_overflow(texel(*f), size.width, &bytes) || __builtin_mul_overflow(bytes, at_least_1(size.height), &bytes) ||
      __builtin_mul_overflow(bytes, at_least_1(size.depth), &bytes)) return fail(cudaErrorMemoryAllocation);
  Array *one = new Array{nullptr, *f, size, flags};
  cudaError_t error = allocate(&one->data, bytes, ARRAY);
  if (error) delete one;
  *out = error ? nullptr : one;
  return error;
}

struct Side { char *data; size_t pitch, slice; };

bool is_inside(size_t at, size_t size, size_t whole) { return at <= whole && size <= whole - at; }

// One end of a copy of `extent`, in elements of the array if there is one; without data if that is not all inside the array.
Side side(const cudaPitchedPtr &p, const Array *array, const cudaPos &pos, const cudaExtent &extent) {
  if (!array) return {(char *)p.ptr + pos.x + pos.y * p.pitch + pos.z * p.pitch * p.ysize, p.pitch, p.pitch * p.ysize};
  if (!is_inside(pos.x, extent.width, array->size.width) || !is_inside(pos.y, extent.height, at_least_1(array->size.height)) ||
      !is_inside(pos.z, extent.depth, at_least_1(array->size.depth))) return {};
  size_t pitch = texel(array->format) * array->size.width, slice = pitch * at_least_1(array->size.height);
  return {(char *)array->data + pos.x * texel(array->format) + pos.y * pitch + pos.z * slice, pitch, slice};
}

cudaError_t copy(Side to, Side from, size_t width, size_t height, size_t depth) {
  if (state()) return fail(state());
  if (!width || !height) OK;
  if (!to.data || !from.data) return fail(cudaErrorInvalidValue);
  for (size_t z = 0; z < depth; z++)
    for (const Side &one : {to, from})
      if (is_past_end(one.data + z * one.slice, one.pitch, width, height)) return fail(cudaErrorInvalidValue);
  for (size_t z = 0; z < depth; z++) {
    char *to_slice = to.data + z * to.slice, *from_slice = from.data + z * from.slice;
    for (size_t y = 0; y < height; y++) memmove(to_slice + y * to.pitch, from_slice + y * from.pitch, width);
    wrote(to_slice, to.pitch, from_slice, from.pitch, width, height);
  }
  OK;
}

cudaError_t no_array() { return fail(state() ? state() : cudaErrorInvalidValue); }  // its cudaMallocArray may have failed

cudaError_t header(uint64_t *handle, const cudaResourceDesc *r, const cudaTextureDesc *t) {
  Texture body{};
  cudaChannelFormatDesc f{};
  bool is_cube = false;
  if (r->resType == cudaResourceTypeArray) {
    const Array *array = (const Array *)r->res.array.array;
    if (!array) return no_array();
    is_cube = array->flags & cudaArrayCubemap;
    f = array->format, body.address = (uint64_t)array->data;
    body.size[0] = array->size.width, body.size[1] = at_least_1(array->size.height), body.size[2] = at_least_1(array->size.depth);
  } else if (r->resType == cudaResourceTypeLinear) {
    f = r->res.linear.desc, body.address = (uint64_t)r->res.linear.devPtr;
    if (!texel(f)) return fail(cudaErrorInvalidChannelDescriptor);
    body.size[0] = r->res.linear.sizeInBytes / texel(f), body.size[1] = body.size[2] = 1;
  } else if (r->resType == cudaResourceTypePitch2D) {
    f = r->res.pitch2D.desc, body.address = (uint64_t)r->res.pitch2D.devPtr;
    body.size[0] = r->res.pitch2D.width, body.size[1] = r->res.pitch2D.height, body.size[2] = 1, body.row_bytes = r->res.pitch2D.pitchInBytes;
    if (body.row_bytes < body.size[0] * texel(f)) return fail(cudaErrorInvalidPitchValue);
  } else {
    return (cudaError_t)rfview_not_supported("a mipmapped texture");
  }
  body.channels = f.w ? 4 : f.z ? 3 : f.y ? 2 : 1, body.bits = f.x;
  body.kind = f.f == cudaChannelFormatKindFloat ? 2 : f.f == cudaChannelFormatKindUnsigned ? 1 : 0;
  if (t) {
    body.linear = t->filterMode == cudaFilterModeLinear, body.normalised = t->normalizedCoords;
    body.as_float = t->readMode == cudaReadModeNormalizedFloat && body.kind != 2;
    for (int k = 0; k < 3; k++) body.mode[k] = is_cube ? cudaAddressModeClamp : t->addressMode[k];  // no fetch leaves its face
    memcpy(body.border, t->borderColor, sizeof body.border);
  }
  TextureResult result = {};
  if (int status = ask(body, &result)) return fail(status);
  *handle = result.handle;
  OK;
}

cudaExtent extent(size_t w, size_t h, size_t d) { return cudaExtent{w, h, d}; }

}  // namespace

API_OTHER(cudaChannelFormatDesc, cudaCreateChannelDesc)(int x, int y, int z, int w, cudaChannelFormatKind f) { return cudaChannelFormatDesc{x, y, z, w, f}; }
API(cudaMallocArray)(cudaArray_t *a, const cudaChannelFormatDesc *f, size_t w, size_t h, unsigned flags) { return make((Array **)a, f, extent(w, h, 0), flags); }
API(cudaMalloc3DArray)(cudaArray_t *a, const cudaChannelFormatDesc *f, cudaExtent e, unsigned flags) {
  if (flags & cudaArrayCubemap && (e.width != e.height || e.depth % 6)) return fail(cudaErrorInvalidValue);
  return make((Array **)a, f, e, flags);
}
API(cudaFreeArray)(cudaArray_t a) {
  Array *one = (Array *)a;
  if (!one) OK;
  cudaError_t error = cudaFree(one->data);
  delete one;
  return error;
}
API(cudaArrayGetInfo)(cudaChannelFormatDesc *f, cudaExtent *e, unsigned *flags, cudaArray_t a) {
  Array *one = (Array *)a;
  if (!one) return no_array();
  if (f) *f = one->format;
  if (e) *e = one->size;
  if (flags) *flags = one->flags;
  OK;
}
API(cudaGetChannelDesc)(cudaChannelFormatDesc *f, cudaArray_const_t a) { return a ? (*f = ((const Array *)a)->format, cudaSuccess) : no_array(); }
static Side row(const void *p, size_t pitch) { return {(char *)p, pitch, 0}; }
// Rows of an array from byte x of row y on; without data, which `copy` refuses, if they are not all inside it.
static Side within(const void *a, size_t x, size_t y, size_t width, size_t height) {
  const Array *one = (const Array *)a;
  size_t pitch = one ? texel(one->format) * one->size.width : 0, rows = one ? at_least_1(one->size.height) : 0;
  if (!is_inside(x, width, pitch) || !is_inside(y, height, rows)) return {};
  return {(char *)one->data + x + y * pitch, pitch, 0};
}
// The same for bytes that go on in the next row at the end of each.
static Side along(const void *a, size_t x, size_t y, size_t size) {
  const Array *one = (const Array *)a;
  size_t pitch = one ? texel(one->format) * one->size.width : 0, rows = one ? at_least_1(one->size.height) : 0;
  if (y > rows || !is_inside(x, size, pitch * (rows - y))) return {};
  return {(char *)one->data + x + y * pitch, size, 0};
}
// A call that is performed immediately, but cannot be captured.
#define NOW(name, ...) (is_captured(stream) ? (cudaError_t)rfview_not_supported(#name "Async in a captured stream") : name(__VA_ARGS__))
API(cudaMemcpy2DToArray)(cudaArray_t a, size_t x, size_t y, const void *s, size_t sp, size_t w, size_t h, cudaMemcpyKind) { return copy(within(a, x, y, w, h), row(s, sp), w, h, 1); }
API(cudaMemcpy2DToArrayAsync)(cudaArray_t a, size_t x, size_t y, const void *s, size_t sp, size_t w, size_t h, cudaMemcpyKind kind, cudaStream_t stream) { return NOW(cudaMemcpy2DToArray, a, x, y, s, sp, w, h, kind); }
API(cudaMemcpy2DFromArray)(void *d, size_t dp, cudaArray_const_t a, size_t x, size_t y, size_t w, size_t h, cudaMemcpyKind) { return copy(row(d, dp), within(a, x, y, w, h), w, h, 1); }
API(cudaMemcpy2DFromArrayAsync)(void *d, size_t dp, cudaArray_const_t a, size_t x, size_t y, size_t w, size_t h, cudaMemcpyKind kind, cudaStream_t stream) { return NOW(cudaMemcpy2DFromArray, d, dp, a, x, y, w, h, kind); }
API(cudaMemcpy2DArrayToArray)(cudaArray_t to, size_t tx, size_t ty, cudaArray_const_t from, size_t x, size_t y, size_t w, size_t h, cudaMemcpyKind) { return copy(within(to, tx, ty, w, h), within(from, x, y, w, h), w, h, 1); }
API(cudaMemcpyToArray)(cudaArray_t a, size_t x, size_t y, const void *s, size_t n, cudaMemcpyKind) { return copy(along(a, x, y, n), row(s, n), n, 1, 1); }
API(cudaMemcpyToArrayAsync)(cudaArray_t a, size_t x, size_t y, const void *s, size_t n, cudaMemcpyKind kind, cudaStream_t stream) { return NOW(cudaMemcpyToArray, a, x, y, s, n, kind); }
API(cudaMemcpyFromArray)(void *d, cudaArray_const_t a, size_t x, size_t y, size_t n, cudaMemcpyKind) { return copy(row(d, n), along(a, x, y, n), n, 1, 1); }
API(cudaMemcpyFromArrayAsync)(void *d, cudaArray_const_t a, size_t x, size_t y, size_t n, cudaMemcpyKind kind, cudaStream_t stream) { return NOW(cudaMemcpyFromArray, d, a, x, y, n, kind); }
API(cudaMemcpyArrayToArray)(cudaArray_t to, size_t tx, size_t ty, cudaArray_const_t from, size_t x, size_t y, size_t n, cudaMemcpyKind) { return copy(along(to, tx, ty, n), along(from, x, y, n), n, 1, 1); }
API(cudaMemcpy3D)(const cudaMemcpy3DParms *p) {
  const Array *to = (const Array *)p->dstArray, *from = (const Array *)p->srcArray;
  size_t width = p->extent.width * (to ? texel(to->format) : from ? texel(from->format) : 1);
  return copy(side(p->dstPtr, to, p->dstPos, p->extent), side(p->srcPtr, from, p->srcPos, p->extent), width, p->extent.height, p->extent.depth);
}
API(cudaMemcpy3DAsync)(const cudaMemcpy3DParms *p, cudaStream_t stream) { return in_order(stream, node_of(*p)); }
API(cudaCreateTextureObject)(cudaTextureObject_t *out, const cudaResourceDesc *r, const cudaTextureDesc *t, const cudaResourceViewDesc *view) {
  if (view) return (cudaError_t)rfview_not_supported("a texture with a view of its resource");
  return header((uint64_t *)out, r, t);
}
API(cudaDestroyTextureObject)(cudaTextureObject_t t) { return fail(ask(Free{(uint64_t)t})); }
API(cudaCreateSurfaceObject)(cudaSurfaceObject_t *out, const cudaResourceDesc *r) { return header((uint64_t *)out, r, nullptr); }
API(cudaDestroySurfaceObject)(cudaSurfaceObject_t s) { return fail(ask(Free{(uint64_t)s})); }
