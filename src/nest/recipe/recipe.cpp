#include "nest/recipe/recipe.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/document/file_kind.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::recipe {
namespace {

constexpr std::array<std::string_view, 3> kOptimizers{"adam", "sgd", "muon"};
constexpr std::string_view kAdamW = "adamw";  // Adam, to whoever counts time and memory
constexpr std::array<std::string_view, 3> kSelective{"core_attention", "operators", "modules"};
constexpr std::array<std::string_view, 3> kAccumulations{"fused", "copied", "wider"};
constexpr std::array<std::string_view, 3> kLowCasts{"every_use", "cached", "held"};
constexpr std::array<std::string_view, 3> kCudaGraphs{"none", "parts", "whole"};
constexpr std::array<std::string_view, 4> kStateDTypes{"fp32", "bf16", "fp16", "fp8"};
constexpr std::array<std::string_view, 3> kWideDTypes{kStateDTypes[0], kStateDTypes[1], kStateDTypes[2]};

// One share of the overlap group: its key and its member, so that reading and writing cannot drift apart.
struct OverlapKey {
  const char* key;
  double Overlap::* member;
};
constexpr std::array<OverlapKey, 11> kOverlapKeys{{{"gradient_reduce", &Overlap::gradient_reduce},
                                                   {"parameter_gather", &Overlap::parameter_gather},
                                                   {"pipeline", &Overlap::pipeline},
                                                   {"tensor", &Overlap::tensor},
                                                   {"context", &Overlap::context},
                                                   {"expert", &Overlap::expert},
                                                   {"prefetch", &Overlap::prefetch},
                                                   {"interleaved_sends", &Overlap::interleaved_sends},
                                                   {"tensor_backward", &Overlap::tensor_backward},
                                                   {"slow_down", &Overlap::slow_down},
                                                   {"memory_bound", &Overlap::memory_bound}}};

template <class Enum, std::size_t N>
void read_word(Reader& r, const char* key, const std::array<std::string_view, N>& words, Enum& value) {
  if (!r.has(key)) return;
  const std::vector<std::string> allowed(words.begin(), words.end());
  const std::string word = r.choice(key, allowed);
  value = static_cast<Enum>(std::find(words.begin(), words.end(), word) - words.begin());
}

void read_overlap(Reader r, Overlap& overlap) {
  for (const OverlapKey& k : kOverlapKeys) {
    const double share = r.number_or(k.key, overlap.*k.member);
    if (share < 0 || share > 1) r.fail_at(k.key, "a share lies between 0 and 1");
    overlap.*k.member = share;
  }
  r.done();
}

constexpr std::string_view kNewest = "9999";
constexpr std::int64_t kMostPrefetched = 64;
constexpr double kMostTimes = 1000;  // of anything that is given as a multiple

// 2026-04
bool is_month(std::string_view text) {
  constexpr std::string_view kPattern = "dddd-dd";
  if (text.size() != kPattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kPattern[i] == 'd' ? !digit : text[i] != kPattern[i]) return false;
  }
  const std::string_view month = text.substr(5);
  return month >= "01" && month <= "12";
}

// Changes that came with releases, by month; those after `until` are left out.
Recipe read_over(Recipe recipe, Reader& r, std::string_view until);

Recipe read_changes(Recipe recipe, Reader changes, std::string_view until) {
  std::vector<std::string> months = changes.keys();
  std::sort(months.begin(), months.end());
  for (const std::string& month : months) {
    if (!is_month(month)) changes.fail_at(month, "a month such as 2026-04 is expected, not '" + month + "'");
    Reader change = changes.object(month);
    const std::string source = recipe.source;
    const std::string compared = recipe.compared;
    Recipe changed = read_over(recipe, change, kNewest);
    if (std::string_view(month) > until) continue;
    recipe = std::move(changed);
    recipe.source = source;
    recipe.compared = compared;
  }
  changes.done();
  return recipe;
}

Recipe read_over(Recipe recipe, Reader& r, std::string_view until) {
  recipe.source = r.prose_or("source", "");
  recipe.compared = r.prose_or("compared", "");
  static_cast<void>(r.text_or("date", ""));
  recipe.framework = r.text_or("framework", recipe.framework);
  if (r.has("precision")) recipe.precision = *find_precision(r.choice("precision", precision_names()));
  if (r.has("optimizer")) recipe.optimizer = *find_optimizer(r.choice("optimizer", optimizer_names()));
  const bool inherited = recipe.momentum && recipe.optimizer == Optimizer::sgd;
  recipe.momentum = r.boolean_or("momentum", inherited);
  if (recipe.momentum && recipe.optimizer != Optimizer::sgd)
    r.fail_at("momentum", "momentum needs the optimizer sgd");
  recipe.master_weights = r.boolean_or("master_weights", recipe.master_weights);
  read_word(r, "parameter_dtype", kWideDTypes, recipe.parameter_dtype);
  read_word(r, "gradient_dtype", kWideDTypes, recipe.gradient_dtype);
  read_word(r, "reduce_dtype", kWideDTypes, recipe.reduce_dtype);
  read_word(r, "optimizer_dtype", kStateDTypes, recipe.optimizer_dtype);
  read_word(r, "low_casts", kLowCasts, recipe.low_casts);
  recipe.compiled = r.boolean_or("compiled", recipe.compiled);
  recipe.fused_projections = r.boolean_or("fused_projections", recipe.fused_projections);
  recipe.fused_passes = r.boolean_or("fused_passes", recipe.fused_passes);
  recipe.plain_norms = r.boolean_or("plain_norms", recipe.plain_norms);
  recipe.masked_windows = r.boolean_or("masked_windows", recipe.masked_windows);
  recipe.split_documents = r.boolean_or("split_documents", recipe.split_documents);
  recipe.ideal_network = r.boolean_or("ideal_network", recipe.ideal_network);
  recipe.levels_at_once = r.boolean_or("levels_at_once", recipe.levels_at_once);
  if (recipe.levels_at_once && !recipe.ideal_network)
    r.fail_at("levels_at_once", "levels_at_once needs ideal_network: libraries have all levels work at once");
  recipe.flash_attention = r.boolean_or("flash_attention", recipe.flash_attention);
  recipe.flash_generation = static_cast<int>(r.whole_or("flash_generation", recipe.flash_generation, {1, 3}));
  recipe.fused_loss = r.boolean_or("fused_loss", recipe.fused_loss);
  recipe.dropout = r.boolean_or("dropout", recipe.dropout);
  recipe.gather_by_broadcast = r.boolean_or("gather_by_broadcast", recipe.gather_by_broadcast);
  read_word(r, "accumulation", kAccumulations, recipe.accumulation);
  if (r.has("accumulation_bytes")) {
    recipe.accumulation_bytes = r.number("accumulation_bytes");
    if (*recipe.accumulation_bytes < 0) r.fail_at("accumulation_bytes", "bytes are not below 0");
  }
  recipe.zeroed_gradients = r.boolean_or("zeroed_gradients", recipe.zeroed_gradients);
  if (r.has("buckets")) recipe.buckets = r.bytes("buckets");
  recipe.library_memory = r.boolean_or("library_memory", recipe.library_memory);
  recipe.fragmentation = r.number_or("fragmentation", recipe.fragmentation);
  if (recipe.fragmentation < 0 || recipe.fragmentation > 1)
    r.fail_at("fragmentation", "a share lies between 0 and 1");
  recipe.step_bytes = r.number_or("step_bytes", recipe.step_bytes);
  if (recipe.step_bytes < 0) r.fail_at("step_bytes", "bytes are not below 0");
  read_word(r, "selective_recompute", kSelective, recipe.selective_recompute);
  if (r.has("recompute_modules")) {
    recipe.recompute_modules = {};
    std::string words = r.text("recompute_modules");
    for (std::size_t at = 0; at <= words.size();) {
      const std::size_t end = std::min(words.find(' ', at), words.size());
      const std::string word = words.substr(at, end - at);
      const auto module = find_module(word);
      if (!module)
        r.fail_at("recompute_modules", "there is no module '" + word + "'",
                  "core_attn, mla_up_proj, layernorm, moe_act, mlp, moe and shared_experts, with blanks "
                  "between them");
      recipe.recompute_modules.add(*module);
      at = end + 1;
    }
    recipe.selective_recompute = SelectiveRecompute::modules;
  }
  if (recipe.selective_recompute == SelectiveRecompute::modules && recipe.recompute_modules.empty())
    r.fail_at("selective_recompute", "modules needs recompute_modules");
  recipe.fresh_gradients = r.boolean_or("fresh_gradients", recipe.fresh_gradients);
  recipe.scaled_gradients = r.boolean_or("scaled_gradients", recipe.scaled_gradients);
  recipe.early_stop = r.boolean_or("early_stop", recipe.early_stop);
  recipe.gradient_copy = r.boolean_or("gradient_copy", recipe.gradient_copy);
  recipe.stage_buffers = r.whole_or("stage_buffers", recipe.stage_buffers, {0, 100});
  recipe.copied_shards = r.boolean_or("copied_shards", recipe.copied_shards);
  recipe.late_reduces = r.boolean_or("late_reduces", recipe.late_reduces);
  recipe.prefetch_layers = r.whole_or("prefetch_layers", recipe.prefetch_layers, {0, kMostPrefetched});
  recipe.zero_time = r.number_or("zero_time", recipe.zero_time);
  if (!(recipe.zero_time > 0 && recipe.zero_time <= kMostTimes))
    r.fail_at("zero_time", "a multiple of the estimated time is above 0 and no more than 1000");
  recipe.kernel_time = r.number_or("kernel_time", recipe.kernel_time);
  if (!(recipe.kernel_time > 0 && recipe.kernel_time <= kMostTimes))
    r.fail_at("kernel_time", "a multiple of the estimated time is above 0 and no more than 1000");
  recipe.host_time = r.number_or("host_time", recipe.host_time);
  if (!(recipe.host_time >= 0 && recipe.host_time <= 1000))
    r.fail_at("host_time", "a multiple of the time from plain PyTorch lies between 0 and 1000");
  recipe.jitter = r.number_or("jitter", recipe.jitter);
  if (!(recipe.jitter >= 0 && recipe.jitter <= 1))
    r.fail_at("jitter", "a share of the time lies between 0 and 1");
  recipe.optimizer_time = r.boolean_or("optimizer_time", recipe.optimizer_time);
  recipe.expert_imbalance = r.number_or("expert_imbalance", recipe.expert_imbalance);
  if (!(recipe.expert_imbalance >= 1))
    r.fail_at("expert_imbalance", "the fullest expert cannot have less than the mean", "give 1 or more");
  if (recipe.expert_imbalance > kMostTimes)
    r.fail_at("expert_imbalance", "the fullest expert has at most 1000 times the mean");
  recipe.capacity_factor = r.number_or("capacity_factor", recipe.capacity_factor);
  if (!(recipe.capacity_factor == 0 || (recipe.capacity_factor >= 1 && recipe.capacity_factor <= 1000)))
    r.fail_at("capacity_factor", "a capacity factor is 0, which drops no token, or lies between 1 and 1000");
  read_word(r, "dispatcher", kDispatcherNames, recipe.dispatcher);
  recipe.low_gathers = r.boolean_or("low_gathers", recipe.low_gathers);
  recipe.low_dispatch = r.boolean_or("low_dispatch", recipe.low_dispatch);
  recipe.expert_overlap = r.boolean_or("expert_overlap", recipe.expert_overlap);
  recipe.shared_overlap = r.boolean_or("shared_overlap", recipe.shared_overlap);
  read_word(r, "cuda_graphs", kCudaGraphs, recipe.cuda_graphs);
  if (r.has("reserve")) recipe.reserve = r.bytes("reserve");
  if (auto overlap = r.object_if("overlap")) read_overlap(*overlap, recipe.overlap);
  if (auto changes = r.object_if("since"))
    recipe = read_changes(std::move(recipe), std::move(*changes), until);
  r.done();
  return recipe;
}

}  // namespace

std::optional<Optimizer> find_optimizer(std::string_view name) {
  if (name == kAdamW) return Optimizer::adam;
  const auto* const at = std::find(kOptimizers.begin(), kOptimizers.end(), name);
  if (at == kOptimizers.end()) return std::nullopt;
  return static_cast<Optimizer>(at - kOptimizers.begin());
}

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> kNames{"adam", std::string(kAdamW), "sgd", "muon"};
  return kNames;
}

std::string_view name_of(Optimizer optimizer) {
  return kOptimizers[static_cast<std::size_t>(optimizer)];
}
std::string_view name_of(StateDType dtype) {
  return kStateDTypes[static_cast<std::size_t>(dtype)];
}
std::string_view name_of(CudaGraphs graphs) {
  return kCudaGraphs[static_cast<std::size_t>(graphs)];
}
std::int64_t size_of(StateDType dtype) {
  return dtype == StateDType::fp32 ? 4 : dtype == StateDType::fp8 ? 1 : 2;
}

double Recipe::low_bytes_per_parameter() const {
  const PrecisionFacts& facts = facts_of(precision);
  if (!facts.low || low_casts == LowCasts::every_use) return 0;
  const double copies = 2 * facts.operand_bytes;
  // Weights are held in 8 bits where both copies take no less than the 16 bits that they replace.
  const auto weight = static_cast<double>(size_of(parameter_dtype));
  return low_casts == LowCasts::held && copies >= weight ? copies - weight : copies;
}

double Recipe::gather_bytes_per_parameter(bool low) const {
  return low && low_casts == LowCasts::held ? facts_of(precision).gather_bytes
                                            : static_cast<double>(size_of(StateDType::bf16));
}

std::int64_t Recipe::optimizer_bytes_per_parameter() const {
  const std::int64_t states = optimizer != Optimizer::sgd ? 2 : momentum ? 1 : 0;
  return states * size_of(optimizer_dtype) + (master_weights ? size_of(StateDType::fp32) : 0);
}

std::int64_t Recipe::matrix_bytes_per_parameter() const {
  if (optimizer != Optimizer::muon) return optimizer_bytes_per_parameter();
  return size_of(optimizer_dtype) + (master_weights ? size_of(StateDType::fp32) : 0);
}

std::vector<std::string> recipe_names() {
  return names_of(recipe_files());
}

Recipe named_recipe(std::string_view full) {
  const std::size_t at = full.find('@');
  const std::string_view name = full.substr(0, at);
  const std::string_view until = at == std::string_view::npos ? kNewest : full.substr(at + 1);
  if (until != kNewest && !is_month(until))
    throw InputError("", "", "'" + std::string(until) + "' is no month", "megatron-bridge@2026-04 names one");
  const EmbeddedFile* file = find_embedded(recipe_files(), name);
  if (file == nullptr) {
    const std::vector<std::string> names = recipe_names();
    std::string hint = did_you_mean(name, names);
    if (hint.empty()) {
      hint = "known: ";
      for (const std::string& known : names) hint += known + ", ";
      hint += "or a file";
    }
    throw InputError("", "", "there is no recipe '" + std::string(name) + "'", hint);
  }
  const Document document = parse_document("recipe " + std::string(name), std::string(file->text));
  Reader r(document);
  Recipe blank;
  blank.name = full;
  return read_over(std::move(blank), r, until);
}

Recipe read_recipe(const Document& document, const std::string& name) {
  Reader r(document);
  const FileKind kind = kind_of(document);
  if (kind != FileKind::unknown && kind != FileKind::recipe)
    r.fail("this is not a recipe", looks_like(document));
  const std::string framework = r.text_or("framework", std::string(kDefaultRecipe));
  if (find_embedded(recipe_files(), framework) == nullptr) {
    static_cast<void>(r.choice("framework", recipe_names()));  // throws: it names the known ones
  }
  Recipe base = named_recipe(framework);
  base.name = name;
  return read_over(std::move(base), r, kNewest);
}

Recipe load_recipe(const std::string& name_or_file) {
  if (find_embedded(recipe_files(), name_or_file.substr(0, name_or_file.find('@'))) != nullptr ||
      !looks_like_file(name_or_file))
    return named_recipe(name_or_file);
  return read_recipe(read_document(name_or_file),
                     printable(std::filesystem::path(name_or_file).stem().string()));
}

Value to_value(const Recipe& recipe) {
  Value overlap = Value::object();
  for (const OverlapKey& k : kOverlapKeys) overlap.set(k.key, recipe.overlap.*k.member);
  Value v = Value::object();
  if (!recipe.source.empty()) v.set("source", recipe.source);
  if (!recipe.compared.empty()) v.set("compared", recipe.compared);
  v.set("framework", recipe.framework).set("precision", name_of(recipe.precision));
  v.set("optimizer", name_of(recipe.optimizer)).set("momentum", recipe.momentum);
  v.set("master_weights", recipe.master_weights).set("parameter_dtype", name_of(recipe.parameter_dtype));
  v.set("gradient_dtype", name_of(recipe.gradient_dtype)).set("reduce_dtype", name_of(recipe.reduce_dtype));
  v.set("optimizer_dtype", name_of(recipe.optimizer_dtype)).set("compiled", recipe.compiled);
  v.set("low_casts", kLowCasts[static_cast<std::size_t>(recipe.low_casts)]);
  v.set("fused_projections", recipe.fused_projections).set("fused_passes", recipe.fused_passes);
  v.set("plain_norms", recipe.plain_norms).set("masked_windows", recipe.masked_windows);
  if (recipe.split_documents) v.set("split_documents", true);
  v.set("ideal_network", recipe.ideal_network);
  v.set("levels_at_once", recipe.levels_at_once);
  v.set("flash_attention", recipe.flash_attention).set("dropout", recipe.dropout);
  v.set("flash_generation", recipe.flash_generation).set("gather_by_broadcast", recipe.gather_by_broadcast);
  v.set("accumulation", kAccumulations[static_cast<std::size_t>(recipe.accumulation)]);
  v.set("zeroed_gradients", recipe.zeroed_gradients).set("buckets", recipe.buckets.value);
  v.set("library_memory", recipe.library_memory);
  if (recipe.accumulation_bytes) v.set("accumulation_bytes", *recipe.accumulation_bytes);
  v.set("fragmentation", recipe.fragmentation).set("gradient_copy", recipe.gradient_copy);
  v.set("step_bytes", recipe.step_bytes);
  v.set("selective_recompute", kSelective[static_cast<std::size_t>(recipe.selective_recompute)]);
  if (recipe.selective_recompute == SelectiveRecompute::modules) {
    std::string words;
    for (std::size_t i = 0; i < kRecomputeModules.size(); ++i) {
      if (recipe.recompute_modules.has(static_cast<RecomputeModule>(i)))
        words += (words.empty() ? "" : " ") + std::string(kRecomputeModules[i]);
    }
    v.set("recompute_modules", words);
  }
  v.set("fused_loss", recipe.fused_loss).set("early_stop", recipe.early_stop);
  v.set("fresh_gradients", recipe.fresh_gradients).set("scaled_gradients", recipe.scaled_gradients);
  v.set("stage_buffers", recipe.stage_buffers);
  v.set("copied_shards", recipe.copied_shards);
  // A file that leaves them out has those of its framework's own recipe.
  const bool known = find_embedded(recipe_files(), recipe.framework) != nullptr;
  const Recipe usual = known ? named_recipe(recipe.framework) : Recipe{};
  if (recipe.late_reduces != usual.late_reduces) v.set("late_reduces", recipe.late_reduces);
  if (recipe.prefetch_layers != usual.prefetch_layers) v.set("prefetch_layers", recipe.prefetch_layers);
  v.set("zero_time", recipe.zero_time).set("kernel_time", recipe.kernel_time);
  v.set("host_time", recipe.host_time).set("jitter", recipe.jitter);
  v.set("optimizer_time", recipe.optimizer_time).set("expert_imbalance", recipe.expert_imbalance);
  v.set("capacity_factor", recipe.capacity_factor).set("dispatcher", name_of(recipe.dispatcher));
  v.set("low_gathers", recipe.low_gathers);
  v.set("low_dispatch", recipe.low_dispatch).set("expert_overlap", recipe.expert_overlap);
  v.set("shared_overlap", recipe.shared_overlap).set("cuda_graphs", name_of(recipe.cuda_graphs));
  v.set("reserve", recipe.reserve.value).set("overlap", std::move(overlap));
  return v;
}

}  // namespace nest::recipe
