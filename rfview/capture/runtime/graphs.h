// Graphs and captured streams: a node holds its operation as cudaGraphNodeParams, and is performed immediately.
#pragma once
#include <memory>

#include "standin.h"

namespace rfview {

struct Graph;

// Memory of an allocation node: its address is reserved while a graph has the node, or a launch's allocation is live.
struct Reserved {
  void *at;
  size_t size;
  ~Reserved();
};

struct Node {
  cudaGraphNodeParams does{};
  uint32_t flags = 0;                      // of a kernel's launch
  Graph *graph = nullptr;
  std::vector<Node *> needs;               // the nodes that come before it
  Node *origin = nullptr;                  // the node that this one is a copy of
  bool enabled = true;
  std::string values;                      // a kernel's arguments, and a pointer to each
  std::vector<void *> arguments;
  std::shared_ptr<Reserved> memory;
  std::shared_ptr<Graph> child;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;  // in the order in which they were added
};

struct Exec {
  std::unique_ptr<Graph> graph;
  std::vector<Node *> order;
  unsigned long long flags;
};

// Store a node's parameters, a kernel's arguments as copies; an allocation that has an address already keeps it.
cudaError_t take(Node *node, const cudaGraphNodeParams &does);
cudaError_t add(Node **out, Graph *graph, const std::vector<Node *> &needs, cudaGraphNodeParams does, uint32_t flags = 0);
cudaError_t perform(const cudaGraphNodeParams &does, uint32_t flags = 0);
cudaError_t perform_all(const std::vector<Node *> &order);
std::unique_ptr<Graph> copy_of(const Graph &graph);
bool in_order_of_needs(const Graph &graph, std::vector<Node *> *order);  // false: there is a cycle

// The operation of one call, as a node's parameters.
cudaGraphNodeParams node_of(cudaGraphNodeType type);
cudaGraphNodeParams node_of(cudaGraphNodeType type, cudaEvent_t event);
cudaGraphNodeParams node_of(const cudaKernelNodeParams &kernel);
cudaGraphNodeParams node_of(const cudaMemcpy3DParms &copy);
cudaGraphNodeParams node_of(const cudaMemsetParams &fill);
cudaGraphNodeParams node_of(const cudaHostNodeParams &host);
cudaGraphNodeParams node_of(const cudaMemAllocNodeParams &alloc);
cudaGraphNodeParams node_of(cudaGraph_t child);
cudaGraphNodeParams rows_node(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height);
cudaGraphNodeParams free_node(void *at);

// Captured streams.
bool is_captured(cudaStream_t stream);
cudaError_t capture(cudaStream_t stream, const cudaGraphNodeParams &does, uint32_t flags = 0, Node **node = nullptr);
cudaError_t in_order(cudaStream_t stream, const cudaGraphNodeParams &does);  // capture it, or perform it immediately

bool is_living(const Reserved &memory);        // a launch has allocated it, and nothing has freed it
bool freed_as_graphs(void *at, cudaError_t *error);  // whether it is a graph's memory; if so, it is freed
cudaError_t run_kernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, uint32_t flags);

}  // namespace rfview
