/* A program without points, one of whose functions is called without end, one now and then, one
 * seldom and one never, which look like a data path all four. Runs until a signal ends it. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define OPAQUE __attribute__((noipa, used))

static volatile uint64_t polls;

/* More than is of use to anybody. */
OPAQUE int rlc_poll_rx_queue(void) {
  return ++polls % 64 == 0;
}

OPAQUE void rlc_send_pdu(uint32_t number) {
  polls += number;
}

OPAQUE void rlc_send_status_pdu(uint32_t number) {
  polls += number;
}

OPAQUE void rlc_reassemble_rx_frame(uint32_t number) {
  polls += number;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char** argv) {
  (void)argv;
  uint64_t next_ns = now_ns();
  puts("ready");
  fflush(stdout);
  for (uint32_t number = 0;; ++number) {
    while (now_ns() < next_ns)
      for (unsigned i = 0; i < 64; ++i) rlc_poll_rx_queue();
    next_ns += 1000000;
    rlc_send_pdu(number);
    if (number % 1500 == 1499) rlc_reassemble_rx_frame(number);
    if (argc > 1) rlc_send_status_pdu(number);
  }
}
