#include "nest/base/document/csv.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::base {
namespace {

TEST(Csv, QuotesLineEndsAndEmptyFields) {
  const CsvTable table("t.csv",
                       "\xef\xbb\xbf"
                       "a,b,c\r\n1,\"x, \"\"y\"\"\nz\",\r\n\n2.0,,0\n");
  ASSERT_EQ(table.rows().size(), 2U);
  const CsvRow& first = table.rows()[0];
  EXPECT_EQ(first.text("b"), "x, \"y\"\nz");
  EXPECT_EQ(first.whole("a"), 1);
  EXPECT_FALSE(first.flag("c"));
  EXPECT_EQ(first.text("no such column"), "");
  const CsvRow& second = table.rows()[1];
  EXPECT_EQ(second.line(), 5);
  EXPECT_EQ(second.whole("a"), 2);
  EXPECT_FALSE(second.number("b"));
  EXPECT_EQ(second.flag("c"), false);
}

template <class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Csv, ErrorsAreSentences) {
  const CsvTable table("t.csv", "id,count,on\na,two,yes\nb,-1,1\nc,1.5,0\n");
  const auto& rows = table.rows();
  EXPECT_EQ(message([&] { static_cast<void>(rows[0].number("count")); }),
            "t.csv: line 2: 'count' is 'two', not a positive number");
  EXPECT_EQ(message([&] { static_cast<void>(rows[1].whole("count", 0)); }),
            "t.csv: line 3: 'count' is '-1', not a whole number");
  EXPECT_EQ(message([&] { static_cast<void>(rows[2].whole("count")); }),
            "t.csv: line 4: 'count' is '1.5', not a positive whole number");
  EXPECT_EQ(message([&] { static_cast<void>(rows[0].flag("on")); }),
            "t.csv: line 2: 'on' is 'yes', not 0 or 1");
  EXPECT_EQ(message([&] { table.require({"id", "counts"}); }),
            "t.csv: line 1: no column 'counts'; did you mean 'count'?");
  EXPECT_EQ(message([] { CsvTable("t.csv", "a,b\n1\n"); }), "t.csv: line 2: 1 fields, but the header has 2");
  EXPECT_EQ(message([] { CsvTable("t.csv", " \n"); }), "t.csv: the file is empty");
}

}  // namespace
}  // namespace nest::base
