// The rooms of the library, each with a namespace of its own, in the order in which they may use each other:
//
//   base < model, cluster, recipe < strategies < network < estimate < plan < price < question
//        < { solve, simulate, frameworks } < { validate, report } < api < apps
//
// A room sees the names of the rooms to its left, and of no other, without writing where they come from:
// each takes those of the rooms just before it, which bring along what they take themselves.
// tools/check_layers proves the same of the includes.
#pragma once

namespace nest::base {}
namespace nest::model {}
namespace nest::cluster {}
namespace nest::recipe {}
namespace nest::strategies {}
namespace nest::network {}
namespace nest::estimate {}
namespace nest::plan {}
namespace nest::price {}
namespace nest::question {}
namespace nest::solve {}
namespace nest::simulate {}
namespace nest::frameworks {}
namespace nest::validate {}
namespace nest::report {}

namespace nest::model {
using namespace base;
}  // namespace nest::model

namespace nest::cluster {
using namespace base;
}  // namespace nest::cluster

namespace nest::recipe {
using namespace base;
}  // namespace nest::recipe

namespace nest::strategies {
using namespace model;
using namespace cluster;
using namespace recipe;
}  // namespace nest::strategies

namespace nest::network {
using namespace strategies;
}  // namespace nest::network

namespace nest::estimate {
using namespace network;
}  // namespace nest::estimate

namespace nest::plan {
using namespace estimate;
}  // namespace nest::plan

namespace nest::price {
using namespace plan;
}  // namespace nest::price

namespace nest::question {
using namespace price;
}  // namespace nest::question

namespace nest::solve {
using namespace question;
}  // namespace nest::solve

namespace nest::simulate {
using namespace question;
}  // namespace nest::simulate

namespace nest::frameworks {
using namespace question;
}  // namespace nest::frameworks

namespace nest::validate {
using namespace solve;
using namespace simulate;
using namespace frameworks;
}  // namespace nest::validate

namespace nest::report {
using namespace solve;
using namespace simulate;
using namespace frameworks;
}  // namespace nest::report

namespace nest::cli {
using namespace validate;
using namespace report;
}  // namespace nest::cli

namespace nest::server {
using namespace validate;
using namespace report;
}  // namespace nest::server

namespace nest::tools {
using namespace validate;
using namespace report;
}  // namespace nest::tools
