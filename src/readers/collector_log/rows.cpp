#include "readers/collector_log/rows.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "readers/collector_log/operator_kernels.h"

namespace llmprof::collector_log {
namespace {

constexpr size_t kNoRow = SIZE_MAX;
// Deeper is no program's nesting but damage.
constexpr uint32_t kDeepest = 1U << 16U;

template <size_t Size>
std::string_view text_of(const char (&characters)[Size]) {
  return {characters, strnlen(characters, Size)};
}

bool is_time(int64_t time) { return time >= 0 && time < kOpenEnd; }

bool is_sane(const wire::Text&) { return true; }
bool is_sane(const wire::ThreadInfo&) { return true; }
bool is_sane(const wire::RangePush& push) { return is_time(push.time) && push.depth < kDeepest; }
bool is_sane(const wire::RangePop& pop) { return is_time(pop.time) && pop.depth < kDeepest; }
bool is_sane(const wire::RangeStart& start) { return is_time(start.time); }
bool is_sane(const wire::RangeEnd& end) { return is_time(end.time); }
bool is_sane(const wire::Mark& mark) { return is_time(mark.time); }
bool is_sane(const wire::Step& step) {
  return is_time(step.time) && step.kind >= wire::StepKind::prefill &&
         step.kind <= wire::StepKind::mixed;
}
bool is_sane(const wire::CpuOperator& call) {
  return is_time(call.start) && is_time(call.end) && call.start <= call.end;
}
bool is_sane(const wire::Dropped&) { return true; }
bool is_sane(const wire::CleanEnd&) { return true; }

StepTable::Kind kind_of(wire::StepKind kind) {
  if (kind == wire::StepKind::prefill) return StepTable::Kind::prefill;
  return kind == wire::StepKind::decode ? StepTable::Kind::decode : StepTable::Kind::mixed;
}

// 0 is the log's word for none.
StringId as_id(wire::StringKey key) { return key == 0 ? StringId() : StringId(key); }

}  // namespace

Rows::Rows(TraceBuilder& builder, ProcessId process)
    : builder_(builder),
      process_(process),
      first_range_(builder.trace().ranges.size()),
      first_step_(builder.trace().steps.size()),
      first_operator_(builder.trace().operators.size()) {}

template <class Payload>
bool Rows::take(const Record& record, Payload& payload) {
  if (record.get(payload) && is_sane(payload)) return true;
  ++findings_.bad_values;
  return false;
}

void Rows::add(const Record& record) {
  switch (record.type) {
    case wire::RecordType::string:
      return add_text(record);
    case wire::RecordType::thread_info:
      return add_thread(record);
    case wire::RecordType::range_push:
      return add_push(record);
    case wire::RecordType::range_pop:
      return add_pop(record);
    case wire::RecordType::range_start:
      return add_start(record);
    case wire::RecordType::range_end:
      return add_end(record);
    case wire::RecordType::mark:
      return add_mark(record);
    case wire::RecordType::step:
      return add_step(record);
    case wire::RecordType::cpu_operator:
      return add_operator(record);
    case wire::RecordType::dropped:
      return add_dropped(record);
    case wire::RecordType::clean_end:
      return add_clean_end(record);
    default:
      ++findings_.unknown;
  }
}

ThreadId Rows::thread() {
  if (!thread_.valid()) thread_ = builder_.thread(process_, serial_, 0);
  return thread_;
}

void Rows::add_text(const Record& record) {
  wire::Text head{};
  if (!take(record, head)) return;
  const std::span<const char> bytes = record.payload.subspan(sizeof head);
  if (bytes.size() < head.length) {
    ++findings_.bad_values;
    return;
  }
  if (head.cut != 0) ++findings_.cut_names;
  const std::string_view text(bytes.data(), head.length);
  texts_.try_emplace(head.key, builder_.string(to_printable(text)));
}

void Rows::add_thread(const Record& record) {
  wire::ThreadInfo info{};
  if (!take(record, info)) return;
  begin_chunk(info.serial);
  Thread& described = builder_.thread_info(thread());
  described.tid = info.thread_id;
  described.name = to_printable(text_of(info.name));
}

size_t Rows::add_range(Nanoseconds start, Nanoseconds end, wire::StringKey domain,
                       wire::StringKey name, RangeKind kind) {
  RangeTable& ranges = builder_.trace().ranges;
  ranges.start.push_back(start);
  ranges.end.push_back(end);
  ranges.thread.push_back(thread());
  ranges.domain.push_back(as_id(domain));
  ranges.text.push_back(as_id(name));
  ranges.kind.push_back(kind);
  return ranges.size() - 1;
}

void Rows::add_push(const Record& record) {
  wire::RangePush push{};
  if (!take(record, push)) return;
  std::vector<size_t>& open = open_[{thread(), push.domain}];
  open.resize(push.depth, kNoRow);
  open.push_back(add_range(push.time, kOpenEnd, push.domain, push.name, RangeKind::push_pop));
}

void Rows::add_pop(const Record& record) {
  wire::RangePop pop{};
  if (!take(record, pop)) return;
  std::vector<size_t>& open = open_[{thread(), pop.domain}];
  const size_t row = pop.depth < open.size() ? open[pop.depth] : kNoRow;
  open.resize(std::min<size_t>(open.size(), pop.depth));
  RangeTable& ranges = builder_.trace().ranges;
  if (row == kNoRow || pop.time < ranges.start[row]) {
    ++findings_.ends_without_start;
    return;
  }
  ranges.end[row] = pop.time;
}

void Rows::add_start(const Record& record) {
  wire::RangeStart start{};
  if (!take(record, start)) return;
  started_[start.range] =
      add_range(start.time, kOpenEnd, start.domain, start.name, RangeKind::start_end);
}

void Rows::add_end(const Record& record) {
  wire::RangeEnd end{};
  if (take(record, end)) ends_.push_back(end);
}

// The thread that ends a range may stand in the file before the one that started it.
void Rows::end_started_ranges() {
  RangeTable& ranges = builder_.trace().ranges;
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

void Rows::add_mark(const Record& record) {
  wire::Mark mark{};
  if (take(record, mark)) {
    add_range(mark.time, mark.time, mark.domain, mark.name, RangeKind::mark);
  }
}

void Rows::add_step(const Record& record) {
  wire::Step step{};
  if (!take(record, step)) return;
  StepTable& steps = builder_.trace().steps;
  steps.time.push_back(step.time);
  steps.thread.push_back(thread());
  steps.kind.push_back(kind_of(step.kind));
  steps.batch.push_back(step.batch);
  steps.tokens.push_back(step.tokens);
}

void Rows::add_operator(const Record& record) {
  wire::CpuOperator call{};
  if (!take(record, call)) return;
  OperatorTable& operators = builder_.trace().operators;
  const size_t row = operators.size();
  // Rows of captures before this one do not have these columns.
  operators.flops.resize(row);
  operators.bytes.resize(row);
  operators.start.push_back(call.start);
  operators.end.push_back(call.end);
  operators.thread.push_back(thread());
  operators.name.push_back(as_id(call.name));
  operators.external_id.push_back(0);
  operators.flops.push_back(call.flops);
  operators.bytes.push_back(call.bytes);
}

void Rows::add_dropped(const Record& record) {
  wire::Dropped dropped{};
  if (take(record, dropped)) findings_.dropped = std::max(findings_.dropped, dropped.records);
}

void Rows::add_clean_end(const Record& record) {
  wire::CleanEnd end{};
  if (!take(record, end)) return;
  findings_.closed = true;
  findings_.chunks_when_closed = end.chunks;
  findings_.dropped = std::max(findings_.dropped, end.dropped);
}

// A lost domain is the default one; stages are recognised there as well.
StringId Rows::named(StringId key) {
  if (!key.valid()) return {};
  const auto known = texts_.find(key.value);
  if (known != texts_.end()) return known->second;
  ++findings_.lost_names;
  return {};
}

void Rows::name_rows() {
  const StringId lost = builder_.string("(name lost)");
  const auto or_lost = [&](StringId text) { return text.valid() ? text : lost; };
  RangeTable& ranges = builder_.trace().ranges;
  for (size_t i = first_range_; i < ranges.size(); ++i) {
    ranges.domain[i] = named(ranges.domain[i]);
    ranges.text[i] = or_lost(named(ranges.text[i]));
    if (ranges.end[i] == kOpenEnd) ++findings_.open_ranges;
  }
  OperatorTable& operators = builder_.trace().operators;
  for (size_t i = first_operator_; i < operators.size(); ++i) {
    operators.name[i] = or_lost(named(operators.name[i]));
  }
}

const Findings& Rows::finish() {
  end_started_ranges();
  name_rows();
  findings_.outer_operators = add_operator_kernels(builder_, process_, first_operator_);
  const Trace& trace = builder_.trace();
  findings_.rows = trace.ranges.size() - first_range_ + trace.operators.size() - first_operator_ +
                   trace.steps.size() - first_step_;
  return findings_;
}

}  // namespace llmprof::collector_log
