#include "nest/frameworks/megatron_core/hydra_file.hpp"

#include <gtest/gtest.h>

namespace nest::frameworks {
namespace {

TEST(HydraFile, HasSectionsInTheOrderOfTheirFirstSetting) {
  EXPECT_EQ(hydra_text({{"model.b", "1"}, {"train.c", "2"}, {"model.a", "'x|y'"}, {"comm_overlap", "null"}}),
            "# model\nmodel.b=1\nmodel.a='x|y'\n\n# train\ntrain.c=2\n\n# comm_overlap\ncomm_overlap=null\n");
  EXPECT_EQ(hydra_text({{"a.b.c", "1"}, {"+a.b.d", "2"}}), "# a.b\na.b.c=1\n+a.b.d=2\n");
}

TEST(HydraFile, IsReadLineByLine) {
  EXPECT_EQ(hydra_reader("overrides.txt", "overrides"),
            "mapfile -t overrides < <(sed -e '/^#/d' -e '/^$/d' \"$here/overrides.txt\")\n");
}

}  // namespace
}  // namespace nest::frameworks
