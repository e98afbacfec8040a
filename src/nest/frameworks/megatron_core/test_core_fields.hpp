// For tests: what is written for frameworks on Megatron-core as settings, our tables of their fields, which say
// what a release would refuse, and the plan's degrees read back.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/files.hpp"
#include "nest/frameworks/common/exporter.hpp"
#include "nest/frameworks/test_validators.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::test {

using Settings = std::map<std::string, std::string>;

// "key=value" or "--key value", one a line.
[[nodiscard]] inline Settings read_settings(const std::string& text, char mark = '=') {
  Settings out;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t at = line.find(mark);
    const std::size_t skip = line.starts_with("--") ? 2 : 0;
    out[line.substr(skip, at - skip)] = at == std::string::npos ? "" : line.substr(at + 1);
  }
  return out;
}

// The words that a script takes where a variable is not set.
[[nodiscard]] inline std::string default_of(const std::string& script, const std::string& variable) {
  const std::string begin = "${" + variable + ":-";
  const std::size_t at = script.find(begin);
  if (at == std::string::npos) return "";
  return script.substr(at + begin.size(), script.find('}', at) - at - begin.size());
}

struct KnownField {
  std::string type;  // "int|list?": a question mark where null is a value
  std::vector<std::string> choices;
};

class FieldTable {
 public:
  FieldTable(const std::string& file, std::string_view framework) {
    const ReleaseTable& table = *find_releases(framework);
    for (const std::string& line :
         split(read_file(std::string(NEST_SOURCE_DIR) + "/data/frameworks/" + file), '\n')) {
      if (line.starts_with("# ") && !line.ends_with('.')) days_[split(line, ' ')[1]] = split(line, ' ')[2];
      const std::vector<std::string> cells = split(line, ',');
      if (line.starts_with('#') || cells.size() < 5 || table.find(cells[3]) == nullptr) continue;
      for (const Release& release : table.releases) {
        if (table.within(release, cells[3], cells[4]))
          fields_[std::string(release.name)][cells[0]] = {cells[1], split(cells[2], ' ')};
      }
    }
  }

  [[nodiscard]] const std::map<std::string, std::string>& days() const { return days_; }
  [[nodiscard]] bool has(std::string_view release, const std::string& key) const {
    return fields_.at(std::string(release)).contains(key);
  }

  // "" where the release takes the value.
  [[nodiscard]] std::string problem(std::string_view release, const std::string& key,
                                    const std::string& value) const {
    const auto& known = fields_.at(std::string(release));
    const auto at = known.find(key);
    if (at == known.end()) return key + " is not known";
    return allows(at->second, value) ? "" : key + " does not take " + value;
  }
  [[nodiscard]] std::string problem(std::string_view release, const Settings& settings) const {
    for (const auto& [key, value] : settings) {
      if (const std::string one = problem(release, key, value); !one.empty()) return one;
    }
    return "";
  }

 private:
  static bool allows(const KnownField& field, const std::string& value) {
    if (value == "null") return field.type.ends_with('?') || field.type == "any";
    const std::string types = field.type.substr(0, field.type.find('?'));
    const std::vector<std::string> all = split(types, '|');
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& type) { return is(type, field.choices, value); });
  }

  static bool is(const std::string& type, const std::vector<std::string>& choices, const std::string& value) {
    char* end = nullptr;
    if (type == "int") static_cast<void>(std::strtoll(value.c_str(), &end, 10));
    if (type == "float") static_cast<void>(std::strtod(value.c_str(), &end));
    if (end != nullptr) return end != value.c_str() && *end == 0;
    if (type == "bool") return value == "true" || value == "false";
    if (type == "list") return value.starts_with('[') && value.ends_with(']');
    if (type == "dtype")
      return value == "fp32" ||
             (value.starts_with("{_target_:megatron.bridge.utils.activation_map.str_to_") &&
              (value.ends_with("name:fp32}") || value.ends_with("name:bf16}")));
    if (type == "any") return !value.empty();
    // Hydra reads these signs otherwise if they are not between quotes.
    if (type != "str" || value.empty()) return false;
    const bool quoted = value.starts_with('\'') && value.ends_with('\'') && value.size() > 2;
    if (!quoted && value.find_first_of("(){}[]=,'\"") != std::string::npos) return false;
    return choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end();
  }

  std::map<std::string, std::string> days_;
  std::map<std::string, std::map<std::string, KnownField>> fields_;
};

// How a framework calls a degree: a word before the name, and one before that of the layout.
struct DegreeNames {
  std::string before;
  std::string before_layout;
  std::string absent;  // of what is not written: "null", or nothing for arguments
};

// The first degree that differs from the plan's, "" where none does.
[[nodiscard]] inline std::string degrees_problem(const Settings& settings, const DegreeNames& names,
                                                 const ExportQuestion& question) {
  const Parallelism& p = question.plan.parallelism;
  const Strategy& s = p.strategy;
  const auto text = [&](const std::string& key) {
    const auto at = settings.find(key);
    return at == settings.end() ? names.absent : at->second;
  };
  const auto differs = [&](const std::string& name, const std::string& want) {
    return text(names.before + name) != want;
  };
  if (differs("tensor_model_parallel_size", std::to_string(s.tensor))) return "tensor";
  if (differs("sequence_parallel", s.shards_sequence() ? "true" : "false")) return "sequence parallelism";
  if (differs("context_parallel_size", std::to_string(s.context))) return "context";
  if (differs("pipeline_model_parallel_size", std::to_string(p.pipeline))) return "pipeline";
  if (s.expert > 1) {
    if (differs("expert_model_parallel_size", std::to_string(s.expert))) return "expert";
    if (differs("expert_tensor_parallel_size", std::to_string(s.expert_tensor_degree())))
      return "expert tensor";
  }
  if (differs("virtual_pipeline_model_parallel_size",
              p.interleave > 1 ? std::to_string(p.interleave) : names.absent))
    return "chunks";
  std::string layout = text(names.before_layout + "pipeline_model_parallel_layout");
  if (layout == names.absent) return "";
  std::erase(layout, '\'');
  const std::vector<std::string> parts = split(expanded_layout(layout), '|');
  if (parts.size() != static_cast<std::size_t>(p.pipeline * p.interleave)) return "parts of the layout";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Stage& stage = question.plan.stages[i % question.plan.stages.size()];
    const std::size_t layers =
        p.interleave > 1 ? stage.chunks[i / question.plan.stages.size()].size() : stage.layers.size();
    if (parts[i].size() != layers) return "part " + std::to_string(i);  // E and L are layers too
  }
  return "";
}

}  // namespace nest::test
