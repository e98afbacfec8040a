#include "nest/validate/runs/tuning_rows.hpp"

#include <algorithm>
#include <array>

#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/model/zoo.hpp"

namespace nest::validate {
namespace {

constexpr std::int64_t kReferenceRank = 16;
constexpr std::int64_t kSquadTokens = 200;
constexpr std::string_view kSquadProjects = "NVIDIA";

// As sources write it, and as the catalog does where lower case is not enough.
struct DeviceName {
  std::string_view written;
  std::string_view name;
};
constexpr std::array<DeviceName, 2> kDevices{{{"H100", "h100-sxm"}, {"A100", "a100-80"}}};

std::string device_of(const std::string& written) {
  const auto* const at = std::ranges::find(kDevices, written, &DeviceName::written);
  if (at != kDevices.end()) return std::string(at->name);
  return lower_case(written);
}

// As the column precision_class of the other tables has it.
std::string class_of(const std::string& precision) {
  if (mentions(precision, "fp4")) return "fp4";
  if (mentions(precision, "fp8")) return "fp8";
  return mentions(precision, "16") ? "16bit" : "";
}

void put_shape(RunRow& out) {
  std::string name = out.model;
  std::ranges::replace(name, ' ', '-');
  try {
    const ModelSpec spec = zoo_model(name);
    const StackSpec& stack = spec.stacks.back();
    const BlockSpec& block = stack.blocks.front();
    out.layers = static_cast<std::int64_t>(stack.blocks.size());
    out.hidden = stack.hidden;
    out.heads = block.attention.heads;
    out.kv_heads = block.attention.kv_heads;
    out.ffn = block.ffn.ffn;
    out.vocab = stack.stem.vocab;
  } catch (const InputError&) {
    out.layers = 0;  // without a shape, the row says later that it is not stated
  }
}

}  // namespace

bool is_tuning_table(const CsvTable& table) {
  return table.column("kind").has_value() && table.column("gpu").has_value();
}

void read_tuning_row(const CsvRow& row, RunRow& out) {
  const std::string& kind = row.text("kind");
  if (kind != "SFT" && kind != "LoRA") row.fail("kind", "SFT or LoRA");
  out.tuning_kind = kind;
  out.precision_class = class_of(out.precision);
  out.id = kind + " of " + out.model + ", line " + std::to_string(row.line());
  if (kind == "LoRA") {
    out.tuning.kind = Tuning::Kind::lora;
    out.tuning.rank = number_after(out.notes, "rank ").value_or(kReferenceRank);
    out.tuning.targets = default_targets();
  }
  out.accelerator = device_of(row.text("gpu"));
  out.framework = "nemo-megatron";
  out.recompute_policy = "none";
  out.flash = true;
  if (out.project().starts_with(kSquadProjects)) out.documents = kSquadTokens;
  put_shape(out);
}

}  // namespace nest::validate
