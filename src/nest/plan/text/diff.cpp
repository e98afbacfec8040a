#include "nest/plan/text/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nest/cluster/cluster_file.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/plan_keys.hpp"

namespace nest::plan {
namespace {

class Choices {
 public:
  void add(const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) list.push_back({what, a, b});
  }
  void add(const std::string& what, std::int64_t a, std::int64_t b) {
    add(what, std::to_string(a), std::to_string(b));
  }
  std::vector<ChoiceDifference> list;
};

std::string on_off(bool on) {
  return on ? "on" : "off";
}

std::string said(const Contents& contents) {
  return contents.usual() ? "one document" : spell(contents);
}

void compare(const Training& a, const Training& b, Choices& out) {
  out.add("global batch", a.global_batch, b.global_batch);
  out.add("sequence", a.sequence, b.sequence);
  if (!(a.contents == b.contents)) out.add("contents", said(a.contents), said(b.contents));
  out.add("micro-batch", a.micro_batch, b.micro_batch);
  out.add("micro-batches", a.micro_batches, b.micro_batches);
  out.add("precision", std::string(name_of(a.precision)), std::string(name_of(b.precision)));
  out.add("optimizer", std::string(name_of(a.optimizer)), std::string(name_of(b.optimizer)));
  const auto or_word = [](const std::string& text, const char* word) { return text.empty() ? word : text; };
  const auto dtypes = [&](States states) {
    states.offload = {};
    return or_word(spell(states), "the recipe's");
  };
  out.add("dtypes", dtypes(a.states), dtypes(b.states));
  out.add("offload", spell(a.states.offload), spell(b.states.offload));
  out.add("trained", or_word(spell_train(a.tuning), "all"), or_word(spell_train(b.tuning), "all"));
  out.add("frozen", or_word(spell_freeze(a.tuning), "nothing"), or_word(spell_freeze(b.tuning), "nothing"));
  out.add("multi-token prediction", on_off(a.mtp), on_off(b.mtp));
  out.add("bits of frozen weights", a.tuning.frozen_bits, b.tuning.frozen_bits);
}

void compare(const Strategy& a, const Strategy& b, const std::string& where, Choices& out) {
  out.add(where + "tensor", a.tensor, b.tensor);
  out.add(where + "sequence parallel", on_off(a.shards_sequence()), on_off(b.shards_sequence()));
  out.add(where + "context", a.context, b.context);
  if (a.context > 1 && b.context > 1) {
    out.add(where + "context method", std::string(name_of(a.context_method)),
            std::string(name_of(b.context_method)));
    if (a.hybrid() || b.hybrid())
      out.add(where + "ranks of an all-to-all", a.trading_ranks(), b.trading_ranks());
  }
  out.add(where + "expert", a.expert, b.expert);
  if (a.expert > 1 || b.expert > 1)
    out.add(where + "expert tensor", a.expert_tensor_degree(), b.expert_tensor_degree());
  out.add(where + "dispatcher", std::string(name_of(a.used_dispatcher())),
          std::string(name_of(b.used_dispatcher())));
  out.add(where + "expert overlap", on_off(a.overlaps_experts()), on_off(b.overlaps_experts()));
}

void compare(const Parallelism& a, const Parallelism& b, Choices& out) {
  compare(a.strategy, b.strategy, "", out);
  out.add("pipeline", a.pipeline, b.pipeline);
  out.add("data", a.data, b.data);
  out.add("data inner", a.data_inner, b.data_inner);
  out.add("ZeRO", a.zero.number(), b.zero.number());
  if (a.zero.shards_anything() && b.zero.shards_anything())
    out.add("ZeRO shards", a.zero_shards, b.zero_shards);
  if (a.zero.shards_parameters() && b.zero.shards_parameters())
    out.add("reshard", spell(a.zero.resharding()), spell(b.zero.resharding()));
  out.add("schedule", std::string(name_of(a.schedule)), std::string(name_of(b.schedule)));
  out.add("interleave", a.interleave, b.interleave);
  out.add("devices used", a.devices(), b.devices());
  out.add("devices of a block", a.block_devices, b.block_devices);
  out.add("stage at device 0", a.first_stage_first ? "first" : "last",
          b.first_stage_first ? "first" : "last");
}

std::size_t moved(const Stage& a, const Stage& b) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < std::min(a.devices.size(), b.devices.size()); ++k) {
    for (std::size_t j = 0; j < std::min(a.devices[k].size(), b.devices[k].size()); ++j)
      count += a.devices[k][j] == b.devices[k][j] ? 0U : 1U;
  }
  return count;
}

// One word for all stages where they agree.
std::string recomputation(const std::vector<Stage>& stages) {
  const std::string first = stages.empty() ? "none" : spell(stages.front().recompute);
  const bool same =
      std::all_of(stages.begin(), stages.end(), [&](const Stage& s) { return spell(s.recompute) == first; });
  return same ? first : "mixed";
}

std::string spell_chunks(const Stage& stage) {
  std::string text;
  for (const auto& chunk : stage.chunks) text += (text.empty() ? "" : " | ") + spell_layers(chunk);
  return text.empty() ? spell_layers(stage.layers) : text;
}

void compare(const std::vector<Stage>& a, const std::vector<Stage>& b, Choices& out) {
  if (a.size() != b.size()) {
    out.add("recomputation", recomputation(a), recomputation(b));
    return;
  }
  std::size_t elsewhere = 0;
  std::size_t all = 0;
  bool same_shape = true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string where = fmt::format("stage {} ", i);
    out.add(where + "layers", spell_chunks(a[i]), spell_chunks(b[i]));
    if (!(a[i].strategy == a[0].strategy) || !(b[i].strategy == b[0].strategy))
      compare(a[i].strategy, b[i].strategy, where, out);
    out.add(where + "recomputation", spell(a[i].recompute), spell(b[i].recompute));
    elsewhere += moved(a[i], b[i]);
    all += a[i].devices.size() * (a[i].devices.empty() ? 0 : a[i].devices.front().size());
    same_shape = same_shape && a[i].devices.size() == b[i].devices.size() && a[i].strategy == b[i].strategy;
  }
  if (same_shape && elsewhere > 0)
    out.add("placement", "as listed", fmt::format("{} of {} ranks on another device", elsewhere, all));
}

}  // namespace

std::string spell_layers(const std::vector<LayerId>& layers) {
  std::string text;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i;
    while (end + 1 < layers.size() && layers[end + 1].value == layers[end].value + 1) ++end;
    text += text.empty() ? "" : ", ";
    text +=
        end == i ? std::to_string(layers[i].value) : fmt::format("{}-{}", layers[i].value, layers[end].value);
    i = end + 1;
  }
  return text;
}

std::vector<ChoiceDifference> diff_inputs(const PlanInputs& a, const PlanInputs& b) {
  Choices choices;
  choices.add("model", a.model_name(), b.model_name());
  const Value first = cluster_file_value(a.cluster);
  const Value second = cluster_file_value(b.cluster);
  if (!(first == second)) {
    const auto cluster = [](const PlanInputs& in) {
      return fmt::format("{}, {} devices", in.cluster.name(), in.cluster.devices());
    };
    const bool named = cluster(a) != cluster(b);
    choices.list.push_back({"cluster", cluster(a), named ? cluster(b) : cluster(b) + ", other levels"});
  }
  const Value one = to_value(a.recipe);
  const Value other = to_value(b.recipe);
  for (const auto& [key, value] : *one.as_object()) {
    const Value* there = other.find(key);
    if (there != nullptr && key != "source" && !(*there == value))
      choices.add("recipe " + key, to_json_line(value), to_json_line(*there));
  }
  return choices.list;
}

PlanDifference diff(const Plan& a, const Plan& b) {
  Choices choices;
  compare(a.training, b.training, choices);
  compare(a.parallelism, b.parallelism, choices);
  compare(a.stages, b.stages, choices);
  PlanDifference result;
  result.choices = std::move(choices.list);
  if (!a.predicted || !b.predicted) return result;
  result.first = a.predicted->step;
  result.second = b.predicted->step;
  for (const auto& key : kBreakdownKeys) {
    if (!is_written(key, a.predicted->breakdown) && !is_written(key, b.predicted->breakdown)) continue;
    const std::string name(key.key);
    result.terms.push_back({name.substr(0, name.size() - 2), a.predicted->breakdown.*key.member,
                            b.predicted->breakdown.*key.member});
  }
  return result;
}

Value to_value(const PlanDifference& d) {
  Value choices = Value::array();
  for (const ChoiceDifference& c : d.choices) {
    Value one = Value::object();
    one.set("what", c.what).set("first", c.first).set("second", c.second);
    choices.push(std::move(one));
  }
  Value terms = Value::array();
  for (const TermDifference& t : d.terms) {
    Value one = Value::object();
    one.set("name", t.name).set("first_s", t.first.value).set("second_s", t.second.value);
    one.set("change_s", t.change().value);
    terms.push(std::move(one));
  }
  Value out = Value::object();
  out.set("first_s", d.first.value).set("second_s", d.second.value).set("choices", std::move(choices));
  out.set("terms", std::move(terms));
  return out;
}

Value to_value(const PlanDifference& d, const Plan& first, const Plan& second) {
  Value out = to_value(d);
  for (const auto& [key, plan] : {std::pair("first", &first), {"second", &second}}) {
    Value sure = Value::object();
    put_certainty(sure, *plan->predicted);
    if (!sure.as_object()->empty()) out.set(key, std::move(sure));
  }
  return out;
}

std::optional<TermDifference> largest_loss(const Plan& best, const Plan& other) {
  const PlanDifference difference = diff(best, other);
  const auto at = std::max_element(
      difference.terms.begin(), difference.terms.end(),
      [](const TermDifference& a, const TermDifference& b) { return a.change() < b.change(); });
  if (at == difference.terms.end() || at->change().value <= 0) return std::nullopt;
  return *at;
}

}  // namespace nest::plan
