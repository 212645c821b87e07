#include "readers/collector_log/rows.h"

#include <algorithm>

#include "base/text.h"

namespace llmprof::readers::collector_log {
namespace {

constexpr size_t kNoRow = SIZE_MAX;

trace::StepTable::Kind kind_of(wire::StepKind kind) {
  static_assert(static_cast<uint32_t>(wire::StepKind::prefill) == 1 &&
                static_cast<uint32_t>(trace::StepTable::Kind::mixed) + 1 ==
                    static_cast<uint32_t>(wire::StepKind::mixed));
  return static_cast<trace::StepTable::Kind>(static_cast<uint32_t>(kind) - 1);
}

static_assert(static_cast<uint32_t>(trace::CollectiveKind::all_reduce) ==
                  static_cast<uint32_t>(wire::CollectiveKind::all_reduce) &&
              static_cast<uint32_t>(trace::CollectiveKind::barrier) ==
                  static_cast<uint32_t>(wire::CollectiveKind::barrier));

// Kinds of a newer annotation API are `other`.
trace::CollectiveKind kind_of(wire::CollectiveKind kind) {
  return kind <= wire::CollectiveKind::barrier ? static_cast<trace::CollectiveKind>(kind)
                                               : trace::CollectiveKind::other;
}

}  // namespace

AnnotationRows::OpenRows& AnnotationRows::open_rows(trace::ThreadId thread,
                                                    wire::StringKey domain) {
  if (last_open_ == nullptr || thread != last_thread_ || domain != last_domain_) {
    last_thread_ = thread;
    last_domain_ = domain;
    last_open_ = &open_[thread][domain];
  }
  return *last_open_;
}

void AnnotationRows::add(const wire::RangePush& push, trace::ThreadId thread) {
  OpenRows& open = open_rows(thread, push.domain);
  open.resize(push.depth, kNoRow);
  open.push_back(ranges_.size());
  trace::add_row(ranges_, push.time, trace::kOpenEnd, thread, push.domain, push.name,
                 trace::RangeKind::push_pop);
}

void AnnotationRows::add(const wire::RangePop& pop, trace::ThreadId thread) {
  OpenRows& open = open_rows(thread, pop.domain);
  const size_t row = pop.depth < open.size() ? open[pop.depth] : kNoRow;
  open.resize(std::min<size_t>(open.size(), pop.depth));
  if (row == kNoRow || pop.time < ranges_.start[row]) {
    ++findings_.ends_without_start;
    return;
  }
  ranges_.end[row] = pop.time;
}

// Rows of a thread are in the order of their pushes.
trace::RangeRow AnnotationRows::innermost(trace::ThreadId thread) const {
  trace::RangeRow innermost;
  const auto domains = open_.find(thread);
  if (domains == open_.end()) return innermost;
  for (const auto& [domain, open] : domains->second) {
    const auto last =
        std::find_if(open.rbegin(), open.rend(), [](size_t row) { return row != kNoRow; });
    if (last == open.rend()) continue;
    if (!innermost.valid() || *last > innermost.index()) innermost = trace::RangeRow(*last);
  }
  return innermost;
}

void AnnotationRows::add(const wire::RangeStart& start, trace::ThreadId thread) {
  started_[start.range] = ranges_.size();
  trace::add_row(ranges_, start.time, trace::kOpenEnd, thread, start.domain, start.name,
                 trace::RangeKind::start_end);
}

// The ending thread's records may precede the starting thread's in the file.
void AnnotationRows::end_started_ranges() {
  for (const wire::RangeEnd& end : ends_) {
    const auto started = started_.find(end.range);
    if (started == started_.end() || end.time < ranges_.start[started->second]) {
      ++findings_.ends_without_start;
      continue;
    }
    ranges_.end[started->second] = end.time;
    started_.erase(started);
  }
}

void AnnotationRows::add(const wire::Mark& mark, trace::ThreadId thread) {
  trace::add_row(ranges_, mark.time, mark.time, thread, mark.domain, mark.name,
                 trace::RangeKind::mark);
}

void AnnotationRows::add(const wire::Step& step, trace::ThreadId thread) {
  trace::add_row(builder_.trace().steps, step.time, thread, kind_of(step.kind), step.batch,
                 step.tokens);
}

// A message's bytes are not memory traffic of its operator.
void AnnotationRows::add(const wire::Collective& call, trace::ThreadId thread) {
  collectives_.operators.push_back(builder_.trace().operators.size());
  add(wire::CpuOperator{call.start, call.end, 0, 0, call.name, 0}, thread);
  trace::add_row(builder_.trace().collectives, call.start, call.end, thread, 0U, 0U,
                 kind_of(call.kind), call.bytes, call.group, call.members, call.group_size,
                 trace::kNoSequence);
}

void AnnotationRows::add(const wire::CpuOperator& call, trace::ThreadId thread) {
  trace::OperatorTable& operators = builder_.trace().operators;
  // Rows of earlier captures do not have these columns.
  operators.flops.resize(operators.size());
  operators.bytes.resize(operators.size());
  trace::add_row(operators, call.start, call.end, thread, call.name, 0U, call.flops, call.bytes);
}

// The program's names say more than the system's, which are cut at 15 bytes. The system reuses the
// id of an ended thread: if another thread names it, any thread with that id may be meant, so all
// get the name.
void AnnotationRows::name_threads() {
  for (const auto& [by, record] : names_) {
    const trace::StringId text = texts_.find(record.name);
    if (!text.valid() || texts_.text(text).empty()) continue;
    const std::string name = to_printable(texts_.text(text));
    trace::Thread& own = builder_.thread_info(by);
    if (own.tid == record.thread_id) {
      own.name = name;
      continue;
    }
    for (trace::Thread& thread : builder_.trace().threads) {
      if (thread.process == process_ && thread.tid == record.thread_id) thread.name = name;
    }
  }
}

// A lost domain becomes the default one, in which stages are also recognized.
void AnnotationRows::finish() {
  name_threads();
  end_started_ranges();
  for (size_t i = first_range_; i < ranges_.size(); ++i) {
    ranges_.domain[i] = texts_.find(ranges_.domain[i].value);
    ranges_.text[i] = texts_.find_name(ranges_.text[i].value);
    if (ranges_.end[i] == trace::kOpenEnd) ++findings_.open_ranges;
  }
  trace::OperatorTable& operators = builder_.trace().operators;
  for (size_t i = first_operator_; i < operators.size(); ++i) {
    operators.name[i] = texts_.find_name(operators.name[i].value);
  }
  trace::CollectiveTable& collectives = builder_.trace().collectives;
  for (size_t i = collectives_.first; i < collectives.size(); ++i) {
    collectives.group[i] = texts_.find(collectives.group[i].value);
    collectives.members[i] = texts_.find(collectives.members[i].value);
  }
}

size_t AnnotationRows::rows() const {
  const trace::Trace& trace = builder_.trace();
  return ranges_.size() - first_range_ + trace.operators.size() - first_operator_ +
         trace.steps.size() - first_step_;
}

}  // namespace llmprof::readers::collector_log
