#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace nest::tools::study {
namespace {

// How often, and by how much where it is so.
struct Summary {
  std::size_t count = 0;
  std::size_t better = 0;
  double mean = 0;  // over all
  double most = 0;
};

template <class Take>
Summary summary(const std::vector<Outcome>& outcomes, Take take) {
  Summary s;
  for (const Outcome& o : outcomes) {
    if (!take(o)) continue;
    ++s.count;
    s.better += o.gain > kNoise ? 1 : 0;
    s.mean += std::max(0.0, o.gain);
    s.most = std::max(s.most, o.gain);
  }
  if (s.count > 0) s.mean /= static_cast<double>(s.count);
  return s;
}

struct Group {
  std::string name;
  ClusterForm form;
  bool full;
};
const std::vector<Group> kGroups{
    {"even domains, bandwidth does not grow outwards", ClusterForm::even, false},
    {"the same, three quarters of the devices in use or more", ClusterForm::even, true},
    {"uneven domains", ClusterForm::uneven, false},
    {"uneven domains, three quarters in use or more", ClusterForm::uneven, true},
    {"faster outwards", ClusterForm::faster_outside, false}};

bool belongs(const Outcome& o, const Group& group) {
  return o.form == group.form && (o.full || !group.full);
}

std::string percent(double share) {
  return fmt::format("{:.2g} %", 100 * share);
}

std::string cell_of(const Summary& s) {
  if (s.count == 0) return "-";
  if (s.better == 0) return "never";
  const double often = static_cast<double>(s.better) / static_cast<double>(s.count);
  return fmt::format("{:.0f} %: {}, at most {}", 100 * often, percent(s.mean), percent(s.most));
}

std::string kind_name(std::size_t kind) {
  return kKinds[kind].empty() ? "levels of several kinds" : kKinds[kind];
}

std::vector<Group> groups_of(const std::vector<Outcome>& all) {
  std::vector<Group> groups = kGroups;
  std::erase_if(groups, [&](const Group& group) {
    return std::none_of(all.begin(), all.end(), [&](const Outcome& o) { return belongs(o, group); });
  });
  return groups;
}

}  // namespace

void print_ratios(const std::vector<Outcome>& all) {
  fmt::print(
      "How often another placement is better: the mean gain over all instances, the largest gain.\n\n");
  std::string rule = "| --- |";
  fmt::print("| compute : communication |");
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    fmt::print(" {} |", kind_name(k));
    rule += " --- |";
  }
  fmt::print("\n{}\n", rule);
  for (std::size_t r = 0; r < kRatios.size(); ++r) {
    const auto power = [](std::int64_t n) {
      return fmt::format("{:.0f}", std::pow(10, std::max<std::int64_t>(0, n)));
    };
    fmt::print("| {} : {} |", power(kRatios[r]), power(-kRatios[r]));
    for (std::size_t k = 0; k < kKinds.size(); ++k)
      fmt::print(" {} |",
                 cell_of(summary(all, [&](const Outcome& o) { return o.ratio == r && o.kind == k; })));
    fmt::print("\n");
  }
}

void print_groups(const std::vector<Outcome>& all) {
  const std::array<double, 5> edges{0, 0.01, 0.1, 0.3, 2};
  fmt::print(
      "\n| cluster | communication below 1 % of the step | 1 to 10 % | 10 to 30 % | above 30 % |\n"
      "| --- | --- | --- | --- | --- |\n");
  for (const Group& group : groups_of(all)) {
    fmt::print("| {} |", group.name);
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      const Summary s = summary(all, [&](const Outcome& o) {
        return belongs(o, group) && o.communication >= edges[i] && o.communication < edges[i + 1];
      });
      fmt::print(" {} instances, {} |", s.count, cell_of(s));
    }
    fmt::print("\n");
  }
}

void print_families(std::vector<Outcome> all, const std::vector<Family>& families) {
  std::erase_if(all, [](const Outcome& o) { return !o.usual_talk(); });
  fmt::print("\nWhat is left of the gain where communication is 1 to 30 % of the step.\n\n| placements |");
  std::string rule = "| --- | --- |";
  for (const Group& group : groups_of(all)) {
    fmt::print(" {} |", group.name);
    rule += " --- |";
  }
  fmt::print(" placements to search |\n{}\n", rule);
  for (std::size_t f = 0; f < families.size(); ++f) {
    fmt::print("| {} |", families[f].name);
    double searched = 0;
    for (Outcome& o : all) {
      o.gain = o.left[f];
      searched += o.searched[f] / static_cast<double>(all.size());
    }
    for (const Group& group : groups_of(all))
      fmt::print(" {} |", cell_of(summary(all, [&](const Outcome& o) { return belongs(o, group); })));
    fmt::print(" {:.2g} times |\n", searched);
  }
}

}  // namespace nest::tools::study
