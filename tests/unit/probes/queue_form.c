#include "tests/unit/probes/queue_form.h"

#include <sojourn/queue.h>

struct sj_queue* form_open(void) {
  static int the_queue;
  return SJ_QUEUE("form.tx", .kind = SJ_QUEUE_POOL, .producer = {"pdcp", 3}, .consumer = {"mac", 0},
                  .producer_pid = 11, .consumer_pid = 12, .group = 7, .capacity = 1024,
                  .address = &the_queue);
}

struct sj_queue* form_blank(void) {
  return SJ_QUEUE("form.blank");
}

void form_describe(struct sj_queue* queue) {
  (void)SJ_QUEUE_DESCRIBE(queue, .consumer = {"mac", 2}, .capacity = 5);
}

void form_count(struct sj_queue* queue) {
  SJ_ENQUEUE(queue);
  SJ_ENQUEUE_N(queue, 3);
  SJ_ENQUEUE_LOCKED(queue);
  SJ_ENQUEUE_LOCKED_N(queue, 4);
  SJ_ENQUEUE_ITEM(queue, 42);
  SJ_ENQUEUE_ITEM_LOCKED(queue, 43);
  SJ_DEQUEUE(queue);
  SJ_DEQUEUE_N(queue, 1);
  SJ_DEQUEUE_LOCKED(queue);
  SJ_DEQUEUE_LOCKED_N(queue, 1);
  SJ_DEQUEUE_ITEM(queue, 42);
  SJ_DEQUEUE_ITEM_LOCKED(queue, 43);
}

void form_end(struct sj_queue* queue) {
  SJ_QUEUE_END(queue);
}
