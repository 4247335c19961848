// Executable graphs: instantiated, launched, and updated from a graph with the same topology.
#include <algorithm>

#include "graphs.h"

using namespace rfview;
#define OK return cudaSuccess

// The positions of nodes among all nodes.
static std::vector<size_t> places(const std::vector<Node *> &nodes, const std::vector<std::unique_ptr<Node>> &all) {
  std::vector<size_t> found;
  for (Node *node : nodes)
    found.push_back(std::find_if(all.begin(), all.end(), [node](const std::unique_ptr<Node> &one) { return one.get() == node; }) - all.begin());
  return found;
}

API(cudaGraphInstantiate)(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) {
  if (!graph) return fail(cudaErrorInvalidValue);
  if (flags & cudaGraphInstantiateFlagDeviceLaunch) return (cudaError_t)rfview_not_supported("a graph that a kernel launches");
  std::unique_ptr<Exec> made(new Exec{copy_of(*(Graph *)graph), {}, flags});
  if (!in_order_of_needs(*made->graph, &made->order)) return fail(cudaErrorInvalidValue);
  *out = (cudaGraphExec_t)made.release();
  OK;
}
API(cudaGraphInstantiateWithFlags)(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) { return cudaGraphInstantiate(out, graph, flags); }
API(cudaGraphInstantiateWithParams)(cudaGraphExec_t *out, cudaGraph_t graph, cudaGraphInstantiateParams *p) {
  cudaError_t error = cudaGraphInstantiate(out, graph, p->flags);
  p->errNode_out = nullptr, p->result_out = error ? cudaGraphInstantiateInvalidStructure : cudaGraphInstantiateSuccess;
  return error;
}
API(cudaGraphExecGetFlags)(cudaGraphExec_t exec, unsigned long long *flags) { *flags = ((Exec *)exec)->flags; OK; }
API(cudaGraphExecDestroy)(cudaGraphExec_t exec) { delete (Exec *)exec; OK; }
API(cudaGraphUpload)(cudaGraphExec_t, cudaStream_t) { OK; }
API(cudaGraphLaunch)(cudaGraphExec_t exec, cudaStream_t stream) {
  Exec *one = (Exec *)exec;
  if (!one) return fail(cudaErrorInvalidValue);
  if (is_captured(stream)) return capture(stream, node_of((cudaGraph_t)one->graph.get()));
  cudaError_t error;
  for (Node *node : one->order) {  // what the last launch allocated must have been freed
    if (!node->memory || !is_living(*node->memory)) continue;
    if (!(one->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)) return fail(cudaErrorInvalidValue);
    freed_as_graphs(node->memory->at, &error);
  }
  return perform_all(one->order);
}

// Nodes are matched by the order in which they were added: usually, the same code made both graphs.
API(cudaGraphExecUpdate)(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
  auto &old = ((Exec *)exec)->graph->nodes;
  auto &now = ((Graph *)graph)->nodes;
  auto failed = [&](cudaGraphExecUpdateResult why, size_t k) {
    if (info) *info = {why, (cudaGraphNode_t)(k < now.size() ? now[k].get() : nullptr), nullptr};
    return fail(cudaErrorGraphExecUpdateFailure);
  };
  if (info) *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  if (old.size() != now.size()) return failed(cudaGraphExecUpdateErrorTopologyChanged, now.size());
  for (size_t k = 0; k < now.size(); k++) {
    if (old[k]->does.type != now[k]->does.type) return failed(cudaGraphExecUpdateErrorNodeTypeChanged, k);
    if (places(old[k]->needs, old) != places(now[k]->needs, now)) return failed(cudaGraphExecUpdateErrorTopologyChanged, k);
  }
  for (size_t k = 0; k < now.size(); k++) {
    old[k]->memory = now[k]->memory;
    if (take(old[k].get(), now[k]->does)) return failed(cudaGraphExecUpdateErrorParametersChanged, k);
  }
  OK;
}
