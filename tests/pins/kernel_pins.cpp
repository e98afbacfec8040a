// Times of every kind of kernel, of the optimizer, and of accelerators under every generation of attention
// kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "nest/estimate/kernels/kernel_time.hpp"
#include "nest/estimate/kernels/optimizer_time.hpp"
#include "nest/estimate/layers/fixed_memory.hpp"
#include "nest/recipe/recipe.hpp"
#include "pins/pin_table.hpp"

namespace nest::pins {
namespace {

using namespace estimate;
using namespace cluster;
using namespace recipe;

const KernelTimes& times_on(const std::string& accelerator) {
  static std::map<std::string, KernelTimes> kept;
  const auto known = kept.find(accelerator);
  if (known != kept.end()) return known->second;
  return kept.emplace(accelerator, KernelTimes(find_accelerator(accelerator))).first->second;
}

KernelCall call_of(const std::string& series, const std::string& sizes, std::int64_t window) {
  for (const KernelKindRow& row : kernel_kinds()) {
    if (row.series != series) continue;
    KernelCall call{row.kind, {}, window};
    std::ranges::copy(sizes_in(sizes), call.sizes.begin());
    return call;
  }
  throw std::runtime_error("no kernel " + series);
}

double seconds_of(const std::string& accelerator, const std::string& series, const std::string& sizes,
                  std::int64_t window = 0) {
  return times_on(accelerator).seconds(call_of(series, sizes, window)).time.value;
}

TEST(Pins, Kernels) {
  check_pins("kernels", [](const PinRow& row) {
    const KernelTime time =
        times_on(row["accelerator"]).seconds(call_of(row["kernel"], row["sizes"], row.whole("window")));
    return std::vector{time.time.value, static_cast<double>(time.source)};
  });
}

// Whole-step kernels by the recipe's own bytes.
TEST(Pins, Updates) {
  check_pins("updates", [](const PinRow& row) {
    Recipe recipe = named_recipe(row["recipe"]);
    const std::map<std::string, std::string> more = words_in(row["besides"]);
    if (more.contains("sgd")) recipe.optimizer = Optimizer::sgd;
    if (more.contains("narrow")) {  // nothing but 16-bit values
      recipe.master_weights = false;
      recipe.parameter_dtype = recipe.gradient_dtype = recipe.optimizer_dtype = StateDType::bf16;
    }
    const Accelerator& accelerator = find_accelerator(row["accelerator"]);
    const std::int64_t parameters = row.whole("parameters");
    const FixedMemory memory = fixed_memory(recipe, row.whole("communicators"));
    return std::vector{optimizer_time(parameters, recipe, accelerator).value,
                       norm_time(parameters, recipe, accelerator).value,
                       gradient_accumulation(parameters, recipe, accelerator).value,
                       static_cast<double>(memory.on_device(Bytes{row.whole("allocated")}).value)};
  });
}

// A product in 16 and in 8 bit, a copy, attention of each generation, and issuing a kernel. The share of fp16
// shows nowhere but in the figures of the accelerator where it has bf16, too.
TEST(Pins, Accelerators) {
  check_pins("accelerators", [](const PinRow& row) {
    const std::string& name = row["accelerator"];
    const Accelerator& accelerator = find_accelerator(name);
    const double attention = seconds_of(name, "attention/forward", "1x4096x32x8x128x128x1");
    return std::vector{seconds_of(name, "matmul/forward", "8192x8192x8192"),
                       seconds_of(name, "fp8_matmul/tensor", "8192x8192x8192"),
                       seconds_of(name, "copy/plain", "100000000"),
                       attention * flash_time(1, accelerator),
                       attention * flash_time(2, accelerator),
                       attention * flash_time(3, accelerator),
                       times_on(name).launch().value,
                       accelerator.matmul_share(MathType::fp16).value};
  });
}

}  // namespace
}  // namespace nest::pins
