#include "nest/validate/validation_value.hpp"

#include <gtest/gtest.h>

namespace nest::validate {
namespace {

struct Result {
  bool usable = true;
  bool was_scored = true;
  [[nodiscard]] bool scored() const { return was_scored; }
};

TEST(ValidationValue, CountsAndFiguresInOneOrder) {
  const std::vector<Result> results{{true, true}, {true, false}, {false, false}};
  const ErrorSummary all = summarize_errors("rows", {0.1, -0.2});
  EXPECT_EQ(to_json_line(head_value(head_of(results), all, "one number", ErrorSummary{})),
            R"({"rows": 3, "usable": 2, "skipped": 1, "median_abs_error": )" +
                to_json_line(Value(all.median)) +
                R"(, "p90_abs_error": 0.2, "over": "rows: 2", "constant_model": {"what": "one number", )"
                R"("median_abs_error": null, "p90_abs_error": null}})");
}

TEST(ValidationValue, StrataKeepTheirOrder) {
  const Value list = strata_value({summarize_errors("b", {0.5}), summarize_errors("a", {0.5})});
  ASSERT_EQ(list.as_array()->size(), 2U);
  EXPECT_EQ(*(*list.as_array())[0].find("name")->as_string(), "b");
}

}  // namespace
}  // namespace nest::validate
