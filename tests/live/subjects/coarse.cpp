// A C++ program without points: methods, templates, virtual functions, and exceptions that go
// through functions with probes. Runs until SIGTERM, and then prints how often each function was
// called.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include <unistd.h>

#define OPAQUE [[gnu::noipa, gnu::used]]

namespace radio {

struct Pdu {
  std::uint32_t sn;
  std::uint16_t bytes;
};

class Bearer {
 public:
  explicit Bearer(std::uint16_t rnti) : rnti_(rnti) {}
  virtual ~Bearer() = default;
  OPAQUE virtual void handle_sdu(const Pdu& pdu) { last_ = pdu.sn; }
  // An exception leaves it one time in three.
  OPAQUE void send(const Pdu& pdu) {
    handle_sdu(pdu);
    if (pdu.sn % 3 == 0) throw std::runtime_error("no grant");
    ++sent_;
  }
  template <typename Number>
  OPAQUE void count(Number number) {
    last_ += static_cast<std::uint32_t>(number);
  }
  std::uint32_t sent() const { return sent_; }

 private:
  std::uint16_t rnti_;  // behind the pointer to the virtual functions
  std::uint32_t sent_ = 0;
  std::uint32_t last_ = 0;
};

}  // namespace radio

namespace {
volatile std::sig_atomic_t is_ended = 0;
}

int main() {
  std::signal(SIGTERM, [](int) { is_ended = 1; });
  radio::Bearer bearer(0x4601);
  std::uint32_t thrown = 0;
  std::uint32_t rounds = 0;
  std::puts("ready");
  std::fflush(stdout);
  for (; is_ended == 0; ++rounds) {
    try {
      bearer.send({rounds, static_cast<std::uint16_t>(rounds * 5)});
    } catch (const std::runtime_error&) {
      ++thrown;
    }
    bearer.count(static_cast<std::int32_t>(rounds));
    bearer.count(static_cast<std::uint64_t>(rounds));
    usleep(300);
  }
  std::printf("rounds %u sent %u thrown %u\n", rounds, bearer.sent(), thrown);
}
