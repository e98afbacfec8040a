// Compares one- and two-dimensional tensor parallelism on Llama-3.1 70B: one layer, and the plans that the
// search finds. The new strategy is a row in a table that this program passes to the library. See README.md
// for what it prints.
#include <cstdlib>
#include <iostream>

#include "compare.hpp"

int main() {
  const bool layers = compare_layers();
  std::cout << "\n";
  const bool plans = compare_plans();
  return layers && plans ? EXIT_SUCCESS : EXIT_FAILURE;
}
