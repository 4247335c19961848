// Declarations shared by the stand-in's parts: the connection to the server, errors, modules, kernels and allocations.
#pragma once
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <string.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "messages.h"

// defines a function of the runtime's API; standin.py finds these names, and reports the others as not supported
#define API(name) extern "C" __attribute__((visibility("default"))) cudaError_t name
#define API_OTHER(type, name) extern "C" __attribute__((visibility("default"))) type name

namespace rfview {

struct Module {
  const void *data;
  size_t size;
  uint32_t number;
  int status;  // result of loading it; -1: not loaded yet
  uint32_t form;
};

struct Function {
  Module *module;
  std::string name;
  bool known;
  FactsResult facts;
  std::vector<Param> params;
};

struct Variable {
  Module *module;
  std::string name;
  size_t size;
  uint64_t address;
  void **managed;  // where the program stores a __managed__ variable's address, else null
};

using Properties = HelloResult;

int exchange(uint32_t operation, const std::string &body, std::string *result);
bool is_forked();                        // from a process that had called CUDA: nothing works here
int memory();                            // the file descriptor of this process's device memory
cudaError_t state();                     // the sticky error that a launch left the device with, or that this process is forked
const Properties &properties();
cudaError_t fail(cudaError_t error);     // record an error as the last one and return it
cudaError_t fail(int status);
void set_state(cudaError_t error);
double clock_ms();                       // modelled time of all launches so far
void advance(uint64_t cycles);
int load(Module *module);
const void *add_function(Module *module, const char *name);  // of a module that no code registers; returns what stands for it
const void *add_symbol(Module *module, const char *name);
Function *function_of(const void *host);
Variable *symbol_of(const void *host);
cudaError_t allocate(void **pointer, size_t size, Kind kind);
cudaError_t rows(size_t *pitch, size_t *size, size_t width, size_t height, size_t depth);  // bytes of rows that begin at multiples of 512
void is_allocated(uint64_t address, size_t size, Kind kind);  // memory that the server has allocated for a symbol
bool is_device(const void *pointer);
bool is_past_end(const void *at, size_t pitch, size_t width, size_t height);  // whether rows are not all inside one allocation
// Tells the server which device memory the host has written, if it tracks that; from: null for a fill.
void wrote(const void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height);
void taken_back(void *at);               // memory was freed: it no longer counts towards a pool

template <class T>
std::string raw(const T &value) {
  return std::string((const char *)&value, sizeof value);
}

// Sends a request and `tail`, the bytes that follow it; a result that there is goes to `result`, what follows it to `rest`.
template <class Request>
int ask(const Request &request, typename Request::Result *result = nullptr, const std::string &tail = "", std::string *rest = nullptr) {
  std::string found;
  size_t size = std::is_empty<typename Request::Result>::value ? 0 : sizeof(typename Request::Result);
  int status = exchange(Request::OPERATION, (std::is_empty<Request>::value ? std::string() : raw(request)) + tail, &found);
  if (found.size() >= size) {
    if (result) memcpy((void *)result, found.data(), size);
    if (rest) rest->assign(found, size, std::string::npos);
  }
  return status;
}

}  // namespace rfview

extern "C" int rfview_not_supported(const char *name);
