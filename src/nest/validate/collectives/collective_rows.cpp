#include "nest/validate/collectives/collective_rows.hpp"

#include "nest/base/document/csv.hpp"

namespace nest::validate {
namespace {

// Devices and nodes: whole, and no more than any machine has.
std::optional<double> count(const CsvRow& row, std::string_view column) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::optional<double> value = row.number(column);
  if (!value) return std::nullopt;
  const std::optional<std::int64_t> whole = row.whole(column);
  if (*whole > kMost) row.fail(column, "a whole number up to 1,000,000");
  return value;
}

}  // namespace

std::vector<CollectiveRow> read_collective_rows(const std::string& file, std::string_view text) {
  const CsvTable table(file, text);
  table.require({"id", "source", "collective", "hardware", "intra_link", "inter_link", "algo", "notes",
                 "num_gpus", "num_nodes", "gpus_per_node", "message_bytes", "time_us", "algbw_GBps",
                 "busbw_GBps"});
  std::vector<CollectiveRow> out;
  for (const CsvRow& f : table.rows()) {
    CollectiveRow row;
    row.id = f.text("id");
    row.source = f.text("source");
    row.collective = f.text("collective");
    row.hardware = f.text("hardware");
    row.intra_link = f.text("intra_link");
    row.inter_link = f.text("inter_link");
    row.algorithm = f.text("algo");
    row.notes = f.text("notes");
    row.devices = count(f, "num_gpus");
    row.nodes = count(f, "num_nodes");
    row.devices_per_node = count(f, "gpus_per_node");
    row.message_bytes = f.number("message_bytes");
    row.time_us = f.number("time_us");
    row.algorithm_gb_per_s = f.number("algbw_GBps");
    row.bus_gb_per_s = f.number("busbw_GBps");
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace nest::validate
