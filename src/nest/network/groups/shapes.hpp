// The shapes of all groups of one kind, each different one once.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nest/network/groups/group.hpp"

namespace nest::network {

// Different shapes that groups of one kind have in one stage, in a fixed order. Copies share them.
class Shapes {
 public:
  Shapes() = default;
  explicit Shapes(std::vector<GroupShape> shapes);

  [[nodiscard]] bool empty() const { return list_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return all().size(); }
  [[nodiscard]] const GroupShape& operator[](std::size_t i) const { return all()[i]; }
  [[nodiscard]] const GroupShape& front() const { return all().front(); }
  [[nodiscard]] const GroupShape* begin() const { return all().data(); }
  [[nodiscard]] const GroupShape* end() const { return all().data() + all().size(); }
  bool operator==(const Shapes& other) const;

 private:
  [[nodiscard]] std::span<const GroupShape> all() const {
    return list_ == nullptr ? std::span<const GroupShape>{} : std::span<const GroupShape>(*list_);
  }

  std::shared_ptr<const std::vector<GroupShape>> list_;  // none where there are no shapes
};

}  // namespace nest::network
