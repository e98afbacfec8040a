// Values of choices, for the exhaustive search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nest/question/choice.hpp"

namespace nest::solve {

template <class T>
void add_new(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

// What a choice allows, the default values where it is open.
inline std::vector<std::int64_t> values_of(const Choice& choice, const std::vector<std::int64_t>& open,
                                           std::int64_t most, std::int64_t least = 1) {
  return choice.open() ? open : choice.values(most, least);
}

template <class T>
std::vector<T> values_of(const std::vector<T>& listed, const std::vector<T>& open) {
  return listed.empty() ? open : listed;
}

}  // namespace nest::solve
