// Graphs as a whole: adding, copying, ordering and performing nodes; memory that graphs allocate.
#include <string.h>

#include <map>
#include <mutex>

#include "graphs.h"

namespace rfview {

static std::recursive_mutex lock_;
static std::map<void *, std::weak_ptr<Reserved>> &reserved() { static auto *all = new std::map<void *, std::weak_ptr<Reserved>>; return *all; }
static std::map<void *, std::shared_ptr<Reserved>> &living() { static auto *all = new std::map<void *, std::shared_ptr<Reserved>>; return *all; }
static size_t used = 0, most_used = 0, held = 0, most_held = 0;  // bytes of live memory, and of all reserved memory

Reserved::~Reserved() {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  reserved().erase(at);
  rfview::held -= size;
  cudaFree(at);
}

static cudaError_t reserve(Node *node) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  void *at;
  size_t size = node->does.alloc.bytesize;
  if (!size) return fail(cudaErrorInvalidValue);
  if (cudaError_t error = allocate(&at, size, DEVICE)) return error;
  node->memory.reset(new Reserved{at, size});
  node->does.alloc.dptr = at;
  reserved()[at] = node->memory;
  held += size, most_held = held > most_held ? held : most_held;
  return cudaSuccess;
}

static void enliven(const std::shared_ptr<Reserved> &memory) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  if (!living().insert({memory->at, memory}).second) return;
  used += memory->size, most_used = used > most_used ? used : most_used;
}

bool is_living(const Reserved &memory) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  return living().count(memory.at);
}

bool freed_as_graphs(void *at, cudaError_t *error) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  if (!reserved().count(at)) return false;
  auto found = living().find(at);
  *error = found == living().end() ? fail(cudaErrorInvalidValue) : cudaSuccess;
  if (found == living().end()) return true;
  used -= found->second->size;
  living().erase(found);
  return true;
}

static cudaError_t keep_arguments(Node *node) {
  Function *one = function_of(node->does.kernel.func);
  if (!one) return fail(cudaErrorInvalidDeviceFunction);
  if (node->does.kernel.extra) return (cudaError_t)rfview_not_supported("a kernel node whose arguments are in one buffer");
  std::string values;
  for (size_t k = 0; k < one->params.size(); k++) {
    size_t end = one->params[k].offset + one->params[k].size;
    if (values.size() < end) values.resize(end);
    memcpy(&values[one->params[k].offset], node->does.kernel.kernelParams[k], one->params[k].size);
  }
  node->values = values, node->arguments.clear();
  for (auto &param : one->params) node->arguments.push_back(&node->values[param.offset]);
  node->does.kernel.kernelParams = node->arguments.data();
  return cudaSuccess;
}

cudaError_t take(Node *node, const cudaGraphNodeParams &does) {
  node->does = does;
  switch (does.type) {
    case cudaGraphNodeTypeKernel: return keep_arguments(node);
    case cudaGraphNodeTypeGraph:
      if (!does.graph.graph) return fail(cudaErrorInvalidValue);
      node->child = copy_of(*(Graph *)does.graph.graph);
      node->does.graph.graph = (cudaGraph_t)node->child.get();
      return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc: return does.alloc.dptr ? cudaSuccess : reserve(node);
    case cudaGraphNodeTypeMemcpy: case cudaGraphNodeTypeMemset: case cudaGraphNodeTypeHost: case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent: case cudaGraphNodeTypeEventRecord: case cudaGraphNodeTypeMemFree: return cudaSuccess;
    case cudaGraphNodeTypeConditional: return (cudaError_t)rfview_not_supported("a conditional node of a graph");
    default: return (cudaError_t)rfview_not_supported("a node of a graph that waits for a semaphore of another API");
  }
}

cudaError_t add(Node **out, Graph *graph, const std::vector<Node *> &needs, cudaGraphNodeParams does, uint32_t flags) {
  if (!graph) return fail(cudaErrorInvalidValue);
  for (Node *one : needs)
    if (!one || one->graph != graph) return fail(cudaErrorInvalidValue);
  std::unique_ptr<Node> made(new Node);
  made->graph = graph, made->needs = needs, made->flags = flags;
  if (does.type == cudaGraphNodeTypeMemAlloc) does.alloc.dptr = nullptr;
  if (cudaError_t error = take(made.get(), does)) return error;
  if (out) *out = made.get();
  graph->nodes.push_back(std::move(made));
  return cudaSuccess;
}

std::unique_ptr<Graph> copy_of(const Graph &graph) {
  std::unique_ptr<Graph> made(new Graph);
  std::map<const Node *, Node *> twin;
  for (auto &one : graph.nodes) {
    Node *copy = twin[one.get()] = new Node;
    made->nodes.emplace_back(copy);
    copy->graph = made.get(), copy->origin = one.get(), copy->flags = one->flags, copy->enabled = one->enabled;
    copy->memory = one->memory;
    take(copy, one->does);
  }
  for (auto &one : graph.nodes)
    for (Node *need : one->needs) twin[one.get()]->needs.push_back(twin[need]);
  return made;
}

static bool visit(Node *node, std::map<Node *, int> &seen, std::vector<Node *> *order) {
  int &state = seen[node];
  if (state) return state == 2;
  state = 1;
  for (Node *need : node->needs)
    if (!visit(need, seen, order)) return false;
  seen[node] = 2;
  order->push_back(node);
  return true;
}

bool in_order_of_needs(const Graph &graph, std::vector<Node *> *order) {
  std::map<Node *, int> seen;
  for (auto &one : graph.nodes)
    if (!visit(one.get(), seen, order)) return false;
  return true;
}

static cudaError_t fill_rows(const cudaMemsetParamsV2 &p) {
  if (state()) return fail(state());
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return fail(cudaErrorInvalidValue);
  if (!p.width || !p.height) return cudaSuccess;
  if (!is_device(p.dst) || is_past_end(p.dst, p.pitch, p.width * p.elementSize, p.height)) return fail(cudaErrorInvalidValue);
  for (size_t y = 0; y < p.height; y++) {
    char *row = (char *)p.dst + y * p.pitch;
    if (p.elementSize == 1) memset(row, p.value, p.width);
    else
      for (size_t x = 0; x < p.width; x++) memcpy(row + x * p.elementSize, &p.value, p.elementSize);
  }
  wrote(p.dst, p.pitch, nullptr, p.pitch, p.elementSize * p.width, p.height);
  return cudaSuccess;
}

cudaError_t perform(const cudaGraphNodeParams &does, uint32_t flags) {
  switch (does.type) {
    case cudaGraphNodeTypeKernel:
      return run_kernel(does.kernel.func, does.kernel.gridDim, does.kernel.blockDim, does.kernel.kernelParams,
                        does.kernel.sharedMemBytes, flags);
    case cudaGraphNodeTypeMemcpy: return cudaMemcpy3D(&does.memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return fill_rows(does.memset);
    case cudaGraphNodeTypeHost: does.host.fn(does.host.userData); return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: return cudaEventRecord(does.eventRecord.event, nullptr);
    case cudaGraphNodeTypeMemFree: return cudaFree(does.free.dptr);
    default: return cudaSuccess;
  }
}

cudaError_t perform_all(const std::vector<Node *> &order) {
  for (Node *one : order) {
    cudaError_t error = cudaSuccess;
    std::vector<Node *> inside;
    if (!one->enabled) continue;
    if (one->child) error = in_order_of_needs(*one->child, &inside) ? perform_all(inside) : fail(cudaErrorInvalidValue);
    else if (one->memory) enliven(one->memory);
    else error = perform(one->does, one->flags);
    if (error) return error;
  }
  return cudaSuccess;
}

}  // namespace rfview

using namespace rfview;

// Memory belongs to its graphs: there is nothing to trim.
API(cudaDeviceGraphMemTrim)(int device) { return device ? fail(cudaErrorInvalidDevice) : cudaSuccess; }
API(cudaDeviceGetGraphMemAttribute)(int device, cudaGraphMemAttributeType which, void *value) {
  if (device || !value) return fail(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  std::lock_guard<std::recursive_mutex> hold(lock_);
  switch (which) {
    case cudaGraphMemAttrUsedMemCurrent: *(uint64_t *)value = used; break;
    case cudaGraphMemAttrUsedMemHigh: *(uint64_t *)value = most_used; break;
    case cudaGraphMemAttrReservedMemCurrent: *(uint64_t *)value = held; break;
    case cudaGraphMemAttrReservedMemHigh: *(uint64_t *)value = most_held; break;
    default: return fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
API(cudaDeviceSetGraphMemAttribute)(int device, cudaGraphMemAttributeType which, void *value) {
  if (device || !value || *(uint64_t *)value) return fail(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  std::lock_guard<std::recursive_mutex> hold(lock_);
  if (which == cudaGraphMemAttrUsedMemHigh) most_used = used;
  else if (which == cudaGraphMemAttrReservedMemHigh) most_held = held;
  else return fail(cudaErrorInvalidValue);
  return cudaSuccess;
}
