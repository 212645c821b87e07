#pragma once

namespace llmprof::collector {

// One line on stderr, at most three per process: what fails once tends to fail again.
void write_warning(const char* what);

}  // namespace llmprof::collector
