#include "nest/validate/calibrate/measured_table.hpp"

#include <fmt/format.h>

#include <array>

#include "nest/base/document/csv.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/validate/runs/run_flops.hpp"
#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {
namespace {

constexpr double kGb = 1e9;
constexpr double kGib = 1024.0 * 1024 * 1024;

constexpr std::array<MemoryKind, 3> kKinds{MemoryKind::device, MemoryKind::allocated, MemoryKind::reserved};

// "device" where nothing is said: what nvidia-smi shows is what most people read.
std::optional<MemoryKind> kind_named(const std::string& word) {
  if (word.empty()) return MemoryKind::device;
  for (const MemoryKind kind : kKinds) {
    if (word == name_of(kind)) return kind;
  }
  return std::nullopt;
}

std::vector<MeasuredRun> published(const std::string& file, std::string_view text, bool times, bool unseen,
                                   Warnings& warnings) {
  std::vector<MeasuredRun> out;
  for (const RunRow& row : read_run_rows(file, text, times ? RunTable::times : RunTable::memory)) {
    const auto pass_over = [&](const std::string& why) {
      warnings.push_back(fmt::format("{}: line {}: {} is passed over: {}", file, row.line, row.id, why));
    };
    if (!row.is_usable()) {
      pass_over(row.why_not.empty() ? "the table calls it unusable" : row.why_not);
      continue;
    }
    RunCase prepared = run_case(row, unseen);
    if (!prepared.run) {
      pass_over(prepared.why_not);
      continue;
    }
    MeasuredRun run{.name = row.id, .run = std::move(*prepared.run)};
    if (times) {
      const MeasuredStep measured = measured_step(row, run.run.model());
      if (!measured.time) {
        pass_over(measured.why_not);
        continue;
      }
      run.step = measured.time;
    }
    if (!row.memory_kind.empty()) run.memory = memory_figure(row).figure;
    out.push_back(std::move(run));
  }
  return out;
}

std::vector<MeasuredRun> own(const CsvTable& table, const PlanOpener& open) {
  table.require({"plan"});
  const bool gb = table.column("memory_gb").has_value();
  const bool gib = table.column("memory_gib").has_value();
  if (!table.column("step_s") && !gb && !gib)
    throw InputError(table.file(), "line 1",
                     "there is neither a column 'step_s' nor 'memory_gb' nor 'memory_gib'",
                     "a table has the columns plan, step_s and, where it is known, memory_gib");
  std::vector<MeasuredRun> out;
  for (const CsvRow& row : table.rows()) {
    if (row.text("plan").empty()) row.fail("plan", "the name of a plan file");
    MeasuredRun run{.name = fmt::format("{} line {}", table.file(), row.line()),
                    .run = open(row.text("plan"))};
    if (const auto step = row.number("step_s")) run.step = Seconds{*step};
    const auto kind = kind_named(row.text("memory_kind"));
    if (!kind) row.fail("memory_kind", "device, allocated or reserved");
    if (const auto memory = row.number("memory_gb")) run.memory = {*kind, round_up_bytes(*memory * kGb)};
    if (const auto memory = row.number("memory_gib")) run.memory = {*kind, round_up_bytes(*memory * kGib)};
    if (run.step || run.memory) out.push_back(std::move(run));
  }
  return out;
}

}  // namespace

std::vector<MeasuredRun> read_measured_csv(const std::string& file, std::string_view text,
                                           const PlanOpener& open, bool unseen, Warnings& warnings) {
  const CsvTable table(file, text);
  const bool times = table.column("measured_metric").has_value();
  const bool memory = table.column("memory_gb_per_gpu").has_value();
  std::vector<MeasuredRun> out =
      times || memory ? published(file, text, times, unseen, warnings) : own(table, open);
  if (out.empty()) throw InputError(file, "", "no row has a step or memory that can be compared");
  return out;
}

std::vector<MeasuredRun> read_measured_json(const std::string& file, const std::string& text,
                                            const PlanOpener& open) {
  const Document document = parse_json(file, text);
  Reader reader(document);
  std::vector<MeasuredRun> out;
  for (Reader& row : reader.objects("runs")) {
    MeasuredRun run{.name = fmt::format("{} run {}", file, out.size() + 1), .run = open(row.text("plan"))};
    if (row.has("step_s")) run.step = row.time("step_s");
    const std::string word = row.text_or("memory_kind", "");
    const auto kind = kind_named(word);
    if (!kind) row.fail_at("memory_kind", "device, allocated or reserved is expected, not '" + word + "'");
    if (row.has("memory_bytes")) run.memory = {*kind, row.bytes("memory_bytes")};
    if (!run.step && !run.memory) row.fail("there is neither 'step_s' nor 'memory_bytes'");
    row.done();
    out.push_back(std::move(run));
  }
  reader.done();
  if (out.empty()) throw InputError(file, "", "there are no runs");
  return out;
}

}  // namespace nest::validate
