#include "collector/launches/loaded_library.h"

#include <link.h>

namespace llmprof::collector {
namespace {

struct LibrarySearch {
  uintptr_t address;
  LoadedLibrary found;
};

int look_for_code(dl_phdr_info* library, size_t /*size*/, void* data) {
  auto& search = *static_cast<LibrarySearch*>(data);
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    if (search.address < begin || search.address - begin >= segment.p_memsz) continue;
    search.found = {library->dlpi_name, begin, begin + segment.p_memsz};
    return 1;
  }
  return 0;
}

}  // namespace

LoadedLibrary library_at(const void* address) {
  LibrarySearch search = {reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(look_for_code, &search);
  return search.found;
}

}  // namespace llmprof::collector
