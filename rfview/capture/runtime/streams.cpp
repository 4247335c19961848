// Streams and events: operations are performed immediately, in modelled time, or added to a graph if a stream is captured.
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "graphs.h"

namespace rfview {

struct Captured {
  unsigned long long id;
  cudaStream_t origin;
  Graph *graph;
  bool is_own, is_invalid;
  size_t before;              // number of nodes the graph had at the beginning
};
struct Strand {
  std::shared_ptr<Captured> of;
  std::vector<Node *> last;   // the nodes that the next operation depends on
};
struct Event {
  bool is_timed = true, is_recorded = false;
  double ms = 0;
  Strand at;                  // where it was recorded, if that was in a captured stream
};
struct Stream {
  unsigned flags;
  unsigned long long id;
  std::map<int, cudaLaunchAttributeValue> attributes;
};

static std::recursive_mutex lock_;
static unsigned long long count_ = 0;
static std::map<cudaStream_t, Strand> &strands() { static auto *all = new std::map<cudaStream_t, Strand>; return *all; }

static Strand *strand_of(cudaStream_t stream) {
  auto found = strands().find(stream);
  return found == strands().end() ? nullptr : &found->second;
}

static bool is_open(const Captured &one) {
  Strand *first = strand_of(one.origin);
  return first && first->of.get() == &one;
}

bool is_captured(cudaStream_t stream) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  return !strands().empty() && strand_of(stream);
}

cudaError_t capture(cudaStream_t stream, const cudaGraphNodeParams &does, uint32_t flags, Node **node) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  Strand *strand = strand_of(stream);
  if (strand->of->is_invalid) return fail(cudaErrorStreamCaptureInvalidated);
  Node *made;
  if (cudaError_t error = add(&made, strand->of->graph, strand->last, does, flags)) {
    strand->of->is_invalid = true;
    return error;
  }
  strand->last = {made};
  if (node) *node = made;
  return cudaSuccess;
}

cudaError_t in_order(cudaStream_t stream, const cudaGraphNodeParams &does) {
  return is_captured(stream) ? capture(stream, does) : perform(does);
}

// An operation that cannot be part of a graph invalidates the capture; `error` is what it returns then.
static cudaError_t waits(Captured *one, cudaError_t error) {
  if (!one) return fail(state());
  one->is_invalid = true;
  return fail(error);
}

static cudaError_t stream_waits(cudaStream_t stream) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  Strand *strand = strand_of(stream);
  return waits(strand ? strand->of.get() : nullptr, cudaErrorStreamCaptureUnsupported);
}

static cudaError_t event_waits(cudaEvent_t event) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  Event *one = (Event *)event;
  if (!one) return fail(cudaErrorInvalidResourceHandle);
  return waits(one->at.of && is_open(*one->at.of) ? one->at.of.get() : nullptr, cudaErrorCapturedEvent);
}

static void come_after(Strand *strand, const std::vector<Node *> &nodes) {
  for (Node *node : nodes)
    if (std::find(strand->last.begin(), strand->last.end(), node) == strand->last.end()) strand->last.push_back(node);
}

static cudaError_t begin(cudaStream_t stream, Graph *graph, const std::vector<Node *> &needs) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  if (!stream || stream == cudaStreamLegacy) return fail(cudaErrorStreamCaptureUnsupported);
  if (strand_of(stream)) return fail(cudaErrorIllegalState);
  bool is_own = !graph;
  if (is_own) graph = new Graph;
  strands()[stream] = {std::make_shared<Captured>(Captured{++count_, stream, graph, is_own, false, graph->nodes.size()}), needs};
  return cudaSuccess;
}

// Whether the origin's stream depends on everything that other streams did.
static bool is_joined(const Captured &one, const std::vector<Node *> &last) {
  std::set<Node *> known;
  std::vector<Node *> waiting = last;
  while (!waiting.empty()) {
    Node *node = waiting.back();
    waiting.pop_back();
    if (known.insert(node).second) waiting.insert(waiting.end(), node->needs.begin(), node->needs.end());
  }
  for (size_t k = one.before; k < one.graph->nodes.size(); k++)
    if (!known.count(one.graph->nodes[k].get())) return false;
  return true;
}

static cudaError_t end(cudaStream_t stream, cudaGraph_t *graph) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  Strand *strand = strand_of(stream);
  *graph = nullptr;
  if (!strand) return fail(cudaErrorIllegalState);
  std::shared_ptr<Captured> one = strand->of;
  if (one->origin != stream) return fail(cudaErrorStreamCaptureUnmatched);
  cudaError_t error = one->is_invalid ? cudaErrorStreamCaptureInvalidated : is_joined(*one, strand->last) ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
  for (auto it = strands().begin(); it != strands().end();) it = it->second.of == one ? strands().erase(it) : std::next(it);
  if (error && one->is_own) delete one->graph;
  if (!error) *graph = (cudaGraph_t)one->graph;
  return fail(error);
}

static cudaError_t join(cudaStream_t stream, const Event &event) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  Strand *strand = strand_of(stream);
  if (!event.at.of || !is_open(*event.at.of)) return strand ? fail(cudaErrorStreamCaptureIsolation) : cudaSuccess;
  if (strand && strand->of != event.at.of) return fail(cudaErrorStreamCaptureMerge);
  if (!strand) strand = &(strands()[stream] = Strand{event.at.of, {}});
  come_after(strand, event.at.last);
  return cudaSuccess;
}

static cudaError_t record(Event *event, cudaStream_t stream) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  if (!event) return fail(cudaErrorInvalidResourceHandle);
  Strand *strand = strand_of(stream);
  event->at = strand ? *strand : Strand{};
  event->ms = clock_ms(), event->is_recorded = true;
  return cudaSuccess;
}

}  // namespace rfview

using namespace rfview;
#define OK return cudaSuccess

static cudaError_t handle(cudaStream_t *out, unsigned flags) {
  static std::atomic<unsigned long long> count{2};    // the built-in streams come first
  if (!out || flags & ~cudaStreamNonBlocking) return fail(cudaErrorInvalidValue);
  *out = (cudaStream_t) new Stream{flags, ++count, {}};
  OK;
}
// A stream that the program created, or the object for a built-in one.
static Stream *stream_of(cudaStream_t s) {
  static Stream always[3] = {{0, 0, {}}, {0, 1, {}}, {0, 2, {}}};
  return (uintptr_t)s < 3 ? &always[(uintptr_t)s] : (Stream *)s;
}
API(cudaStreamCreate)(cudaStream_t *s) { return handle(s, 0); }
API(cudaStreamCreateWithFlags)(cudaStream_t *s, unsigned flags) { return handle(s, flags); }
API(cudaStreamCreateWithPriority)(cudaStream_t *s, unsigned flags, int) { return handle(s, flags); }
API(cudaStreamDestroy)(cudaStream_t) { OK; }          // kept: programs query streams after destroying them
API(cudaStreamGetId)(cudaStream_t s, unsigned long long *id) { *id = stream_of(s)->id; OK; }
API(cudaStreamGetDevice)(cudaStream_t, int *device) { *device = 0; OK; }
API(cudaStreamSetAttribute)(cudaStream_t s, cudaLaunchAttributeID which, const cudaLaunchAttributeValue *value) {
  if (!value) return fail(cudaErrorInvalidValue);
  stream_of(s)->attributes[which] = *value;
  OK;
}
API(cudaStreamGetAttribute)(cudaStream_t s, cudaLaunchAttributeID which, cudaLaunchAttributeValue *value) {
  if (!value) return fail(cudaErrorInvalidValue);
  *value = stream_of(s)->attributes[which];
  OK;
}
API(cudaStreamCopyAttributes)(cudaStream_t to, cudaStream_t from) { stream_of(to)->attributes = stream_of(from)->attributes; OK; }
API(cudaStreamSynchronize)(cudaStream_t s) { return stream_waits(s); }
API(cudaStreamQuery)(cudaStream_t s) { return stream_waits(s); }
API(cudaStreamGetPriority)(cudaStream_t, int *priority) { *priority = 0; OK; }
API(cudaStreamGetFlags)(cudaStream_t s, unsigned *flags) { *flags = stream_of(s)->flags; OK; }
API(cudaDeviceGetStreamPriorityRange)(int *least, int *most) { *least = *most = 0; OK; }
API(cudaLaunchHostFunc)(cudaStream_t s, cudaHostFn_t f, void *data) { return in_order(s, node_of(cudaHostNodeParams{f, data})); }
API(cudaStreamAddCallback)(cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned) {
  if (is_captured(s)) return stream_waits(s);
  f(s, state(), data);
  OK;
}

API(cudaStreamBeginCapture)(cudaStream_t s, cudaStreamCaptureMode) { return begin(s, nullptr, {}); }
API(cudaStreamBeginCaptureToGraph)(cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *needs, const cudaGraphEdgeData *, size_t count, cudaStreamCaptureMode) {
  return begin(s, (Graph *)graph, std::vector<Node *>((Node *const *)needs, (Node *const *)needs + count));
}
API(cudaStreamEndCapture)(cudaStream_t s, cudaGraph_t *graph) { return end(s, graph); }
API(cudaThreadExchangeStreamCaptureMode)(cudaStreamCaptureMode *mode) {
  static thread_local cudaStreamCaptureMode own = cudaStreamCaptureModeGlobal;
  std::swap(*mode, own);
  OK;
}
static cudaStreamCaptureStatus status_of(const Strand *strand) {
  return !strand ? cudaStreamCaptureStatusNone : strand->of->is_invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}
API(cudaStreamIsCapturing)(cudaStream_t s, cudaStreamCaptureStatus *status) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  *status = status_of(strand_of(s));
  OK;
}
API(cudaStreamGetCaptureInfo)(cudaStream_t s, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **needs, const cudaGraphEdgeData **edges, size_t *count) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  Strand *strand = strand_of(s);
  *status = status_of(strand);
  if (!strand) OK;
  if (id) *id = strand->of->id;
  if (graph) *graph = (cudaGraph_t)strand->of->graph;
  if (needs) *needs = (const cudaGraphNode_t *)strand->last.data();
  if (edges) *edges = nullptr;
  if (count) *count = strand->last.size();
  OK;
}
API(cudaStreamUpdateCaptureDependencies)(cudaStream_t s, cudaGraphNode_t *needs, const cudaGraphEdgeData *, size_t count, unsigned flags) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  Strand *strand = strand_of(s);
  if (!strand) return fail(cudaErrorIllegalState);
  std::vector<Node *> nodes((Node **)needs, (Node **)needs + count);
  if (flags == cudaStreamSetCaptureDependencies) strand->last.clear();
  come_after(strand, nodes);
  OK;
}

API(cudaEventCreateWithFlags)(cudaEvent_t *e, unsigned flags) {
  if (!e || flags & ~(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess)) return fail(cudaErrorInvalidValue);
  *e = (cudaEvent_t) new Event{!(flags & cudaEventDisableTiming)};
  OK;
}
API(cudaEventCreate)(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, cudaEventDefault); }
API(cudaEventDestroy)(cudaEvent_t e) {
  if (!e) return fail(cudaErrorInvalidResourceHandle);
  delete (Event *)e;
  OK;
}
API(cudaEventRecord)(cudaEvent_t e, cudaStream_t s) { return record((Event *)e, s); }
API(cudaEventRecordWithFlags)(cudaEvent_t e, cudaStream_t s, unsigned flags) {
  bool is_node = is_captured(s) && flags & cudaEventRecordExternal;
  return is_node ? capture(s, node_of(cudaGraphNodeTypeEventRecord, e)) : record((Event *)e, s);
}
API(cudaStreamWaitEvent)(cudaStream_t s, cudaEvent_t e, unsigned flags) {
  if (!e) return fail(cudaErrorInvalidResourceHandle);
  bool is_node = is_captured(s) && flags & cudaEventWaitExternal;
  return is_node ? capture(s, node_of(cudaGraphNodeTypeWaitEvent, e)) : join(s, *(Event *)e);
}
API(cudaEventSynchronize)(cudaEvent_t e) { return event_waits(e); }
API(cudaEventQuery)(cudaEvent_t e) { return event_waits(e); }
API(cudaEventElapsedTime)(float *ms, cudaEvent_t begin, cudaEvent_t end) {
  if (!ms) return fail(cudaErrorInvalidValue);
  for (Event *one : {(Event *)begin, (Event *)end})
    if (!one || !one->is_timed || !one->is_recorded) return fail(cudaErrorInvalidResourceHandle);
  *ms = (float)(((Event *)end)->ms - ((Event *)begin)->ms);
  return fail(state());
}
