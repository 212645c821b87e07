#pragma once

// Commands to a running process, `llmprof arm` and `disarm`: datagrams to the abstract Unix socket
// "llmprof.<pid>", from the process's own user or root.
namespace llmprof::collector {

// Answers what has come, waiting at most so long for something to come, or until the worker's alarm
// rings. Without a socket it just waits.
void answer_commands(int milliseconds);

}  // namespace llmprof::collector
