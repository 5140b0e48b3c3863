#include <sojourn/queue.h>

#include "tests/unit/probes/queue_form.h"

struct sj_queue* off_open(void) {
  return SJ_QUEUE("off.tx", .kind = SJ_QUEUE_STAGE, .capacity = 1024);
}

int off_count(struct sj_queue* queue) {
  int evaluated = 0;
  SJ_ENQUEUE(queue);
  SJ_ENQUEUE_LOCKED_N(queue, 4);
  SJ_ENQUEUE_ITEM(queue, ++evaluated);
  SJ_DEQUEUE_ITEM_LOCKED(queue, ++evaluated);
  (void)SJ_QUEUE_DESCRIBE(queue, .group = 3);
  SJ_QUEUE_END(queue);
  return evaluated;
}
