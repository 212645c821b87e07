#include "readers/kineto/event.h"

#include <functional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "readers/shared/tool_words.h"
#include "trace/append.h"

namespace llmprof::readers {
namespace {

// Rules in conf/stages.yaml use it to distinguish module names from the program's own labels.
constexpr std::string_view kModuleDomain = "nn.Module";

KinetoTaskId task_id(std::string_view token) {
  if (const auto number = token_unsigned(token)) return {*number, *number};
  const std::string_view text = token_text(token);
  if (const auto number = parse_int(text)) {
    return {static_cast<uint64_t>(*number), static_cast<uint64_t>(*number)};
  }
  constexpr uint64_t kWord = uint64_t{1} << 63U;
  return {std::hash<std::string_view>()(text) | kWord, 0};
}

struct Span {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

std::optional<Span> span_of(const KinetoEvent& event) {
  const auto start = token_nanoseconds(event.start);
  const auto duration = token_nanoseconds(event.duration);
  if (!start || !duration || *duration < 0) return std::nullopt;
  return Span{*start, *start + *duration};
}

// In 2021, GPU work had the thread "stream 7".
uint32_t stream_of(const KinetoEvent& event) {
  if (!event.arguments.stream.empty()) return token_uint32(event.arguments.stream);
  std::string_view text = token_text(event.tid);
  if (text.starts_with("stream ")) text.remove_prefix(7);
  return token_uint32(text);
}

trace::QueueId queue_of(const KinetoEvent& event, KinetoRows& rows) {
  const KinetoArguments& arguments = event.arguments;
  const std::string_view device = arguments.device.empty() ? event.pid : arguments.device;
  return rows.queues.intern(
      {token_uint32(device), token_uint32(arguments.context), stream_of(event)});
}

trace::ThreadId thread_of(const KinetoEvent& event, KinetoRows& rows) {
  return rows.threads.intern({task_id(event.pid), task_id(event.tid)});
}

// Adds to a column that most traces do not have.
template <class Value>
void add_optional(uint64_t value, const trace::KernelTable& kernels, std::vector<Value>& column) {
  if (value == 0) return;
  column.resize(kernels.size());
  column.push_back(static_cast<Value>(value));
}

void add_collective(const KinetoCollective& said, Span span, trace::ThreadId thread,
                    uint64_t external_id, uint32_t correlation, KinetoRows& rows) {
  trace::add_row(rows.collectives, span.start, span.end, thread, external_id, correlation,
                 said.kind, said.bytes, said.group, said.members, said.group_size, said.sequence);
}

void add_kernel(const KinetoEvent& event, Span span, KinetoRows& rows) {
  const KinetoArguments& arguments = event.arguments;
  trace::LaunchShape shape;
  shape.grid = arguments.grid;
  shape.block = arguments.block;
  shape.registers_per_thread = token_uint32(arguments.registers);
  // Static and dynamic together: a trace does not distinguish them.
  shape.dynamic_shared_bytes = token_uint32(arguments.shared_memory);
  const uint32_t correlation = token_uint32(arguments.correlation);
  add_optional(token_uint32(arguments.graph), rows.kernels, rows.kernels.graph);
  add_optional(token_unsigned(arguments.graph_node).value_or(0), rows.kernels,
               rows.kernels.graph_node);
  add_optional(token_unsigned(arguments.external_id).value_or(0), rows.kernels,
               rows.kernels.external_id);
  trace::add_row(rows.kernels, span.start, span.end, rows.strings.intern(token_text(event.name)),
                 rows.shapes.intern(shape), queue_of(event, rows), correlation);
  if (!arguments.collective || arguments.collective->name.empty()) return;
  if (const auto said = kernel_collective(*arguments.collective, rows.strings)) {
    add_collective(*said, span, {}, 0, correlation, rows);
  }
}

// "Memcpy HtoD (Pageable -> Device)" in other tools' words.
std::string_view direction_of(std::string_view name) {
  constexpr std::string_view kPrefix = "Memcpy ";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  return copy_direction(name.substr(0, name.find(' ')));
}

// "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
std::pair<trace::MemoryPlace, trace::MemoryPlace> places_of(std::string_view name) {
  constexpr std::string_view kArrow = " -> ";
  const size_t open = name.find('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return {};
  name = name.substr(open + 1, name.size() - open - 2);
  const size_t arrow = name.find(kArrow);
  if (arrow == std::string_view::npos) return {{}, named_memory_place(name)};
  return {named_memory_place(name.substr(0, arrow)),
          named_memory_place(name.substr(arrow + kArrow.size()))};
}

void add_memory_operation(const KinetoEvent& event, Span span, KinetoRows& rows) {
  const std::string_view name = token_text(event.name);
  const bool copy = event.category == KinetoCategory::copy;
  const std::string_view direction = copy ? direction_of(name) : std::string_view();
  const auto [from, to] = places_of(name);
  trace::add_row(rows.memory_operations, span.start, span.end,
                 token_unsigned(event.arguments.bytes).value_or(0),
                 direction.empty() ? trace::StringId() : rows.strings.intern(direction),
                 queue_of(event, rows), token_uint32(event.arguments.correlation),
                 copy ? trace::MemoryKind::copy : trace::MemoryKind::set, from, to);
}

void add_launch(const KinetoEvent& event, Span span, KinetoRows& rows) {
  trace::add_row(rows.launches, span.start, span.end, thread_of(event, rows),
                 rows.strings.intern(token_text(event.name)),
                 token_uint32(event.arguments.correlation));
  if (!is_string_token(event.arguments.kernel)) return;
  rows.launched_names.emplace_back(rows.launches.size() - 1,
                                   rows.strings.intern(token_text(event.arguments.kernel)));
}

// An operator that multiplies matrices. Without recorded shapes it has no row.
void add_product(const KinetoArguments& arguments, Span span, trace::ThreadId thread,
                 uint64_t external_id, KinetoRows& rows) {
  if (!arguments.product || !arguments.product->has_sizes) return;
  const auto product = product_of(*arguments.multiplies, *arguments.product);
  if (!product) {
    ++rows.counts.bad_products;
    return;
  }
  if (product->is_empty()) return;
  trace::add_row(rows.products, span.start, span.end, thread, external_id, product->m, product->n,
                 product->k, product->batch, product->type_a, product->type_b, product->type_output,
                 product->layout_a, product->layout_b);
}

// An operator or annotation. One that describes communication refers to the launches inside it.
void add_host_call(const KinetoEvent& event, Span span, KinetoRows& rows) {
  const std::string_view name = token_text(event.name);
  const trace::StringId own_name = rows.strings.intern(name);
  const trace::ThreadId thread = thread_of(event, rows);
  const uint64_t external_id = token_unsigned(event.arguments.external_id).value_or(0);
  if (*event.category == KinetoCategory::cpu_operator) {
    trace::add_row(rows.operators, span.start, span.end, thread, own_name, external_id);
    if (event.arguments.multiplies != nullptr) {
      add_product(event.arguments, span, thread, external_id, rows);
    }
  } else {
    trace::add_row(rows.annotations, span.start, span.end, thread, trace::StringId(), own_name,
                   trace::RangeKind::annotation);
  }
  if (is_tensor_operator(name) || !describes_collective(name)) return;
  const CollectiveArguments none;
  const auto& arguments = event.arguments.collective;
  if (const auto said = host_collective(name, arguments ? *arguments : none, rows.strings)) {
    add_collective(*said, span, thread, external_id, 0, rows);
  }
}

bool add_module(const KinetoEvent& event, KinetoRows& rows) {
  const auto span = span_of(event);
  if (!span || !is_module(event.name)) return false;
  const std::string_view name = token_text(event.name).substr(kModulePrefix.size());
  const trace::StringId own_name = rows.strings.intern(name);
  trace::add_row(rows.modules, span->start, span->end, thread_of(event, rows),
                 rows.strings.intern(kModuleDomain), own_name, trace::RangeKind::module);
  return true;
}

void add_task_name(const KinetoEvent& event, KinetoRows& rows) {
  const bool of_thread = token_text(event.name) == "thread_name";
  const bool of_process = token_text(event.name) == "process_name";
  if ((!of_thread && !of_process) || !is_string_token(event.arguments.name)) return;
  rows.task_names.push_back({{task_id(event.pid), task_id(event.tid)},
                             of_thread,
                             rows.strings.intern(token_text(event.arguments.name))});
}

// Returns whether the event has all that its kind requires.
bool add_work(const KinetoEvent& event, KinetoRows& rows) {
  const auto span = span_of(event);
  if (!span || !is_string_token(event.name)) return false;
  switch (*event.category) {
    case KinetoCategory::kernel:
      add_kernel(event, *span, rows);
      break;
    case KinetoCategory::copy:
    case KinetoCategory::fill:
      add_memory_operation(event, *span, rows);
      break;
    case KinetoCategory::api_call:
      add_launch(event, *span, rows);
      break;
    default:
      add_host_call(event, *span, rows);
  }
  return true;
}

// Returns whether the report has all that it needs.
bool add_memory_report(const KinetoEvent& event, KinetoRows& rows) {
  const auto time = token_nanoseconds(event.start);
  if (!time) return false;
  const MemoryArguments none;
  const auto& arguments = event.arguments.memory;
  const MemoryReport report = memory_report(arguments ? *arguments : none);
  switch (report.about) {
    case MemoryReport::About::gpu:
      trace::add_row(rows.tensor_memory, *time, thread_of(event, rows), report.device,
                     report.address, report.bytes, report.allocated, report.reserved);
      break;
    case MemoryReport::About::host:
      ++rows.counts.host_memory;
      break;
    case MemoryReport::About::other_device:
      ++rows.counts.other_memory;
      break;
    case MemoryReport::About::without_totals:
      ++rows.counts.old_memory;
      break;
    case MemoryReport::About::nothing:
      ++rows.counts.bad_memory;
      break;
  }
  return true;
}

void count_unknown_category(std::string_view category, KinetoCounts& counts) {
  constexpr size_t kMostNamed = 16;
  auto& names = counts.unknown_categories;
  std::string name = category.empty() ? "(none)" : shortened(unescaped(category), 40);
  if (!names.contains(name) && names.size() >= kMostNamed) name = "(others)";
  ++names[name];
}

// "transformers" of ".../site-packages/transformers/models/llama/modeling_llama.py(312): forward";
// empty for a script or a built-in function.
std::string_view python_package(std::string_view function) {
  constexpr std::string_view kPackages = "-packages/";
  const size_t file = function.find(".py(");
  if (file == std::string_view::npos) return {};
  std::string_view path = function.substr(0, file);
  if (const size_t installed = path.rfind(kPackages); installed != std::string_view::npos) {
    path.remove_prefix(installed + kPackages.size());
  }
  // An absolute path outside the installed packages: the program's own files.
  if (path.starts_with('/')) return {};
  const size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

void count_python_function(std::string_view function, KinetoCounts& counts) {
  constexpr size_t kMostPackages = 256;
  ++counts.python_functions;
  const std::string_view package = python_package(function);
  if (package.empty() || counts.python_packages.contains(package) ||
      counts.python_packages.size() >= kMostPackages) {
    return;
  }
  counts.python_packages.insert(to_printable(shortened(package, 64)));
}

}  // namespace

bool add_event_rows(const KinetoEvent& event, KinetoRows& rows) {
  if (event.phase == 0) return false;
  if (event.phase == 'M') {
    add_task_name(event, rows);
    return true;
  }
  const KinetoCategory category = event.category.value_or(KinetoCategory::unknown);
  if (event.phase == 'i' && is_memory_report(event.name)) return add_memory_report(event, rows);
  if (event.phase != 'X' || category == KinetoCategory::known_but_unused ||
      category == KinetoCategory::instant) {
    ++rows.counts.skipped;
    return true;
  }
  switch (category) {
    case KinetoCategory::gpu_annotation:
      ++rows.counts.gpu_annotations;
      return true;
    case KinetoCategory::python_function:
      if (!add_module(event, rows)) {
        count_python_function(is_string_token(event.name) ? token_text(event.name) : "",
                              rows.counts);
      }
      return true;
    case KinetoCategory::unknown:
      count_unknown_category(token_text(event.category_token), rows.counts);
      return true;
    default:
      return add_work(event, rows);
  }
}

}  // namespace llmprof::readers
