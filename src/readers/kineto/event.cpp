#include "readers/kineto/event.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "readers/kineto/token.h"

namespace llmprof::readers {
namespace {

struct Spelling {
  std::string_view text;
  KinetoCategory category;
};

using enum KinetoCategory;

constexpr std::array<Spelling, 22> kSpellings = {{
    {"kernel", kernel},
    {"cpu_op", cpu_operator},
    {"cuda_runtime", api_call},
    {"cuda_driver", api_call},
    {"python_function", python_function},
    {"gpu_memcpy", copy},
    {"gpu_memset", fill},
    {"user_annotation", annotation},
    {"gpu_user_annotation", gpu_annotation},
    {"Kernel", kernel},
    {"Operator", cpu_operator},
    {"cpu op", cpu_operator},
    {"Runtime", api_call},
    {"Memcpy", copy},
    {"Memset", fill},
    {"Python", python_function},
    {"overhead", known_but_unused},
    {"Trace", known_but_unused},
    {"cuda_sync", known_but_unused},
    {"cuda_profiler_range", known_but_unused},
    {"cpu_instant_event", instant},
    {"ac2g", known_but_unused},
}};

// Traces from 2021 spell them differently.
KinetoCategory kineto_category(std::string_view text) {
  // Comparing text is a call, and this runs per event: sizes or first letters usually differ.
  const auto* known = std::find_if(kSpellings.begin(), kSpellings.end(), [&](const Spelling& s) {
    return s.text.size() == text.size() && s.text.front() == text.front() && s.text == text;
  });
  return known == kSpellings.end() ? unknown : known->category;
}

namespace ondemand = simdjson::ondemand;

// Keys are compared unescaped: no writer escapes letters. Reads no further than the longest
// literal, which the padding after the text allows. Most keys differ in the first letter, and
// std::memcmp is a call.
template <size_t N>
bool is(const char* key, const char (&literal)[N]) {
  return key[0] == literal[0] && std::memcmp(key, literal, N - 1) == 0 && key[N - 1] == '"';
}

// A value of an unexpected type counts as absent; the walk continues after it.
simdjson::error_code unless_other_type(simdjson::error_code error) {
  return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
}

// Hands each element of an array to `use`, which returns an error code.
template <class Use>
simdjson::error_code each_element(ondemand::value value, const Use& use) {
  ondemand::array list;
  if (const auto error = value.get_array().get(list)) return unless_other_type(error);
  for (auto element : list) {
    ondemand::value each;
    if (const auto error = element.get(each)) return error;
    if (const auto error = use(each)) return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_extent(ondemand::value value, const char* end, trace::Extent& extent) {
  size_t i = 0;
  return each_element(value, [&](ondemand::value& number) {
    if (i < extent.size()) extent[i++] = token_uint32(json_token(number, end));
    return simdjson::SUCCESS;
  });
}

// [[8, 25136], [], [1]]: the number of elements of each input; a scalar has none.
simdjson::error_code read_dimensions(ondemand::value value, const char* end,
                                     std::vector<uint64_t>& elements) {
  constexpr uint64_t kMost = uint64_t{1} << 48U;  // larger values count as damage
  return each_element(value, [&](ondemand::value& input) {
    elements.push_back(0);
    uint64_t product = 1;
    // A list of tensors has nested lists of dimensions, which give 0 elements.
    return each_element(input, [&](ondemand::value& dimension) {
      const auto factor = token_unsigned(json_token(dimension, end));
      const bool sane = factor && (*factor == 0 || product <= kMost / *factor);
      product = sane ? product * *factor : 0;
      elements.back() = product;
      return simdjson::SUCCESS;
    });
  });
}

simdjson::error_code read_types(ondemand::value value, const char* end,
                                std::vector<std::string_view>& types) {
  return each_element(value, [&](ondemand::value& text) {
    types.push_back(token_text(json_token(text, end)));
    return simdjson::SUCCESS;
  });
}

// Hands each input of an operator to `use`, with its element of the array.
template <class Use>
simdjson::error_code each_input(ondemand::value value, ProductArguments& arguments,
                                const Use& use) {
  size_t index = 0;
  return each_element(value, [&](ondemand::value& element) {
    ProductInput* input = arguments.input(index++);
    return input == nullptr ? simdjson::SUCCESS : use(element, *input);
  });
}

// Numbers beyond the most, and values that are no numbers, make the count unusable.
simdjson::error_code read_numbers(ondemand::value value, const char* end,
                                  ProductInput::Numbers& numbers, uint8_t& count) {
  constexpr uint8_t kUnusable = ProductInput::kMostDimensions + 1;
  count = 0;
  return each_element(value, [&](ondemand::value& element) {
    const auto number = token_unsigned(json_token(element, end));
    if (!number || count >= ProductInput::kMostDimensions) {
      count = kUnusable;
    } else {
      numbers[count++] = *number;
    }
    return simdjson::SUCCESS;
  });
}

simdjson::error_code read_product_argument(const char* key, ondemand::value value, const char* end,
                                           ProductArguments& arguments) {
  if (is(key, "Input Dims")) {
    arguments.has_sizes = true;
    return each_input(value, arguments, [&](ondemand::value& sizes, ProductInput& input) {
      return read_numbers(sizes, end, input.sizes, input.rank);
    });
  }
  if (is(key, "Input Strides")) {
    return each_input(value, arguments, [&](ondemand::value& strides, ProductInput& input) {
      return read_numbers(strides, end, input.strides, input.stride_rank);
    });
  }
  const bool types = is(key, "Input type");
  return each_input(value, arguments, [&](ondemand::value& text, ProductInput& input) {
    (types ? input.type : input.constant) = token_text(json_token(text, end));
    return simdjson::SUCCESS;
  });
}

bool is_product_argument(const char* key) {
  return is(key, "Input Dims") || is(key, "Input Strides") || is(key, "Input type") ||
         is(key, "Concrete Inputs");
}

// The key's text up to the closing quote; empty if it is longer than any that is known.
std::string_view short_key(const char* key) {
  constexpr size_t kLongest = 16;
  const char* quote = std::find(key, key + kLongest, '"');
  return {key, quote == key + kLongest ? 0 : static_cast<size_t>(quote - key)};
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

std::string_view* collective_argument(const char* key, KinetoArguments& arguments) {
  const CollectiveToken token = collective_argument(key);
  return token == nullptr ? nullptr : &(arguments.of_collective().*token);
}

std::string_view* memory_token(const char* key, KinetoArguments& arguments) {
  const auto token = memory_argument(short_key(key));
  return token == nullptr ? nullptr : &(arguments.of_memory().*token);
}

// The token that a key's value is stored in; null for keys that are not needed.
std::string_view* argument(const char* key, KinetoArguments& arguments) {
  switch (key[0]) {
    case 'A':
    case 'B':
    case 'D':
    case 'T':
      return memory_token(key, arguments);
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

// Whether the remaining arguments can be skipped: operators have long ones.
bool is_enough(const KinetoEvent& event) {
  const KinetoArguments& arguments = event.arguments;
  if (arguments.external_id.empty() || arguments.multiplies != nullptr) return false;
  if (event.category == KinetoCategory::cpu_operator ||
      event.category == KinetoCategory::annotation) {
    const std::string_view name = token_text(event.name);
    return is_tensor_operator(name) || !describes_collective(name);
  }
  return event.category == KinetoCategory::api_call && !arguments.correlation.empty();
}

simdjson::error_code read_arguments(ondemand::value value, const char* end, KinetoEvent& event) {
  KinetoArguments& arguments = event.arguments;
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return unless_other_type(error);
  if (event.category == KinetoCategory::cpu_operator) {
    arguments.multiplies = product_operator(token_text(event.name));
  }
  for (auto entry : object) {
    ondemand::field field;
    if (const auto error = std::move(entry).get(field)) return error;
    const char* key = field.key().raw();
    simdjson::error_code error = simdjson::SUCCESS;
    if (arguments.multiplies != nullptr && is_product_argument(key)) {
      error = read_product_argument(key, field.value(), end, arguments.of_product());
    } else if (is(key, "grid")) {
      error = read_extent(field.value(), end, arguments.grid);
    } else if (is(key, "block")) {
      error = read_extent(field.value(), end, arguments.block);
    } else if (is(key, "Input Dims")) {
      error = read_dimensions(field.value(), end, arguments.of_collective().input_elements);
    } else if (is(key, "Input type")) {
      error = read_types(field.value(), end, arguments.of_collective().input_types);
    } else if (std::string_view* token = argument(key, arguments)) {
      *token = json_token(field.value(), end);
      if (is_enough(event)) break;
    }
    if (error != simdjson::SUCCESS) return error;
  }
  return simdjson::SUCCESS;
}

// Events without a duration say nothing about work, except for names and what allocators report. Of
// a Python function that is not a module call, only the name is kept.
bool is_of_interest(const KinetoEvent& event) {
  if (event.phase == 'M') return true;
  if (event.phase == 'i') return event.name.empty() || is_memory_report(event.name);
  if (event.phase != 'X' && event.phase != 0) return false;
  if (event.category == KinetoCategory::python_function) {
    return event.name.empty() || is_module(event.name);
  }
  return !event.category || *event.category < KinetoCategory::gpu_annotation;
}

// Stops early if the event turns out not to be needed.
simdjson::error_code read_fields(ondemand::object& object, const char* end, KinetoEvent& event) {
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
      // Python frames are many, module calls few.
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

}  // namespace

simdjson::error_code read_kineto_event(ondemand::object object, const char* end, KinetoRows& rows) {
  KinetoEvent event;
  if (const auto error = read_fields(object, end, event)) return error;
  ++(add_event_rows(event, rows) ? rows.counts.usable : rows.counts.bad);
  return simdjson::SUCCESS;
}

}  // namespace llmprof::readers
