// A stand-in for a gNB of srsRAN Project 25.10: the functions that its map names, with the types in
// their linker's names, and as much of these as the identifiers need. As in the gNB, layers call
// each other through second base classes, so their methods have thunks, some of which are virtual,
// and PDCP's reception hands its copies to an executor on another thread. It hands packets through
// them as the gNB does, 1,000 a second each way, one a slot: packet n goes in slot n, by HARQ
// process n % 16; process 15 needs two rounds, the second in the next slot. On the uplink each
// other second round has the redundancy version 0 again. The MAC PDU of an uplink packet holds a
// status PDU in front of it if n % 4 is 3, and behind it if n % 8 is 1. It runs until a signal ends
// it. "real-time": with a thread on each CPU that leaves others little.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sched.h>

#include "coarse_gnb_types.h"

#define OPAQUE __attribute__((noipa, used))

namespace srsran {

constexpr rnti_t kRnti{0x4601};
constexpr std::uint32_t kProcesses = 16;
inline harq_id_t process_of(std::uint32_t number) {
  return harq_id_t{static_cast<std::uint8_t>(number % kProcesses)};
}
volatile std::uint64_t sink;

// The first base of each layer, so that the calling interface is not the first one.
struct entity_base {
  virtual ~entity_base() = default;
  virtual void stop() { state = state + 1; }
  std::uint64_t state = 0;
};

struct nru_receiver {
  virtual ~nru_receiver() = default;
  virtual void handle_pdu(nru_dl_message msg) = 0;
};
struct transmit_notifier {
  virtual ~transmit_notifier() = default;
  virtual void handle_transmit_notification(std::uint32_t highest_pdcp_sn,
                                            std::uint32_t desired_buf_size) = 0;
};
struct rlc_sdu_receiver {
  virtual ~rlc_sdu_receiver() = default;
  virtual void handle_sdu(byte_buffer_chain sdu) = 0;
};
namespace srs_du {
struct f1u_bearer_impl : entity_base, nru_receiver, transmit_notifier, rlc_sdu_receiver {
  OPAQUE void handle_pdu(nru_dl_message msg) override;
  OPAQUE void handle_transmit_notification(std::uint32_t highest_pdcp_sn,
                                           std::uint32_t desired_buf_size) override;
  OPAQUE void handle_sdu(byte_buffer_chain sdu) override;
};
}  // namespace srs_du

struct pdcp_sdu_receiver {
  virtual ~pdcp_sdu_receiver() = default;
  virtual void handle_sdu(byte_buffer buf) = 0;
};
// A virtual base: its thunk finds the beginning of the whole object.
struct pdcp_entity_tx : entity_base, virtual pdcp_sdu_receiver {
  explicit pdcp_entity_tx(nru_receiver& below) : lower(below) {}
  nru_receiver& lower;
  std::uint32_t next = 0;
  OPAQUE void handle_sdu(byte_buffer buf) override;
  OPAQUE void apply_security(pdcp_tx_buffer_info buf_info);
  OPAQUE void write_data_pdu_to_lower_layers(pdcp_tx_pdu_info&& pdu, bool is_retx);
};

struct gtpu_tunnel_ngu_rx_impl {
  pdcp_sdu_receiver& lower;
  OPAQUE void deliver_sdu(gtpu_rx_sdu_info& sdu_info);
};

struct rlc_puller {
  virtual ~rlc_puller() = default;
  virtual std::size_t pull_pdu(span<std::uint8_t> buf) = 0;
};
struct rlc_tx_um_entity : entity_base, rlc_puller {
  explicit rlc_tx_um_entity(transmit_notifier& above) : upper(above) {}
  transmit_notifier& upper;
  std::uint32_t next = 0;
  OPAQUE std::size_t pull_pdu(span<std::uint8_t> mac_sdu_buf) override;
};
struct rlc_tx_am_entity : entity_base, rlc_puller {
  OPAQUE std::size_t pull_pdu(span<std::uint8_t> rlc_pdu_buf) override;
};

struct dl_sch_pdu_assembler {
  rlc_puller& bearer;
  OPAQUE shared_transport_block assemble_newtx_pdu(rnti_t rnti, harq_id_t h_id, unsigned tb_idx,
                                                   const dl_msg_tb_info& tb_info,
                                                   unsigned tb_size_bytes);
};

struct mac_cell_processor {
  dl_sch_pdu_assembler& assembler;
  OPAQUE void handle_slot_indication_impl(
      slot_point sl_tx, std::chrono::high_resolution_clock::time_point enqueue_slot_tp);
};

struct pdsch_handler {
  virtual ~pdsch_handler() = default;
  virtual void process_pdsch(static_vector<shared_transport_block, 2> data,
                             const pdsch_processor::pdu_t& pdu) = 0;
};
struct downlink_processor_multi_executor_impl : entity_base, pdsch_handler {
  OPAQUE void process_pdsch(static_vector<shared_transport_block, 2> data,
                            const pdsch_processor::pdu_t& pdu) override;
};
struct pusch_receiver {
  virtual ~pusch_receiver() = default;
  virtual void process(span<std::uint8_t> data, unique_rx_buffer rm_buffer,
                       pusch_processor_result_notifier& notifier, const resource_grid_reader& grid,
                       const pusch_processor::pdu_t& pdu) = 0;
};
struct pusch_processor_impl : entity_base, pusch_receiver {
  OPAQUE void process(span<std::uint8_t> data, unique_rx_buffer rm_buffer,
                      pusch_processor_result_notifier& notifier, const resource_grid_reader& grid,
                      const pusch_processor::pdu_t& pdu) override;
};
struct dl_data_handler {
  virtual ~dl_data_handler() = default;
  virtual void handle_dl_data(const resource_grid_context& context,
                              const shared_resource_grid& grid) = 0;
};
struct ru_dummy_sector : entity_base, dl_data_handler {
  OPAQUE void handle_dl_data(const resource_grid_context& context,
                             const shared_resource_grid& grid) override;
};

struct gtpu_tunnel_ngu_tx_impl {
  std::uint64_t state = 0;
  OPAQUE void handle_sdu(byte_buffer buf, qos_flow_id_t qfi);
};
namespace srs_cu_up {
struct sdap_entity_rx_impl {
  gtpu_tunnel_ngu_tx_impl tunnel;
  OPAQUE void handle_pdu(byte_buffer pdu);
};
}  // namespace srs_cu_up

// Runs tasks on a thread of its own, in order.
class task_executor {
 public:
  void execute(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    has_some_.notify_one();
  }

 private:
  void run() {
    for (std::unique_lock lock(mutex_);;) {
      has_some_.wait(lock, [this] { return !tasks_.empty(); });
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable has_some_;
  std::deque<std::function<void()>> tasks_;
  std::thread thread_{[this] { run(); }};
};

struct pdcp_pdu_receiver {
  virtual ~pdcp_pdu_receiver() = default;
  virtual void handle_pdu(byte_buffer_chain buf) = 0;
};
struct pdcp_entity_rx : entity_base, pdcp_pdu_receiver {
  srs_cu_up::sdap_entity_rx_impl upper;
  task_executor crypto;
  std::uint32_t next = 0;
  OPAQUE void handle_pdu(byte_buffer_chain buf) override;
  OPAQUE void handle_data_pdu(byte_buffer pdu, std::chrono::system_clock::time_point arrival);
  OPAQUE void apply_security(pdcp_rx_pdu_info&& pdu_info);
  OPAQUE void apply_reordering(pdcp_rx_pdu_info pdu_info);
};
pdcp_pdu_receiver* receiver;

struct rlc_rx_um_entity {
  rlc_sdu_receiver& upper;
  OPAQUE void handle_pdu(byte_buffer_slice buf);
};
struct rlc_rx_am_entity {
  std::uint64_t state = 0;
  OPAQUE void handle_pdu(byte_buffer_slice buf);
};
// The same code as the AM entity's: a linker that folds code makes one function of both.
struct rlc_rx_tm_entity {
  std::uint64_t state = 0;
  OPAQUE void handle_pdu(byte_buffer_slice buf);
};
struct pdu_rx_handler {
  rlc_rx_um_entity& upper;
  rlc_rx_am_entity& acknowledged;
  OPAQUE bool handle_rx_pdu(slot_point sl_rx, du_cell_index_t cell_index, mac_rx_pdu pdu);
};

void gtpu_tunnel_ngu_rx_impl::deliver_sdu(gtpu_rx_sdu_info& sdu_info) {
  lower.handle_sdu(std::move(sdu_info.sdu));
}
void pdcp_entity_tx::handle_sdu(byte_buffer buf) {
  apply_security({.count = next++, .buf = std::move(buf), .token = {}});
}
void pdcp_entity_tx::apply_security(pdcp_tx_buffer_info buf_info) {
  pdcp_tx_pdu_info pdu{.pdu = std::move(buf_info.buf), .count = buf_info.count, .sdu_toa = {}};
  write_data_pdu_to_lower_layers(std::move(pdu), false);
}
void pdcp_entity_tx::write_data_pdu_to_lower_layers(pdcp_tx_pdu_info&& pdu, bool is_retx) {
  sink = sink + (is_retx ? 1 : 0);
  lower.handle_pdu({.t_pdu = std::move(pdu.pdu)});
}
void srs_du::f1u_bearer_impl::handle_pdu(nru_dl_message msg) {
  sink = sink + msg.t_pdu.number();
}
void srs_du::f1u_bearer_impl::handle_transmit_notification(std::uint32_t highest_pdcp_sn,
                                                           std::uint32_t desired_buf_size) {
  sink = sink + highest_pdcp_sn + desired_buf_size;
}
std::size_t rlc_tx_um_entity::pull_pdu(span<std::uint8_t> mac_sdu_buf) {
  upper.handle_transmit_notification(next++, 1000);
  return mac_sdu_buf.size;
}
std::size_t rlc_tx_am_entity::pull_pdu(span<std::uint8_t> rlc_pdu_buf) {
  state = state + 1;
  return rlc_pdu_buf.size;
}
shared_transport_block dl_sch_pdu_assembler::assemble_newtx_pdu(rnti_t, harq_id_t, unsigned,
                                                                const dl_msg_tb_info&,
                                                                unsigned tb_size_bytes) {
  sink = sink + bearer.pull_pdu({.data = nullptr, .size = tb_size_bytes});
  return {};
}
void mac_cell_processor::handle_slot_indication_impl(
    slot_point sl_tx, std::chrono::high_resolution_clock::time_point) {
  const harq_id_t process = process_of(sl_tx.value);
  sink = sink + (assembler.assemble_newtx_pdu(kRnti, process, 0, {}, 1200).block ? 1 : 0);
}
void downlink_processor_multi_executor_impl::process_pdsch(
    static_vector<shared_transport_block, 2> data, const pdsch_processor::pdu_t& pdu) {
  sink = sink + data.items.size() + pdu.rnti;
}
void pusch_processor_impl::process(span<std::uint8_t> data, unique_rx_buffer,
                                   pusch_processor_result_notifier&, const resource_grid_reader&,
                                   const pusch_processor::pdu_t& pdu) {
  sink = sink + data.size + pdu.rnti;
}
void ru_dummy_sector::handle_dl_data(const resource_grid_context& context,
                                     const shared_resource_grid&) {
  sink = sink + context.slot.value;
}

bool pdu_rx_handler::handle_rx_pdu(slot_point sl_rx, du_cell_index_t, mac_rx_pdu pdu) {
  const std::uint32_t number = pdu.pdu.number();
  if (number % 4 == 3) acknowledged.handle_pdu({.buf = pdu.pdu.slice(), .sliced_view = {}});
  upper.handle_pdu({.buf = pdu.pdu.slice(), .sliced_view = {}});
  if (number % 8 == 1) acknowledged.handle_pdu({.buf = pdu.pdu.slice(), .sliced_view = {}});
  return sl_rx.value != 0;
}
void rlc_rx_um_entity::handle_pdu(byte_buffer_slice buf) {
  byte_buffer_slice slices[1] = {std::move(buf)};
  byte_buffer_chain chain;
  chain.byte_count = 1000;
  chain.slice_count = 1;
  chain.slices_ptr = slices;
  upper.handle_sdu(std::move(chain));
}
void rlc_rx_am_entity::handle_pdu(byte_buffer_slice buf) {
  state = state + buf.buf.number();
}
void rlc_rx_tm_entity::handle_pdu(byte_buffer_slice buf) {
  state = state + buf.buf.number();
}
void srs_du::f1u_bearer_impl::handle_sdu(byte_buffer_chain sdu) {
  receiver->handle_pdu(std::move(sdu));
}
// It copies.
void pdcp_entity_rx::handle_pdu(byte_buffer_chain buf) {
  handle_data_pdu(byte_buffer(buf.slices_ptr->buf.number()), {});
}
void pdcp_entity_rx::handle_data_pdu(byte_buffer pdu,
                                     std::chrono::system_clock::time_point arrival) {
  auto info = std::make_shared<pdcp_rx_pdu_info>(pdcp_rx_pdu_info{
      .buf = std::move(pdu), .count = next++, .time_of_arrival = arrival, .token = {}});
  crypto.execute([this, info] { apply_security(std::move(*info)); });
}
void pdcp_entity_rx::apply_security(pdcp_rx_pdu_info&& pdu_info) {
  apply_reordering(std::move(pdu_info));
}
void pdcp_entity_rx::apply_reordering(pdcp_rx_pdu_info pdu_info) {
  upper.handle_pdu(std::move(pdu_info.buf));
}
void srs_cu_up::sdap_entity_rx_impl::handle_pdu(byte_buffer pdu) {
  tunnel.handle_sdu(std::move(pdu), qos_flow_id_t{9});
}
void gtpu_tunnel_ngu_tx_impl::handle_sdu(byte_buffer buf, qos_flow_id_t qfi) {
  state = state + buf.number() + static_cast<std::uint64_t>(qfi);
}

}  // namespace srsran

namespace {

std::atomic<unsigned> real_time_threads;

// Three quarters of its CPU, at a priority above all others' but the kernel's own.
void take_cpu(unsigned cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  const sched_param parameters{.sched_priority = 50};
  if (pthread_setaffinity_np(pthread_self(), sizeof only, &only) != 0 ||
      pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0) {
    std::fputs("no real-time threads here\n", stderr);
    std::_Exit(3);
  }
  ++real_time_threads;
  using Clock = std::chrono::steady_clock;
  for (;;) {
    const auto until = Clock::now() + std::chrono::microseconds(7'500);
    while (Clock::now() < until) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(2'500));
  }
}

void take_all_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  unsigned wanted = 0;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::thread(take_cpu, cpu).detach();
    ++wanted;
  }
  while (real_time_threads < wanted) std::this_thread::yield();
}

srsran::pdsch_processor::pdu_t sent(srsran::slot_point slot, std::uint32_t number, unsigned round) {
  srsran::pdsch_processor::pdu_t pdu;
  pdu.context = {.h_id = srsran::process_of(number), .k1 = 4, .nof_retxs = round};
  pdu.slot = slot;
  pdu.rnti = static_cast<std::uint16_t>(srsran::kRnti);
  return pdu;
}

srsran::pusch_processor::pdu_t received(srsran::slot_point slot, std::uint32_t number,
                                        unsigned round) {
  const unsigned rv = round == 0 || number / srsran::kProcesses % 2 == 0 ? 0 : 2;
  srsran::pusch_processor::pdu_t pdu;
  pdu.context = {.rnti = srsran::kRnti, .h_id = srsran::process_of(number)};
  pdu.slot = slot;
  pdu.rnti = static_cast<std::uint16_t>(srsran::kRnti);
  pdu.codeword = {.rv = rv, .ldpc_base_graph = 1, .new_data = round == 0};
  return pdu;
}

}  // namespace

int main(int count, char** words) {
  using namespace srsran;
  if (count > 1 && std::string_view(words[1]) == "real-time") take_all_cpus();
  srs_du::f1u_bearer_impl f1u;
  pdcp_entity_tx pdcp_tx(f1u);
  gtpu_tunnel_ngu_rx_impl gtpu{.lower = pdcp_tx};
  rlc_tx_um_entity rlc_tx(f1u);
  dl_sch_pdu_assembler assembler{.bearer = rlc_tx};
  mac_cell_processor cell{.assembler = assembler};
  downlink_processor_multi_executor_impl phy_impl;
  pdsch_handler& phy = phy_impl;
  pusch_processor_impl pusch_impl;
  pusch_receiver& pusch = pusch_impl;
  ru_dummy_sector radio_impl;
  dl_data_handler& radio = radio_impl;
  pdcp_entity_rx pdcp_rx;
  receiver = &pdcp_rx;
  rlc_rx_um_entity rlc_rx{.upper = f1u};
  rlc_tx_am_entity am_tx;
  rlc_rx_am_entity am_rx;
  pdu_rx_handler mac_rx{.upper = rlc_rx, .acknowledged = am_rx};
  std::puts("ready");
  std::fflush(stdout);
  for (std::uint32_t number = 1;; ++number) {
    gtpu_rx_sdu_info info{.sdu = byte_buffer(number), .qos_flow_id = qos_flow_id_t{9}, .sn = {}};
    gtpu.deliver_sdu(info);
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&pause, nullptr);
    const slot_point slot{number % 20'480};
    cell.handle_slot_indication_impl(slot, {});
    const bool is_repeat = number > 1 && number % kProcesses == 0;  // of the block of process 15
    if (is_repeat) phy.process_pdsch({}, sent(slot, number - 1, 1));
    phy.process_pdsch({}, sent(slot, number, 0));
    radio.handle_dl_data({.slot = slot}, {});

    const auto receive = [&](std::uint32_t of, unsigned round, bool is_decoded) {
      pusch_processor_result_notifier notifier;
      pusch.process({}, {}, notifier, {}, received(slot, of, round));
      const auto harq = static_cast<std::uint8_t>(process_of(of));
      if (!is_decoded) return;
      mac_rx.handle_rx_pdu(slot, {}, {.rnti = kRnti, .harq_id = harq, .pdu = byte_buffer(of)});
    };
    if (is_repeat) receive(number - 1, 1, true);
    receive(number, 0, number % kProcesses != kProcesses - 1);
    if (number % 8 == 0) am_tx.pull_pdu({.data = nullptr, .size = 100});
  }
}
