// A program whose processes use CUDA, in the way that its first argument names: it checks its own results and those of its
// children, and ends with 0 if all are right. In the manner of public samples that fork workers, call tools or restart.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

extern char **environ;
static const int N = 32;
static int wrong = 0;

__global__ void add(int *a, int base) { a[threadIdx.x] += base; }

static void expect(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "WRONG: process %d: %s\n", (int)getpid(), what);
  wrong = 1;
}

// What every process does that uses the device: memory, copies both ways, launches.
static int work(int base, int rounds) {
  int *d, h[N];
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < N; i++) h[i] = i;
    expect(!cudaMalloc(&d, sizeof h), "cudaMalloc");
    expect(!cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice), "copy to the device");
    add<<<1, N>>>(d, base + round);
    expect(!cudaDeviceSynchronize() && !cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost), "copy back");
    for (int i = 0; i < N; i++) expect(h[i] == i + base + round, "a result");
    expect(!cudaFree(d), "cudaFree");
  }
  return wrong;
}

// In a process that was forked after its parent's first call, as on a GPU.
static int refused() {
  int *d = nullptr, h[N], count;
  expect(cudaMalloc(&d, 64) == cudaErrorInitializationError, "cudaMalloc in a forked process");
  expect(cudaMemcpy(h, (void *)0x700000000000, 64, cudaMemcpyDeviceToHost) == cudaErrorInitializationError, "cudaMemcpy in a forked process");
  expect(cudaMemset((void *)0x700000000000, 0, 64) == cudaErrorInitializationError, "cudaMemset in a forked process");
  expect(cudaHostRegister(h, sizeof h, 0) == cudaErrorInitializationError, "cudaHostRegister in a forked process");
  expect(cudaGetDeviceCount(&count) == cudaErrorInitializationError, "cudaGetDeviceCount in a forked process");
  add<<<1, N>>>(d, 1);
  expect(cudaGetLastError() == cudaErrorInitializationError, "a launch in a forked process");
  expect(cudaDeviceSynchronize() == cudaErrorInitializationError, "cudaDeviceSynchronize in a forked process");
  return wrong;
}

static void ended(pid_t child) {
  int status = -1;
  expect(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child's end");
}

static int own_children(const std::string &way, char *self, int rounds) {
  char number[12];
  snprintf(number, sizeof number, "%d", rounds);
  char *const words[] = {self, (char *)"work", number, nullptr};
  std::string command = std::string(self) + " work " + number;
  if (way == "system") expect(system(command.c_str()) == 0, "system");
  if (way == "tool") expect(system("ls / >/dev/null && test -d /") == 0, "system of a tool");
  if (way == "popen") {
    FILE *file = popen((command + " && echo done").c_str(), "r");
    char line[64] = "";
    expect(file && fgets(line, sizeof line, file) && !strcmp(line, "done\n") && !pclose(file), "popen");
  }
  if (way == "spawn") {
    pid_t child = 0;
    expect(!posix_spawn(&child, self, nullptr, nullptr, words, environ), "posix_spawn");
    ended(child);
  }
  if (way == "fork_exec" || way == "vfork_exec") {
    pid_t child = way == "fork_exec" ? fork() : vfork();
    if (!child) execv(self, words), _exit(9);
    ended(child);
  }
  if (way == "fork_after" || way == "fork_idle") {
    pid_t child = fork();
    if (!child) _exit(way == "fork_after" ? refused() : 0);
    ended(child);
  }
  return wrong;
}

// The parent's memory, registered memory of the heap and of the stack included, is its own whatever children do.
static int parent(const std::string &way, char *self, int rounds) {
  int *d, h[N], stack[3 * 1024], *heap = (int *)malloc(sizeof stack);
  for (int i = 0; i < N; i++) h[i] = 100 + i, stack[i] = heap[i] = 200 + i;
  expect(!cudaMalloc(&d, sizeof h) && !cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice), "the parent's memory");
  expect(!cudaHostRegister(stack, sizeof stack, 0) && !cudaHostRegister(heap, sizeof stack, 0), "cudaHostRegister");
  if (way == "registered") {
    pid_t child = fork();
    if (!child) {
      for (int i = 0; i < N; i++) expect(stack[i] == 200 + i && heap[i] == 200 + i, "what a child inherits"), stack[i] = heap[i] = -1;
      _exit(wrong);
    }
    add<<<1, N>>>(stack, 1);
    add<<<1, N>>>(heap, 1);
    ended(child);
    for (int i = 0; i < N; i++) expect(stack[i] == 201 + i && heap[i] == 201 + i, "registered memory"), stack[i]--, heap[i]--;
  } else {
    own_children(way, self, rounds);
  }
  add<<<1, N>>>(d, 1);
  add<<<1, N>>>(heap, 2);
  add<<<1, N>>>(stack, 3);
  expect(!cudaDeviceSynchronize() && !cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost), "the parent's copy");
  expect(!cudaHostUnregister(stack) && !cudaHostUnregister(heap), "cudaHostUnregister");
  for (int i = 0; i < N; i++) expect(h[i] == 101 + i && heap[i] == 202 + i && stack[i] == 203 + i, "the parent's result");
  if (way == "exec") {
    char *const words[] = {self, (char *)"work", (char *)"2", nullptr};
    if (!wrong) execv(self, words);
  }
  free(heap);
  return wrong;
}

int main(int count, char **words) {
  std::string way = words[1];
  int rounds = count > 2 ? atoi(words[2]) : 1;
  if (way == "work") return work(5, rounds);
  if (way == "fork_first") {   // workers, each with a device; the parent is one of them
    std::vector<pid_t> children;
    for (int k = 0; k < 3; k++) {
      pid_t child = fork();
      if (!child) _exit(work(1000 * (k + 1), rounds));
      children.push_back(child);
    }
    work(10, rounds);
    for (pid_t child : children) ended(child);
    return wrong;
  }
  if (way == "thread") {       // a process is forked while another thread launches
    std::atomic<bool> is_over{false};
    std::thread other([&] { while (!is_over) work(7, 1); });
    for (int k = 0; k < 10; k++) own_children(k % 2 ? "fork_idle" : "tool", words[0], rounds);
    is_over = true;
    other.join();
    return wrong;
  }
  return parent(way, words[0], rounds);
}
