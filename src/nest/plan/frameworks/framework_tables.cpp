#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::plan {

const std::vector<FrameworkRules>& framework_tables() {
  static const std::vector<FrameworkRules> kAll{
      megatron_table(), torchtitan_table(), deepspeed_table(), accelerate_table(), maxtext_table(),
  };
  return kAll;
}

}  // namespace nest::plan
