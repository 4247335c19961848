// The connection to the server, device memory in this process, and CUDA's error state.
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <set>

#include "standin.h"

namespace rfview {

static int link_ = -1, memory_ = -1;
static pid_t owner;
static std::recursive_mutex lock_;
static Properties properties_;
static thread_local cudaError_t last = cudaSuccess;
static cudaError_t state_ = cudaSuccess;
static double clock_ = 0;

[[noreturn]] static void leave(const char *why) {
  fprintf(stderr, "rfview: %s\n", why);
  _exit(70);
}

static void send_all(const void *data, size_t size) {
  const char *at = (const char *)data;
  while (size) {
    ssize_t done = send(link_, at, size, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) leave("the connection to rfview was lost");
    at += done, size -= done;
  }
}

static void receive_all(void *data, size_t size) {
  char *at = (char *)data;
  while (size) {
    ssize_t done = recv(link_, at, size, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) leave("the connection to rfview was lost");
    at += done, size -= done;
  }
}

// Reads a reply's head; the reply to Hello carries the memory's file descriptor.
static ReplyHead receive_head(int *descriptor) {
  ReplyHead head;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part = {&head, 1};
  msghdr message = {};
  message.msg_iov = &part, message.msg_iovlen = 1, message.msg_control = control, message.msg_controllen = sizeof control;
  ssize_t done;
  do done = recvmsg(link_, &message, MSG_CMSG_CLOEXEC);
  while (done < 0 && errno == EINTR);
  if (done <= 0) leave("the connection to rfview was lost");
  const cmsghdr *found = CMSG_FIRSTHDR(&message);
  if (found && found->cmsg_type == SCM_RIGHTS && descriptor) memcpy(descriptor, CMSG_DATA(found), sizeof *descriptor);
  receive_all((char *)&head + 1, sizeof head - 1);
  return head;
}

static int transfer(uint32_t operation, const std::string &body, std::string *result, int *descriptor = nullptr) {
  RequestHead request = {operation, (uint32_t)body.size()};
  send_all(&request, sizeof request);
  send_all(body.data(), body.size());
  ReplyHead reply = receive_head(descriptor);
  result->assign(reply.size, 0);
  receive_all(&(*result)[0], reply.size);
  std::string text(reply.text, 0);     // the server has shown it
  receive_all(&text[0], reply.text);
  return reply.status;
}

// CUDA contexts do not survive fork. A child that was forked before its parent's first call opens a connection of its own.
bool is_forked() { return owner && owner != getpid(); }

static cudaError_t refuse_forked() {
  static std::atomic<bool> is_told{false};
  if (!is_told.exchange(true))
    fprintf(stderr, "rfview: CUDA contexts do not survive fork: process %d was forked after its parent's first CUDA call; let the "
            "parent call CUDA only afterwards, or start a program with exec\n", (int)getpid());
  return cudaErrorInitializationError;
}

static void before_fork() { lock_.lock(); }
static void in_parent() { lock_.unlock(); }
static void in_child() {
  new (&lock_) std::recursive_mutex;
  if (link_ >= 0) close(link_), close(memory_);
  link_ = memory_ = -1;
}

static void connect() {
  if (link_ >= 0) return;
  const char *name = getenv("RFVIEW_LINK");
  sockaddr_un address = {AF_UNIX, ""};
  if (!name || strlen(name) >= sizeof address.sun_path) leave("this library is for programs that rfview starts");
  strcpy(address.sun_path + 1, name);     // in the abstract namespace
  link_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(link_, (sockaddr *)&address, offsetof(sockaddr_un, sun_path) + 1 + strlen(name))) leave("rfview has ended, and the device with it");
  pthread_atfork(before_fork, in_parent, in_child);
  owner = getpid();
  std::string result;
  Hello hello = {VERSION, (uint32_t)owner};
  if (transfer(Hello::OPERATION, raw(hello), &result, &memory_) || result.size() < sizeof properties_ || memory_ < 0) leave("the server speaks another version");
  memcpy(&properties_, result.data(), sizeof properties_);
  void *got = mmap((void *)BASE, CAPACITY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, memory_, SCRATCH);
  if (got != (void *)BASE) leave("the device's addresses are already in use in this process");
  madvise(got, CAPACITY, MADV_DONTFORK);  // a child must not write its parent's memory
}

int exchange(uint32_t operation, const std::string &body, std::string *result) {
  if (is_forked()) return refuse_forked();
  std::lock_guard<std::recursive_mutex> hold(lock_);
  connect();
  return transfer(operation, body, result);
}

const Properties &properties() {
  if (is_forked()) return properties_;
  std::lock_guard<std::recursive_mutex> hold(lock_);
  connect();
  return properties_;
}

int memory() { return memory_; }

cudaError_t fail(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}
cudaError_t fail(int status) { return fail((cudaError_t)status); }
cudaError_t state() { return is_forked() ? refuse_forked() : state_; }
void set_state(cudaError_t error) { state_ = error; }
double clock_ms() { return clock_; }
void advance(uint64_t cycles) { clock_ += (double)cycles / properties().clock_khz; }
bool is_device(const void *pointer) { return (uint64_t)pointer >= BASE && (uint64_t)pointer < BASE + CAPACITY; }

}  // namespace rfview

using namespace rfview;

API(cudaGetLastError)() {
  cudaError_t error = last;
  last = is_forked() ? cudaErrorInitializationError : state_;  // a sticky error stays
  return error;
}
API(cudaPeekAtLastError)() { return last; }

extern "C" __attribute__((visibility("default"))) int rfview_not_supported(const char *name) {
  static std::mutex lock;
  static std::set<std::string> said;
  std::lock_guard<std::mutex> hold(lock);
  if (said.insert(name).second) fprintf(stderr, "rfview: %s is not supported\n", name);
  return fail(cudaErrorNotSupported);
}

struct Known { cudaError_t code; const char *name, *text; };
static const Known KNOWN[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidTexture, "cudaErrorInvalidTexture", "invalid texture reference"},
    {cudaErrorInvalidChannelDescriptor, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorInvalidPc, "cudaErrorInvalidPc", "invalid program counter"},
    {cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};
static const Known *known(cudaError_t error) {
  for (const Known &one : KNOWN)
    if (one.code == error) return &one;
  return nullptr;
}
API_OTHER(const char *, cudaGetErrorName)(cudaError_t error) { return known(error) ? known(error)->name : "unrecognized error code"; }
API_OTHER(const char *, cudaGetErrorString)(cudaError_t error) { return known(error) ? known(error)->text : "unrecognized error code"; }
