// The lowest price of plans with the same degrees, over all assignments of devices to cells or over those of
// a family of placements.
#pragma once

#include <optional>
#include <vector>

#include "families.hpp"
#include "nest/price/price.hpp"

namespace nest::tools::study {

class AllPlacements {
 public:
  // Plans of the same degrees that differ in their cuts.
  AllPlacements(Pricer& pricer, std::vector<Plan> plans);

  // With devices and results; none where nothing is feasible. A layer profile's times hold whatever its cells
  // say to one another, wherever their devices lie: its cells stay whole, as they were when they were
  // measured.
  [[nodiscard]] std::optional<Plan> best();
  [[nodiscard]] std::optional<Plan> best_of(const Family& family);

  [[nodiscard]] Degrees degrees() const;

 private:
  void assign(std::size_t at);
  [[nodiscard]] bool whole(const Cell& cell) const;
  void price();

  Pricer* pricer_;
  std::vector<Plan> plans_;
  std::size_t stages_ = 1;
  std::size_t copies_ = 1;
  std::size_t cell_ = 1;
  bool lanes_alike_ = false;
  bool keep_whole_ = false;
  std::vector<bool> used_;
  std::vector<std::vector<Cell>> devices_;
  PricedPlan priced_;
  std::optional<Plan> best_;
};

}  // namespace nest::tools::study
