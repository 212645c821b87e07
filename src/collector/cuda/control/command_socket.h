#pragma once

// Commands to a running process, `llmprof arm` and `disarm`: datagrams to the abstract Unix socket
// "llmprof.<pid>", from the process's own user or root.
namespace llmprof::collector {

// Answers what has arrived.
void answer_commands();

}  // namespace llmprof::collector
