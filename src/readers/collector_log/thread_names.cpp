#include "readers/collector_log/thread_names.h"

#include "base/text.h"

namespace llmprof::readers::collector_log {

void ThreadNames::add(const Record& record, trace::ThreadId by) {
  wire::ThreadName name{};
  if (take(record, name, findings_)) given_.push_back({by, name});
}

// The system gives the number of a thread that has ended to another: where one is named from
// outside, which of them is meant is not known.
void ThreadNames::name_all(uint32_t thread_id, const std::string& name) {
  for (trace::Thread& thread : builder_.trace().threads) {
    if (thread.process == process_ && thread.tid == thread_id) thread.name = name;
  }
}

void ThreadNames::finish(const Texts& texts) {
  for (const Given& given : given_) {
    const trace::StringId text = texts.find(given.name.name, findings_);
    if (!text.valid() || texts.text(text).empty()) continue;
    const std::string name = to_printable(texts.text(text));
    trace::Thread& own = builder_.thread_info(given.by);
    if (own.tid == given.name.thread_id) {
      own.name = name;
    } else {
      name_all(given.name.thread_id, name);
    }
  }
}

}  // namespace llmprof::readers::collector_log
