#include "nest/plan/rules/rented_plan.hpp"

#include "nest/network/cells/rented.hpp"

namespace nest::plan {

std::int64_t rented_devices(const Plan& plan, const Cluster& cluster) {
  RentedDevices rented(cluster);
  for (const Stage& stage : plan.stages) {
    for (const Cell& cell : stage.devices) {
      for (const DeviceId device : cell) rented.use(device);
    }
  }
  return rented.total();
}

}  // namespace nest::plan
