#include "nest/plan/text/read_recompute.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "nest/recipe/module_text.hpp"

namespace nest::plan {
namespace {

constexpr const char* kKey = "recompute";
constexpr WholeRange kLayers{0, 1'000'000'000};

const std::vector<std::string>& policy_words() {
  static const std::vector<std::string> kPolicyWords{"none", "selective", "full", "modules"};
  return kPolicyWords;
}

RecomputeModules read_list(Reader& group) {
  const Value& list = *group.find("modules");
  if (list.as_array() == nullptr || list.as_array()->empty())
    group.fail_at("modules", "a list of modules is expected", "of " + all_modules());
  RecomputeModules modules;
  for (const Value& item : *list.as_array()) {
    const std::string* word = item.as_string();
    if (word == nullptr) group.fail_at("modules", "the names of modules are expected", "of " + all_modules());
    const ReadModules one = read_modules(*word, '+');
    if (!one.problem.empty()) group.fail_at("modules", one.problem);
    for (std::size_t i = 0; i < kMostModules; ++i) {
      if (one.modules.has(static_cast<RecomputeModule>(i))) modules.add(static_cast<RecomputeModule>(i));
    }
  }
  return modules;
}

}  // namespace

Recompute read_recompute(Reader& r, const Recompute& fallback, Warnings& warnings) {
  const Value* value = r.find(kKey);
  if (value == nullptr || value->is_null()) return fallback;
  Recompute recompute;
  if (value->as_object() != nullptr) {
    Reader group = r.object(kKey);
    if (group.has("policy")) recompute.policy = *find_policy(group.choice("policy", policy_words()));
    recompute.layers = group.whole_or("layers", 0, kLayers);
    const bool modules = recompute.policy == RecomputePolicy::modules;
    if (recompute.layers > 0 && recompute.policy != RecomputePolicy::full && !modules)
      group.fail_at("layers", "a number of layers goes with the policies 'full' and 'modules'");
    if (group.has("modules") && !modules)
      group.fail_at("modules", "a list of modules goes with the policy 'modules'");
    if (modules && !group.has("modules"))
      group.fail_at("policy", "the policy 'modules' wants their names in \"modules\"");
    if (modules) recompute.modules = read_list(group);
    group.warn_unknown(warnings);
    return recompute;
  }
  constexpr std::string_view kSet = "modules:";
  if (const std::string* text = value->as_string(); text != nullptr && text->starts_with(kSet)) {
    const ReadModules set = read_modules(std::string_view(*text).substr(kSet.size()), '+');
    if (!set.problem.empty()) r.fail_at(kKey, set.problem);
    return {RecomputePolicy::modules, 0, set.modules};
  }
  recompute.policy = *find_policy(r.choice(kKey, policy_words()));
  if (recompute.policy == RecomputePolicy::modules)
    r.fail_at(kKey, "it is not said which modules run again", "\"modules:layernorm+moe_act\", for example");
  return recompute;
}

}  // namespace nest::plan
