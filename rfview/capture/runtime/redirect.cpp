// For programs and shared libraries linked statically with the CUDA runtime, as nvcc does by default: makes its functions jump
// to the stand-in's. The stand-in is initialised first of all (standin.py, -z initfirst), as libraries register kernels early.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "standin.h"

namespace {

const size_t JUMP = 14;  // jmp *0(%rip), and the address

struct Object { std::string file; uint64_t bias; };

int note(dl_phdr_info *info, size_t, void *out) {
  ((std::vector<Object> *)out)->push_back({*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", info->dlpi_addr});
  return 0;
}

void write_jump(uint8_t *at, const void *to) {
  uint64_t page = sysconf(_SC_PAGESIZE), first = (uint64_t)at / page * page, end = (uint64_t)at + JUMP;
  if (mprotect((void *)first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  uint8_t code[JUMP] = {0xff, 0x25, 0, 0, 0, 0};
  memcpy(code + 6, &to, 8);
  memcpy(at, code, JUMP);
  mprotect((void *)first, end - first, PROT_READ | PROT_EXEC);
}

// Whether a library is NVIDIA's own; rfview says before the start that what these do is not captured.
bool is_nvidias(const std::string &file) {
  std::string name = file.substr(file.rfind('/') + 1);
  return !name.compare(0, 5, "libcu") || !name.compare(0, 5, "libnv") || !name.compare(0, 6, "libnpp") || !name.compare(0, 6, "libncc");
}

// A library without a symbol table that has kernels, and not the shared runtime, has functions of the runtime that cannot be found.
void say_stripped(const Object &of) {
  fprintf(stderr, "rfview: %s is stripped and contains CUDA's runtime: its launches are not captured; leave it unstripped, or link it with "
          "nvcc -cudart shared\n", of.file.c_str());
}

using Functions = std::map<std::string, const void *>;

// Calls `each` with the symbol tables of a mapped file: its section, symbols, number and names; returns whether it is such a file.
template <class Each>
bool tables(const char *file, size_t size, Each each) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
  if (size < sizeof *head || memcmp(file, ELFMAG, SELFMAG) || head->e_shoff + head->e_shnum * sizeof(Elf64_Shdr) > size) return false;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + head->e_shoff);
  for (int i = 0; i < head->e_shnum; i++) {
    const Elf64_Shdr &one = sections[i];
    bool is_table = one.sh_type == SHT_SYMTAB || one.sh_type == SHT_DYNSYM;
    if (!is_table || one.sh_link >= head->e_shnum || one.sh_offset + one.sh_size > size) continue;
    each(one, (const Elf64_Sym *)(file + one.sh_offset), one.sh_size / sizeof(Elf64_Sym), file + sections[one.sh_link].sh_offset);
  }
  return true;
}

bool has_section(const char *file, size_t size, const char *name) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + head->e_shoff);
  for (int i = 0; i < head->e_shnum && head->e_shstrndx < head->e_shnum; i++) {
    uint64_t at = sections[head->e_shstrndx].sh_offset + sections[i].sh_name;
    if (at < size && !strncmp(file + at, name, size - at)) return true;
  }
  return false;
}

void redirect_all(const Object &of, const char *file, size_t size, const Functions &ours) {
  bool has_symbols = false, is_shared = false;
  bool is_read = tables(file, size, [&](const Elf64_Shdr &table, const Elf64_Sym *symbols, size_t count, const char *names) {
    has_symbols |= table.sh_type == SHT_SYMTAB;
    for (size_t k = 0; k < count; k++) {
      const Elf64_Sym &one = symbols[k];
      const char *name = names + one.st_name;
      is_shared |= one.st_shndx == SHN_UNDEF && !strcmp(name, "__cudaRegisterFatBinary");
      if (table.sh_type != SHT_SYMTAB || ELF64_ST_TYPE(one.st_info) != STT_FUNC || one.st_shndx == SHN_UNDEF || one.st_size < JUMP) continue;
      if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6)) continue;
      auto found = ours.find(name);
      if (found != ours.end()) write_jump((uint8_t *)(one.st_value + of.bias), found->second);
    }
  });
  if (is_read && !has_symbols && !is_shared && !is_nvidias(of.file) && has_section(file, size, ".nv_fatbin")) say_stripped(of);
}

// Maps an object's file while `use` looks at it.
template <class Use>
void with_file(const Object &of, Use use) {
  int handle = open(of.file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat held;
  if (handle < 0) return;
  if (!fstat(handle, &held) && held.st_size > 0) {
    void *file = mmap(nullptr, held.st_size, PROT_READ, MAP_PRIVATE, handle, 0);
    if (file != MAP_FAILED) use((const char *)file, (size_t)held.st_size), munmap(file, held.st_size);
  }
  close(handle);
}

std::vector<Object> &at_start() { static auto *all = new std::vector<Object>; return *all; }

// Runs before the C library is initialised: nothing here may need its environment, or call dlopen.
__attribute__((constructor)) void redirect() {
  std::vector<Object> &objects = at_start();
  Functions ours;
  Dl_info own;
  if (!dladdr((void *)redirect, &own)) return;
  uint64_t base = (uint64_t)own.dli_fbase;
  with_file({own.dli_fname, base}, [&](const char *file, size_t size) {
    tables(file, size, [&](const Elf64_Shdr &table, const Elf64_Sym *symbols, size_t count, const char *names) {
      for (size_t k = 0; table.sh_type == SHT_DYNSYM && k < count; k++)
        if (symbols[k].st_shndx != SHN_UNDEF) ours[names + symbols[k].st_name] = (const void *)(base + symbols[k].st_value);
    });
  });
  dl_iterate_phdr(note, &objects);
  for (const Object &one : objects)
    if (one.bias != base) with_file(one, [&](const char *file, size_t size) { redirect_all(one, file, size, ours); });
}

// At the end: what dlopen has loaded has registered its kernels, with a runtime of its own, before anything could be redirected.
__attribute__((destructor)) void say_what_was_loaded_late() {
  std::vector<Object> objects;
  dl_iterate_phdr(note, &objects);
  for (const Object &one : objects) {
    bool is_known = false, has_runtime = false;
    for (const Object &early : at_start()) is_known |= early.bias == one.bias && early.file == one.file;
    if (is_known) continue;
    with_file(one, [&](const char *file, size_t size) {
      tables(file, size, [&](const Elf64_Shdr &, const Elf64_Sym *symbols, size_t count, const char *names) {
        for (size_t k = 0; k < count; k++)
          has_runtime |= symbols[k].st_shndx != SHN_UNDEF && !strcmp(names + symbols[k].st_name, "__cudaRegisterFatBinary");
      });
    });
    if (has_runtime)
      fprintf(stderr, "rfview: %s was loaded by dlopen and contains CUDA's runtime: its launches were not captured; link it with "
              "nvcc -cudart shared\n", one.file.c_str());
  }
}

}  // namespace
