#include "nest/price/pipeline_time.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace nest::price {
namespace {

constexpr unsigned kSeed = 20261121;
constexpr int kRounds = 4000;
constexpr double kRounding = 1 + 1e-12;

// A formula: a schedule's own, or that of a model that looks at no schedule.
struct Form {
  Schedule schedule = Schedule::one_f_one_b;
  PipelineModel model = PipelineModel::one_f_one_b;

  bool operator==(const Form&) const = default;
};
constexpr Form kPlain{};

std::vector<Form> all_forms() {
  std::vector<Form> all{{.model = PipelineModel::sum_max}, {.model = PipelineModel::paper}};
  for (const PipelineSchedule* s : kSchedules) {
    if (s->form != nullptr) all.push_back({.schedule = s->id});
  }
  return all;
}

// Pipelines of these tests are plain numbers of seconds.
double total_of(const PipelineShape& shape, const PipelineLabel& label) {
  return pipeline_total(shape, label).value;
}
double bound_of(const PipelineShape& shape, const PipelineLabel& label, std::int64_t s, double f, double b) {
  return pipeline_bound(shape, label, s, Seconds{f}, Seconds{b}).value;
}
double bound_of(const PipelineShape& shape, double f, double b, const StagePass& longest) {
  return pipeline_bound(shape, Seconds{f}, Seconds{b}, longest).value;
}

struct Pipeline {
  std::vector<StagePass> stages;  // first stage first
  std::int64_t micro_batches = 1;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(stages.size()); }
};

class RandomPipelines {
 public:
  explicit RandomPipelines(unsigned seed) : random_(seed) {}

  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  double real(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }
  // Stages nearly alike or not at all; some do nothing one way.
  StagePass pass(double spread) {
    StagePass pass;
    pass.weight = real(1, 1 + spread);
    pass.f = pick(1, 20) == 1 ? 0 : real(1, 1 + spread);
    pass.b = (pick(1, 20) == 1 ? 0 : real(1, 1 + spread)) + pass.weight;
    return pass;
  }
  // Micro-batches below, at and above the number of stages.
  Pipeline next() {
    Pipeline made;
    const double spread = std::array{0.0, 0.1, 1.0, 10.0}[static_cast<std::size_t>(pick(0, 3))];
    const int p = pick(1, 8);
    for (int i = 0; i < p; ++i) made.stages.push_back(pass(spread));
    made.micro_batches =
        std::array{pick(1, p), p, p + 1, pick(p, 4 * p)}[static_cast<std::size_t>(pick(0, 3))];
    return made;
  }

 private:
  std::mt19937 random_;
};

double time_of(Form form, const Pipeline& pipeline) {
  return pipeline_time(form.schedule, form.model, pipeline.stages, pipeline.micro_batches, 1).value;
}

PipelineShape shape_of(Form form, const Pipeline& pipeline) {
  return {&pipeline_form(form.schedule, form.model), pipeline.size(), pipeline.micro_batches};
}

// Of the last s stages.
PipelineLabel label_of(const PipelineShape& shape, const Pipeline& pipeline, std::int64_t s) {
  PipelineLabel label{};
  for (std::int64_t k = 1; k <= s; ++k)
    label = extended(shape, label, pipeline.stages[static_cast<std::size_t>(pipeline.size() - k)], k);
  return label;
}

StagePass sum_of(const Pipeline& pipeline, std::int64_t stages) {
  StagePass sum;
  for (std::int64_t i = 0; i < stages; ++i) {
    sum.f += pipeline.stages[static_cast<std::size_t>(i)].f;
    sum.b += pipeline.stages[static_cast<std::size_t>(i)].b;
  }
  return sum;
}

StagePass longest_of(const Pipeline& pipeline) {
  return *std::max_element(pipeline.stages.begin(), pipeline.stages.end(),
                           [](const StagePass& a, const StagePass& b) { return a.f + a.b < b.f + b.b; });
}

std::string text_of(Form form, const Pipeline& pipeline) {
  std::string text = "form " + std::string(name_of(form.schedule)) + " " + std::string(name_of(form.model)) +
                     ", " + std::to_string(pipeline.micro_batches) + " micro-batches, stages";
  for (const StagePass& pass : pipeline.stages)
    text += " {" + std::to_string(pass.f) + ", " + std::to_string(pass.b) + ", " +
            std::to_string(pass.weight) + "}";
  return text;
}

// Calls `look` for many pipelines of every form.
template <class Look>
void for_random_pipelines(unsigned seed, Look look) {
  RandomPipelines random(seed);
  for (int round = 0; round < kRounds; ++round) {
    const Pipeline pipeline = random.next();
    for (const Form form : all_forms()) {
      SCOPED_TRACE(text_of(form, pipeline));
      look(form, pipeline, random);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(PipelineLabel, EveryScheduleAndModelHasItsForm) {
  std::set<const PipelineForm*> forms;
  for (const Form form : all_forms()) forms.insert(&pipeline_form(form.schedule, form.model));
  EXPECT_EQ(forms.size(), 5U);
  for (const PipelineSchedule* s : kSchedules) {
    for (const PipelineModel model : {PipelineModel::sum_max, PipelineModel::paper})
      EXPECT_EQ(&pipeline_form(s->id, model), &pipeline_form(Schedule::one_f_one_b, model)) << s->name;
  }
}

// The worked example's first row, in milliseconds: S and V of the last stage, then of both.
TEST(PipelineLabel, TheExampleStageByStage) {
  const PipelineShape shape{kOneFOneB.form, 2, 4};
  const PipelineLabel last = extended(shape, {}, {1.501, 2}, 1);
  EXPECT_NEAR(last[0], 3.501, 1e-12);
  EXPECT_NEAR(last[1], 4 * 3.501, 1e-12);
  const PipelineLabel both = extended(shape, last, {3, 6.501}, 2);
  EXPECT_NEAR(both[0], 13.002, 1e-12);
  EXPECT_NEAR(total_of(shape, both), 38.505, 1e-12);
}

TEST(PipelineLabel, GrowsToThePipelinesTime) {
  for_random_pipelines(kSeed, [](Form form, const Pipeline& pipeline, RandomPipelines&) {
    const PipelineShape shape = shape_of(form, pipeline);
    const double time = time_of(form, pipeline);
    EXPECT_NEAR(total_of(shape, label_of(shape, pipeline, pipeline.size())), time, 1e-12 * time);
  });
}

// No larger a label, no larger what comes of it, entry by entry and in the end.
TEST(PipelineLabel, MonotoneInEveryEntry) {
  for_random_pipelines(kSeed + 1, [](Form form, const Pipeline& pipeline, RandomPipelines& random) {
    const PipelineShape shape = shape_of(form, pipeline);
    for (std::int64_t s = 1; s <= pipeline.size(); ++s) {
      const PipelineLabel less = label_of(shape, pipeline, s - 1);
      PipelineLabel more = less;
      more[static_cast<std::size_t>(random.pick(0, 2))] += random.real(0, 5);
      const StagePass& pass = pipeline.stages[static_cast<std::size_t>(pipeline.size() - s)];
      const PipelineLabel a = extended(shape, less, pass, s);
      const PipelineLabel b = extended(shape, more, pass, s);
      for (std::size_t k = 0; k < a.size(); ++k) EXPECT_LE(a[k], b[k]) << "entry " << k << ", stage " << s;
      EXPECT_LE(total_of(shape, a), total_of(shape, b));
    }
  });
}

TEST(PipelineLabel, NothingBecomesLessThanItsBound) {
  for_random_pipelines(kSeed + 2, [](Form form, const Pipeline& pipeline, RandomPipelines& random) {
    const PipelineShape shape = shape_of(form, pipeline);
    const double time = time_of(form, pipeline);
    for (std::int64_t s = 0; s <= pipeline.size(); ++s) {
      const PipelineLabel label = label_of(shape, pipeline, s);
      const StagePass left = sum_of(pipeline, pipeline.size() - s);
      const double bound = bound_of(shape, label, s, left.f, left.b);
      EXPECT_LE(bound, time * kRounding) << s << " stages known";
      const double share = random.real(0, 1);
      EXPECT_LE(bound_of(shape, label, s, share * left.f, share * left.b), bound * kRounding);
    }
  });
}

TEST(PipelineLabel, TheBoundOfAllStagesIsTheTime) {
  for_random_pipelines(kSeed + 3, [](Form form, const Pipeline& pipeline, RandomPipelines&) {
    const PipelineShape shape = shape_of(form, pipeline);
    const PipelineLabel label = label_of(shape, pipeline, pipeline.size());
    EXPECT_EQ(bound_of(shape, label, pipeline.size(), 0, 0), total_of(shape, label));
  });
}

TEST(PipelineLabel, TheBoundOfSumsAndTheLongestStage) {
  for_random_pipelines(kSeed + 4, [](Form form, const Pipeline& pipeline, RandomPipelines& random) {
    const PipelineShape shape = shape_of(form, pipeline);
    const StagePass all = sum_of(pipeline, pipeline.size());
    const StagePass longest = longest_of(pipeline);
    const double time = time_of(form, pipeline);
    EXPECT_LE(bound_of(shape, all.f, all.b, longest), time * kRounding);
    const double share = random.real(0, 1);
    EXPECT_LE(bound_of(shape, share * all.f, share * all.b, longest), time * kRounding);
    // Knowing of the longest stage never makes it worse.
    EXPECT_GE(bound_of(shape, all.f, all.b, longest), bound_of(shape, {}, 0, all.f, all.b));
    EXPECT_GE(bound_of(shape, all.f, all.b, longest) * kRounding,
              static_cast<double>(pipeline.micro_batches) * (longest.f + longest.b));
  });
}

// Stages that are longer make the bound longer by no less: what sticks out of a label and hides behind them
// counts in a bound of both.
TEST(PipelineLabel, LongerStagesMakeTheBoundLongerByNoLess) {
  for_random_pipelines(kSeed + 7, [](Form form, const Pipeline& pipeline, RandomPipelines& random) {
    if (form.schedule == Schedule::zb_h1 || form.model == PipelineModel::paper) return;
    const PipelineShape shape = shape_of(form, pipeline);
    const std::int64_t s = random.pick(0, static_cast<int>(pipeline.size()) - 1);
    const PipelineLabel label = label_of(shape, pipeline, s);
    const StagePass before = sum_of(pipeline, pipeline.size() - s);
    const double bound = bound_of(shape, label, s, before.f, before.b);
    const double more = random.real(0, 5);
    EXPECT_GE(bound_of(shape, label, s, before.f, before.b + more) * kRounding, bound + more);
    EXPECT_GE(bound_of(shape, label, s, before.f + more, before.b) * kRounding, bound + more);
  });
}

// With equal stages and enough micro-batches nothing is lost: (m + p - 1) u.
TEST(PipelineLabel, BoundsOfEqualStagesAreExact) {
  for (const std::int64_t p : {1, 2, 5}) {
    const Pipeline equal{std::vector<StagePass>(static_cast<std::size_t>(p), {1, 2, 1}), p + 3};
    const auto n = static_cast<double>(p);
    for (const Form form : all_forms()) {
      if (form.schedule == Schedule::zb_h1) continue;
      const PipelineShape shape = shape_of(form, equal);
      EXPECT_NEAR(bound_of(shape, {}, 0, n, 2 * n), static_cast<double>(2 * p + 2) * 3, 1e-9);
    }
  }
}

// Sum + (m - 1) times the mean stage would be a bound of equal stages, but not of others: two stages of 1.2
// and 0.9 with two micro-batches take 1.2 + 2 * 0.9 = 3, and 2.1 + 1.05 is above that.
TEST(PipelineLabel, TheMeanStageIsNoBoundWithFewMicroBatches) {
  const Pipeline two{{{0.6, 0.6}, {0.45, 0.45}}, 2};
  const double time = time_of(kPlain, two);
  EXPECT_NEAR(time, 3.0, 1e-12);
  const double sum = 2.1;
  EXPECT_LT(time, sum + (2 - 1) * sum / 2);
  EXPECT_LE(bound_of(shape_of(kPlain, two), sum / 2, sum / 2, {0.6, 0.6}), time * kRounding);
}

// With more micro-batches than stages it is one: (m + p - 1) / p times the sum.
TEST(PipelineLabel, TheMeanStageIsABoundWithManyMicroBatches) {
  for_random_pipelines(kSeed + 5, [](Form form, const Pipeline& pipeline, RandomPipelines&) {
    if (!(form == kPlain) || pipeline.micro_batches <= pipeline.size()) return;
    const StagePass all = sum_of(pipeline, pipeline.size());
    const double mean = (all.f + all.b) / static_cast<double>(pipeline.size());
    const double bound = static_cast<double>(pipeline.micro_batches + pipeline.size() - 1) * mean;
    EXPECT_LE(bound, time_of(form, pipeline) * kRounding);
    EXPECT_GE(bound_of(shape_of(form, pipeline), {}, 0, all.f, all.b) * kRounding, bound);
  });
}

// Chunks of any times: every schedule that has them. A bound knows what passes take where all hides that may.
TEST(PipelineLabel, ChunkedTimesAreNeverBelowTheirBound) {
  RandomPipelines random(kSeed + 6);
  for (int round = 0; round < kRounds; ++round) {
    for (const PipelineSchedule* schedule : kSchedules) {
      if (!schedule->chunked()) continue;
      const std::int64_t p = random.pick(2, 8);
      const std::int64_t m = p * (random.pick(1, 4) + schedule->least_rounds);
      const std::int64_t v = std::min<std::int64_t>(schedule->most_chunks, random.pick(2, 4));
      const double spread = std::array{0.0, 0.3, 10.0}[static_cast<std::size_t>(random.pick(0, 2))];
      const double hides = schedule->pairs_passes ? random.real(0, 1) : 0;
      std::vector<StagePass> chunks;  // chunk c of stage i is chunks[i * v + c]
      double sum = 0;
      double longest = 0;
      std::string text;
      for (std::int64_t i = 0; i < p; ++i) {
        double stage = 0;
        for (std::int64_t c = 0; c < v; ++c) {
          chunks.push_back(random.pass(spread));
          stage += (1 - hides) * (chunks.back().f + chunks.back().b);
          text += " {" + std::to_string(chunks.back().f) + ", " + std::to_string(chunks.back().b) + "}";
        }
        for (std::size_t c = chunks.size() - static_cast<std::size_t>(v);
             schedule->pairs_passes && c < chunks.size(); ++c)
          chunks[c].pair = (1 - hides) * (chunks[c].f + chunks[c ^ 1].b);
        sum += stage;
        longest = std::max(longest, stage);
      }
      const double time = chunk_time(schedule->id, chunks, p, m).value;
      ASSERT_LE(schedule->bound({p, m, v}, sum, longest), time * kRounding)
          << schedule->name << ", " << p << " stages, " << m << " micro-batches, " << hides
          << " hidden, chunks" << text;
    }
  }
}

TEST(PipelineLabel, TheBoundOfEqualChunks) {
  EXPECT_NEAR(kInterleaved.bound({4, 8, 2}, 12, 3), 24, 1e-12);
  EXPECT_NEAR(kInterleaved.bound({4, 8, 2}, 12, 5), 8 * 5, 1e-12);
  EXPECT_NEAR(kInterleaved.bound({2, 2, 2}, 12, 3), 12, 1e-12);
  EXPECT_NEAR(kZbV.bound({4, 8, 2}, 12, 5), 8 * 5, 1e-12);
  EXPECT_NEAR(kDualPipeV.bound({4, 8, 2}, 12, 5), 8 * 5, 1e-12);
  EXPECT_NEAR(kDualPipeV.bound({4, 8, 2}, 12, 2), 24, 1e-12);
}

}  // namespace
}  // namespace nest::price
