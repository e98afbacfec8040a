#include "nest/report/reproduce/experiment_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/report/reproduce/test_experiment.hpp"

namespace nest::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ExperimentPage, ChartTableAndWhatWasRun) {
  const ExperimentResult result =
      run_experiment(test::some_points("figure5", "bert-large"), test::made_up_options());
  const std::string page =
      experiment_page(*find_experiment("figure5"), result, {{"command", "nest reproduce <figure5>"}});
  EXPECT_THAT(page, HasSubstr("nest reproduce &lt;figure5&gt;"));
  EXPECT_THAT(page, HasSubstr("<svg "));
  EXPECT_THAT(page, HasSubstr("<td class=\"why\">stage 0 needs 70 GiB, and a device has 64</td>"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, Not(HasSubstr("<th>published</th>")));
}

TEST(ExperimentPage, NothingIsLoadedFromElsewhere) {
  const std::string page = experiment_page(*find_experiment("figure5"), {}, {});
  for (const char* loads : {"src=", "href=", "@import", "url(", "<script"})
    EXPECT_THAT(page, Not(HasSubstr(loads)));
}

}  // namespace
}  // namespace nest::report
