#include "readers/torch_memory/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/needed.h"
#include "base/text.h"
#include "trace/append.h"
#include "trace/requests.h"

namespace llmprof::readers::torch_memory {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Known::count)> kKnownTexts = {
    "action",
    "addr",
    "device_free",
    "size",
    "stream",
    "time_us",
    "frames",
    "pool_id",
    "name",
    "filename",
    "line",
    "device",
    "address",
    "total_size",
    "allocated_size",
    "active_size",
    "requested_size",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "blocks",
    "state",
    "stage",
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations"};

// Keys that snapshots have and that no figure needs.
constexpr WordList kUnusedKeys = {
    "compile_context|user_metadata|forward_frames|fx_node_op|fx_node_name|fx_node_target|"
    "fx_original_trace|history|registration_counter|version|categories|real_size|context|"
    "host_segments|host_traces|sync_stream|trace_entry_id"};

// Settings that may be shown. Their values are numbers, flags and lists of these.
constexpr WordList kShownSettings = {
    "PYTORCH_CUDA_ALLOC_CONF|PYTORCH_ALLOC_CONF|max_split_size|garbage_collection_threshold|"
    "expandable_segments|pinned_num_register_threads|pinned_use_background_threads|"
    "pinned_use_cuda_host_register|release_lock_on_cudamalloc|release_lock_on_hipmalloc|"
    "roundup_power2_divisions|max_non_split_rounding_size|last_allocator_settings|"
    "trace_alloc_record_context|per_process_memory_fraction|"
    "graph_capture_record_stream_reuse|throw_on_cudamalloc_oom|backend"};
constexpr size_t kLongestSetting = 400;
constexpr size_t kMostUnknownKeys = 1000;

[[noreturn]] void refuse(const std::string& why) { give_up(ErrorKind::input, why); }

[[noreturn]] void refuse_more(std::string_view what, size_t most) {
  refuse(
      fmt::format("it has more than {} {}; dump a snapshot with fewer entries "
                  "(torch.cuda.memory._record_memory_history(max_entries=...))",
                  most, what));
}

constexpr uint64_t kLargestSize = uint64_t{1} << 62U;

// A size or address that may be wrong.
bool read_size(const Value* value, uint64_t& size) {
  if (value == nullptr || value->kind != ValueKind::integer || value->content > kLargestSize) {
    return false;
  }
  size = value->content;
  return true;
}

bool read_integer(const Value* value, uint64_t& number) {
  if (value == nullptr || value->kind != ValueKind::integer) return false;
  number = value->content;
  return true;
}

}  // namespace

// The items of a dictionary, by key.
class Objects::Items {
 public:
  explicit Items(std::span<const Value> keys_and_values) {
    for (size_t i = 0; i + 1 < keys_and_values.size(); i += 2) {
      const Value& key = keys_and_values[i];
      if (key.kind == ValueKind::text && key.content < values_.size()) {
        values_[key.content] = &keys_and_values[i + 1];
      }
    }
  }
  const Value* operator[](Known key) const { return values_[static_cast<size_t>(key)]; }
  [[nodiscard]] bool has(Known key) const { return (*this)[key] != nullptr; }

 private:
  std::array<const Value*, static_cast<size_t>(Known::count)> values_{};
};

Objects::Objects() {
  for (const std::string_view known : kKnownTexts) text(known);
}

Value Objects::text(std::string_view text) {
  const auto found = text_rows_.find(text);
  if (found != text_rows_.end()) return {ValueKind::text, found->second};
  text_bytes_ += text.size();
  if (text_bytes_ > kMostTextBytes) refuse_more("bytes of different texts", kMostTextBytes);
  if (texts_.size() >= kMostTexts) refuse_more("different texts", kMostTexts);
  const auto row = static_cast<uint32_t>(texts_.size());
  texts_.push_back(text_storage_.emplace_back(text));
  text_rows_.emplace(texts_.back(), row);
  return {ValueKind::text, row};
}

Value Objects::pair(const Value& first, const Value& second) {
  const bool integers = first.kind == ValueKind::integer && second.kind == ValueKind::integer;
  if (!integers) return {ValueKind::other, 0};
  const auto [found, added] = integer_pairs_.try_emplace({first.content, second.content},
                                                         static_cast<uint32_t>(pairs_.size()));
  if (added) {
    keep(1);
    pairs_.push_back({first, second});
  }
  return {ValueKind::pair, found->second};
}

Value Objects::add_object(Kind kind) {
  if (objects_.size() >= kMostObjects) refuse_more("lists and dictionaries", kMostObjects);
  objects_.push_back({kind, false, 0});
  return {ValueKind::object, objects_.size() - 1};
}

Value Objects::new_list() { return add_object(Kind::empty_list); }
Value Objects::new_dictionary() { return add_object(Kind::empty_dictionary); }

uint32_t Objects::new_list_row() {
  if (!free_lists_.empty()) {
    const uint32_t row = free_lists_.back();
    free_lists_.pop_back();
    return row;
  }
  if (lists_.size() >= kMostContainers) refuse_more("lists of other things", kMostContainers);
  lists_.emplace_back();
  return static_cast<uint32_t>(lists_.size() - 1);
}

void Objects::keep(size_t values) {
  kept_values_ += values;
  if (kept_values_ > kMostKeptValues) refuse_more("values of unknown kinds", kMostKeptValues);
}

void Objects::append(const Value& list, std::span<const Value> items) {
  if (list.kind != ValueKind::object) refuse("it appends to something that is not a list");
  const Kind kind = object_of(list).kind;
  if (kind != Kind::empty_list && kind != Kind::open_frames && kind != Kind::list &&
      kind != Kind::stack) {
    refuse("it appends to something that is not a list");
  }
  if (items.empty()) return;
  Object& object = object_of(list);
  if (object.sealed) {
    refuse("a list changes after it became part of another object, or contains itself");
  }
  if (kind == Kind::empty_list) {
    object.row = new_list_row();
    object.kind = Kind::list;
    lists_[object.row].of = Kind::malformed;
  }
  List& into = lists_[object.row];
  for (const Value& item : items) {
    // Nearly all items are lines of stacks, which are complete.
    if (into.of == Kind::frame && item.kind == ValueKind::object) {
      const Object& line = object_of(item);
      if (line.kind == Kind::frame) {
        into.rows.push_back(line.row);
        continue;
      }
    }
    if (item.kind == ValueKind::object && item.content == list.content) {
      refuse("a list contains itself");
    }
    seal(item);
    const bool is_object = item.kind == ValueKind::object;
    const Kind of = is_object ? object_of(item).kind : Kind::malformed;
    const bool is_row = of == Kind::frame || of == Kind::event || of == Kind::block ||
                        of == Kind::segment || of == Kind::annotation;
    if (is_row && into.of == Kind::malformed && into.values.empty()) {
      into.of = of;
      if (of == Kind::frame) object.kind = Kind::open_frames;
    }
    if (is_row && of == into.of) {
      into.rows.push_back(object_of(item).row);
    } else if (of != Kind::malformed || !is_object) {
      keep(1);
      into.values.push_back(item);
    }
  }
  kept_rows_ += items.size();
  if (kept_rows_ > kMostRows) refuse_more("entries of lists", kMostRows);
  if (into.of == Kind::frame && into.rows.size() > kDeepestStack) {
    refuse_more("lines in one stack", kDeepestStack);
  }
}

void Objects::seal(const Value& value) {
  if (value.kind != ValueKind::object) return;
  Object& object = object_of(value);
  if (object.kind == Kind::open_frames) intern_stack(object);
  object.sealed = true;
}

void Objects::intern_stack(Object& object) {
  trace::AllocatorStacks& stacks = made_.stacks;
  List& list = lists_[object.row];
  size_t hash = list.rows.size();
  for (const uint32_t row : list.rows) hash = trace::hash_mix(hash, row);
  const auto [first, last] = stacks_by_hash_.equal_range(hash);
  uint32_t stack = 0;
  for (auto found = first; found != last && stack == 0; ++found) {
    const auto begin = stacks.rows.begin() + stacks.first[found->second];
    const auto end = stacks.rows.begin() + stacks.first[found->second + 1];
    if (std::equal(begin, end, list.rows.begin(), list.rows.end())) stack = found->second;
  }
  if (stack == 0) {
    if (stacks.rows.size() + list.rows.size() > kMostStackRows) {
      refuse_more("lines in different stacks", kMostStackRows);
    }
    stack = static_cast<uint32_t>(stacks.size());
    stacks.rows.insert(stacks.rows.end(), list.rows.begin(), list.rows.end());
    stacks.first.push_back(static_cast<uint32_t>(stacks.rows.size()));
    stacks_by_hash_.emplace(hash, stack);
  }
  kept_rows_ -= std::min(kept_rows_, list.rows.size());
  list.rows.clear();
  list.values.clear();
  free_lists_.push_back(object.row);
  object.kind = Kind::stack;
  object.row = stack;
}

void Objects::set_items(const Value& dictionary, std::span<const Value> keys_and_values) {
  const bool is_object = dictionary.kind == ValueKind::object;
  const Kind kind = is_object ? object_of(dictionary).kind : Kind::malformed;
  if (!is_object || kind <= Kind::list) {
    refuse("it sets items of something that is not a dictionary");
  }
  if (keys_and_values.size() % 2 != 0) refuse("a key of a dictionary has no value");
  if (keys_and_values.empty()) return;
  if (object_of(dictionary).sealed) {
    refuse("a dictionary changes after it became part of another object, or contains itself");
  }
  if (kind != Kind::empty_dictionary && kind != Kind::dictionary) {
    refuse("a dictionary gets items in several steps");
  }
  for (const Value& item : keys_and_values) {
    if (item.kind == ValueKind::object && item.content == dictionary.content) {
      refuse("a dictionary contains itself");
    }
    seal(item);
  }
  Object& object = object_of(dictionary);
  const Items by_key(keys_and_values);
  if (kind == Kind::dictionary) {
    add_to_dictionary(object, keys_and_values);
  } else if (by_key.has(Known::action)) {
    make_event(object, by_key);
  } else if (by_key.has(Known::total_size)) {
    make_segment(object, by_key);
  } else if (by_key.has(Known::state)) {
    make_block(object, by_key);
  } else if (by_key.has(Known::filename)) {
    make_frame(object, by_key);
  } else if (by_key.has(Known::stage)) {
    make_annotation(object, by_key);
  } else {
    add_to_dictionary(object, keys_and_values);
    return;
  }
  for (size_t i = 0; i < keys_and_values.size(); i += 2) note_key(keys_and_values[i]);
}

void Objects::note_key(const Value& key) {
  if (key.kind != ValueKind::text) return;
  if (key.content < kKnownTexts.size()) return;
  if (key.content >= unused_.size()) unused_.resize(texts_.size(), KeyUse::undecided);
  KeyUse& use = unused_[key.content];
  const std::string_view name = texts_[key.content];
  if (use == KeyUse::undecided) {
    use = kUnusedKeys.contains(name) ? KeyUse::not_needed : KeyUse::unknown;
  }
  if (use == KeyUse::not_needed || unknown_.size() >= kMostUnknownKeys) return;
  ++unknown_[shortened(to_printable(name), 40)];
}

void Objects::make_frame(Object& object, const Items& items) {
  const auto text_of = [](const Value* value) {
    return value != nullptr && value->kind == ValueKind::text ? trace::StringId(value->content)
                                                              : trace::StringId();
  };
  uint64_t line = 0;
  if (!read_size(items[Known::line], line) || line > UINT32_MAX) line = 0;
  if (made_.stacks.frames.size() >= kMostFrames) refuse_more("lines of code", kMostFrames);
  const trace::AllocatorFrame frame = {text_of(items[Known::name]), text_of(items[Known::filename]),
                                       static_cast<uint32_t>(line)};
  object.kind = Kind::frame;
  object.row = made_.stacks.frames.intern(frame).value;
}

uint32_t Objects::stack_of(const Value* value) {
  if (value == nullptr || value->kind != ValueKind::object) return 0;
  const Object& object = objects_[value->content];
  return object.kind == Kind::stack ? object.row : 0;
}

bool Objects::read_pool(const Value* value, trace::AllocatorPool& pool) const {
  if (value == nullptr) return false;
  Pair both;
  if (value->kind == ValueKind::pair) {
    both = pairs_[value->content];
  } else if (const List* list = list_of(value, Kind::malformed);
             list != nullptr && list->values.size() == 2) {
    both = {list->values[0], list->values[1]};
  } else {
    return false;
  }
  return read_integer(&both.first, pool.first) && read_integer(&both.second, pool.second);
}

uint32_t Objects::pool_of(const Value* value) {
  trace::AllocatorPool pool;
  if (!read_pool(value, pool)) return trace::kNoPool;
  const auto [found, added] =
      pool_rows_.try_emplace(pool, static_cast<uint32_t>(made_.pools.size()));
  if (added) {
    keep(1);
    made_.pools.push_back(pool);
  }
  return found->second;
}

uint32_t Objects::stream_of(uint64_t stream) {
  const auto [found, added] =
      stream_rows_.try_emplace(stream, static_cast<uint32_t>(made_.streams.size()));
  if (added) {
    keep(1);
    made_.streams.push_back(stream);
  }
  return found->second;
}

void Objects::make_event(Object& object, const Items& items) {
  using enum trace::AllocatorAction;
  static constexpr std::array<std::pair<std::string_view, trace::AllocatorAction>, 12> kActions = {
      {{"alloc", alloc},
       {"free_completed", free_completed},
       {"free_requested", free_requested},
       {"free", free_completed},
       {"segment_alloc", segment_alloc},
       {"segment_free", segment_free},
       {"segment_map", segment_map},
       {"segment_unmap", segment_unmap},
       {"snapshot", snapshot},
       {"oom", out_of_memory},
       {"annotate", annotation},
       {"user_defined", annotation}}};
  const Value* name = items[Known::action];
  trace::AllocatorAction action = other;
  if (name->kind == ValueKind::text) {
    const auto* found =
        std::ranges::find(kActions, texts_[name->content],
                          &std::pair<std::string_view, trace::AllocatorAction>::first);
    if (found != kActions.end()) action = found->second;
  }
  uint64_t address = 0;
  uint64_t size = 0;
  const bool is_oom = action == out_of_memory;
  bool complete = read_integer(items[is_oom ? Known::device_free : Known::addr], address) &&
                  read_size(items[Known::size], size);
  // Some versions call the free bytes of an OOM an address.
  if (is_oom && !complete) {
    complete = read_integer(items[Known::addr], address) && read_size(items[Known::size], size);
  }
  if (action == other) {
    ++unknown_actions_;
  } else if (!complete && action != snapshot && action != annotation) {
    ++bad_events_;
    action = other;
  }
  Nanoseconds time = trace::kNoTime;
  uint64_t microseconds = 0;
  constexpr uint64_t kLatest = INT64_MAX / 4000;
  if (read_size(items[Known::time_us], microseconds) && microseconds > 0 &&
      microseconds < kLatest) {
    time = static_cast<Nanoseconds>(microseconds) * 1000;
  }
  uint64_t stream = trace::kNoStream;
  read_integer(items[Known::stream], stream);
  if (made_.events.rows() >= kMostEvents) refuse_more("events", kMostEvents);
  object.kind = Kind::event;
  object.row = static_cast<uint32_t>(made_.events.rows());
  trace::add_row(made_.events, action, address, size, time, stream_of(stream),
                 pool_of(items[Known::pool_id]), stack_of(items[Known::frames]));
}

void Objects::make_block(Object& object, const Items& items) {
  trace::AllocatorBlock block;
  const Value* state = items[Known::state];
  const std::string_view word =
      state->kind == ValueKind::text ? texts_[state->content] : std::string_view();
  using enum trace::AllocatorState;
  const bool known = word == "inactive" || word == "active_allocated" ||
                     word == "active_pending_free" || word == "active_awaiting_free";
  if (!known || !read_size(items[Known::size], block.size)) {
    ++bad_blocks_;
    object.kind = Kind::malformed;
    return;
  }
  block.state = word == "inactive" ? inactive : word == "active_allocated" ? active : awaiting_free;
  read_integer(items[Known::address], block.address);
  if (block.state != inactive) {
    block.requested = block.size;
    read_size(items[Known::requested_size], block.requested);
  }
  block.stack = stack_of(items[Known::frames]);
  if (made_.blocks.size() >= kMostBlocks) refuse_more("blocks", kMostBlocks);
  object.kind = Kind::block;
  object.row = static_cast<uint32_t>(made_.blocks.size());
  made_.blocks.push_back(block);
}

const Objects::List* Objects::list_of(const Value* value, Kind of) const {
  if (value == nullptr || value->kind != ValueKind::object) return nullptr;
  const Object& object = objects_[value->content];
  if (object.kind != Kind::list || lists_[object.row].of != of) return nullptr;
  return &lists_[object.row];
}

void Objects::make_segment(Object& object, const Items& items) {
  trace::AllocatorSegment segment;
  uint64_t device = 0;
  if (!read_size(items[Known::total_size], segment.size) ||
      (items.has(Known::device) && (!read_size(items[Known::device], device) || device > 4096))) {
    ++bad_segments_;
    object.kind = Kind::malformed;
    return;
  }
  segment.device = static_cast<uint32_t>(device);
  read_integer(items[Known::address], segment.address);
  read_integer(items[Known::stream], segment.stream);
  read_pool(items[Known::segment_pool_id], segment.pool);
  const Value* type = items[Known::segment_type];
  segment.is_large =
      type != nullptr && type->kind == ValueKind::text && texts_[type->content] == "large";
  const Value* expandable = items[Known::is_expandable];
  segment.is_expandable =
      expandable != nullptr && expandable->kind == ValueKind::boolean && expandable->content != 0;
  segment.first_block = static_cast<uint32_t>(made_.blocks.size());
  if (const List* list = list_of(items[Known::blocks], Kind::block)) {
    // Blocks are written within their segment, so they are the last ones.
    segment.first_block = list->rows.front();
    segment.blocks = static_cast<uint32_t>(list->rows.size());
    const bool in_order = list->rows.back() - list->rows.front() + 1 == segment.blocks &&
                          std::ranges::is_sorted(list->rows);
    if (!in_order) refuse("the blocks of a segment are not written one after another");
  }
  uint64_t total = 0;
  for (uint32_t i = 0; i < segment.blocks; ++i) {
    const trace::AllocatorBlock& block = made_.blocks[segment.first_block + i];
    total += block.size;
    if (block.state == trace::AllocatorState::inactive) continue;
    segment.active += block.size;
    segment.requested += block.requested;
    if (block.state == trace::AllocatorState::active) segment.allocated += block.size;
  }
  // The allocator's own sums count; they differ from the blocks' only in edited files.
  const uint64_t of_blocks[] = {segment.allocated, segment.active, segment.requested};
  read_size(items[Known::allocated_size], segment.allocated);
  read_size(items[Known::active_size], segment.active);
  read_size(items[Known::requested_size], segment.requested);
  if (total != segment.size || of_blocks[0] != segment.allocated ||
      of_blocks[1] != segment.active || of_blocks[2] != segment.requested) {
    ++unlike_segments_;
  }
  if (segment.active > segment.size || segment.allocated > segment.active ||
      segment.requested > segment.active) {
    ++bad_segments_;
    object.kind = Kind::malformed;
    return;
  }
  keep(1);
  object.kind = Kind::segment;
  object.row = static_cast<uint32_t>(made_.segments.size());
  made_.segments.push_back(segment);
}

void Objects::make_annotation(Object& object, const Items& items) {
  trace::AllocatorAnnotation annotation;
  const Value* name = items[Known::name];
  const Value* stage = items[Known::stage];
  uint64_t microseconds = 0;
  uint64_t device = 0;
  const bool complete =
      name != nullptr && name->kind == ValueKind::text && stage->kind == ValueKind::text &&
      read_size(items[Known::time_us], microseconds) && microseconds < INT64_MAX / 4000;
  if (!complete) {
    object.kind = Kind::malformed;
    return;
  }
  read_size(items[Known::device], device);
  annotation.name = trace::StringId(name->content);
  annotation.is_start = texts_[stage->content] == "START";
  annotation.device = static_cast<uint32_t>(std::min<uint64_t>(device, UINT32_MAX));
  annotation.time = static_cast<Nanoseconds>(microseconds) * 1000;
  keep(1);
  object.kind = Kind::annotation;
  object.row = static_cast<uint32_t>(made_.annotations.size());
  made_.annotations.push_back(annotation);
}

void Objects::add_to_dictionary(Object& object, std::span<const Value> keys_and_values) {
  if (object.kind == Kind::empty_dictionary) {
    if (dictionaries_.size() >= kMostContainers) {
      refuse_more("dictionaries of other things", kMostContainers);
    }
    object.kind = Kind::dictionary;
    object.row = static_cast<uint32_t>(dictionaries_.size());
    dictionaries_.emplace_back();
  }
  keep(keys_and_values.size() / 2);
  for (size_t i = 0; i < keys_and_values.size(); i += 2) {
    const Value& key = keys_and_values[i];
    if (key.kind != ValueKind::text) continue;
    dictionaries_[object.row].emplace_back(static_cast<uint32_t>(key.content),
                                           keys_and_values[i + 1]);
  }
}

const Objects::Dictionary* Objects::dictionary_of(const Value& value) const {
  if (value.kind != ValueKind::object) return nullptr;
  const Object& object = objects_[value.content];
  return object.kind == Kind::dictionary ? &dictionaries_[object.row] : nullptr;
}

std::string Objects::setting(const Value& value, size_t depth) const {
  switch (value.kind) {
    case ValueKind::boolean:
      return value.content != 0 ? "true" : "false";
    case ValueKind::integer:
      return fmt::format("{}", static_cast<int64_t>(value.content));
    case ValueKind::real:
      return fmt::format("{}", std::bit_cast<double>(value.content));
    case ValueKind::text:
      return to_printable(texts_[value.content]);
    case ValueKind::object:
      break;
    default:
      return {};
  }
  const Dictionary* inner = dictionary_of(value);
  if (inner == nullptr || depth > 1) return {};
  std::string text;
  for (const auto& [key, part] : *inner) {
    if (text.size() > kLongestSetting) break;
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", to_printable(texts_[key]),
                        setting(part, depth + 1));
  }
  return text;
}

void Objects::take_settings(const Dictionary& settings, trace::AllocatorSnapshot& snapshot) const {
  for (const auto& [key, value] : settings) {
    const std::string_view name = texts_[key];
    if (name == "trace_alloc_overflowed") {
      if (value.kind == ValueKind::boolean) snapshot.overflowed = value.content != 0;
      continue;
    }
    if (!kShownSettings.contains(name)) continue;
    std::string text = setting(value, 0);
    // Settings are words, numbers and their lists; anything else may be a secret.
    const bool plain = std::ranges::all_of(text, [](char c) {
      return is_identifier(c) || WordList{":|,|.|[|]|>|-|<|+"}.contains(std::string_view(&c, 1));
    });
    if (text.empty() || !plain) continue;
    snapshot.settings.emplace_back(name, shortened(text, kLongestSetting));
  }
}

void Objects::take_ranges(const Value& traces, trace::AllocatorSnapshot& snapshot) {
  if (traces.kind != ValueKind::object) refuse("device_traces is not a list");
  const Object& object = objects_[traces.content];
  if (object.kind == Kind::empty_list) return;
  if (object.kind != Kind::list) refuse("device_traces is not a list of lists");
  const List& devices = lists_[object.row];
  if (!devices.rows.empty()) refuse("device_traces is not a list of lists");
  for (size_t device = 0; device < devices.values.size(); ++device) {
    const Value& value = devices.values[device];
    if (value.kind != ValueKind::object) refuse("device_traces is not a list of lists");
    if (objects_[value.content].kind == Kind::empty_list) continue;
    const List* events = list_of(&value, Kind::event);
    if (events == nullptr) {
      refuse(fmt::format("device_traces[{}] is not a list of events", device));
    }
    for (const uint32_t row : events->rows) {
      const bool continues = !snapshot.ranges.empty() && snapshot.ranges.back().device == device &&
                             snapshot.ranges.back().first + snapshot.ranges.back().count == row;
      if (continues) {
        ++snapshot.ranges.back().count;
      } else {
        keep(1);
        snapshot.ranges.push_back({static_cast<uint32_t>(device), row, 1});
      }
    }
    bad_events_ += events->values.size();
  }
}

trace::AllocatorSnapshot Objects::finish(const Value& root) {
  const Dictionary* dictionary = dictionary_of(root);
  if (dictionary == nullptr) refuse("its content is not a dictionary, as memory snapshots are");
  const auto find = [&](Known key) -> const Value* {
    const auto found = std::ranges::find(*dictionary, static_cast<uint32_t>(key),
                                         &std::pair<uint32_t, Value>::first);
    return found == dictionary->end() ? nullptr : &found->second;
  };
  const Value* segments = find(Known::segments);
  const Value* traces = find(Known::device_traces);
  if (segments == nullptr && traces == nullptr) {
    refuse("it has neither `segments` nor `device_traces`: it is not a memory snapshot of PyTorch");
  }
  for (const auto& [key, value] : *dictionary) {
    const std::string_view name = texts_[key];
    if (name == "host_segments" || name == "host_traces") {
      has_host_memory_ = has_host_memory_ || (value.kind == ValueKind::object &&
                                              objects_[value.content].kind != Kind::empty_list);
    } else {
      note_key({ValueKind::text, key});
    }
  }
  trace::AllocatorSnapshot snapshot;
  if (traces != nullptr) take_ranges(*traces, snapshot);
  if (segments != nullptr) {
    const bool none =
        segments->kind == ValueKind::object && objects_[segments->content].kind == Kind::empty_list;
    const List* rows = list_of(segments, Kind::segment);
    const List* only_bad = list_of(segments, Kind::malformed);
    if (rows == nullptr && only_bad == nullptr && !none) {
      refuse("`segments` is not a list of segments");
    }
    for (size_t i = 0; rows != nullptr && i < rows->rows.size(); ++i) {
      snapshot.segments.push_back(made_.segments[rows->rows[i]]);
    }
  }
  if (const Value* settings = find(Known::allocator_settings)) {
    if (const Dictionary* items = dictionary_of(*settings)) take_settings(*items, snapshot);
  }
  const Value* annotations = find(Known::external_annotations);
  if (const List* rows = list_of(annotations, Kind::annotation)) {
    for (const uint32_t row : rows->rows) snapshot.annotations.push_back(made_.annotations[row]);
  }
  snapshot.blocks = std::move(made_.blocks);
  snapshot.events = std::move(made_.events);
  snapshot.streams = std::move(made_.streams);
  snapshot.pools = std::move(made_.pools);
  snapshot.stacks = std::move(made_.stacks);
  return snapshot;
}

}  // namespace llmprof::readers::torch_memory
