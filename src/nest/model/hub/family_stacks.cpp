#include "nest/model/hub/family_stacks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/document/mismatch.hpp"
#include "nest/model/hub/family_blocks.hpp"
#include "nest/model/hub/family_defaults.hpp"
#include "nest/model/hub/family_parts.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/hub/hub_fields.hpp"

namespace nest::model {
namespace {

// What an entry of `stacks` says of one stack.
struct Entry {
  std::string name;
  std::string config;  // the key of its part of the config; empty: the whole
  std::string type;    // of that part, as a family
  const Value* said;
  std::size_t stack = 0;  // of the model
};

Entry entry_of(const Value& said, Fields& f) {
  const auto text = [&](const char* key) {
    const Value* v = said.find(key);
    return v == nullptr || v->as_string() == nullptr ? std::string() : *v->as_string();
  };
  Entry e{text("name"), text("config"), "", &said};
  if (const Value* family = said.find("family")) {
    const Expression expression = expression_of(*family);
    const Value type = f.evaluate(expression);
    if (type.as_string() == nullptr || type.as_string()->empty())
      f.fail(expression, "nothing says of which type the part " + e.name + " is", type);
    e.type = *type.as_string();
  }
  return e;
}

bool reads_encoder(const StackSpec& stack) {
  return std::ranges::any_of(stack.blocks, [](const BlockSpec& b) { return b.cross.has_value(); });
}

// Stacks whose results do not stand among tokens: one, or an encoder and a decoder.
std::ptrdiff_t plain_stacks(const ModelSpec& spec) {
  return std::ranges::count_if(spec.stacks, [](const StackSpec& s) { return !s.to_tokens; });
}

// Why a part of this type cannot stand where its family has it; empty where it can. A tower is one stack that reads images,
// sound or so many positions.
std::string misfit_as_tower(const ModelSpec& part) {
  const std::size_t stacks = part.stacks.size();
  const StackSpec& last = part.stacks.back();
  if (stacks > 1) return "is made of " + std::to_string(stacks) + " stacks, and one tower is expected here";
  if (reads_encoder(last)) return "reads an encoder, and there is none before it";
  const bool tokens = last.stem.kind == StemSpec::Kind::tokens;
  return tokens && last.sequence == 0 ? "reads tokens, and a tower is expected here" : "";
}

// What comes last predicts the next token.
std::string misfit_as_language(const ModelSpec& part) {
  if (part.stacks.back().stem.kind != StemSpec::Kind::tokens)
    return "reads no tokens, and the model's language is expected here";
  return part.head.kind == HeadSpec::Kind::vocabulary ? "" : "has no head for the next token";
}

// The same of all that has been read up to this part.
std::string misfit_among(const ModelSpec& spec) {
  const std::ptrdiff_t plain = plain_stacks(spec);
  if (plain > 2) return "has an encoder and a decoder, and there is an encoder before it";
  for (std::size_t i = 0; i < spec.stacks.size(); ++i) {
    const bool decoder = plain == 2 && i + 1 == spec.stacks.size() && !spec.stacks[i].to_tokens;
    if (reads_encoder(spec.stacks[i]) && !decoder) return "reads an encoder, and there is none before it";
  }
  return "";
}

}  // namespace

static void check_fits(const Reader& section, const std::string& type, const std::string& wrong) {
  if (wrong.empty()) return;
  section.fail_at("model_type", "a " + quoted(type) + " " + wrong);
}

void check_alone(const Reader& r, const std::string& type, const ModelSpec& spec) {
  check_fits(r, type, misfit_among(spec));
}

void read_head(Fields& f, ModelSpec& spec, std::int64_t vocab) {
  const std::int64_t outputs = f.count("outputs");
  spec.head.outputs = outputs > 0 ? outputs : vocab;
  if (f.has("tied")) spec.head.tied = f.flag("tied");
  if (f.has("head_bias")) spec.head.bias = f.flag("head_bias");
  if (f.has("head")) spec.head.steps = steps_of(f, f.word("head"), spec.stacks.back().hidden);
  if (f.has("mtp_layers")) spec.mtp_layers = f.whole("mtp_layers", {0, kMostLayers}, 0);
  if (f.has("positions")) spec.positions = f.whole("positions", {0, kMostPositions}, 0);
}

// Each stack by the family of its part, or by this one's fields with those of its entry over them. The last one has
// the head.
ModelSpec read_stacks(Reader& r, const Described& family) {
  Fields f(r, family, family.model);
  ModelSpec spec;
  std::vector<Entry> entries;
  std::deque<Document> flat;  // parts whose keys are those of the whole
  for (const Value& said : family.stacks) {
    Entry e = entry_of(said, f);
    if (const Value* when = said.find("when"); when != nullptr && !is_true(f.evaluate(expression_of(*when))))
      continue;
    ModelSpec part;
    const bool tower = said.find("among_tokens") != nullptr;
    std::optional<Reader> section;
    if (!e.type.empty()) {
      section = r.object(e.config);
      if (says_of_itself(*section, kFlatPart)) {
        flat.push_back({r.document().file, r.document().text, section->value(), r.document().is_json});
        section = Reader(flat.back());
      }
      part = read_part(*section, e.type);
      if (tower) check_fits(*section, e.type, misfit_as_tower(part));
    } else {
      Described own = family;
      if (const Value* model = said.find("model")) read_expressions(*model, own.model, family.file);
      if (const Value* block = said.find("block")) read_expressions(*block, own.block, family.file);
      Fields mine(r, own, own.model);
      part.stacks.push_back(stack_of(r, own, mine));
      part.head.outputs = part.stacks.back().stem.vocab;
    }
    StackSpec& last = part.stacks.back();  // towers of its own may stand before it
    last.prefix = e.name;
    last.to_tokens = tower;
    std::optional<Expression> whence;
    if (!e.config.empty()) whence = Expression::parse(e.config);
    f.set_name(e.name + "_hidden", last.hidden, whence);
    f.set_name(e.name + "_ffn", last.blocks.empty() ? 0 : last.blocks.front().ffn.ffn, whence);
    f.set_name(e.name + "_tied", part.head.tied, whence);
    part.stacks.insert(part.stacks.begin(), std::make_move_iterator(spec.stacks.begin()),
                       std::make_move_iterator(spec.stacks.end()));
    spec = std::move(part);
    const std::string misfit = misfit_among(spec);
    if (section) check_fits(*section, e.type, misfit);
    // A stack of the family's own stands where it does because of what came before it.
    const auto before = std::find_if(entries.rbegin(), entries.rend(),
                                     [](const Entry& other) { return !other.type.empty(); });
    if (before != entries.rend()) check_fits(r.object(before->config), before->type, misfit);
    e.stack = spec.stacks.size() - 1;
    entries.push_back(std::move(e));
  }
  if (entries.empty()) r.fail("nothing of the model is left by what the file says");
  if (const Entry& last = entries.back(); !last.type.empty())
    check_fits(r.object(last.config), last.type, misfit_as_language(spec));
  for (const Entry& e : entries) {
    const Value* exit = e.said->find("exit");
    if (exit == nullptr) continue;
    for (StepSpec& s : steps_of(f, *exit->as_string(), spec.stacks.back().hidden))
      spec.stacks[e.stack].exit.push_back(std::move(s));
  }
  read_head(f, spec, spec.head.outputs > 0 ? spec.head.outputs : spec.stacks.back().stem.vocab);
  return spec;
}

}  // namespace nest::model
