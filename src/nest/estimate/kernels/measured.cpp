#include "nest/estimate/kernels/measured.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>

#include "nest/estimate/kernels/measured_scanner.hpp"

namespace nest::estimate {
namespace {

constexpr std::string_view kFormat = "nest-accelerator-profile";

enum class Column { size, load, word, dtype, seconds, split, ignored };

Column column_of(std::string_view name) {
  if (name == "time_s") return Column::seconds;
  if (name == "split") return Column::split;
  if (name == "dtype") return Column::dtype;
  if (name == "load") return Column::load;
  if (name == "samples" || name == "graph" || name == "backend" || name == "method") return Column::ignored;
  const bool word = name == "layout" || name == "pass" || name == "scaling" || name == "direction" ||
                    name == "variant" || name == "what";
  return word ? Column::word : Column::size;
}

struct Table {
  std::vector<std::string> names;
  std::vector<Column> columns;
};

Table read_columns(JsonScanner& in) {
  Table table;
  in.items([&] {
    table.names.emplace_back(in.text());
    table.columns.push_back(column_of(table.names.back()));
  });
  const auto sizes = std::count_if(table.columns.begin(), table.columns.end(),
                                   [](Column c) { return c == Column::size || c == Column::load; });
  if (sizes > static_cast<std::ptrdiff_t>(kMostSizes)) in.fail("a table has too many columns of sizes");
  return table;
}

// One row: the sizes and the time go to `point`, the words to `name`.
void read_row(JsonScanner& in, const Table& table, MeasuredPoint& point, std::string& name) {
  std::size_t column = 0;
  std::size_t size = 0;
  in.items([&] {
    if (column >= table.columns.size()) in.fail("a row is longer than its table has columns");
    switch (table.columns[column++]) {
      case Column::size:
        point.sizes[size++] = std::llround(in.number());
        return;
      case Column::load:
        point.sizes[size++] = in.text() == "uneven" ? 1 : 0;
        return;
      case Column::word:
        name.append("/").append(in.text());
        return;
      case Column::dtype: {
        const std::string_view dtype = in.text();
        if (dtype == "fp32") name.append("/").append(dtype);
        return;
      }
      case Column::seconds:
        point.seconds = in.number();
        if (!(point.seconds > 0)) in.fail("a time above 0 is expected");
        return;
      case Column::split:
        point.held_out = in.text() == "test";
        return;
      case Column::ignored:
        in.skip();
        return;
    }
  });
  if (column != table.columns.size()) in.fail("a row is shorter than its table has columns");
}

MeasuredSeries& series_of(MeasuredProfile& profile, const std::string& name, const Table& table) {
  const auto [it, fresh] = profile.tables.try_emplace(name);
  if (fresh) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const bool size = table.columns[i] == Column::size || table.columns[i] == Column::load;
      if (size) it->second.columns.push_back(table.names[i]);
    }
  }
  return it->second;
}

void read_table(JsonScanner& in, std::string_view kind, MeasuredProfile& profile) {
  Table table;
  std::string last;
  MeasuredSeries* series = nullptr;
  in.members([&](std::string_view key) {
    if (key == "columns") {
      table = read_columns(in);
    } else if (key == "rows") {
      in.items([&] {
        MeasuredPoint point;
        std::string name(kind);
        read_row(in, table, point, name);
        if (!series || name != last) {
          series = &series_of(profile, name, table);
          last = name;
        }
        series->points.push_back(point);
      });
    } else {
      in.skip();
    }
  });
}

}  // namespace

const MeasuredSeries* MeasuredProfile::series(std::string_view name) const {
  const auto it = tables.find(name);
  return it == tables.end() ? nullptr : &it->second;
}

std::size_t MeasuredProfile::rows() const {
  std::size_t count = 0;
  for (const auto& [name, series] : tables) count += series.points.size();
  return count;
}

MeasuredProfile read_profile(const std::string& file, std::string_view text) {
  JsonScanner in(file, text);
  MeasuredProfile profile;
  bool known = false;
  in.members([&](std::string_view key) {
    if (key == "format") {
      known = in.text() == kFormat;
    } else if (key == "accelerator") {
      profile.accelerator = in.text();
    } else if (key == "device_name") {
      profile.device_name = in.text();
    } else if (key == "date") {
      profile.date = in.text();
    } else if (key == "points") {
      in.members([&](std::string_view kind) { read_table(in, kind, profile); });
    } else {
      in.skip();
    }
  });
  if (!known) in.fail("this is not an accelerator profile: its format is not '" + std::string(kFormat) + "'");
  return profile;
}

const MeasuredProfile* shipped_profile(std::string_view accelerator) {
  static std::mutex mutex;
  static std::map<std::string, MeasuredProfile, std::less<>> read;
  const EmbeddedFile* file = find_embedded(profile_files(), accelerator);
  if (!file) return nullptr;
  const std::lock_guard lock(mutex);
  const auto found = read.find(accelerator);
  if (found != read.end()) return &found->second;
  const std::string name = "data/profiles/" + std::string(accelerator) + ".json";
  return &read.emplace(accelerator, read_profile(name, file->text)).first->second;
}

}  // namespace nest::estimate
