// The types that the layers of coarse_gnb.cpp hand to each other: those in the names of srsRAN
// Project 25.10's functions, and as much of them as the identifiers need.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace srsran {

enum class rnti_t : std::uint16_t {};
enum class qos_flow_id_t : std::uint8_t {};
enum class du_cell_index_t : std::uint16_t {};
enum class harq_id_t : std::uint8_t {};

struct slot_point {
  std::uint32_t value = 0;
};

// Shared, and so never passed in a register. All that share a block are of one thread.
class byte_buffer {
 public:
  byte_buffer() = default;
  explicit byte_buffer(std::uint32_t number) : block_(new control_block{.number = number}) {}
  byte_buffer(byte_buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  byte_buffer& operator=(byte_buffer&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~byte_buffer() {
    if (block_ != nullptr && --block_->users == 0) delete block_;
  }

  // A part of it, in the same block.
  byte_buffer slice() const {
    byte_buffer part;
    part.block_ = block_;
    ++block_->users;
    return part;
  }

  std::uint32_t number() const { return block_->number; }

 private:
  struct control_block {
    std::uint32_t number = 0;
    std::uint32_t users = 1;
  };

  control_block* block_ = nullptr;
};

struct byte_buffer_view {
  std::size_t words[4] = {};
};

struct byte_buffer_slice {
  byte_buffer buf;
  byte_buffer_view sliced_view;
};

struct byte_buffer_chain {
  std::unique_ptr<std::byte> mem_block;
  std::size_t byte_count = 0;
  std::size_t max_slices = 16;
  std::size_t slice_count = 0;
  byte_buffer_slice* slices_ptr = nullptr;
};

template <typename T>
struct span {
  T* data = nullptr;
  std::size_t size = 0;
};

template <typename T, std::size_t N>
struct static_vector {
  std::vector<T> items;
};

struct pdcp_crypto_token {
  void* manager = nullptr;
};

struct gtpu_rx_sdu_info {
  byte_buffer sdu;
  qos_flow_id_t qos_flow_id = {};
  std::optional<std::uint16_t> sn;
};

struct pdcp_tx_buffer_info {
  bool is_retx = false;
  std::uint16_t retx_id = 0;
  std::uint32_t count = 0;
  byte_buffer buf;
  pdcp_crypto_token token;
};

struct pdcp_tx_pdu_info {
  byte_buffer pdu;
  std::uint32_t count = 0;
  std::chrono::system_clock::time_point sdu_toa;
};

struct pdcp_rx_pdu_info {
  byte_buffer buf;
  std::uint32_t count = 0;
  std::chrono::system_clock::time_point time_of_arrival;
  pdcp_crypto_token token;
};

struct nru_dl_message {
  byte_buffer t_pdu;
};

struct mac_rx_pdu {
  rnti_t rnti = {};
  std::uint8_t rapid = 0;
  std::uint8_t harq_id = 0;
  byte_buffer pdu;
};

struct dl_msg_tb_info {};
struct shared_resource_grid {};
struct resource_grid_context {
  slot_point slot;
  unsigned sector = 0;
};
struct shared_transport_block {
  std::shared_ptr<std::byte> block;
};

struct pdsch_context {
  harq_id_t h_id = {};
  unsigned k1 = 0;
  unsigned nof_retxs = 0;
};
struct pdsch_processor {
  struct pdu_t {
    std::optional<pdsch_context> context;
    slot_point slot;
    std::uint16_t rnti = 0;
  };
};

struct pusch_context {
  rnti_t rnti = {};
  harq_id_t h_id = {};
};
struct pusch_processor_result_notifier {};
struct resource_grid_reader {};
class unique_rx_buffer {
 public:
  unique_rx_buffer() = default;
  unique_rx_buffer(unique_rx_buffer&& other) noexcept : held_(std::exchange(other.held_, 0)) {}
  ~unique_rx_buffer() { held_ = 0; }

 private:
  unsigned held_ = 1;
};
struct pusch_processor {
  struct codeword_description {
    unsigned rv = 0;
    std::uint8_t ldpc_base_graph = 1;
    bool new_data = true;
  };
  struct mcs_description {
    unsigned modulation = 6;
    float target_code_rate = 0;
  };
  struct pdu_t {
    std::optional<pusch_context> context;
    slot_point slot;
    std::uint16_t rnti = 0;
    unsigned bwp_size_rb = 24;
    unsigned bwp_start_rb = 0;
    unsigned cp = 0;
    mcs_description mcs_descr;
    std::optional<codeword_description> codeword;
  };
};

}  // namespace srsran
