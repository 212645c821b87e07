#pragma once

// Commands to a running process, `llmprof arm` and `disarm`: datagrams to the abstract Unix socket
// "llmprof.<pid>", from the process's own user or root.
namespace llmprof::collector {

// Answers what has come, waiting at most so long for something to come. Without a socket it just
// waits.
void answer_commands(int milliseconds);

// Ends a wait of another thread.
void wake_for_commands();

}  // namespace llmprof::collector
