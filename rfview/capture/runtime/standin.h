// Declarations shared by the stand-in's parts: the connection to the server, errors, modules, kernels and allocations.
#pragma once
#include <cuda_runtime_api.h>
#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

// defines a function of the runtime's API; standin.py finds these names, and reports the others as not supported
#define API(name) extern "C" __attribute__((visibility("default"))) cudaError_t name
#define API_OTHER(type, name) extern "C" __attribute__((visibility("default"))) type name

namespace rfview {

// the same values as in protocol.py
const uint64_t BASE = 0x700000000000ull, SCRATCH = 1ull << 30, CAPACITY = 7ull << 30, MAX_MODULE = 512ull << 20;
enum Operation : uint32_t { HELLO = 1, MALLOC, FREE, LOAD, FACTS, KERNELS, SYMBOL, LAUNCH, OCCUPANCY, ALIAS, TEXTURE, RESET };
enum Kind : uint32_t { DEVICE, HOST, MANAGED, ARRAY };
const int STOPPED = 0x7fffffff;

struct Properties {
  uint32_t clock_khz, warps, threads, ctas, shared_bytes, registers, bandwidth, capability, megabytes, l2_bytes;
};

struct Module {
  const void *data;
  size_t size;
  uint32_t number;
  int status;  // result of loading it; -1: not loaded yet
  bool is_parts;
};

struct Function {
  Module *module;
  std::string name;
  bool known;
  uint32_t registers, shared_bytes, local_bytes, max_threads, code_bytes, target;
  std::vector<std::pair<uint32_t, uint32_t>> params;  // offset, size
};

struct Symbol {
  Module *module;
  std::string name;
  size_t size;
  uint64_t address;
  void **managed;  // where the program stores a __managed__ variable's address, else null
};

int ask(uint32_t operation, const std::string &body, std::string *reply = nullptr);
const Properties &properties();
cudaError_t fail(cudaError_t error);     // record an error as the last one and return it
cudaError_t fail(int status);
cudaError_t state();                     // the sticky error that a launch left the device with
void set_state(cudaError_t error);
double clock_ms();                       // modelled time of all launches so far
void advance(uint64_t cycles);
Function *function_of(const void *host);
Symbol *symbol_of(const void *host);
cudaError_t allocate(void **pointer, size_t size, Kind kind);
bool is_device(const void *pointer);
void taken_back(void *at);               // memory was freed: it no longer counts towards a pool

template <class T>
std::string raw(const T &value) {
  return std::string((const char *)&value, sizeof value);
}

}  // namespace rfview

extern "C" int rfview_not_supported(const char *name);
