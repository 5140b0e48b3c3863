/* A library with a queue and no points. */
#include <sojourn/queue.h>

void library_step(unsigned number);

void library_step(unsigned number) {
  static struct sj_queue* queue;
  if (!queue) queue = SJ_QUEUE("library.queue");
  if (number % 2 == 0)
    SJ_ENQUEUE_LOCKED(queue);
  else
    SJ_DEQUEUE_LOCKED(queue);
}
