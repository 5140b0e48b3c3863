#include "analysis/present/words/graph_layout.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace sojourn::present {

namespace {

constexpr double kMargin = 16;
constexpr double kLayerGap = 28;
constexpr double kGap = 14;
constexpr double kPassHeight = 6;  // of an edge that only passes
constexpr int kSweeps = 12;

// Something that stands in a layer: a node, a label, or a passing edge.
struct Item {
  std::size_t layer = 0;
  GraphBox box;
  std::vector<std::size_t> left;  // items of the layer before, and behind, that it is tied to
  std::vector<std::size_t> right;
};

class Layers {
 public:
  Layers(const Graph& graph, const std::vector<GraphBox>& nodes,
         const std::vector<GraphBox>& labels)
      : graph_(graph), nodes_(nodes), labels_(labels) {}

  GraphLayout make() {
    cut_circles();
    rank_nodes();
    place_items();
    order_layers();
    set_x();
    set_y();
    return result();
  }

 private:
  bool is_loop(std::size_t edge) const {
    return graph_.edges()[edge].from == graph_.edges()[edge].to;
  }
  std::size_t begin_of(std::size_t edge) const {
    return is_reversed_[edge] ? graph_.edges()[edge].to : graph_.edges()[edge].from;
  }
  std::size_t end_of(std::size_t edge) const {
    return is_reversed_[edge] ? graph_.edges()[edge].from : graph_.edges()[edge].to;
  }

  // Depth first, without recursion: names of a target decide how deep it goes. An edge to a node
  // that is under way closes a circle, and is laid out the other way round.
  void cut_circles() {
    enum class State : std::uint8_t { kNew, kUnderWay, kDone };
    const std::size_t count = graph_.nodes().size();
    is_reversed_.assign(graph_.edges().size(), false);
    std::vector<std::vector<std::size_t>> out(count);
    std::vector<bool> is_fed(count, false);
    for (std::size_t edge = 0; edge < graph_.edges().size(); ++edge) {
      if (is_loop(edge)) continue;
      out[graph_.edges()[edge].from].push_back(edge);
      is_fed[graph_.edges()[edge].to] = true;
    }
    std::vector<std::size_t> starts(count);
    std::iota(starts.begin(), starts.end(), std::size_t{0});
    std::ranges::stable_partition(starts, [&](std::size_t node) { return !is_fed[node]; });
    std::vector<State> states(count, State::kNew);
    std::vector<std::size_t> next(count, 0);
    for (const std::size_t start : starts) {
      if (states[start] != State::kNew) continue;
      std::vector<std::size_t> way = {start};
      states[start] = State::kUnderWay;
      while (!way.empty()) {
        const std::size_t node = way.back();
        if (next[node] == out[node].size()) {
          states[node] = State::kDone;
          finished_.push_back(node);
          way.pop_back();
          continue;
        }
        const std::size_t edge = out[node][next[node]++];
        const std::size_t to = graph_.edges()[edge].to;
        if (states[to] == State::kUnderWay) is_reversed_[edge] = true;
        if (states[to] != State::kNew) continue;
        states[to] = State::kUnderWay;
        way.push_back(to);
      }
    }
    std::ranges::reverse(finished_);
  }

  // A node's rank is its longest distance from the left. Layers between two ranks are for labels.
  void rank_nodes() {
    std::vector<std::size_t> places(graph_.nodes().size());
    for (std::size_t at = 0; at < finished_.size(); ++at) places[finished_[at]] = at;
    std::vector<std::size_t> edges;
    for (std::size_t edge = 0; edge < graph_.edges().size(); ++edge)
      if (!is_loop(edge)) edges.push_back(edge);
    std::ranges::stable_sort(edges, {}, [&](std::size_t edge) { return places[begin_of(edge)]; });
    ranks_.assign(graph_.nodes().size(), 0);
    for (const std::size_t edge : edges)
      ranks_[end_of(edge)] = std::max(ranks_[end_of(edge)], ranks_[begin_of(edge)] + 2);
    // A node without incoming edges stands right before the first node that it feeds.
    std::vector<bool> is_fed(ranks_.size(), false);
    std::vector<std::size_t> nearest(ranks_.size(), SIZE_MAX);
    for (const std::size_t edge : edges) {
      is_fed[end_of(edge)] = true;
      nearest[begin_of(edge)] = std::min(nearest[begin_of(edge)], ranks_[end_of(edge)]);
    }
    for (std::size_t node = 0; node < ranks_.size(); ++node)
      if (!is_fed[node] && nearest[node] != SIZE_MAX) ranks_[node] = nearest[node] - 2;
  }

  std::size_t add_item(std::size_t layer, const GraphBox& size) {
    if (layers_.size() <= layer) layers_.resize(layer + 1);
    layers_[layer].push_back(items_.size());
    Item& item = items_.emplace_back();
    item.layer = layer;
    item.box = size;
    return items_.size() - 1;
  }

  void tie(std::size_t left, std::size_t right) {
    items_[left].right.push_back(right);
    items_[right].left.push_back(left);
  }

  void place_items() {
    for (std::size_t node = 0; node < nodes_.size(); ++node) add_item(ranks_[node], nodes_[node]);
    ways_.resize(graph_.edges().size());
    label_items_.resize(graph_.edges().size());
    for (std::size_t edge = 0; edge < graph_.edges().size(); ++edge) {
      if (is_loop(edge)) continue;
      std::size_t before = begin_of(edge);
      const std::size_t from = ranks_[begin_of(edge)];
      const std::size_t to = ranks_[end_of(edge)];
      const std::size_t label_layer = from + 1;
      for (std::size_t layer = from + 1; layer < to; ++layer) {
        const GraphBox passing = {.height = kPassHeight};
        const std::size_t item = add_item(layer, layer == label_layer ? labels_[edge] : passing);
        if (layer == label_layer) label_items_[edge] = item;
        tie(before, item);
        ways_[edge].push_back(item);
        before = item;
      }
      tie(before, end_of(edge));
    }
  }

  // Sweeps to and fro: each item goes to the middle of its neighbours in the layer before.
  void order_layers() {
    std::vector<double> places(items_.size());
    const auto note_places = [&](const std::vector<std::size_t>& layer) {
      for (std::size_t at = 0; at < layer.size(); ++at) places[layer[at]] = static_cast<double>(at);
    };
    for (const auto& layer : layers_) note_places(layer);
    std::vector<double> wanted(items_.size());
    const auto sort = [&](std::vector<std::size_t>& layer, auto ties) {
      for (const std::size_t item : layer) {
        const std::vector<std::size_t>& tied = items_[item].*ties;
        double sum = 0;
        for (const std::size_t other : tied) sum += places[other];
        wanted[item] = tied.empty() ? places[item] : sum / static_cast<double>(tied.size());
      }
      std::ranges::stable_sort(layer, {}, [&](std::size_t item) { return wanted[item]; });
      note_places(layer);
    };
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::size_t layer = 1; layer < layers_.size(); ++layer)
        sort(layers_[layer], &Item::left);
      for (std::size_t layer = layers_.size(); layer-- > 1;) sort(layers_[layer - 1], &Item::right);
    }
  }

  void set_x() {
    double x = kMargin;
    for (const auto& layer : layers_) {
      double width = 0;
      for (const std::size_t item : layer) width = std::max(width, items_[item].box.width);
      for (const std::size_t item : layer) items_[item].box.x = x + width / 2;
      x += width + kLayerGap;
    }
    width_ = x - (layers_.empty() ? 0 : kLayerGap) + kMargin;
  }

  // The least distance of the middles of two items of a layer, one below the other.
  double distance(std::size_t above, std::size_t below) const {
    return (items_[above].box.height + items_[below].box.height) / 2 + kGap;
  }

  // Each item should be level with its neighbours. In a layer, items move up first, then down, and
  // the layer moves by the mean of the remaining distances.
  void settle(const std::vector<std::size_t>& layer, std::vector<std::size_t> Item::* ties) {
    if (layer.empty()) return;
    std::vector<double> wanted;
    for (const std::size_t item : layer) {
      const std::vector<std::size_t>& tied = items_[item].*ties;
      double sum = 0;
      for (const std::size_t other : tied) sum += items_[other].box.y;
      wanted.push_back(tied.empty() ? items_[item].box.y : sum / static_cast<double>(tied.size()));
    }
    double moved = 0;
    for (std::size_t at = 0; at < layer.size(); ++at) {
      double y = wanted[at];
      if (at != 0) {
        const std::size_t above = layer[at - 1];
        y = std::max(y, items_[above].box.y + distance(above, layer[at]));
      }
      items_[layer[at]].box.y = y;
      moved += y - wanted[at];
    }
    for (const std::size_t item : layer)
      items_[item].box.y -= moved / static_cast<double>(layer.size());
  }

  void set_y() {
    for (const auto& layer : layers_) {
      double y = 0;
      for (std::size_t at = 0; at < layer.size(); ++at) {
        if (at != 0) y += distance(layer[at - 1], layer[at]);
        items_[layer[at]].box.y = y;
      }
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::size_t layer = 1; layer < layers_.size(); ++layer)
        settle(layers_[layer], &Item::left);
      for (std::size_t layer = layers_.size(); layer-- > 1;)
        settle(layers_[layer - 1], &Item::right);
    }
    double top = 0;
    double bottom = 0;
    for (const Item& item : items_) {
      top = std::min(top, item.box.y - item.box.height / 2);
      bottom = std::max(bottom, item.box.y + item.box.height / 2);
    }
    for (Item& item : items_) item.box.y += kMargin - top;
    height_ = bottom - top + 2 * kMargin;
  }

  GraphLayout result() const {
    GraphLayout layout;
    layout.width = width_;
    layout.height = height_;
    layout.is_reversed = is_reversed_;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      layout.nodes.push_back(items_[node].box);
    for (std::size_t edge = 0; edge < graph_.edges().size(); ++edge) {
      auto& way = layout.ways.emplace_back();
      for (const std::size_t item : ways_[edge]) way.push_back(items_[item].box);
      layout.labels.push_back(is_loop(edge) ? GraphBox() : items_[label_items_[edge]].box);
    }
    return layout;
  }

  const Graph& graph_;
  const std::vector<GraphBox>& nodes_;
  const std::vector<GraphBox>& labels_;
  std::vector<bool> is_reversed_;
  std::vector<std::size_t> finished_;  // nodes, each before those that it leads to
  std::vector<std::size_t> ranks_;     // of nodes: even
  std::vector<Item> items_;            // nodes first
  std::vector<std::vector<std::size_t>> layers_;
  std::vector<std::vector<std::size_t>> ways_;
  std::vector<std::size_t> label_items_;
  double width_ = 0;
  double height_ = 0;
};

}  // namespace

GraphLayout lay_out(const Graph& graph, const std::vector<GraphBox>& node_sizes,
                    const std::vector<GraphBox>& label_sizes) {
  return Layers(graph, node_sizes, label_sizes).make();
}

}  // namespace sojourn::present
