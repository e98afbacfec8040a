#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/estimate/kernels/kernel_model.hpp"

namespace nest::estimate {
namespace {

template <class T>
void expect_in_range(std::span<const ConstantField<T>> fields, const T& constants, std::string_view name) {
  for (const ConstantField<T>& field : fields) {
    EXPECT_GE(constants.*field.member, field.least) << name << " " << field.name;
    EXPECT_LE(constants.*field.member, field.most) << name << " " << field.name;
  }
}

TEST(KernelConstants, TheFitIsWithinItsRanges) {
  const KernelConstants& c = fitted_constants();
  for (const KernelKindRow& row : kernel_kinds()) {
    if (!in_profiles(row.kind)) continue;
    const auto i = static_cast<std::size_t>(row.kind);
    switch (row.family) {
      case KernelFamily::matmul:
      case KernelFamily::grouped_matmul:
        expect_in_range(matmul_fields(), c.matmul[i], row.series);
        break;
      case KernelFamily::attention:
        expect_in_range(attention_fields(), c.attention[i], row.series);
        break;
      case KernelFamily::stream:
        expect_in_range(stream_fields(), c.stream[i], row.series);
        break;
    }
  }
}

TEST(KernelConstants, TheFileNamesEveryProfiledKind) {
  const Document document = parse_document("fit", std::string(kernel_fit_files().front().text));
  Reader constants = Reader(document).object("constants");
  for (const KernelKindRow& row : kernel_kinds()) {
    if (!in_profiles(row.kind)) continue;
    EXPECT_TRUE(constants.has(std::string(row.series))) << row.series;
  }
}

}  // namespace
}  // namespace nest::estimate
