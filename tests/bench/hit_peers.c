/* Attaches one of the programs of hit_peers.bpf.c to a process's probe until it is interrupted.
 * Usage: hit-cost-peer empty|five_args PID PROGRAM PROBE */
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hit_peers.skel.h"

static volatile sig_atomic_t ended;

static void end(int signal_number) {
  (void)signal_number;
  ended = 1;
}

static int drop(void* context, void* data, size_t bytes) {
  (void)context, (void)data, (void)bytes;
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s empty|five_args PID PROGRAM PROBE\n", argv[0]);
    return 2;
  }
  signal(SIGINT, end);
  struct hit_peers* peers = hit_peers__open_and_load();
  if (!peers) return 1;
  struct bpf_program* program = bpf_object__find_program_by_name(peers->obj, argv[1]);
  struct ring_buffer* ring = ring_buffer__new(bpf_map__fd(peers->maps.ring), drop, NULL, NULL);
  struct bpf_link* link =
      program ? bpf_program__attach_usdt(program, atoi(argv[2]), argv[3], "sojourn", argv[4], NULL)
              : NULL;
  if (!ring || !link) {
    fprintf(stderr, "attach %s to %s: %s\n", argv[1], argv[4], strerror(errno));
    return 1;
  }
  while (!ended) {
    ring_buffer__consume(ring);
    usleep(10000);
  }
  bpf_link__destroy(link);
  ring_buffer__free(ring);
  hit_peers__destroy(peers);
  return 0;
}
