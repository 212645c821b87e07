#include "session/run/program_files.h"

namespace llmprof::session {
namespace fs = std::filesystem;

ProgramFiles find_program_files(const fs::path& program) {
  ProgramFiles files;
  std::error_code ignored;
  files.bin = program.parent_path();
  const fs::path above = files.bin.parent_path();
  for (const fs::path& folder : {above, above.parent_path()}) {
    if (fs::is_regular_file(folder / "workloads" / "hf_llm.py", ignored)) {
      files.home = folder;
      break;
    }
  }
  const fs::path collector = above / "lib" / kCollectorFile;
  if (fs::is_regular_file(collector, ignored)) files.collector = collector;
  return files;
}

ProgramFiles find_program_files() {
  std::error_code ignored;
  return find_program_files(fs::read_symlink("/proc/self/exe", ignored));
}

}  // namespace llmprof::session
