// What training adds to the passes of layers on one device, all of it movement of data: adding a
// micro-batch's gradients to those before it, and once a step the gradient norm and the optimizer's update.
// Bytes follow from the recipe's dtypes (docs/cost-model.md, The update); no collectives.
//
//   optimizer_time(1'000'000'000, named_recipe("megatron"), find_accelerator("h200"))   -> 10.8 ms
#pragma once

#include <cstdint>
#include <optional>

#include "nest/base/units.hpp"
#include "nest/cluster/accelerator.hpp"
#include "nest/estimate/kernels/kernel_model.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::estimate {

// Of one micro-batch, beyond the 16-bit gradients that the products of a layer write anyway.
[[nodiscard]] Seconds gradient_accumulation(std::int64_t parameters, const Recipe& recipe,
                                            const Accelerator& accelerator);

// The update of the parameters that the device itself updates, and zeroing the gradients that it holds for
// the next step: as many, unless ZeRO-1 shards the update alone. 0 where the recipe counts no optimizer time.
[[nodiscard]] Seconds optimizer_time(std::int64_t parameters, const Recipe& recipe,
                                     const Accelerator& accelerator,
                                     std::optional<std::int64_t> gradients = std::nullopt);
[[nodiscard]] Seconds optimizer_time(std::int64_t parameters, const Recipe& recipe, const DeviceRates& rates,
                                     std::int64_t gradients);

// The update by the host's processors, whose states and weights lie in its memory: gradients go out, 16-bit weights come
// back, bucket by bucket.
struct HostUpdate {
  Seconds out;
  Seconds update;
  Seconds back;
  Seconds zeroing;  // of gradients on the device, for the next step

  // In `buckets` equal parts: the longest of the three, and one bucket of the others.
  [[nodiscard]] Seconds total(std::int64_t buckets) const;
};
[[nodiscard]] HostUpdate host_update(std::int64_t parameters, const Recipe& recipe, const HostShare& host,
                                     const DeviceRates& rates, std::int64_t gradients);

// What Muon moves of its matrices besides orthogonalizing them (orthogonalization.hpp).
[[nodiscard]] Seconds matrix_update_time(std::int64_t parameters, const Recipe& recipe,
                                         const DeviceRates& rates);

// Reading the gradients for their norm. 0 where the recipe counts no optimizer time.
[[nodiscard]] Seconds norm_time(std::int64_t parameters, const Recipe& recipe,
                                const Accelerator& accelerator);
[[nodiscard]] Seconds norm_time(std::int64_t parameters, const Recipe& recipe, const DeviceRates& rates);

// Bytes per parameter, read and written.
[[nodiscard]] std::int64_t accumulated_bytes(const Recipe& recipe);  // of gradient_accumulation
[[nodiscard]] std::int64_t updated_bytes(const Recipe& recipe);      // of the optimizer's own kernel
[[nodiscard]] std::int64_t copied_bytes(const Recipe& recipe);       // from master weights to weights
// Of a matrix under Muon: gradient read, weight and momentum read and written, the orthogonal result in 16 bits too.
[[nodiscard]] std::int64_t matrix_bytes(const Recipe& recipe);

}  // namespace nest::estimate
