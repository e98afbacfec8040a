#include "nest/strategies/strategy.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace nest::strategies {
namespace {

constexpr std::array<std::string_view, 3> kMethods{"ring", "all_to_all", "hybrid"};
constexpr WholeRange kDegrees{1, 1 << 20};

}  // namespace

std::string_view name_of(ContextMethod method) {
  return kMethods[static_cast<std::size_t>(method)];
}

std::int64_t Strategy::cell() const {
  return std::lcm(tensor * context, expert_tensor_degree() * expert);
}

bool Strategy::operator==(const Strategy& other) const {
  const bool same_context = context == other.context && context_key() == other.context_key();
  return tensor == other.tensor && shards_sequence() == other.shards_sequence() && same_context &&
         expert == other.expert && expert_tensor_degree() == other.expert_tensor_degree() &&
         used_dispatcher() == other.used_dispatcher() && overlaps_experts() == other.overlaps_experts();
}

std::string spell(const Strategy& s) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (s.tensor > 1) add("tensor " + std::to_string(s.tensor));
  if (s.shards_sequence()) add("sequence parallel");
  if (s.context > 1) {
    std::string how = s.context_method == ContextMethod::all_to_all ? " (all-to-all)" : "";
    if (s.hybrid()) {
      how = " (all-to-all over " + std::to_string(s.trading_ranks()) + ", ring over " +
            std::to_string(s.ring_ranks()) + ")";
    }
    add("context " + std::to_string(s.context) + how);
  }
  if (s.expert > 1) add("expert " + std::to_string(s.expert));
  if (s.expert_tensor_degree() != s.tensor) add("expert tensor " + std::to_string(s.expert_tensor));
  if (s.used_dispatcher() != Dispatcher::alltoall) add(std::string(name_of(s.dispatcher)));
  if (s.overlaps_experts()) add("exchanges beside compute");
  return text.empty() ? "one device" : text;
}

std::string context_inner_problem(const Strategy& s) {
  if (s.context == 1) return "";
  const std::string inner = std::to_string(s.context_inner);
  if (!s.hybrid()) {
    if (s.context_inner == 1) return "";
    return "all-to-all groups of " + inner + " context ranks are hybrid's, and the method is " +
           std::string(name_of(s.context_method));
  }
  const std::string all = std::to_string(s.context);
  if (s.context_inner < 1 || s.context % s.context_inner != 0)
    return "hybrid: all-to-all groups of " + inner + " ranks do not divide context " + all;
  if (s.context_inner == 1)
    return "hybrid: all-to-all groups of 1 rank leave a ring over all " + all +
           " context ranks, which is ring";
  if (s.context_inner == s.context)
    return "hybrid: an all-to-all group of all " + all + " context ranks leaves no ring, which is all_to_all";
  return "";
}

std::span<const GroupAxis> group_axes(const Strategy& strategy) {
  static constexpr std::array<GroupAxis, kGroupAxes> kAll{GroupAxis::tensor,        GroupAxis::context,
                                                          GroupAxis::expert,        GroupAxis::expert_tensor,
                                                          GroupAxis::context_inner, GroupAxis::context_outer};
  constexpr std::size_t kUsual = 4;
  return strategy.hybrid() ? std::span(kAll) : std::span(kAll).first(kUsual);
}

std::int64_t degree_of(const Strategy& s, GroupAxis axis) {
  switch (axis) {
    case GroupAxis::tensor:
      return s.tensor;
    case GroupAxis::context:
      return s.context;
    case GroupAxis::expert:
      return s.expert;
    case GroupAxis::expert_tensor:
      return s.expert_tensor_degree();
    case GroupAxis::context_inner:
      return s.hybrid() ? s.trading_ranks() : 1;
    case GroupAxis::context_outer:
      return s.hybrid() ? s.ring_ranks() : 1;
  }
  return 1;
}

std::int64_t group_size(const Strategy& s, const CollectiveCall& collective) {
  return collective.members > 0 ? collective.members : degree_of(s, collective.group);
}

Bytes boundary_bytes(Bytes whole, const Strategy& s) {
  const std::int64_t shares = s.context * (s.shards_sequence() ? s.tensor : 1);
  return Bytes{(whole.value + shares - 1) / shares};
}

Value to_value(const Strategy& s) {
  Value v = Value::object();
  v.set("tensor", s.tensor).set("sequence_parallel", s.shards_sequence()).set("context", s.context);
  v.set("context_method", name_of(s.context_method));
  if (s.hybrid()) v.set("context_inner", s.context_inner);
  v.set("expert", s.expert);
  v.set("expert_tensor", s.expert_tensor_degree());
  v.set("dispatcher", name_of(s.used_dispatcher())).set("expert_overlap", s.overlaps_experts());
  return v;
}

Strategy read_strategy(Reader& r, const Strategy& defaults) {
  Strategy s = defaults;
  s.tensor = r.whole_or("tensor", 1, kDegrees);
  s.sequence_parallel = r.boolean_or("sequence_parallel", s.tensor > 1);
  s.context = r.whole_or("context", 1, kDegrees);
  if (r.has("context_method")) {
    static const std::vector<std::string> kAllowed(kMethods.begin(), kMethods.end());
    const std::string method = r.choice("context_method", kAllowed);
    s.context_method = static_cast<ContextMethod>(std::ranges::find(kMethods, method) - kMethods.begin());
  }
  s.context_inner = r.whole_or("context_inner", 1, kDegrees);
  if (const std::string problem = context_inner_problem(s); !problem.empty())
    r.fail_at(r.has("context_inner") ? "context_inner" : "context_method", problem);
  s.expert = r.whole_or("expert", 1, kDegrees);
  s.expert_tensor = r.whole_or("expert_tensor", 0, {0, kDegrees.most});
  if (r.has("dispatcher")) {
    static const std::vector<std::string> kAllowed(kDispatcherNames.begin(), kDispatcherNames.end());
    s.dispatcher = *find_dispatcher(r.choice("dispatcher", kAllowed));
  }
  s.expert_overlap = r.boolean_or("expert_overlap", s.expert_overlap);
  return s;
}

}  // namespace nest::strategies
