#include "nest/validate/runs/run_rows.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "nest/base/document/csv.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/plan/zero.hpp"
#include "nest/validate/runs/tuning_rows.hpp"

namespace nest::validate {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

struct TextColumn {
  const char* name;
  std::string RunRow::* member;
};
constexpr std::array<TextColumn, 22> kTexts{{{"id", &RunRow::id},
                                             {"source", &RunRow::source},
                                             {"model", &RunRow::model},
                                             {"accelerator", &RunRow::accelerator},
                                             {"framework", &RunRow::framework},
                                             {"precision", &RunRow::precision},
                                             {"precision_class", &RunRow::precision_class},
                                             {"recompute", &RunRow::recompute},
                                             {"recompute_policy", &RunRow::recompute_policy},
                                             {"measured_metric", &RunRow::metric},
                                             {"tflops_definition", &RunRow::flops_definition},
                                             {"overlap", &RunRow::overlap},
                                             {"inter_node_bw", &RunRow::network},
                                             {"notes", &RunRow::notes},
                                             {"why_not", &RunRow::why_not},
                                             {"confidence", &RunRow::confidence},
                                             {"memory_kind", &RunRow::memory_kind},
                                             {"gradient_dtype", &RunRow::gradient_dtype},
                                             {"dispatcher", &RunRow::dispatcher},
                                             {"cuda_graph", &RunRow::cuda_graph},
                                             {"recompute_modules", &RunRow::recompute_modules},
                                             {"routing", &RunRow::routing}}};

struct WholeColumn {
  const char* name;
  std::optional<std::int64_t> RunRow::* member;
  std::int64_t least;
};
constexpr std::array<WholeColumn, 21> kWholes{{{"layers", &RunRow::layers, 1},
                                               {"hidden", &RunRow::hidden, 1},
                                               {"heads", &RunRow::heads, 1},
                                               {"kv_heads", &RunRow::kv_heads, 1},
                                               {"ffn", &RunRow::ffn, 1},
                                               {"moe_experts", &RunRow::experts, 1},
                                               {"moe_topk", &RunRow::top_k, 1},
                                               {"moe_ffn", &RunRow::expert_ffn, 1},
                                               {"seq_len", &RunRow::sequence, 1},
                                               {"global_batch", &RunRow::global_batch, 1},
                                               {"num_gpus", &RunRow::devices, 1},
                                               {"gpus_per_node", &RunRow::devices_per_node, 1},
                                               {"tp", &RunRow::tensor, 1},
                                               {"cp", &RunRow::context, 1},
                                               {"ep", &RunRow::expert, 1},
                                               {"pp", &RunRow::pipeline, 1},
                                               {"vpp", &RunRow::interleave, 1},
                                               {"dp", &RunRow::data, 1},
                                               {"zero", &RunRow::zero, 0},
                                               {"zero_shards", &RunRow::zero_shards, 1},
                                               {"expert_tensor", &RunRow::expert_tensor, 1}}};

struct NumberColumn {
  const char* name;
  std::optional<double> RunRow::* member;
};
constexpr std::array<NumberColumn, 4> kNumbers{{{"micro_batch", &RunRow::micro_batch},
                                                {"intra_gb_per_s", &RunRow::intra_gb_per_s},
                                                {"inter_gb_per_s", &RunRow::inter_gb_per_s},
                                                {"measured_value", &RunRow::measured}}};

struct FlagColumn {
  const char* name;
  std::optional<bool> RunRow::* member;
};
constexpr std::array<FlagColumn, 6> kFlags{{{"sp", &RunRow::sequence_parallel},
                                            {"a2a_overlap", &RunRow::expert_overlap},
                                            {"flash", &RunRow::flash},
                                            {"compiled", &RunRow::compiled},
                                            {"cpu_offload", &RunRow::cpu_offload},
                                            {"usable", &RunRow::usable}}};

// "51200", or a remark with the figure inside: "~250k (250880 in tr11 README)". The longest number counts,
// for a rounded one ("250k") is shorter than the exact one.
std::optional<std::int64_t> read_vocabulary(const CsvRow& row) {
  const std::string& text = row.text("vocab");
  if (text.empty()) return std::nullopt;
  std::string longest;
  bool thousands = false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end - i > longest.size()) {
      longest = text.substr(i, end - i);
      thousands = end < text.size() && lower_case(text[end]) == 'k';
    }
    i = end + 1;
  }
  constexpr std::size_t kMostDigits = 9;
  if (longest.empty() || longest.size() > kMostDigits) row.fail("vocab", "a number of tokens");
  const std::int64_t tokens = std::stoll(longest) * (thousands ? 1000 : 1);
  if (tokens < 1) row.fail("vocab", "a number of tokens");
  return tokens;
}

RunRow read_row(const CsvRow& row) {
  RunRow out;
  out.line = row.line();
  for (const TextColumn& c : kTexts) out.*c.member = printable(row.text(c.name));
  for (const WholeColumn& c : kWholes) out.*c.member = row.whole(c.name, c.least);
  for (const NumberColumn& c : kNumbers) out.*c.member = row.number(c.name);
  for (const FlagColumn& c : kFlags) out.*c.member = row.flag(c.name);
  out.vocab = read_vocabulary(row);
  if (out.zero && !Zero(*out.zero).valid()) row.fail("zero", "0, 1, 2 or 3");
  if (row.text("memory_gb_per_gpu") != "OOM") static_cast<void>(row.number("memory_gb_per_gpu"));
  out.memory = row.text("memory_gb_per_gpu");
  return out;
}

}  // namespace

bool mentions(std::string_view text, std::string_view word) {
  const auto found = std::search(text.begin(), text.end(), word.begin(), word.end(),
                                 [](char a, char b) { return lower_case(a) == lower_case(b); });
  return word.empty() || found != text.end();
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + word.size());
  if (!rest.empty() && (rest.front() == '=' || rest.front() == ' ')) rest.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

bool RunRow::flagged() const {
  return notes.find("FLAG") != std::string::npos;
}

bool RunRow::is_usable() const {
  return usable.value_or(!flagged());
}

std::string RunRow::project() const {
  return source.substr(0, source.find_first_of(" ,("));
}

std::vector<RunRow> read_run_rows(const std::string& file, std::string_view text, RunTable kind) {
  const CsvTable table(file, text);
  if (kind == RunTable::times && is_tuning_table(table)) {
    table.require({"model", "seq_len", "global_batch", "micro_batch", "num_gpus", "tp", "pp", "precision",
                   "measured_metric", "measured_value"});
    std::vector<RunRow> out;
    out.reserve(table.rows().size());
    for (const CsvRow& row : table.rows()) {
      out.push_back(read_row(row));
      read_tuning_row(row, out.back());
    }
    return out;
  }
  table.require({"id", "model", "layers", "hidden", "heads", "seq_len", "global_batch", "micro_batch",
                 "num_gpus", "accelerator", "framework", "tp", "pp"});
  if (kind == RunTable::times) {
    table.require({"measured_metric", "measured_value"});
  } else {
    table.require({"memory_gb_per_gpu", "memory_kind"});
  }
  std::vector<RunRow> out;
  out.reserve(table.rows().size());
  for (const CsvRow& row : table.rows()) out.push_back(read_row(row));
  return out;
}

}  // namespace nest::validate
