#include "nest/cluster/imports/names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/imports/host_levels.hpp"
#include "nest/cluster/imports/json_facts.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

constexpr std::int64_t kMostCores = 1 << 20;

// Generations of TPUs as names of slices begin, with what their numbers count.
struct Generation {
  std::string_view prefix;
  std::string_view accelerator;
  std::int64_t cores = 1;  // that the name counts for a chip
  std::int64_t most = 0;   // chips of the largest slice
};
constexpr std::array kGenerations{
    Generation{"v4-", "tpu-v4", 2, 4096},        Generation{"v5p-", "tpu-v5p", 2, 8960},
    Generation{"v5litepod-", "tpu-v5e", 1, 256}, Generation{"v5e-", "tpu-v5e", 1, 256},
    Generation{"v6e-", "tpu-v6e", 1, 256},       Generation{"tpu7x-", "tpu7x", 2, 9216},
    Generation{"v7x-", "tpu7x", 2, 9216}};
// What acceleratorConfig calls them.
struct ConfigType {
  std::string_view name;
  std::string_view accelerator;
};
constexpr std::array kTypes{ConfigType{"V4", "tpu-v4"}, ConfigType{"V5P", "tpu-v5p"},
                            ConfigType{"V5LITE_POD", "tpu-v5e"}, ConfigType{"V6E", "tpu-v6e"},
                            ConfigType{"TPU7X", "tpu7x"}};

std::string spelled(const std::vector<std::int64_t>& sides) {
  std::string out;
  for (const std::int64_t side : sides) out += (out.empty() ? "" : "x") + std::to_string(side);
  return out;
}

// Sides as Google builds slices: powers of two, as equal as can be, from cubes of 2 x 2 x 1 on.
std::optional<std::vector<std::int64_t>> usual_sides(std::int64_t chips, std::int64_t dimensions) {
  std::vector<std::int64_t> sides(static_cast<std::size_t>(dimensions), 1);
  for (std::int64_t rest = chips; rest > 1; rest /= 2) {
    if (rest % 2 != 0) return std::nullopt;
    *std::min_element(sides.begin(), sides.end()) *= 2;
  }
  std::sort(sides.begin(), sides.end());
  return sides;
}

ImportFacts slice_facts(const Accelerator& accelerator, const std::string& sides, const std::string& name,
                        const std::string& file) {
  HostFacts host;
  host.slice = sides;
  host.file = file;
  ImportFacts facts;
  facts.name = name;
  NodeFacts node;
  node.source = name;
  node.accelerator = accelerator.name;
  node.levels = {level_of_slice(accelerator, host)};
  node.devices = node.levels.front().fan_out.size;
  node.noun = "slice";
  node.fabric = "ethernet";
  constexpr Seconds kSites{50e-6};  // as data/clusters/tpu-v5e-multislice.yaml
  node.latency = kSites;
  facts.node = std::move(node);
  facts.count = 1;
  facts.sources.push_back(name + " (Google Cloud TPU)");
  facts.notes.known.push_back(name + " is a slice of " + sides + " = " + format_digits(facts.node->devices) +
                              " chips");
  constexpr std::array<std::string_view, 4> kTwisted{"4x4x8", "4x8x8", "8x8x16", "8x16x16"};
  if (std::find(kTwisted.begin(), kTwisted.end(), sides) != kTwisted.end())
    facts.notes.assumed.push_back("the torus is not twisted: " + sides + " is sold with and without a twist");
  return facts;
}

}  // namespace

ImportFacts read_shape_name(const std::string& name, const std::string& vendor) {
  std::string wanted = name;
  std::replace(wanted.begin(), wanted.end(), ' ', '-');
  const NodeModel* model = find_node_model(wanted);
  if (model == nullptr && vendor == "azure") model = find_node_model("Standard_" + wanted);
  if (model == nullptr || (!vendor.empty() && model->vendor != vendor)) {
    std::vector<std::string> known;
    for (const NodeModel& each : node_models()) {
      if (vendor.empty() || each.vendor == vendor)
        known.insert(known.end(), each.names.begin(), each.names.end());
    }
    std::string hint = did_you_mean(wanted, known);
    if (hint.empty()) {
      hint = "known are";
      for (const std::string& each : known) hint += (hint.ends_with("are") ? " " : ", ") + each;
    }
    throw InputError("", "", "there is no instance type or server '" + name + "'", hint);
  }
  ImportFacts facts;
  facts.name = lower_case(model->names.front());
  HostFacts host;
  host.type = model->names.front();
  host.file = name;
  facts.hosts.push_back(std::move(host));
  facts.count = 1;
  facts.counted_by = std::max(1, model->domain);
  facts.sources.push_back(model->names.front());
  return facts;
}

ImportFacts read_tpu_name(const std::string& name) {
  const std::string wanted = lower_case(name);
  std::vector<std::string> known;
  for (const Generation& generation : kGenerations) {
    known.emplace_back(std::string(generation.prefix) + "256");
    if (!wanted.starts_with(generation.prefix)) continue;
    const Accelerator& accelerator = find_accelerator(generation.accelerator);
    const auto number = digits_of(std::string_view(wanted).substr(generation.prefix.size()));
    if (!number || *number < 1 || *number > kMostCores || *number % generation.cores != 0)
      throw InputError(
          "", "", "'" + name + "' is no slice of TPUs",
          generation.cores > 1 ? "its number counts cores, two in a chip" : "its number counts chips");
    const std::int64_t chips = *number / generation.cores;
    const auto sides = usual_sides(chips, accelerator.scale_up.torus);
    if (!sides || chips > generation.most) {
      throw InputError(
          "", "", "no slice of " + format_digits(chips) + " chips is known",
          "a topology says it: " + std::string(generation.prefix.substr(0, generation.prefix.size() - 1)) +
              (accelerator.scale_up.torus > 2 ? ":4x4x12" : ":8x16"));
    }
    return slice_facts(accelerator, spelled(*sides), wanted, name);
  }
  // "v5p:4x4x12": a generation with the topology.
  if (const std::size_t colon = wanted.find(':'); colon != std::string::npos) {
    for (const Generation& generation : kGenerations) {
      if (wanted.substr(0, colon) + "-" != generation.prefix) continue;
      return slice_facts(find_accelerator(generation.accelerator), wanted.substr(colon + 1), wanted, name);
    }
  }
  throw InputError("", "", "there is no TPU slice '" + name + "'", did_you_mean(wanted, known));
}

bool is_tpu(std::string_view text) {
  return has_key(text, "acceleratorType") || has_key(text, "acceleratorConfig");
}

ImportFacts read_tpu(const ImportFile& file) {
  const Document document = parse_document(file.name, file.text);
  std::optional<ImportFacts> out;
  std::int64_t slices = 0;
  for (const Entry& entry : entries_of(document, {"nodes"})) {
    const std::string topology = text_of(*entry.value, {"acceleratorConfig", "topology"});
    const std::string type = text_of(*entry.value, {"acceleratorConfig", "type"});
    const std::string name = text_of(entry.value->find("acceleratorType"));
    const auto* const known =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const ConfigType& t) { return t.name == type; });
    if (name.empty() && (topology.empty() || known == kTypes.end()))
      fail_entry(document, entry, "neither acceleratorType nor acceleratorConfig says what the slice is",
                 "gcloud compute tpus tpu-vm describe NAME --format=json does");
    ImportFacts facts =
        !topology.empty() && known != kTypes.end()
            ? slice_facts(find_accelerator(known->accelerator), lower_case(topology),
                          name.empty() ? lower_case(std::string(type).append(":").append(topology))
                                       : lower_case(name),
                          file.name)
            : read_tpu_name(name);
    if (out && out->node->levels != facts.node->levels)
      fail_entry(document, entry, "the slices differ", "slices of one shape make a cluster");
    ++slices;
    if (!out) out = std::move(facts);
  }
  if (!out) throw InputError(file.name, "", "the list of slices is empty");
  out->count = slices;
  out->sources = {own_name(file.name) + " (Google Cloud TPU)"};
  return std::move(*out);
}

}  // namespace nest::cluster
