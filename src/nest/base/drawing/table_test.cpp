#include "nest/base/drawing/table.hpp"

#include <gtest/gtest.h>

namespace nest::base {
namespace {

constexpr auto kRight = Table::Align::right;

TEST(Table, AlignsColumns) {
  Table table({{"name"}, {"parameters", kRight}, {"layers", kRight}});
  table.add({"llama3.1-8b", "8.03 B", "32"});
  table.add({"llama3.1-70b", "70.6 B", "80"});
  EXPECT_EQ(table.str(),
            "name          parameters  layers\n"
            "llama3.1-8b       8.03 B      32\n"
            "llama3.1-70b      70.6 B      80\n");
}

TEST(Table, HasNoSpacesAtLineEnds) {
  Table table({{"a"}, {"note"}});
  table.add({"x", ""});
  table.add({"y"});  // missing cells are empty
  table.add({});
  EXPECT_EQ(table.str(), "a  note\nx\ny\n\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"t"}, {"n", kRight}});
  table.add({"5 \xc2\xb5s", "1"});
  table.add({"12 us", "2"});
  EXPECT_EQ(table.str(), "t      n\n5 \xc2\xb5s   1\n12 us  2\n");
  EXPECT_EQ(text_width("\xe2\x82\xac \xf0\x9f\x98\x80"), 3U);
}

TEST(Table, CutsTheLastLeftColumnWhereItIsTooWide) {
  Table table({{"name"}, {"description"}, {"n", kRight}});
  table.add({"a", "a description that goes on \xe2\x82\xac and on", "1"});
  table.add({"b", "short", "2"});
  EXPECT_EQ(table.str(40),
            "name  description                      n\n"
            "a     a description that goes on \xe2\x82\xac a\xe2\x80\xa6  1\n"
            "b     short                            2\n");
}

TEST(Table, NeverCutsBelowEightColumnsNorNumbers) {
  Table table({{"name"}, {"n", kRight}});
  table.add({"abcdefghijkl", "123456"});
  EXPECT_EQ(table.str(5), "name           n\nabcdefg\xe2\x80\xa6  123456\n");
}

TEST(Wrap, BreaksAtSpacesAndIndentsLaterLines) {
  EXPECT_EQ(wrap("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrap("one two", 9, 2), "one two");
  EXPECT_EQ(wrap("one two", 8, 2), "one\n  two");
  EXPECT_EQ(wrap("incomprehensibilities are long", 10, 0), "incomprehensibilities\nare long");
  EXPECT_EQ(wrap("\xe2\x82\xac\xe2\x82\xac \xe2\x82\xac", 4, 0), "\xe2\x82\xac\xe2\x82\xac \xe2\x82\xac");
  EXPECT_EQ(wrap("", 10, 2), "");
}

}  // namespace
}  // namespace nest::base
