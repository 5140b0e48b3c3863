/* A program without points, with queues of both usual kinds: a ring of items whose head is the
 * queue itself, and a stack that ends in NULL. Every round puts 5 items into one ring, 2 into
 * another and 3 onto a stack, waits a millisecond, and takes out all of them and one more from
 * each, which is not there. The items are the same in every round. Runs until a signal ends it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define OPAQUE __attribute__((noipa, used, visibility("default")))

struct item {
  struct item* next;
  struct item* previous;
  uint32_t number; /* at 16 */
};

struct stack {
  struct item* top;
};

OPAQUE void ring_put(struct item* queue, struct item* item, uint32_t number) {
  item->number = number;
  item->next = queue;
  item->previous = queue->previous;
  queue->previous->next = item;
  queue->previous = item;
}

OPAQUE struct item* ring_get(struct item* queue) {
  struct item* const item = queue->next;
  if (item == queue) return NULL;
  queue->next = item->next;
  item->next->previous = queue;
  return item;
}

OPAQUE void stack_push(struct stack* stack, struct item* item, uint32_t number) {
  item->number = number;
  item->next = stack->top;
  stack->top = item;
}

OPAQUE struct item* stack_pop(struct stack* stack) {
  struct item* const item = stack->top;
  if (item != NULL) stack->top = item->next;
  return item;
}

int main(void) {
  struct item items[10];
  struct item one = {.next = &one, .previous = &one};
  struct item other = {.next = &other, .previous = &other};
  struct stack stack = {.top = NULL};
  uint32_t number = 0;
  puts("ready");
  fflush(stdout);
  for (;;) {
    unsigned taken = 0;
    for (unsigned i = 0; i < 5; ++i) ring_put(&one, &items[i], ++number);
    for (unsigned i = 5; i < 7; ++i) ring_put(&other, &items[i], ++number);
    for (unsigned i = 7; i < 10; ++i) stack_push(&stack, &items[i], ++number);
    usleep(1000);
    while (ring_get(&one) != NULL) ++taken;
    while (ring_get(&other) != NULL) ++taken;
    while (stack_pop(&stack) != NULL) ++taken;
    if (taken != 10) return 2;
  }
}
