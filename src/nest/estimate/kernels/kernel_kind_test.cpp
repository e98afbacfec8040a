#include "nest/estimate/kernels/kernel_kind.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nest::estimate {
namespace {

TEST(KernelKinds, EachHasItsRowAndItsOwnSeries) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kKernelKinds; ++i) {
    const KernelKindRow& row = row_of(static_cast<KernelKind>(i));
    EXPECT_EQ(static_cast<std::size_t>(row.kind), i);
    EXPECT_TRUE(names.insert(row.series).second) << row.series;
  }
  EXPECT_EQ(kernel_kinds().size(), kKernelKinds);
}

TEST(KernelKinds, TheShippedProfileHasTheirSeriesWithTheSameSizes) {
  for (const KernelKindRow& row : kernel_kinds()) {
    if (!in_profiles(row.kind)) continue;
    const MeasuredSeries* series = shipped_profile("h200")->series(row.series);
    ASSERT_NE(series, nullptr) << row.series;
    if (row.family == KernelFamily::matmul) {
      EXPECT_EQ(series->columns, (std::vector<std::string>{"m", "n", "k"}));
    } else if (row.family == KernelFamily::attention) {
      EXPECT_EQ(series->columns, (std::vector<std::string>{"batch", "sequence", "heads", "kv_heads", "qk_dim",
                                                           "v_dim", "causal"}));
    } else if (row.family == KernelFamily::grouped_matmul) {
      EXPECT_EQ(series->columns, (std::vector<std::string>{"experts", "tokens", "n", "k", "load"}));
    }
  }
}

TEST(StreamElements, CountWhatIsMoved) {
  EXPECT_EQ(stream_elements({KernelKind::add, {8, 16}}).main, 128);
  EXPECT_EQ(stream_elements({KernelKind::rotary_forward, {1, 10, 4, 2, 8}}).main, 480);
  const StreamElements table = stream_elements({KernelKind::embedding_backward, {1000, 8, 20}});
  EXPECT_EQ(table.main, 160);
  EXPECT_EQ(table.other, 8000);
  // A causal softmax reads half of the scores, and writes all of them.
  EXPECT_EQ(stream_elements({KernelKind::softmax_forward, {100, 50}}).main, 150);
  EXPECT_EQ(stream_elements({KernelKind::softmax_backward, {100, 50}}).main, 200);
  // Narrow norms leave multiprocessors idle while columns are added up, unless rows are very many.
  EXPECT_EQ(stream_elements({KernelKind::rms_norm_backward, {100, 1024}}).other, 100 * 4224);
  EXPECT_EQ(stream_elements({KernelKind::rms_norm_backward, {100, 8192}}).other, 100 * 8192);
  EXPECT_EQ(stream_elements({KernelKind::rms_norm_backward, {100000, 1024}}).other, 0);
}

TEST(Coordinates, DoublingASizeIsOneStep) {
  const auto a = coordinates({KernelKind::matmul_forward, {1024, 4096, 512}});
  const auto b = coordinates({KernelKind::matmul_forward, {2048, 4096, 512}});
  EXPECT_FLOAT_EQ(b[0] - a[0], 1);
  EXPECT_FLOAT_EQ(b[1], a[1]);
}

TEST(Coordinates, MaskedAndUnmaskedAttentionAreFarApart) {
  const auto a = coordinates({KernelKind::attention_forward, {1, 1024, 8, 8, 128, 128, 0}});
  const auto b = coordinates({KernelKind::attention_forward, {1, 1024, 8, 8, 128, 128, 1}});
  EXPECT_GE(b[2] - a[2], 4);
}

}  // namespace
}  // namespace nest::estimate
