// Converts the operations of calls to the one form that nodes hold; reads and changes parameters of nodes.
#include <string.h>

#include "graphs.h"

namespace rfview {

// CUDA has two names for one layout: that of the older calls, and the one in cudaGraphNodeParams.
template <class To, class From>
static void same_bytes(To &to, const From &from) {
  static_assert(sizeof(To) == sizeof(From), "two names of one layout");
  memcpy((void *)&to, (const void *)&from, sizeof to);
}

cudaGraphNodeParams node_of(cudaGraphNodeType type) {
  cudaGraphNodeParams does{};
  does.type = type;
  return does;
}
cudaGraphNodeParams node_of(cudaGraphNodeType type, cudaEvent_t event) {
  cudaGraphNodeParams does = node_of(type);
  (type == cudaGraphNodeTypeEventRecord ? does.eventRecord.event : does.eventWait.event) = event;
  return does;
}
cudaGraphNodeParams node_of(const cudaKernelNodeParams &kernel) {
  cudaGraphNodeParams does = node_of(cudaGraphNodeTypeKernel);
  same_bytes(does.kernel, kernel);
  return does;
}
cudaGraphNodeParams node_of(const cudaMemcpy3DParms &copy) {
  cudaGraphNodeParams does = node_of(cudaGraphNodeTypeMemcpy);
  does.memcpy.copyParams = copy;
  return does;
}
cudaGraphNodeParams node_of(const cudaMemsetParams &fill) {
  cudaGraphNodeParams does = node_of(cudaGraphNodeTypeMemset);
  same_bytes(does.memset, fill);
  return does;
}
cudaGraphNodeParams node_of(const cudaHostNodeParams &host) {
  cudaGraphNodeParams does = node_of(cudaGraphNodeTypeHost);
  same_bytes(does.host, host);
  return does;
}
cudaGraphNodeParams node_of(const cudaMemAllocNodeParams &alloc) {
  cudaGraphNodeParams does = node_of(cudaGraphNodeTypeMemAlloc);
  same_bytes(does.alloc, alloc);
  return does;
}
cudaGraphNodeParams node_of(cudaGraph_t child) {
  cudaGraphNodeParams does = node_of(cudaGraphNodeTypeGraph);
  does.graph.graph = child;
  return does;
}
cudaGraphNodeParams rows_node(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height) {
  cudaMemcpy3DParms copy = {};
  copy.dstPtr = cudaPitchedPtr{to, to_pitch, width, height}, copy.srcPtr = cudaPitchedPtr{(void *)from, from_pitch, width, height};
  copy.extent = cudaExtent{width, height, 1}, copy.kind = cudaMemcpyDefault;
  return node_of(copy);
}
cudaGraphNodeParams free_node(void *at) {
  cudaGraphNodeParams does = node_of(cudaGraphNodeTypeMemFree);
  does.free.dptr = at;
  return does;
}

static cudaError_t change(Node *node, const cudaGraphNodeParams &does) {
  if (!node || node->does.type != does.type || does.type == cudaGraphNodeTypeMemAlloc) return fail(cudaErrorInvalidValue);
  return take(node, does);
}

// A node of an executable graph is identified by the node it was copied from.
static Node *within(cudaGraphExec_t exec, cudaGraphNode_t node) {
  for (auto &one : ((Exec *)exec)->graph->nodes)
    if (one->origin == (Node *)node) return one.get();
  return nullptr;
}

}  // namespace rfview

using namespace rfview;
#define OK return cudaSuccess
#define ONE cudaGraphNode_t node
#define IN_EXEC cudaGraphExec_t exec, cudaGraphNode_t node
#define SET(...) return change((Node *)node, __VA_ARGS__)
#define SET_IN_EXEC(...) return change(within(exec, node), __VA_ARGS__)

template <class To, class From>
static cudaError_t got(cudaGraphNode_t node, cudaGraphNodeType type, To *out, const From &from) {
  if (((Node *)node)->does.type != type || !out) return fail(cudaErrorInvalidValue);
  same_bytes(*out, from);
  OK;
}
static cudaGraphNodeParams &of(cudaGraphNode_t node) { return ((Node *)node)->does; }

API(cudaGraphKernelNodeGetParams)(ONE, cudaKernelNodeParams *p) { return got(node, cudaGraphNodeTypeKernel, p, of(node).kernel); }
API(cudaGraphMemcpyNodeGetParams)(ONE, cudaMemcpy3DParms *p) { return got(node, cudaGraphNodeTypeMemcpy, p, of(node).memcpy.copyParams); }
API(cudaGraphMemsetNodeGetParams)(ONE, cudaMemsetParams *p) { return got(node, cudaGraphNodeTypeMemset, p, of(node).memset); }
API(cudaGraphHostNodeGetParams)(ONE, cudaHostNodeParams *p) { return got(node, cudaGraphNodeTypeHost, p, of(node).host); }
API(cudaGraphMemAllocNodeGetParams)(ONE, cudaMemAllocNodeParams *p) { return got(node, cudaGraphNodeTypeMemAlloc, p, of(node).alloc); }
API(cudaGraphMemFreeNodeGetParams)(ONE, void *at) { return got(node, cudaGraphNodeTypeMemFree, (void **)at, of(node).free.dptr); }
API(cudaGraphChildGraphNodeGetGraph)(ONE, cudaGraph_t *g) { return got(node, cudaGraphNodeTypeGraph, g, of(node).graph.graph); }
API(cudaGraphEventRecordNodeGetEvent)(ONE, cudaEvent_t *e) { return got(node, cudaGraphNodeTypeEventRecord, e, of(node).eventRecord.event); }
API(cudaGraphEventWaitNodeGetEvent)(ONE, cudaEvent_t *e) { return got(node, cudaGraphNodeTypeWaitEvent, e, of(node).eventWait.event); }

API(cudaGraphKernelNodeSetParams)(ONE, const cudaKernelNodeParams *p) { SET(node_of(*p)); }
API(cudaGraphMemcpyNodeSetParams)(ONE, const cudaMemcpy3DParms *p) { SET(node_of(*p)); }
API(cudaGraphMemcpyNodeSetParams1D)(ONE, void *to, const void *from, size_t n, cudaMemcpyKind) { SET(rows_node(to, n, from, n, n, 1)); }
API(cudaGraphMemsetNodeSetParams)(ONE, const cudaMemsetParams *p) { SET(node_of(*p)); }
API(cudaGraphHostNodeSetParams)(ONE, const cudaHostNodeParams *p) { SET(node_of(*p)); }
API(cudaGraphEventRecordNodeSetEvent)(ONE, cudaEvent_t e) { SET(node_of(cudaGraphNodeTypeEventRecord, e)); }
API(cudaGraphEventWaitNodeSetEvent)(ONE, cudaEvent_t e) { SET(node_of(cudaGraphNodeTypeWaitEvent, e)); }
API(cudaGraphNodeSetParams)(ONE, cudaGraphNodeParams *p) { SET(*p); }

API(cudaGraphExecKernelNodeSetParams)(IN_EXEC, const cudaKernelNodeParams *p) { SET_IN_EXEC(node_of(*p)); }
API(cudaGraphExecMemcpyNodeSetParams)(IN_EXEC, const cudaMemcpy3DParms *p) { SET_IN_EXEC(node_of(*p)); }
API(cudaGraphExecMemcpyNodeSetParams1D)(IN_EXEC, void *to, const void *from, size_t n, cudaMemcpyKind) { SET_IN_EXEC(rows_node(to, n, from, n, n, 1)); }
API(cudaGraphExecMemsetNodeSetParams)(IN_EXEC, const cudaMemsetParams *p) { SET_IN_EXEC(node_of(*p)); }
API(cudaGraphExecHostNodeSetParams)(IN_EXEC, const cudaHostNodeParams *p) { SET_IN_EXEC(node_of(*p)); }
API(cudaGraphExecChildGraphNodeSetParams)(IN_EXEC, cudaGraph_t child) { SET_IN_EXEC(node_of(child)); }
API(cudaGraphExecEventRecordNodeSetEvent)(IN_EXEC, cudaEvent_t e) { SET_IN_EXEC(node_of(cudaGraphNodeTypeEventRecord, e)); }
API(cudaGraphExecEventWaitNodeSetEvent)(IN_EXEC, cudaEvent_t e) { SET_IN_EXEC(node_of(cudaGraphNodeTypeWaitEvent, e)); }
API(cudaGraphExecNodeSetParams)(IN_EXEC, cudaGraphNodeParams *p) { SET_IN_EXEC(*p); }

API(cudaGraphNodeSetEnabled)(IN_EXEC, unsigned enabled) {
  Node *one = within(exec, node);
  if (!one) return fail(cudaErrorInvalidValue);
  one->enabled = enabled;
  OK;
}
API(cudaGraphNodeGetEnabled)(IN_EXEC, unsigned *enabled) {
  Node *one = within(exec, node);
  if (!one) return fail(cudaErrorInvalidValue);
  *enabled = one->enabled;
  OK;
}
