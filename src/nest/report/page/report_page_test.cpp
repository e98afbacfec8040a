#include "nest/report/page/report_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/report/page/page_files.hpp"
#include "support/message_of.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(ReportPage, IsOneFileWithEverythingInside) {
  Value data = Value::object();
  data.set("title", "a plan");
  const std::string page = report_page(data);
  EXPECT_THAT(page, HasSubstr("<title>a plan</title>"));
  EXPECT_THAT(page, HasSubstr("function placementMap("));
  EXPECT_THAT(page, HasSubstr(".nest-view"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, Not(HasSubstr("\nimport ")));
  EXPECT_THAT(page, Not(HasSubstr("\nexport ")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  // The only address is the name of SVG's elements, which nobody fetches.
  EXPECT_EQ(count(page, "http"), count(page, "http://www.w3.org/2000/svg") + count(page, "http-equiv"));
}

TEST(ReportPage, ShowsSomeSectionsAlone) {
  Value data = Value::object();
  data.set("title", "a plan");
  const std::string all = report_page(data);
  for (const std::string& name : page_sections()) {
    const std::string page = report_page(data, std::vector{name});
    EXPECT_THAT(page, HasSubstr("visibility:hidden")) << name;
    // Each name has a section of the page.
    const std::size_t at = page.find("section[aria-labelledby=\"h-") + 8;
    const std::string label = page.substr(at, page.find(']', at) - at);
    EXPECT_THAT(all, HasSubstr("<section " + label + ">")) << name;
  }
  EXPECT_THAT(all, Not(HasSubstr("visibility:hidden")));
  EXPECT_EQ(message_of([&] { (void)report_page(data, std::vector<std::string>{"placment"}); }),
            "sections: there is no section 'placment' in a report; did you mean 'placement'?");
}

TEST(ReportPage, NothingOfTheDataBecomesMarkup) {
  const std::string bad = "</script><img src=x onerror=alert(1)> & {{script}} <!-- \xe2\x80\xa8";
  Value data = Value::object();
  data.set("title", bad).set("note", bad);
  const std::string page = report_page(data);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_EQ(count(page, "function placementMap("), 1U);
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; &amp; {{script}}"));
}

TEST(ReportPage, DataReadsBackAsItWas) {
  Value data = Value::object();
  data.set("text", "<a> & \"b\" \xe2\x80\xa8 \xe2\x80\xa9 \xe2\x82\xac").set("number", 1.5);
  const std::string json = script_json(data);
  EXPECT_THAT(json, Not(HasSubstr("<")));
  EXPECT_EQ(parse_json("data", json).root, data);
}

TEST(ReportPage, ModulesBecomePartsOfOneScript) {
  EXPECT_EQ(inline_module("import { a } from './a.js';\nexport const b = 1;\nexport { c } from './c.js';\n"
                          "export function d() {}\nconst text = 'export ';\n"),
            "const b = 1;\nfunction d() {}\nconst text = 'export ';\n");
}

TEST(ReportPage, HasEveryFileOfItsFolderInside) {
  for (const char* name : {"report.html", "report.css", "views.css", "views.js", "report.js", "map.js"}) {
    ASSERT_NE(find_embedded(page_files(), name), nullptr) << name;
  }
}

}  // namespace
}  // namespace nest::report
