#include "collector/cuda/cupti/cupti_library.h"

#include <cupti.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "collector/environment.h"

namespace llmprof::collector {
namespace {

constexpr const char* kLibraryNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
constexpr const char* kFolders[] = {"lib64", "extras/CUPTI/lib64", "lib"};

struct Library {
  void* handle = nullptr;
  uint32_t version = 0;
  char path[PATH_MAX] = {};
  CuptiFunctions functions;
};
constinit Library library;

void* open_library(const char* file, int flags) {
  return dlopen(file, RTLD_NOW | RTLD_LOCAL | flags);
}

void* find_by_name(int flags) {
  for (const char* name : kLibraryNames) {
    if (void* found = open_library(name, flags); found != nullptr) return found;
  }
  return nullptr;
}

void* find_in_toolkit(const char* home) {
  for (const char* folder : kFolders) {
    for (const char* name : kLibraryNames) {
      char file[PATH_MAX];
      const int length = snprintf(file, sizeof file, "%s/%s/%s", home, folder, name);
      if (length <= 0 || static_cast<size_t>(length) >= sizeof file) continue;
      if (void* found = open_library(file, 0); found != nullptr) return found;
    }
  }
  return nullptr;
}

void* find_library() {
  // Chosen by the user: this one or none.
  if (const char* named = value_of("LLMPROF_CUPTI"); named != nullptr) {
    return open_library(named, 0);
  }
  // The program's own, such as the one PyTorch brings: two copies of CUPTI in a process conflict.
  if (void* found = find_by_name(RTLD_NOLOAD); found != nullptr) return found;
  for (const char* home : {value_of("CUDA_HOME"), value_of("CUDA_PATH")}) {
    if (home == nullptr) continue;
    if (void* found = find_in_toolkit(home); found != nullptr) return found;
  }
  if (void* found = find_by_name(0); found != nullptr) return found;
  if (void* found = find_in_toolkit("/usr/local/cuda"); found != nullptr) return found;
  const char* last_resort = value_of("LLMPROF_CUPTI_FALLBACK");
  return last_resort == nullptr ? nullptr : open_library(last_resort, 0);
}

void note_path() {
  link_map* map = nullptr;
  if (dlinfo(library.handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr)
    return;
  const size_t length = strnlen(map->l_name, sizeof library.path - 1);
  std::memcpy(library.path, map->l_name, length);
}

template <class Function>
bool find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library.handle, name));
  return function != nullptr;
}

bool find_functions() {
  bool all = true;
#define LLMPROF_FIND(field, name) all = find(library.functions.field, #name) && all;
  LLMPROF_CUPTI_FUNCTIONS(LLMPROF_FIND)
#undef LLMPROF_FIND
  return all;
}

constexpr char kSubscribe[] = "cuptiSubscribe";

constinit std::atomic<void (*)()> before_subscription = nullptr;

// What other libraries of the process call instead of cuptiSubscribe.
CUptiResult CUPTIAPI subscribe_another(CUpti_SubscriberHandle* subscriber,
                                       CUpti_CallbackFunc callback, void* user_data) {
  before_subscription.load(std::memory_order_acquire)();
  return cupti().subscribe(subscriber, callback, user_data);
}

// The parts of a loaded library that describe its imported functions.
struct Imports {
  ElfW(Addr) base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * calls = nullptr;  // DT_JMPREL
  size_t call_bytes = 0;
  const ElfW(Rela) * others = nullptr;  // DT_RELA
  size_t other_bytes = 0;
  ElfW(Addr) read_only_begin = 0;  // after relocation
  ElfW(Addr) read_only_end = 0;
};

// The loader's tables hold addresses as numbers.
// NOLINTBEGIN(performance-no-int-to-ptr)

// The value of a tag in a library's table; 0 if there is none.
ElfW(Addr) entry_of(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag) {
  while (dynamic->d_tag != DT_NULL && dynamic->d_tag != tag) ++dynamic;
  return dynamic->d_tag == DT_NULL ? 0 : dynamic->d_un.d_ptr;
}

// glibc's loader has added the base to the addresses. Other loaders have not: their addresses are
// below it.
template <class Pointer>
void set_address(Pointer& pointer, ElfW(Addr) address, ElfW(Addr) base) {
  if (address == 0) return;
  pointer = reinterpret_cast<Pointer>(address < base ? address + base : address);
}

void read_dynamic(const ElfW(Dyn) * dynamic, Imports& imports) {
  set_address(imports.symbols, entry_of(dynamic, DT_SYMTAB), imports.base);
  set_address(imports.names, entry_of(dynamic, DT_STRTAB), imports.base);
  set_address(imports.calls, entry_of(dynamic, DT_JMPREL), imports.base);
  set_address(imports.others, entry_of(dynamic, DT_RELA), imports.base);
  imports.call_bytes = entry_of(dynamic, DT_PLTRELSZ);
  imports.other_bytes = entry_of(dynamic, DT_RELASZ);
}

bool read_imports(const dl_phdr_info& library, Imports& imports) {
  imports.base = library.dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (ElfW(Half) i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library.dlpi_phdr[i];
    const ElfW(Addr) begin = imports.base + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (part.p_type == PT_GNU_RELRO) {
      imports.read_only_begin = begin;
      imports.read_only_end = begin + part.p_memsz;
    }
  }
  if (dynamic == nullptr) return false;
  read_dynamic(dynamic, imports);
  return imports.symbols != nullptr && imports.names != nullptr;
}

void redirect(ElfW(Addr) slot, const Imports& imports) {
  auto* function = reinterpret_cast<std::atomic<ElfW(Addr)>*>(slot);
  const auto ours = reinterpret_cast<ElfW(Addr)>(&subscribe_another);
  if (function->load(std::memory_order_relaxed) == ours) return;
  const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  auto* begin = reinterpret_cast<void*>(slot / page * page);
  const bool read_only = slot >= imports.read_only_begin && slot < imports.read_only_end;
  if (read_only && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return;
  function->store(ours, std::memory_order_relaxed);
  if (read_only) mprotect(begin, page, PROT_READ);
}

// NOLINTEND(performance-no-int-to-ptr)

void redirect_all(const ElfW(Rela) * relocations, size_t bytes, const Imports& imports) {
  if (relocations == nullptr) return;
  for (size_t i = 0; i < bytes / sizeof *relocations; ++i) {
    const size_t symbol = ELF64_R_SYM(relocations[i].r_info);
    if (symbol == 0) continue;
    const char* name = imports.names + imports.symbols[symbol].st_name;
    if (std::strcmp(name, kSubscribe) == 0) {
      redirect(imports.base + relocations[i].r_offset, imports);
    }
  }
}

bool is_ours(const dl_phdr_info& library) {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&watch_for_rivals), &info) != 0 &&
         reinterpret_cast<ElfW(Addr)>(info.dli_fbase) == library.dlpi_addr;
}

int look_at_library(dl_phdr_info* library, size_t /*size*/, void* /*unused*/) {
  Imports imports;
  // The program itself has base 0 if it is not relocatable.
  if (library->dlpi_name == nullptr || is_ours(*library) || !read_imports(*library, imports)) {
    return 0;
  }
  redirect_all(imports.calls, imports.call_bytes, imports);
  redirect_all(imports.others, imports.other_bytes, imports);
  return 0;
}

}  // namespace

bool load_cupti() {
  if (library.handle != nullptr) return library.functions.get_version != nullptr;
  library.handle = find_library();
  if (library.handle == nullptr) return false;
  note_path();
  if (!find_functions()) {
    library.functions = {};
    return false;
  }
  library.functions.get_version(&library.version);
  return true;
}

const char* cupti_path() { return library.path; }
uint32_t cupti_version() { return library.version; }
void* cupti_symbol(const char* name) {
  return library.handle == nullptr ? nullptr : dlsym(library.handle, name);
}
const CuptiFunctions& cupti() { return library.functions; }

void watch_for_rivals(void (*give_way)()) {
  before_subscription.store(give_way, std::memory_order_release);
  dl_iterate_phdr(look_at_library, nullptr);
}

}  // namespace llmprof::collector
