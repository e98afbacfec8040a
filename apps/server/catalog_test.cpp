#include "catalog.hpp"

#include <gtest/gtest.h>

#include "api_error.hpp"

namespace nest::server {
namespace {

std::size_t rows(const Value& answer, const char* key) {
  return answer.find(key)->as_array()->size();
}

TEST(Catalog, Lists) {
  EXPECT_GT(rows(list_models(), "models"), 50U);
  EXPECT_GT(rows(list_clusters(), "clusters"), 20U);
  const Value recipes = list_recipes();
  EXPECT_GE(rows(recipes, "recipes"), 4U);
  EXPECT_GE(rows(recipes, "frameworks"), 3U);
  EXPECT_GT(rows(recipes, "choices"), 10U);
  EXPECT_GT(rows(recipes, "targets"), 8U);
}

TEST(Catalog, One) {
  EXPECT_EQ(*show_model("llama3.1-8b").find("default_sequence")->as_int(), 8192);
  const Value cluster = show_cluster("h100-spine-leaf");
  EXPECT_EQ(*cluster.find("devices")->as_int(), 1024);
  EXPECT_NE(cluster.find("file")->find("levels"), nullptr);
}

TEST(Catalog, Unknown) {
  try {
    (void)show_model("llama3.1-80b");
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 404);
    EXPECT_NE(error.hint, "");
  }
  EXPECT_THROW((void)show_cluster("/etc/passwd"), ApiError);
}

}  // namespace
}  // namespace nest::server
