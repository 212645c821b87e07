#include "readers/torch_memory/pickle_machine.h"

#include <fmt/format.h>

#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "base/needed.h"

namespace llmprof::readers::torch_memory {
namespace {

// Opcodes of plain data, as Python's pickle and torch::jit::Pickler write it.
enum class Opcode : uint8_t {
  mark = '(',
  stop = '.',
  binary_float = 'G',
  binary_int = 'J',
  binary_int1 = 'K',
  binary_int2 = 'M',
  none = 'N',
  binary_text = 'X',
  append = 'a',
  appends = 'e',
  binary_get = 'h',
  long_binary_get = 'j',
  binary_put = 'q',
  long_binary_put = 'r',
  set_item = 's',
  tuple = 't',
  set_items = 'u',
  empty_list = ']',
  empty_dictionary = '}',
  empty_tuple = ')',
  protocol = 0x80,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  new_true = 0x88,
  new_false = 0x89,
  long1 = 0x8A,
  short_binary_text = 0x8C,
  binary_text8 = 0x8D,
  memoize = 0x94,
  frame = 0x95,
};

// Opcodes that make or call things of classes, and other data that no snapshot has.
std::string_view name_of(uint8_t opcode) {
  switch (opcode) {
    case 'c':
      return "GLOBAL";
    case 0x93:
      return "STACK_GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 0x81:
      return "NEWOBJ";
    case 0x92:
      return "NEWOBJ_EX";
    case 0x82:
      return "EXT1";
    case 0x83:
      return "EXT2";
    case 0x84:
      return "EXT4";
    case 'P':
      return "PERSID";
    case 'Q':
      return "BINPERSID";
    default:
      return {};
  }
}

class Machine {
 public:
  Machine(PickleInput& input, Objects& objects) : input_(input), objects_(objects) {}

  Value run() {
    at_ = input_.offset();
    try {
      start();
      for (;;) {
        at_ = input_.offset();
        const auto opcode = static_cast<Opcode>(input_.byte());
        if (opcode == Opcode::stop) return pop();
        step(opcode);
      }
    } catch (const Failure& failure) {
      // The input's own failures have an offset.
      if (failure.error().message.starts_with("byte ")) throw;
      input_.refuse(at_, failure.error().message);
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) { give_up(ErrorKind::input, why); }

  void start() {
    const uint8_t first = input_.byte();
    const uint8_t protocol = input_.byte();
    if (first != static_cast<uint8_t>(Opcode::protocol) || protocol < 2 || protocol > 5) {
      refuse("it is not a pickle of protocol 2 to 5");
    }
  }

  void push(const Value& value) {
    if (stack_.size() >= kMostStacked) refuse("too many values wait to be put into a list");
    stack_.push_back(value);
  }
  void push_integer(int64_t number) { push({ValueKind::integer, static_cast<uint64_t>(number)}); }

  // The last value, which no mark covers.
  Value& top() {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) refuse("an opcode needs a value that is missing");
    return stack_.back();
  }
  Value pop() {
    const Value value = top();
    stack_.pop_back();
    return value;
  }
  // The values after the last mark, which it removes; `drop` them afterwards.
  std::span<const Value> after_mark() {
    if (marks_.empty()) refuse("an opcode needs a mark that is missing");
    first_marked_ = marks_.back();
    marks_.pop_back();
    return std::span(stack_).subspan(first_marked_);
  }
  void drop_marked() { stack_.resize(first_marked_); }
  // The value before these.
  [[nodiscard]] const Value& before_marked() const {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (first_marked_ <= floor) refuse("an opcode needs a value that is missing");
    return stack_[first_marked_ - 1];
  }

  void put(uint64_t index) {
    if (index > memo_.size()) refuse(fmt::format("memo {} is written out of order", index));
    if (index >= kMostObjects) refuse("it has too many memos");
    const uint32_t entry = memo_entry(top());
    if (index == memo_.size()) {
      memo_.push_back(entry);
    } else {
      memo_[index] = entry;
    }
  }
  void get(uint64_t index) {
    if (index >= memo_.size()) refuse(fmt::format("memo {} does not exist", index));
    const uint32_t entry = memo_[index];
    const uint32_t row = entry & kRowMask;
    switch (entry >> kRowBits) {
      case 0:
        return push({ValueKind::object, row});
      case 1:
        return push({ValueKind::text, row});
      case 2:
        return push({ValueKind::pair, row});
      default:
        return push(others_[row]);
    }
  }

  // Two bits for the kind: memos are many, and most are of objects.
  static constexpr unsigned kRowBits = 30;
  static constexpr uint32_t kRowMask = (1U << kRowBits) - 1;
  uint32_t memo_entry(const Value& value) {
    const auto row = static_cast<uint32_t>(value.content) & kRowMask;
    switch (value.kind) {
      case ValueKind::object:
        return row;
      case ValueKind::text:
        return (1U << kRowBits) | row;
      case ValueKind::pair:
        return (2U << kRowBits) | row;
      default:
        break;
    }
    if (others_.size() >= kMostKeptValues) refuse("it has too many memos of numbers");
    others_.push_back(value);
    return (3U << kRowBits) | static_cast<uint32_t>(others_.size() - 1);
  }

  void push_text(uint64_t bytes) {
    if (bytes > kLongestText) refuse(fmt::format("a text of {} bytes is too long", bytes));
    push(objects_.text(input_.text(bytes)));
  }

  void push_long() {
    const uint8_t bytes = input_.byte();
    if (bytes > 9) {
      input_.skip(bytes);
      return push({ValueKind::other, 0});
    }
    uint64_t number = bytes == 0 ? 0 : input_.number(std::min<size_t>(bytes, 8));
    if (bytes == 9) {
      // Unsigned numbers from 2^63 have a ninth byte, 0.
      return push({input_.byte() == 0 ? ValueKind::integer : ValueKind::other, number});
    }
    const bool negative = bytes > 0 && ((number >> (8U * bytes - 1)) & 1U) != 0;
    if (negative && bytes < 8) number |= ~uint64_t{0} << (8U * bytes);
    push({ValueKind::integer, number});
  }

  void push_tuple(std::span<const Value> items) {
    for (const Value& item : items) objects_.seal(item);
    const Value value =
        items.size() == 2 ? objects_.pair(items[0], items[1]) : Value{ValueKind::other, 0};
    stack_.resize(stack_.size() - items.size());
    push(value);
  }
  void push_last_tuple(size_t size) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + size) refuse("an opcode needs a value that is missing");
    push_tuple(std::span(stack_).last(size));
  }

  void step(Opcode opcode) {
    switch (opcode) {
      case Opcode::mark:
        if (marks_.size() >= kMostMarks) refuse("lists and dictionaries are nested too deeply");
        marks_.push_back(static_cast<uint32_t>(stack_.size()));
        return;
      case Opcode::none:
        return push({ValueKind::none, 0});
      case Opcode::new_true:
        return push({ValueKind::boolean, 1});
      case Opcode::new_false:
        return push({ValueKind::boolean, 0});
      case Opcode::binary_int:
        return push_integer(static_cast<int32_t>(static_cast<uint32_t>(input_.number(4))));
      case Opcode::binary_int1:
        return push_integer(input_.byte());
      case Opcode::binary_int2:
        return push_integer(static_cast<int64_t>(input_.number(2)));
      case Opcode::long1:
        return push_long();
      case Opcode::binary_float:
        return push({ValueKind::real, __builtin_bswap64(input_.number(8))});
      case Opcode::short_binary_text:
        return push_text(input_.byte());
      case Opcode::binary_text:
        return push_text(input_.number(4));
      case Opcode::binary_text8:
        return push_text(input_.number(8));
      case Opcode::empty_list:
        return push(objects_.new_list());
      case Opcode::empty_dictionary:
        return push(objects_.new_dictionary());
      case Opcode::append: {
        const Value item = pop();
        return objects_.append(top(), std::span(&item, 1));
      }
      case Opcode::appends: {
        const auto items = after_mark();
        objects_.append(before_marked(), items);
        return drop_marked();
      }
      case Opcode::set_item: {
        const Value value = pop();
        const Value both[] = {pop(), value};
        return objects_.set_items(top(), both);
      }
      case Opcode::set_items: {
        const auto items = after_mark();
        objects_.set_items(before_marked(), items);
        return drop_marked();
      }
      case Opcode::empty_tuple:
        return push({ValueKind::other, 0});
      case Opcode::tuple1:
        return push_last_tuple(1);
      case Opcode::tuple2:
        return push_last_tuple(2);
      case Opcode::tuple3:
        return push_last_tuple(3);
      case Opcode::tuple:
        return push_tuple(after_mark());
      case Opcode::memoize:
        return put(memo_.size());
      case Opcode::binary_put:
        return put(input_.byte());
      case Opcode::long_binary_put:
        return put(input_.number(4));
      case Opcode::binary_get:
        return get(input_.byte());
      case Opcode::long_binary_get:
        get(input_.number(4));
        // The lines of a stack are such opcodes, one after another.
        while (const auto index =
                   input_.number_after(static_cast<uint8_t>(Opcode::long_binary_get))) {
          const bool is_object = *index < memo_.size() && memo_[*index] <= kRowMask;
          if (is_object && stack_.size() < kMostStacked) {
            stack_.push_back({ValueKind::object, memo_[*index]});
            continue;
          }
          at_ = input_.offset() - 5;
          get(*index);
        }
        return;
      case Opcode::frame:
        return input_.skip(8);
      case Opcode::stop:
      case Opcode::protocol:
        break;
    }
    refuse_opcode(static_cast<uint8_t>(opcode));
  }

  [[noreturn]] static void refuse_opcode(uint8_t opcode) {
    const std::string_view name = name_of(opcode);
    if (!name.empty()) {
      refuse(
          fmt::format("the opcode {} makes objects of classes, which no memory snapshot has; "
                      "llmprof runs no code of a pickle",
                      name));
    }
    refuse(fmt::format("the opcode 0x{:02x} is not one that memory snapshots have", opcode));
  }

  PickleInput& input_;
  Objects& objects_;
  std::vector<Value> stack_;
  std::vector<uint32_t> marks_;
  std::vector<uint32_t> memo_;
  std::vector<Value> others_;
  size_t first_marked_ = 0;
  uint64_t at_ = 0;  // of the current opcode
};

}  // namespace

Value run_pickle(PickleInput& input, Objects& objects) { return Machine(input, objects).run(); }

}  // namespace llmprof::readers::torch_memory
