#include "readers/kineto/event.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.h"
#include "readers/kineto/category.h"
#include "readers/kineto/collective.h"
#include "readers/kineto/json_value.h"
#include "readers/kineto/token.h"
#include "readers/shared/memory_place.h"

namespace llmprof::readers {
namespace {

namespace ondemand = simdjson::ondemand;

// Tokens point into the text.
struct Arguments {
  std::string_view correlation, external_id;
  std::string_view device, context, stream;
  std::string_view registers, shared_memory, bytes, graph, graph_node, name, kernel;
  trace::Extent grid{};
  trace::Extent block{};
  std::optional<CollectiveArguments> collective;  // few events have any of these

  CollectiveArguments& of_collective() {
    if (!collective) collective.emplace();
    return *collective;
  }
};

struct Event {
  char phase = 0;
  std::optional<KinetoCategory> category;
  std::string_view category_token, name, pid, tid, start, duration;
  Arguments arguments;
};

// Keys are compared as they stand: no writer escapes letters. Reads no further than the longest
// literal, which the padding after the text allows. Most keys differ in the first letter, and
// std::memcmp is a call.
template <size_t N>
bool is(const char* key, const char (&literal)[N]) {
  return key[0] == literal[0] && std::memcmp(key, literal, N - 1) == 0 && key[N - 1] == '"';
}

// A value of another type than expected is as good as absent; the walk goes on after it.
simdjson::error_code unless_other_type(simdjson::error_code error) {
  return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
}

simdjson::error_code read_extent(ondemand::value value, const char* end, trace::Extent& extent) {
  ondemand::array list;
  if (const auto error = value.get_array().get(list)) return unless_other_type(error);
  size_t i = 0;
  for (auto element : list) {
    ondemand::value number;
    if (const auto error = element.get(number)) return error;
    if (i < extent.size()) extent[i++] = token_uint32(json_token(number, end));
  }
  return simdjson::SUCCESS;
}

// [[8, 25136], [], [1]]: the elements of each input; a scalar has none.
simdjson::error_code read_dimensions(ondemand::value value, const char* end,
                                     std::vector<uint64_t>& elements) {
  constexpr uint64_t kMost = uint64_t{1} << 48U;  // what is beyond it is taken for damage
  ondemand::array inputs;
  if (const auto error = value.get_array().get(inputs)) return unless_other_type(error);
  for (auto input : inputs) {
    ondemand::array dimensions;
    elements.push_back(0);
    if (const auto error = input.get_array().get(dimensions)) {
      if (unless_other_type(error) != simdjson::SUCCESS) return error;
      continue;
    }
    uint64_t product = 1;
    bool any = false;
    for (auto dimension : dimensions) {
      ondemand::value number;
      // A list of tensors has a list of dimensions for each: what they hold is not told here.
      if (const auto error = dimension.get(number)) return error;
      const auto factor = token_unsigned(json_token(number, end));
      const bool sane = factor && (*factor == 0 || product <= kMost / *factor);
      product = sane ? product * *factor : 0;
      any = true;
    }
    if (any) elements.back() = product;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_types(ondemand::value value, const char* end,
                                std::vector<std::string_view>& types) {
  ondemand::array list;
  if (const auto error = value.get_array().get(list)) return unless_other_type(error);
  for (auto element : list) {
    ondemand::value text;
    if (const auto error = element.get(text)) return error;
    types.push_back(token_text(json_token(text, end)));
  }
  return simdjson::SUCCESS;
}

using CollectiveToken = std::string_view CollectiveArguments::*;

CollectiveToken collective_argument(const char* key) {
  switch (key[0]) {
    case 'C':
      return is(key, "Collective name") ? &CollectiveArguments::name : nullptr;
    case 'G':
      if (is(key, "Group size")) return &CollectiveArguments::group_size;
      if (is(key, "Global rank start")) return &CollectiveArguments::first_rank;
      return is(key, "Global rank stride") ? &CollectiveArguments::rank_stride : nullptr;
    case 'I':
      return is(key, "In msg nelems") ? &CollectiveArguments::elements_in : nullptr;
    case 'O':
      return is(key, "Out msg nelems") ? &CollectiveArguments::elements_out : nullptr;
    case 'P':
      if (is(key, "Process Group Name")) return &CollectiveArguments::group;
      if (is(key, "Process Group ID")) return &CollectiveArguments::group_number;
      return is(key, "Process Group Ranks") ? &CollectiveArguments::ranks : nullptr;
    case 'd':
      return is(key, "dtype") ? &CollectiveArguments::type : nullptr;
    default:
      return is(key, "Seq") ? &CollectiveArguments::sequence : nullptr;
  }
}

std::string_view* collective_argument(const char* key, Arguments& arguments) {
  const CollectiveToken token = collective_argument(key);
  return token == nullptr ? nullptr : &(arguments.of_collective().*token);
}

// The token a key's value goes to; none for keys of no interest.
std::string_view* argument(const char* key, Arguments& arguments) {
  switch (key[0]) {
    case 'C':
    case 'G':
    case 'I':
    case 'O':
    case 'P':
    case 'S':
      return collective_argument(key, arguments);
    case 'E':
      if (is(key, "External id") || is(key, "External Id")) return &arguments.external_id;
      return nullptr;
    case 'b':
      return is(key, "bytes") ? &arguments.bytes : nullptr;
    case 'c':
      if (is(key, "correlation")) return &arguments.correlation;
      return is(key, "context") ? &arguments.context : nullptr;
    case 'd':
      return is(key, "device") ? &arguments.device : collective_argument(key, arguments);
    case 'e':
      return is(key, "external id") ? &arguments.external_id : nullptr;
    case 'g':
      if (is(key, "graph id")) return &arguments.graph;
      return is(key, "graph node id") ? &arguments.graph_node : nullptr;
    case 'k':
      return is(key, "kernel") ? &arguments.kernel : nullptr;
    case 'n':
      return is(key, "name") ? &arguments.name : nullptr;
    case 'r':
      return is(key, "registers per thread") ? &arguments.registers : nullptr;
    case 's':
      if (is(key, "stream")) return &arguments.stream;
      return is(key, "shared memory") ? &arguments.shared_memory : nullptr;
    default:
      return nullptr;
  }
}

// Whether the arguments still to come can be passed over: those of operators are long.
bool is_enough(const Event& event) {
  const Arguments& arguments = event.arguments;
  if (arguments.external_id.empty()) return false;
  if (event.category == KinetoCategory::cpu_operator ||
      event.category == KinetoCategory::annotation) {
    const std::string_view name = token_text(event.name);
    return is_tensor_operator(name) || !tells_of_collective(name);
  }
  return event.category == KinetoCategory::api_call && !arguments.correlation.empty();
}

simdjson::error_code read_arguments(ondemand::value value, const char* end, Event& event) {
  Arguments& arguments = event.arguments;
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return unless_other_type(error);
  for (auto entry : object) {
    ondemand::field field;
    if (const auto error = std::move(entry).get(field)) return error;
    const char* key = field.key().raw();
    if (is(key, "grid")) {
      if (const auto error = read_extent(field.value(), end, arguments.grid)) return error;
    } else if (is(key, "block")) {
      if (const auto error = read_extent(field.value(), end, arguments.block)) return error;
    } else if (is(key, "Input Dims")) {
      const auto error =
          read_dimensions(field.value(), end, arguments.of_collective().input_elements);
      if (error != simdjson::SUCCESS) return error;
    } else if (is(key, "Input type")) {
      const auto error = read_types(field.value(), end, arguments.of_collective().input_types);
      if (error != simdjson::SUCCESS) return error;
    } else if (std::string_view* token = argument(key, arguments)) {
      *token = json_token(field.value(), end);
      if (is_enough(event)) break;
    }
  }
  return simdjson::SUCCESS;
}

// A frame of Python that is the call of a module: "nn.Module: Qwen3DecoderLayer_7".
constexpr std::string_view kModulePrefix = "nn.Module: ";
bool is_module(std::string_view name_token) {
  return token_text(name_token).starts_with(kModulePrefix);
}

// Events without a duration say nothing about work, names apart. Of a Python function that is no
// module's call, the name is all that is kept.
bool is_of_interest(const Event& event) {
  if (event.phase == 'M') return true;
  if (event.phase != 'X' && event.phase != 0) return false;
  if (event.category == KinetoCategory::python_function) {
    return event.name.empty() || is_module(event.name);
  }
  return !event.category || *event.category < KinetoCategory::gpu_annotation;
}

// Stops early where the event turns out to be of no interest.
simdjson::error_code read_fields(ondemand::object& object, const char* end, Event& event) {
  for (auto entry : object) {
    ondemand::field field;
    if (const auto error = std::move(entry).get(field)) return error;
    const char* key = field.key().raw();
    const std::string_view token = json_token(field.value(), end);
    if (is(key, "ph")) {
      const std::string_view text = token_text(token);
      event.phase = text.size() == 1 ? text[0] : '?';
      if (!is_of_interest(event)) break;
    } else if (is(key, "cat")) {
      event.category_token = token;
      event.category = kineto_category(token_text(token));
      if (event.phase != 0 && !is_of_interest(event)) break;
    } else if (is(key, "name")) {
      event.name = token;
      // Frames of Python are many, those of modules few.
      if (event.phase != 0 && !is_of_interest(event)) break;
    } else if (is(key, "pid")) {
      event.pid = token;
    } else if (is(key, "tid")) {
      event.tid = token;
    } else if (is(key, "ts")) {
      event.start = token;
    } else if (is(key, "dur")) {
      event.duration = token;
    } else if (is(key, "args")) {
      if (const auto error = read_arguments(field.value(), end, event)) return error;
    }
  }
  return simdjson::SUCCESS;
}

KinetoTaskId task_id(std::string_view token) {
  if (const auto number = token_unsigned(token)) return {*number, *number};
  const std::string_view text = token_text(token);
  if (const auto number = parse_int(text)) {
    return {static_cast<uint64_t>(*number), static_cast<uint64_t>(*number)};
  }
  constexpr uint64_t kWord = uint64_t{1} << 63U;
  return {RawTextHash()(text) | kWord, 0};
}

struct Span {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

std::optional<Span> span_of(const Event& event) {
  const auto start = token_nanoseconds(event.start);
  const auto duration = token_nanoseconds(event.duration);
  if (!start || !duration || *duration < 0) return std::nullopt;
  return Span{*start, *start + *duration};
}

// "stream 7" was the thread of GPU work in 2021.
uint32_t stream_of(const Event& event) {
  if (!event.arguments.stream.empty()) return token_uint32(event.arguments.stream);
  std::string_view text = token_text(event.tid);
  if (text.starts_with("stream ")) text.remove_prefix(7);
  return token_uint32(text);
}

LocalQueue queue_of(const Event& event, KinetoRows& rows) {
  const Arguments& arguments = event.arguments;
  const std::string_view device = arguments.device.empty() ? event.pid : arguments.device;
  return rows.queues.intern(
      {token_uint32(device), token_uint32(arguments.context), stream_of(event)});
}

void add_kernel(const Event& event, Span span, KinetoRows& rows) {
  const Arguments& arguments = event.arguments;
  trace::LaunchShape shape;
  shape.grid = arguments.grid;
  shape.block = arguments.block;
  shape.registers_per_thread = token_uint32(arguments.registers);
  // Static and dynamic together: a trace does not tell them apart.
  shape.dynamic_shared_bytes = token_uint32(arguments.shared_memory);
  rows.kernels.push_back({span.start, span.end, token_unsigned(arguments.external_id).value_or(0),
                          token_unsigned(arguments.graph_node).value_or(0),
                          rows.strings.intern(token_text(event.name)), rows.shapes.intern(shape),
                          queue_of(event, rows), token_uint32(arguments.correlation),
                          token_uint32(arguments.graph)});
  if (!arguments.collective || arguments.collective->name.empty()) return;
  if (auto told = kernel_collective(*arguments.collective, rows.strings)) {
    told->start = span.start;
    told->end = span.end;
    told->correlation = token_uint32(arguments.correlation);
    rows.collectives.push_back(*told);
  }
}

// "Memcpy HtoD (Pageable -> Device)" in the words of the other tools.
std::string_view direction_of(std::string_view name) {
  struct Direction {
    std::string_view code, words;
  };
  constexpr std::array<Direction, 5> kDirections = {{{"HtoD", "Host-to-Device"},
                                                     {"DtoH", "Device-to-Host"},
                                                     {"DtoD", "Device-to-Device"},
                                                     {"HtoH", "Host-to-Host"},
                                                     {"PtoP", "Peer-to-Peer"}}};
  constexpr std::string_view kPrefix = "Memcpy ";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  const std::string_view code = name.substr(0, name.find(' '));
  for (const Direction& direction : kDirections) {
    if (code == direction.code) return direction.words;
  }
  return code;
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

void add_memory_operation(const Event& event, trace::MemoryKind kind, Span span, KinetoRows& rows) {
  LocalString detail;
  const auto [from, to] = places_of(token_text(event.name));
  if (kind == trace::MemoryKind::copy) {
    const std::string_view direction = direction_of(token_text(event.name));
    if (!direction.empty()) detail = rows.strings.intern(direction);
  }
  rows.memory_operations.push_back(
      {span.start, span.end, token_unsigned(event.arguments.bytes).value_or(0), detail,
       queue_of(event, rows), token_uint32(event.arguments.correlation), kind, from, to});
}

void add_call(const Event& event, Span span, KinetoRows& rows, std::vector<KinetoCall>& calls) {
  calls.push_back({span.start, span.end, token_unsigned(event.arguments.external_id).value_or(0),
                   rows.strings.intern(token_text(event.name)),
                   rows.threads.intern({task_id(event.pid), task_id(event.tid)}),
                   token_uint32(event.arguments.correlation)});
  if (is_string_token(event.arguments.kernel)) {
    calls.back().kernel = rows.strings.intern(token_text(event.arguments.kernel));
  }
}

// An operator or annotation; those that tell of communication are about what is launched inside.
void add_host_call(const Event& event, Span span, KinetoRows& rows,
                   std::vector<KinetoCall>& calls) {
  add_call(event, span, rows, calls);
  const std::string_view name = token_text(event.name);
  if (is_tensor_operator(name) || !tells_of_collective(name)) return;
  const CollectiveArguments none;
  const auto& arguments = event.arguments.collective;
  if (auto told = host_collective(name, arguments ? *arguments : none, rows.strings)) {
    told->start = span.start;
    told->end = span.end;
    told->thread = calls.back().thread;
    told->external_id = calls.back().external_id;
    rows.collectives.push_back(*told);
  }
}

bool add_module(const Event& event, KinetoRows& rows) {
  const auto span = span_of(event);
  if (!span || !is_module(event.name)) return false;
  const std::string_view name = token_text(event.name).substr(kModulePrefix.size());
  rows.modules.push_back({span->start, span->end, 0, rows.strings.intern(name),
                          rows.threads.intern({task_id(event.pid), task_id(event.tid)}), 0});
  return true;
}

void add_task_name(const Event& event, KinetoRows& rows) {
  const bool of_thread = token_text(event.name) == "thread_name";
  const bool of_process = token_text(event.name) == "process_name";
  if ((!of_thread && !of_process) || !is_string_token(event.arguments.name)) return;
  rows.task_names.push_back({{task_id(event.pid), task_id(event.tid)},
                             of_thread,
                             rows.strings.intern(token_text(event.arguments.name))});
}

// Whether the event was as its kind must be.
bool add_work(const Event& event, KinetoRows& rows) {
  const auto span = span_of(event);
  if (!span || !is_string_token(event.name)) return false;
  switch (*event.category) {
    case KinetoCategory::kernel:
      add_kernel(event, *span, rows);
      return true;
    case KinetoCategory::copy:
      add_memory_operation(event, trace::MemoryKind::copy, *span, rows);
      return true;
    case KinetoCategory::fill:
      add_memory_operation(event, trace::MemoryKind::set, *span, rows);
      return true;
    case KinetoCategory::api_call:
      add_call(event, *span, rows, rows.launches);
      return true;
    case KinetoCategory::cpu_operator:
      add_host_call(event, *span, rows, rows.operators);
      return true;
    default:
      add_host_call(event, *span, rows, rows.annotations);
      return true;
  }
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
  // An absolute path outside of the installed packages: the program's own files.
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

// Whether the event was as its kind must be.
bool add_event(const Event& event, KinetoRows& rows) {
  if (event.phase == 0) return false;
  if (event.phase == 'M') {
    add_task_name(event, rows);
    return true;
  }
  const KinetoCategory category = event.category.value_or(KinetoCategory::unknown);
  if (event.phase != 'X' || category == KinetoCategory::known_but_unused) {
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

}  // namespace

simdjson::error_code read_kineto_event(ondemand::object object, const char* end, KinetoRows& rows) {
  Event event;
  if (const auto error = read_fields(object, end, event)) return error;
  ++(add_event(event, rows) ? rows.counts.usable : rows.counts.bad);
  return simdjson::SUCCESS;
}

}  // namespace llmprof::readers
