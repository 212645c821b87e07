#include "readers/collector_log/annotation_rows.h"

#include <algorithm>

namespace llmprof::readers::collector_log {
namespace {

constexpr size_t kNoRow = SIZE_MAX;
// Deeper nesting means damage.
constexpr uint32_t kDeepest = 1U << 16U;

bool is_sane(const wire::RangePush& push) { return is_time(push.time) && push.depth < kDeepest; }
bool is_sane(const wire::RangePop& pop) { return is_time(pop.time) && pop.depth < kDeepest; }
bool is_sane(const wire::RangeStart& start) { return is_time(start.time); }
bool is_sane(const wire::RangeEnd& end) { return is_time(end.time); }
bool is_sane(const wire::Mark& mark) { return is_time(mark.time); }
bool is_sane(const wire::Step& step) {
  return is_time(step.time) && step.kind >= wire::StepKind::prefill &&
         step.kind <= wire::StepKind::mixed;
}
bool is_sane(const wire::CpuOperator& call) { return is_interval(call.start, call.end); }
bool is_sane(const wire::Collective& call) { return is_interval(call.start, call.end); }

trace::StepTable::Kind kind_of(wire::StepKind kind) {
  if (kind == wire::StepKind::prefill) return trace::StepTable::Kind::prefill;
  return kind == wire::StepKind::decode ? trace::StepTable::Kind::decode
                                        : trace::StepTable::Kind::mixed;
}

static_assert(static_cast<uint32_t>(trace::CollectiveKind::all_reduce) ==
                  static_cast<uint32_t>(wire::CollectiveKind::all_reduce) &&
              static_cast<uint32_t>(trace::CollectiveKind::barrier) ==
                  static_cast<uint32_t>(wire::CollectiveKind::barrier));

// A kind of a newer annotation API is another one.
trace::CollectiveKind kind_of(wire::CollectiveKind kind) {
  return kind <= wire::CollectiveKind::barrier ? static_cast<trace::CollectiveKind>(kind)
                                               : trace::CollectiveKind::other;
}

}  // namespace

AnnotationRows::AnnotationRows(trace::TraceBuilder& builder, Findings& findings)
    : builder_(builder),
      findings_(findings),
      first_range_(builder.trace().ranges.size()),
      first_step_(builder.trace().steps.size()),
      first_operator_(builder.trace().operators.size()),
      collectives_{builder.trace().collectives.size(), {}} {}

size_t AnnotationRows::add_range(Nanoseconds start, Nanoseconds end, trace::ThreadId thread,
                                 Labels labels, trace::RangeKind kind) {
  trace::RangeTable& ranges = builder_.trace().ranges;
  ranges.start.push_back(start);
  ranges.end.push_back(end);
  ranges.thread.push_back(thread);
  ranges.domain.emplace_back(labels.domain);
  ranges.text.emplace_back(labels.name);
  ranges.kind.push_back(kind);
  return ranges.size() - 1;
}

AnnotationRows::OpenRows& AnnotationRows::open_rows(trace::ThreadId thread,
                                                    wire::StringKey domain) {
  const Nesting nesting = {thread, domain};
  if (last_open_ != nullptr && nesting == last_nesting_) return *last_open_;
  const auto [known, fresh] = open_.try_emplace(nesting);
  if (fresh) open_on_[thread].push_back(&known->second);
  last_nesting_ = nesting;
  last_open_ = &known->second;
  return known->second;
}

void AnnotationRows::add_push(const Record& record, trace::ThreadId thread) {
  wire::RangePush push{};
  if (!take(record, push, findings_, is_sane)) return;
  OpenRows& open = open_rows(thread, push.domain);
  open.resize(push.depth, kNoRow);
  open.push_back(add_range(push.time, trace::kOpenEnd, thread, {push.domain, push.name},
                           trace::RangeKind::push_pop));
}

void AnnotationRows::add_pop(const Record& record, trace::ThreadId thread) {
  wire::RangePop pop{};
  if (!take(record, pop, findings_, is_sane)) return;
  OpenRows& open = open_rows(thread, pop.domain);
  const size_t row = pop.depth < open.size() ? open[pop.depth] : kNoRow;
  open.resize(std::min<size_t>(open.size(), pop.depth));
  trace::RangeTable& ranges = builder_.trace().ranges;
  if (row == kNoRow || pop.time < ranges.start[row]) {
    ++findings_.ends_without_start;
    return;
  }
  ranges.end[row] = pop.time;
}

// Rows of a thread are in the order of their pushes.
trace::RangeRow AnnotationRows::innermost(trace::ThreadId thread) const {
  trace::RangeRow innermost;
  const auto domains = open_on_.find(thread);
  if (domains == open_on_.end()) return innermost;
  for (const OpenRows* open : domains->second) {
    const auto last =
        std::find_if(open->rbegin(), open->rend(), [](size_t row) { return row != kNoRow; });
    if (last == open->rend()) continue;
    if (!innermost.valid() || *last > innermost.index()) innermost = trace::RangeRow(*last);
  }
  return innermost;
}

void AnnotationRows::add_start(const Record& record, trace::ThreadId thread) {
  wire::RangeStart start{};
  if (!take(record, start, findings_, is_sane)) return;
  started_[start.range] = add_range(start.time, trace::kOpenEnd, thread, {start.domain, start.name},
                                    trace::RangeKind::start_end);
}

void AnnotationRows::add_end(const Record& record) {
  wire::RangeEnd end{};
  if (take(record, end, findings_, is_sane)) ends_.push_back(end);
}

// The thread that ends a range may stand in the file before the one that started it.
void AnnotationRows::end_started_ranges() {
  trace::RangeTable& ranges = builder_.trace().ranges;
  for (const wire::RangeEnd& end : ends_) {
    const auto started = started_.find(end.range);
    if (started == started_.end() || end.time < ranges.start[started->second]) {
      ++findings_.ends_without_start;
      continue;
    }
    ranges.end[started->second] = end.time;
    started_.erase(started);
  }
}

void AnnotationRows::add_mark(const Record& record, trace::ThreadId thread) {
  wire::Mark mark{};
  if (take(record, mark, findings_, is_sane)) {
    add_range(mark.time, mark.time, thread, {mark.domain, mark.name}, trace::RangeKind::mark);
  }
}

void AnnotationRows::add_step(const Record& record, trace::ThreadId thread) {
  wire::Step step{};
  if (!take(record, step, findings_, is_sane)) return;
  trace::StepTable& steps = builder_.trace().steps;
  steps.time.push_back(step.time);
  steps.thread.push_back(thread);
  steps.kind.push_back(kind_of(step.kind));
  steps.batch.push_back(step.batch);
  steps.tokens.push_back(step.tokens);
}

void AnnotationRows::add_operator(const Record& record, trace::ThreadId thread) {
  wire::CpuOperator call{};
  if (take(record, call, findings_, is_sane)) add_operator_row(call, thread);
}

// The bytes of a message are not those that its operator moves in memory.
void AnnotationRows::add_collective(const Record& record, trace::ThreadId thread) {
  wire::Collective call{};
  if (!take(record, call, findings_, is_sane)) return;
  collectives_.operators.push_back(builder_.trace().operators.size());
  add_operator_row({call.start, call.end, 0, 0, call.name, 0}, thread);
  trace::CollectiveTable& collectives = builder_.trace().collectives;
  collectives.start.push_back(call.start);
  collectives.end.push_back(call.end);
  collectives.thread.push_back(thread);
  collectives.external_id.push_back(0);
  collectives.correlation.push_back(0);
  collectives.kind.push_back(kind_of(call.kind));
  collectives.bytes.push_back(call.bytes);
  collectives.group.emplace_back(call.group);
  collectives.members.emplace_back(call.members);
  collectives.group_size.push_back(call.group_size);
  collectives.sequence.push_back(trace::kNoSequence);
}

void AnnotationRows::add_operator_row(const wire::CpuOperator& call, trace::ThreadId thread) {
  trace::OperatorTable& operators = builder_.trace().operators;
  const size_t row = operators.size();
  // Rows of captures before this one do not have these columns.
  operators.flops.resize(row);
  operators.bytes.resize(row);
  operators.start.push_back(call.start);
  operators.end.push_back(call.end);
  operators.thread.push_back(thread);
  operators.name.emplace_back(call.name);
  operators.external_id.push_back(0);
  operators.flops.push_back(call.flops);
  operators.bytes.push_back(call.bytes);
}

// A lost domain is the default one; stages are recognized there as well.
void AnnotationRows::finish(Texts& texts) {
  end_started_ranges();
  trace::RangeTable& ranges = builder_.trace().ranges;
  for (size_t i = first_range_; i < ranges.size(); ++i) {
    ranges.domain[i] = texts.find(ranges.domain[i].value, findings_);
    ranges.text[i] = texts.find_name(ranges.text[i].value, findings_);
    if (ranges.end[i] == trace::kOpenEnd) ++findings_.open_ranges;
  }
  trace::OperatorTable& operators = builder_.trace().operators;
  for (size_t i = first_operator_; i < operators.size(); ++i) {
    operators.name[i] = texts.find_name(operators.name[i].value, findings_);
  }
  trace::CollectiveTable& collectives = builder_.trace().collectives;
  for (size_t i = collectives_.first; i < collectives.size(); ++i) {
    collectives.group[i] = texts.find(collectives.group[i].value, findings_);
    collectives.members[i] = texts.find(collectives.members[i].value, findings_);
  }
}

size_t AnnotationRows::rows() const {
  const trace::Trace& trace = builder_.trace();
  return trace.ranges.size() - first_range_ + trace.operators.size() - first_operator_ +
         trace.steps.size() - first_step_;
}

}  // namespace llmprof::readers::collector_log
