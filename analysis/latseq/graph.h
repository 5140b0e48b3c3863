// The graph of places as LatSeq's tools build it. An edge leads from each source to its dests and
// to their dotted prefixes, in the order in which they were seen. A path is a walk from an input to
// an output that meets no place twice. One thread owns a Graph.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/latseq/name_table.h"

namespace sojourn::latseq {

struct Node {
  NameId name = 0;
  std::vector<NameId> next;  // a prefix may be in it several times
  std::uint64_t count = 0;
  std::vector<bool> uplink;  // the directions in which it was seen, the first one first
};

// The places where LatSeq's scripts let journeys begin and end, by direction: downlink, uplink.
struct Ends {
  std::array<std::vector<std::string>, 2> in = {{{"ip.in"}, {"phy.in.proc"}}};
  std::array<std::vector<std::string>, 2> out = {{{"phy.out.proc"}, {"gtp.out", "ip.out"}}};
};

using Path = std::vector<NameId>;
using Paths = std::array<std::vector<Path>, 2>;  // by direction

class Graph {
 public:
  void add(NameTable& names, bool uplink, NameId src, NameId dest);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node* find(NameId name) const;

  // Fails where neither direction has a path, or where there are more than a pipeline can have.
  Result<Paths> paths(NameTable& names, const Ends& ends) const;

 private:
  Node& node(NameId name, bool uplink, std::uint64_t count);

  std::vector<Node> nodes_;
  std::unordered_map<NameId, std::size_t> by_name_;
};

}  // namespace sojourn::latseq
