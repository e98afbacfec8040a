#include "nest/report/answer/stage_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "nest/plan/text/diff.hpp"
#include "nest/report/answer/plan_notes.hpp"

namespace nest::report {
namespace {

struct Run {
  std::size_t first = 0;
  std::size_t last = 0;

  [[nodiscard]] std::size_t size() const { return last - first + 1; }
};

bool alike(const Stage& a, const Stage& b) {
  const auto sizes = [](const Stage& s) {
    std::vector<std::size_t> list{s.layers.size()};
    for (const auto& chunk : s.chunks) list.push_back(chunk.size());
    return list;
  };
  return sizes(a) == sizes(b) && a.strategy == b.strategy && a.recompute == b.recompute;
}

std::vector<Run> runs_of(const std::vector<Stage>& stages, std::size_t most) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!runs.empty() && alike(stages[runs.back().first], stages[i])) {
      runs.back().last = i;
    } else {
      runs.push_back({i, i});
    }
  }
  if (runs.size() <= most) return runs;
  const std::size_t head = (most - 1) / 2;
  const std::size_t tail = most - 1 - head;
  std::vector<Run> shown(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(head));
  shown.push_back({runs[head].first, runs[runs.size() - tail - 1].last});
  shown.insert(shown.end(), runs.end() - static_cast<std::ptrdiff_t>(tail), runs.end());
  return shown;
}

// The same words of all stages, or "mixed".
template <class Spell>
std::string common(const std::vector<Stage>& stages, const Run& run, Spell spell_one) {
  const std::string first = spell_one(stages[run.first]);
  for (std::size_t i = run.first + 1; i <= run.last; ++i) {
    if (spell_one(stages[i]) != first) return "mixed";
  }
  return first;
}

std::string layers_text(const std::vector<Stage>& stages, const Run& run) {
  const Stage& first = stages[run.first];
  if (run.size() == 1 && first.chunks.size() <= 2) return spell_layers(first.layers);
  std::size_t least = first.layers.size();
  std::size_t most = least;
  std::vector<LayerId> all;
  for (std::size_t i = run.first; i <= run.last; ++i) {
    least = std::min(least, stages[i].layers.size());
    most = std::max(most, stages[i].layers.size());
    all.insert(all.end(), stages[i].layers.begin(), stages[i].layers.end());
  }
  const std::string count = least == most ? std::to_string(least) : fmt::format("{}-{}", least, most);
  const std::string each = run.size() == 1 ? "" : " each";
  if (!first.chunks.empty()) return fmt::format("{}{}, in {} chunks", count, each, first.chunks.size());
  std::sort(all.begin(), all.end(), [](LayerId a, LayerId b) { return a.value < b.value; });
  const std::string ids = spell_layers(all);
  return ids.find(',') == std::string::npos ? fmt::format("{}, {} each", ids, count) : count + each;
}

}  // namespace

std::string text_bar(double share, std::size_t width) {
  const double cells = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto filled = static_cast<std::size_t>(std::lround(cells));
  return std::string(filled, '#') + std::string(width - filled, '.');
}

std::string text_range(const std::string& low, const std::string& high) {
  if (low == high) return low;
  const std::size_t at = low.find(' ');
  const std::size_t there = high.find(' ');
  const bool same_unit =
      at != std::string::npos && there != std::string::npos && low.substr(at) == high.substr(there);
  return same_unit ? low.substr(0, at) + "-" + high : low + " - " + high;
}

std::vector<StageRow> stage_rows(const Plan& plan, std::size_t most) {
  const std::vector<Stage>& stages = plan.stages;
  std::vector<StageRow> rows;
  for (const Run& run : runs_of(stages, most)) {
    StageRow& row = rows.emplace_back();
    row.stages = run.size() == 1 ? std::to_string(run.first) : fmt::format("{}-{}", run.first, run.last);
    row.layers = layers_text(stages, run);
    row.strategy = common(stages, run, [](const Stage& s) { return spell(s.strategy); });
    row.recompute = common(stages, run, [](const Stage& s) { return spell(s.recompute); });
    Seconds shortest = stages[run.first].time->total();
    Seconds longest = shortest;
    Bytes least = stages[run.first].memory->total();
    Bytes fullest = least;
    for (std::size_t i = run.first; i <= run.last; ++i) {
      shortest = std::min(shortest, stages[i].time->total());
      longest = std::max(longest, stages[i].time->total());
      least = std::min(least, stages[i].memory->total());
      fullest = std::max(fullest, stages[i].memory->total());
      row.share = std::max(row.share, memory_share(stages[i]));
    }
    row.time = text_range(format(shortest), format(longest));
    row.memory = text_range(format_memory(least), format_memory(fullest));
  }
  return rows;
}

}  // namespace nest::report
