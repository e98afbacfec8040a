#include "nest/solve/baselines/common/degrees_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "nest/base/document/csv.hpp"
#include "nest/base/files.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/cluster/tree.hpp"
#include "nest/price/layers/cost_book.hpp"

namespace nest::solve {
namespace {

// "tpuv4_fatTree" and "tpuv4-fat-tree" are one name.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c != '-' && c != '_') text += lower_case(c);
  }
  return text;
}

std::string without(std::string_view prefix, std::string text) {
  if (text.starts_with(prefix) && text.size() > prefix.size()) text.erase(0, prefix.size());
  return text;
}

// The NEST paper's short names, after plain() and without "megatron".
struct ShortName {
  std::string_view name;
  std::string_view model;  // of the zoo
};
constexpr std::array kShortNames{
    ShortName{"bert", "bert-large"},      ShortName{"bertlarge", "bert-large"},
    ShortName{"llama2", "llama2-7b"},     ShortName{"llama3", "llama3-70b"},
    ShortName{"llama3", "llama3.1-70b"},  ShortName{"gpt3", "gpt3-175b"},
    ShortName{"mixtral", "mixtral-8x7b"},
};

bool is_model(const std::string& row, const std::string& model) {
  if (row.empty() || plain(row) == plain(model)) return true;
  const std::string name = without("megatron", plain(row));
  // A layer profile's name may say where it was measured: "tpuv4-fattree-llama3".
  const std::size_t dash = model.rfind('-');
  if (dash != std::string::npos && plain(model.substr(dash + 1)) == name) return true;
  return std::any_of(kShortNames.begin(), kShortNames.end(), [&](const ShortName& known) {
    return known.name == name && plain(known.model) == plain(model);
  });
}

// The catalog's copies of the paper's clusters begin with "paper".
bool is_cluster(const std::string& setup, const std::string& cluster) {
  return setup.empty() || without("paper", plain(setup)) == without("paper", plain(cluster));
}

std::int64_t degree(const CsvRow& row, const char* column) {
  const std::optional<std::int64_t> value = row.whole(column);
  if (!value) row.fail(column, "a positive whole number");
  if (*value > kMostDevices) row.fail(column, "a degree: no cluster has so many devices");
  return *value;
}

}  // namespace

std::vector<DegreesRow> read_degrees(const std::string& file) {
  const CsvTable table(file, read_file(file));
  table.require({"pipeline", "data", "tensor"});
  std::vector<DegreesRow> rows;
  for (const CsvRow& row : table.rows()) {
    rows.push_back({row.text("setup"),
                    row.whole("devices"),
                    row.text("baseline"),
                    row.text("model"),
                    row.whole("layers"),
                    {degree(row, "pipeline"), degree(row, "data"), degree(row, "tensor")},
                    row.line()});
  }
  return rows;
}

DegreesKey degrees_key(const PlanQuestion& question) {
  const PlanInputs& inputs = question.inputs;
  DegreesKey key{inputs.model_name(), 0, 0, inputs.cluster.name(), inputs.cluster.devices()};
  CostBook book(inputs);
  Training training = question.training;
  if (training.sequence == 0) training.sequence = inputs.default_sequence();
  const LayerGraph& graph = book.model(inputs.profile() ? inputs.profile()->micro_batch : 1, training).graph;
  key.layers = static_cast<std::int64_t>(graph.layers());
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(graph.layers()); ++i)
    key.blocks += graph.is_block(LayerId(i)) ? 1 : 0;
  // A profile does not say which layers are ends: one is an embedding as a rule.
  if (inputs.profile() != nullptr) key.blocks -= 1;
  return key;
}

std::vector<std::pair<std::string, GivenDegrees>> matching_degrees(const std::vector<DegreesRow>& rows,
                                                                   const DegreesKey& key) {
  std::vector<std::pair<std::string, GivenDegrees>> found;
  for (const DegreesRow& row : rows) {
    if (!is_model(row.model, key.model) || !is_cluster(row.setup, key.cluster)) continue;
    if (row.devices && *row.devices != key.devices) continue;
    if (row.layers && *row.layers != key.blocks && *row.layers != key.layers) continue;
    std::pair<std::string, GivenDegrees> one{row.baseline, row.degrees};
    if (std::find(found.begin(), found.end(), one) == found.end()) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace nest::solve
