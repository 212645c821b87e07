#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "analysis/passes/prepare.h"
#include "base/progress.h"
#include "profile/profile.h"

namespace llmprof::analysis {

// Results of the passes, by type. Concurrent passes write different values.
class PassValues {
 public:
  // Reserves a value, before any pass runs.
  void expect(std::type_index type) { values_[type]; }

  // The type's default value if the pass that finds it was skipped.
  template <class Value>
  [[nodiscard]] const Value& get() const {
    const auto known = values_.find(typeid(Value));
    if (known != values_.end() && known->second) {
      return *static_cast<const Value*>(known->second.get());
    }
    if constexpr (std::is_default_constructible_v<Value>) {
      static const Value none{};
      return none;
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

// Inputs available to every pass besides the results of other passes.
template <class Type>
inline constexpr bool kAlwaysThere =
    std::is_same_v<Type, Prepared> || std::is_same_v<Type, trace::Trace> ||
    std::is_same_v<Type, trace::DeviceKind> || std::is_same_v<Type, DescribedNames> ||
    std::is_same_v<Type, Diagnostics>;

struct PassInputs {
  const Prepared& prepared;
  const PassValues& found;
  Diagnostics& diagnostics;

  template <class Parameter>
  [[nodiscard]] auto& get() const {
    using Type = std::remove_cvref_t<Parameter>;
    if constexpr (std::is_same_v<Type, Prepared>) {
      return prepared;
    } else if constexpr (std::is_same_v<Type, trace::Trace>) {
      return prepared.trace;
    } else if constexpr (std::is_same_v<Type, trace::DeviceKind>) {
      return prepared.device;
    } else if constexpr (std::is_same_v<Type, DescribedNames>) {
      return prepared.names;
    } else if constexpr (std::is_same_v<Type, Diagnostics>) {
      return diagnostics;
    } else {
      return found.get<Type>();
    }
  }
};

// A pass is a function: its parameters are its inputs, its return type is its result. So a pass
// sees only what it declares. A pass with several results returns a tuple.
class Pass {
 public:
  template <class Function>
  Pass(std::string_view name, Function function) : Pass(name, std::function(std::move(function))) {}

  template <class Value, class... Parameters>
  Pass(std::string_view name, std::function<Value(Parameters...)> find) : name_(name) {
    (need<Parameters>(), ...);
    offer(static_cast<Value*>(nullptr));
    run_ = [find = std::move(find)](const PassInputs& in, PassValues& out) {
      if constexpr (std::is_void_v<Value>) {
        find(in.get<Parameters>()...);
      } else {
        store(find(in.get<Parameters>()...), out);
      }
    };
  }

  // `why` returns why the pass is skipped; empty if it runs.
  template <class... Parameters>
  [[nodiscard]] Pass skipped_if(std::string (*why)(Parameters...)) && {
    (need<Parameters>(), ...);
    why_skipped_ = [why](const PassInputs& in) { return why(in.get<Parameters>()...); };
    return std::move(*this);
  }

  // Frees the result after its last reader: it grows with the trace and only passes read it.
  [[nodiscard]] Pass freed_early() && {
    freed_early_ = true;
    return std::move(*this);
  }

  // The result becomes part of the profile: one member per value.
  template <class... Values>
  [[nodiscard]] Pass into(Values profile::Profile::*... members) && {
    fill_ = [members...](PassValues& found, profile::Profile& profile) {
      ((profile.*members = found.take<Values>()), ...);
    };
    return std::move(*this);
  }

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] const std::vector<std::type_index>& needs() const { return needs_; }
  [[nodiscard]] const std::vector<std::type_index>& finds() const { return finds_; }
  [[nodiscard]] bool is_freed_early() const { return freed_early_; }

  [[nodiscard]] std::string why_skipped(const PassInputs& in) const {
    return why_skipped_ ? why_skipped_(in) : std::string();
  }
  void run(const PassInputs& in, PassValues& out) const { run_(in, out); }
  // Runs after all passes.
  void fill(PassValues& found, profile::Profile& profile) const {
    if (fill_) fill_(found, profile);
  }

 private:
  template <class Parameter>
  void need() {
    using Type = std::remove_cvref_t<Parameter>;
    if constexpr (!kAlwaysThere<Type>) needs_.emplace_back(typeid(Type));
  }

  void offer(void* /*nothing*/) {}
  template <class Value>
  void offer(Value* /*one*/) {
    finds_.emplace_back(typeid(Value));
  }
  template <class... Values>
  void offer(std::tuple<Values...>* /*several*/) {
    (finds_.emplace_back(typeid(Values)), ...);
  }

  template <class Value>
  static void store(Value&& value, PassValues& out) {
    out.put(std::forward<Value>(value));
  }
  template <class... Values>
  static void store(std::tuple<Values...>&& values, PassValues& out) {
    (out.put(std::move(std::get<Values>(values))), ...);
  }

  std::string_view name_;
  std::vector<std::type_index> needs_;
  std::vector<std::type_index> finds_;
  std::function<std::string(const PassInputs&)> why_skipped_;
  std::function<void(const PassInputs&, PassValues&)> run_;
  std::function<void(PassValues&, profile::Profile&)> fill_;
  bool freed_early_ = false;
};

// All passes, each after the passes that it depends on.
const std::vector<Pass>& all_passes();

struct PassTiming {
  std::string name;
  Nanoseconds time = 0;
  std::string skipped;  // why; empty if it ran
};

struct PassRun {
  PassValues values;
  Diagnostics diagnostics;  // from the preparation, then from each pass in table order
  std::vector<PassTiming> timings;
};

// Runs each pass as soon as its inputs are ready; independent passes run concurrently. The result
// does not depend on the number of cores. `progress` is notified of each pass; may be null.
PassRun run_passes(const std::vector<Pass>& passes, const Prepared& prepared,
                   Progress* progress = nullptr);

}  // namespace llmprof::analysis
