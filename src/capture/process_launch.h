#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "capture/process.h"

namespace llmprof::capture {

struct StartedProcess {
  pid_t pid = -1;
  // errno of what kept the program from running, 0 once it runs. The child is to be reaped in
  // either case.
  int start_error = 0;
  // What goes to output_tail, not blocking; invalid when nothing does.
  FileDescriptor output{-1};
};

// Forks, leads a new process group and becomes `executable`.
Result<StartedProcess> start_process(const Command& command, const std::string& executable);

}  // namespace llmprof::capture
