#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/torch_memory/values.h"
#include "trace/allocator.h"

namespace llmprof::readers::torch_memory {

// Keys and words of snapshots, whose texts have these rows.
enum class Known : uint8_t {
  action,
  addr,
  device_free,
  size,
  stream,
  time_us,
  frames,
  pool_id,
  name,
  filename,
  line,
  device,
  address,
  total_size,
  allocated_size,
  active_size,
  requested_size,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  state,
  stage,
  segments,
  device_traces,
  allocator_settings,
  external_annotations,
  count
};

struct Pair {
  Value first;
  Value second;
};

// The objects of a snapshot while its pickle is read. A dictionary becomes a row of a table as soon
// as its items are known, and only that row is kept: an event, a block, a frame. An object that is
// part of another one can no longer change, so no object contains itself. Failures are thrown
// without an offset.
class Objects {
 public:
  Objects();

  Value text(std::string_view text);
  Value pair(const Value& first, const Value& second);
  Value new_list();
  Value new_dictionary();

  // Adds to an object that `new_list` or `new_dictionary` made.
  void append(const Value& list, std::span<const Value> items);
  void set_items(const Value& dictionary, std::span<const Value> keys_and_values);
  // The object becomes part of another.
  void seal(const Value& value);

  // Takes the snapshot out of its outermost object. Texts are not yet those of a trace: StringIds
  // are rows of `texts()`.
  trace::AllocatorSnapshot finish(const Value& root);

  [[nodiscard]] std::string_view text_at(size_t row) const { return texts_[row]; }
  // Keys that no snapshot is known to have, with their number.
  [[nodiscard]] const std::map<std::string, uint64_t>& unknown_keys() const { return unknown_; }
  [[nodiscard]] uint64_t bad_events() const { return bad_events_; }
  [[nodiscard]] uint64_t bad_blocks() const { return bad_blocks_; }
  [[nodiscard]] uint64_t bad_segments() const { return bad_segments_; }
  [[nodiscard]] uint64_t unlike_segments() const { return unlike_segments_; }
  [[nodiscard]] uint64_t unknown_actions() const { return unknown_actions_; }
  [[nodiscard]] bool has_host_memory() const { return has_host_memory_; }

 private:
  enum class Kind : uint8_t {
    empty_list,
    open_frames,  // row of lists_
    stack,        // row of stacks_
    list,         // row of lists_
    empty_dictionary,
    dictionary,  // row of dictionaries_
    frame,
    event,
    block,
    segment,
    annotation,
    malformed,  // a block, event or segment without what it must have
  };
  struct Object {
    Kind kind = Kind::empty_list;
    bool sealed = false;
    uint32_t row = 0;
  };
  // A list: rows of one kind of object, or values.
  struct List {
    Kind of = Kind::malformed;
    std::vector<uint32_t> rows;
    std::vector<Value> values;
  };
  using Dictionary = std::vector<std::pair<uint32_t, Value>>;  // row of the key's text, value

  class Items;
  enum class KeyUse : uint8_t { undecided, not_needed, unknown };

  Object& object_of(const Value& value) { return objects_[value.content]; }
  Value add_object(Kind kind);
  uint32_t new_list_row();
  void keep(size_t values);
  void intern_stack(Object& object);

  void make_frame(Object& object, const Items& items);
  void make_event(Object& object, const Items& items);
  void make_block(Object& object, const Items& items);
  void make_segment(Object& object, const Items& items);
  void make_annotation(Object& object, const Items& items);
  void add_to_dictionary(Object& object, std::span<const Value> keys_and_values);

  void note_key(const Value& key);

  uint32_t stack_of(const Value* value);
  uint32_t pool_of(const Value* value);
  uint32_t stream_of(uint64_t stream);
  bool read_pool(const Value* value, trace::AllocatorPool& pool) const;
  const List* list_of(const Value* value, Kind of) const;
  const Dictionary* dictionary_of(const Value& value) const;
  std::string setting(const Value& value, size_t depth) const;
  void take_settings(const Dictionary& settings, trace::AllocatorSnapshot& snapshot) const;
  void take_ranges(const Value& traces, trace::AllocatorSnapshot& snapshot);

  std::deque<std::string> text_storage_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, uint32_t> text_rows_;
  size_t text_bytes_ = 0;

  std::vector<Object> objects_;
  std::vector<Pair> pairs_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> integer_pairs_;
  std::vector<List> lists_;
  std::vector<uint32_t> free_lists_;
  std::vector<Dictionary> dictionaries_;
  size_t kept_values_ = 0;
  size_t kept_rows_ = 0;

  trace::AllocatorSnapshot made_;
  std::unordered_multimap<size_t, uint32_t> stacks_by_hash_;
  std::map<trace::AllocatorPool, uint32_t> pool_rows_;
  std::map<uint64_t, uint32_t> stream_rows_;

  std::vector<KeyUse> unused_;  // by the key's text
  std::map<std::string, uint64_t> unknown_;
  uint64_t bad_events_ = 0;
  uint64_t bad_blocks_ = 0;
  uint64_t bad_segments_ = 0;
  uint64_t unlike_segments_ = 0;
  uint64_t unknown_actions_ = 0;
  bool has_host_memory_ = false;
};

}  // namespace llmprof::readers::torch_memory
