// The calls that build graphs of nodes and edges, and query them.
#include <string.h>

#include <algorithm>

#include "graphs.h"

using namespace rfview;
#define OK return cudaSuccess

namespace {

std::vector<Node *> list(const cudaGraphNode_t *nodes, size_t count) {
  return std::vector<Node *>((Node *const *)nodes, (Node *const *)nodes + (nodes ? count : 0));
}

cudaError_t added(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                  const cudaGraphNodeParams &does) {
  return add((Node **)out, (Graph *)graph, list(needs, count), does);
}

// Fills `out` with up to *count nodes, padded with nulls, and sets *count; without `out`, only counts them.
cudaError_t give(const std::vector<Node *> &found, cudaGraphNode_t *out, size_t *count) {
  if (!count) return fail(cudaErrorInvalidValue);
  for (size_t k = 0; out && k < *count; k++) out[k] = (cudaGraphNode_t)(k < found.size() ? found[k] : nullptr);
  *count = out ? std::min(*count, found.size()) : found.size();
  OK;
}

std::vector<Node *> nodes_of(cudaGraph_t graph) {
  std::vector<Node *> found;
  for (auto &one : ((Graph *)graph)->nodes) found.push_back(one.get());
  return found;
}

}  // namespace

API(cudaGraphCreate)(cudaGraph_t *graph, unsigned) {
  *graph = (cudaGraph_t) new Graph;
  OK;
}
API(cudaGraphDestroy)(cudaGraph_t graph) { delete (Graph *)graph; OK; }
API(cudaGraphClone)(cudaGraph_t *copy, cudaGraph_t graph) { *copy = (cudaGraph_t)copy_of(*(Graph *)graph).release(); OK; }
API(cudaGraphNodeFindInClone)(cudaGraphNode_t *out, cudaGraphNode_t node, cudaGraph_t copy) {
  for (Node *one : nodes_of(copy))
    if (one->origin == (Node *)node) {
      *out = (cudaGraphNode_t)one;
      OK;
    }
  return fail(cudaErrorInvalidValue);
}

#define NODE cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count
API(cudaGraphAddEmptyNode)(NODE) { return added(out, graph, needs, count, node_of(cudaGraphNodeTypeEmpty)); }
API(cudaGraphAddKernelNode)(NODE, const cudaKernelNodeParams *p) { return added(out, graph, needs, count, node_of(*p)); }
API(cudaGraphAddMemcpyNode)(NODE, const cudaMemcpy3DParms *p) { return added(out, graph, needs, count, node_of(*p)); }
API(cudaGraphAddMemcpyNode1D)(NODE, void *to, const void *from, size_t n, cudaMemcpyKind) { return added(out, graph, needs, count, rows_node(to, n, from, n, n, 1)); }
API(cudaGraphAddMemsetNode)(NODE, const cudaMemsetParams *p) { return added(out, graph, needs, count, node_of(*p)); }
API(cudaGraphAddHostNode)(NODE, const cudaHostNodeParams *p) { return added(out, graph, needs, count, node_of(*p)); }
API(cudaGraphAddChildGraphNode)(NODE, cudaGraph_t child) { return added(out, graph, needs, count, node_of(child)); }
API(cudaGraphAddEventRecordNode)(NODE, cudaEvent_t e) { return added(out, graph, needs, count, node_of(cudaGraphNodeTypeEventRecord, e)); }
API(cudaGraphAddEventWaitNode)(NODE, cudaEvent_t e) { return added(out, graph, needs, count, node_of(cudaGraphNodeTypeWaitEvent, e)); }
API(cudaGraphAddMemFreeNode)(NODE, void *at) { return added(out, graph, needs, count, free_node(at)); }
API(cudaGraphAddMemAllocNode)(NODE, cudaMemAllocNodeParams *p) {
  if (cudaError_t error = added(out, graph, needs, count, node_of(*p))) return error;
  p->dptr = (*(Node **)out)->does.alloc.dptr;
  OK;
}
API(cudaGraphAddNode)(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, const cudaGraphEdgeData *, size_t count, cudaGraphNodeParams *p) {
  if (cudaError_t error = added(out, graph, needs, count, *p)) return error;
  if (p->type == cudaGraphNodeTypeMemAlloc) p->alloc.dptr = (*(Node **)out)->does.alloc.dptr;
  OK;
}
API(cudaGraphDestroyNode)(cudaGraphNode_t node) {
  Node *gone = (Node *)node;
  auto &all = gone->graph->nodes;
  for (auto &one : all) one->needs.erase(std::remove(one->needs.begin(), one->needs.end(), gone), one->needs.end());
  all.erase(std::find_if(all.begin(), all.end(), [gone](const std::unique_ptr<Node> &one) { return one.get() == gone; }));
  OK;
}
API(cudaGraphAddDependencies)(cudaGraph_t, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *, size_t count) {
  for (size_t k = 0; k < count; k++) ((Node *)to[k])->needs.push_back((Node *)from[k]);
  OK;
}
API(cudaGraphRemoveDependencies)(cudaGraph_t, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *, size_t count) {
  for (size_t k = 0; k < count; k++) {
    auto &needs = ((Node *)to[k])->needs;
    auto found = std::find(needs.begin(), needs.end(), (Node *)from[k]);
    if (found == needs.end()) return fail(cudaErrorInvalidValue);
    needs.erase(found);
  }
  OK;
}

API(cudaGraphGetNodes)(cudaGraph_t graph, cudaGraphNode_t *out, size_t *count) { return give(nodes_of(graph), out, count); }
API(cudaGraphGetRootNodes)(cudaGraph_t graph, cudaGraphNode_t *out, size_t *count) {
  std::vector<Node *> found;
  for (Node *one : nodes_of(graph))
    if (one->needs.empty()) found.push_back(one);
  return give(found, out, count);
}
API(cudaGraphNodeGetDependencies)(cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *edges, size_t *count) {
  if (edges && count) memset((void *)edges, 0, *count * sizeof *edges);
  return give(((Node *)node)->needs, out, count);
}
API(cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *edges, size_t *count) {
  std::vector<Node *> found;
  for (auto &one : ((Node *)node)->graph->nodes)
    if (std::count(one->needs.begin(), one->needs.end(), (Node *)node)) found.push_back(one.get());
  if (edges && count) memset((void *)edges, 0, *count * sizeof *edges);
  return give(found, out, count);
}
API(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *count) {
  std::vector<Node *> first, second;
  for (Node *one : nodes_of(graph))
    for (Node *need : one->needs) first.push_back(need), second.push_back(one);
  if (edges && count) memset((void *)edges, 0, *count * sizeof *edges);
  size_t room = count ? *count : 0;
  if (cudaError_t error = give(first, from, count)) return error;
  return to ? give(second, to, &room) : cudaSuccess;
}
API(cudaGraphNodeGetType)(cudaGraphNode_t node, cudaGraphNodeType *type) { *type = ((Node *)node)->does.type; OK; }
