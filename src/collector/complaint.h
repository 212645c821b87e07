#pragma once

namespace llmprof::collector {

// One line on stderr, at most three a process: what goes wrong once tends to go wrong again.
void complain(const char* what);

}  // namespace llmprof::collector
