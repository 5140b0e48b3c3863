/* Two stages in C: packets are numbered in "tx", wait in a queue, and leave through "out".
 * Usage: pipeline-c [PACKETS], 1000 by default. Trace it: sojourn record -- ./pipeline-c 100000 */
#include <pthread.h>
#include <sojourn/point.h>
#include <sojourn/queue.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct packet {
  uint16_t rnti;
  uint32_t sn;
  uint32_t bytes;
};

enum { kQueueSize = 64 };

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct packet packets[kQueueSize];
  unsigned long in, out;
  struct sj_queue* counters; /* seen from outside */
};

static void push(struct queue* queue, struct packet packet) {
  pthread_mutex_lock(&queue->lock);
  while (queue->in - queue->out == kQueueSize) pthread_cond_wait(&queue->changed, &queue->lock);
  queue->packets[queue->in++ % kQueueSize] = packet;
  SJ_ENQUEUE_LOCKED(queue->counters);
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
}

static struct packet pop(struct queue* queue) {
  pthread_mutex_lock(&queue->lock);
  while (queue->in == queue->out) pthread_cond_wait(&queue->changed, &queue->lock);
  const struct packet packet = queue->packets[queue->out++ % kQueueSize];
  SJ_DEQUEUE_LOCKED(queue->counters);
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  return packet;
}

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER};
static unsigned long packet_count = 1000;

static void* transmit(void* unused) {
  for (unsigned long i = 0; i < packet_count; ++i) {
    const struct packet packet = {0x4601, (uint32_t)i & 0xfff, 100 + (uint32_t)(i % 1400)};
    /* Before the push: a parent's time must be earlier than its child's. */
    SJ_POINT("D example.in--example.tx", "len:rnti:sn", packet.bytes, packet.rnti, packet.sn);
    push(&queue, packet);
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc > 1) packet_count = strtoul(argv[1], NULL, 10);
  queue.counters = SJ_QUEUE("example.tx", .producer = {"in", 0}, .consumer = {"out", 0},
                            .capacity = kQueueSize, .address = &queue);
  pthread_t sender;
  if (pthread_create(&sender, NULL, transmit, NULL) != 0) {
    fputs("pipeline-c: cannot start a thread\n", stderr);
    return 1;
  }
  unsigned long long bytes = 0;
  for (unsigned long i = 0; i < packet_count; ++i) {
    const struct packet packet = pop(&queue);
    SJ_POINT("D example.tx--example.out", "len:rnti:sn", packet.bytes, packet.rnti, packet.sn);
    bytes += packet.bytes;
  }
  pthread_join(sender, NULL);
  SJ_QUEUE_END(queue.counters);
  printf("%lu packets, %llu bytes\n", packet_count, bytes);
  return 0;
}
