#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/estimate/kernels/kernel_model.hpp"

namespace nest::estimate {
namespace {

template <class T>
void expect_in_range(std::span<const ConstantField<T>> fields, const T& constants, std::string_view name) {
  for (const ConstantField<T>& field : fields) {
    if (field.may_lack && constants.*field.member == 0) continue;
    EXPECT_GE(constants.*field.member, field.least) << name << " " << field.name;
    EXPECT_LE(constants.*field.member, field.most) << name << " " << field.name;
  }
}

TEST(KernelConstants, TheFitIsWithinItsRanges) {
  const KernelConstants& c = fitted_constants();
  for (const KernelKindRow& row : kernel_kinds()) {
    if (!in_profiles(row.kind) && row.family != KernelFamily::scan) continue;
    const auto i = static_cast<std::size_t>(row.kind);
    switch (row.family) {
      case KernelFamily::matmul:
      case KernelFamily::grouped_matmul:
        expect_in_range(matmul_fields(row.family), c.matmul[i], row.series);
        break;
      case KernelFamily::attention:
        expect_in_range(attention_fields(), c.attention[i], row.series);
        break;
      case KernelFamily::stream:
        expect_in_range(stream_fields(row.kind), c.stream[i], row.series);
        break;
      case KernelFamily::scan:
        expect_in_range(scan_fields(), c.scan[i], row.series);
        break;
    }
  }
}

// A constant without an effect would look like a fit and be none.
TEST(KernelConstants, EveryTileOfTheFileIsSomewhereTheBest) {
  const KernelConstants& c = fitted_constants();
  for (const KernelKindRow& row : kernel_kinds()) {
    if (row.family != KernelFamily::matmul && row.family != KernelFamily::grouped_matmul) continue;
    const MatmulConstants& own = c.matmul[static_cast<std::size_t>(row.kind)];
    for (const ConstantField<MatmulConstants>& field : matmul_fields(row.family)) {
      if (!field.may_lack || own.*field.member == 0) continue;
      EXPECT_TRUE(tile_helps(field.member, own)) << row.series << " " << field.name;
    }
  }
}

TEST(KernelConstants, TilesThatLargerOnesBeatDoNotHelp) {
  // Two tiles of 64 x 128 do the work of one of 128 x 128: below half its rate they never win.
  MatmulConstants c{.medium_tile = 1, .small_tile = 0.51};
  EXPECT_TRUE(tile_helps(&MatmulConstants::small_tile, c));
  c.small_tile = 0.5;
  EXPECT_FALSE(tile_helps(&MatmulConstants::small_tile, c));
  c.medium_tile = 0;
  EXPECT_FALSE(tile_helps(&MatmulConstants::medium_tile, c));
}

TEST(KernelConstants, FieldsAreThoseThatMatter) {
  EXPECT_EQ(matmul_fields(KernelFamily::matmul).back().name, "split");
  EXPECT_EQ(matmul_fields(KernelFamily::grouped_matmul).back().name, "uneven");
  EXPECT_EQ(stream_fields(KernelKind::gelu_forward).back().name, "bytes");
  EXPECT_EQ(stream_fields(KernelKind::router_forward).back().name, "other_bytes");
}

TEST(KernelConstants, TheFileNamesEveryProfiledKind) {
  const Document document = parse_document("fit", std::string(kernel_fit_files().front().text));
  Reader constants = Reader(document).object("constants");
  for (const KernelKindRow& row : kernel_kinds()) {
    if (!in_profiles(row.kind)) continue;
    EXPECT_TRUE(constants.has(std::string(row.series))) << row.series;
  }
  const Document scans = parse_document("fit", std::string(kernel_fit_files().back().text));
  Reader of_scans = Reader(scans).object("constants");
  for (const KernelKindRow& row : kernel_kinds()) {
    if (row.family != KernelFamily::scan || is_roofline(row.kind)) continue;
    EXPECT_TRUE(of_scans.has(std::string(row.series))) << row.series;
  }
}

}  // namespace
}  // namespace nest::estimate
