#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>

namespace llmprof::analysis {

// What the passes found, by its type. Passes that run at the same time write different values.
class PassValues {
 public:
  // Makes room for a value, before any pass runs.
  void expect(std::type_index type) { values_[type]; }

  // Its default where the pass that finds it was skipped.
  template <class Value>
  [[nodiscard]] const Value& get() const {
    const auto known = values_.find(typeid(Value));
    if (known != values_.end() && known->second) {
      return *static_cast<const Value*>(known->second.get());
    }
    if constexpr (std::is_default_constructible_v<Value>) {
      static const Value kNone{};
      return kNone;
    } else {
      throw std::logic_error(std::string("no pass found a ") + typeid(Value).name());
    }
  }

  template <class Value>
  void put(Value&& value) {
    using Own = std::remove_cvref_t<Value>;
    values_.at(typeid(Own)) = std::make_shared<Own>(std::forward<Value>(value));
  }

  template <class Value>
  Value take() {
    const auto known = values_.find(typeid(Value));
    if (known == values_.end() || !known->second) return {};
    return std::move(*static_cast<Value*>(std::exchange(known->second, nullptr).get()));
  }

  void release(std::type_index type) { values_.at(type).reset(); }

 private:
  std::map<std::type_index, std::shared_ptr<void>> values_;
};

}  // namespace llmprof::analysis
