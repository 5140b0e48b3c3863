/* Every event of two schemas, named in every way. It compiles as C and, by fires.cpp, as C++. */
#include "radio.h"
#include "radio_queues.h"

/* Macros of the program that are called like an event and a subsystem. */
#define SLOT refuses to compile
#define mac refuses to compile

static void fire(long long wide, unsigned narrow) {
  if (wide > 0) SJ_EVENT(MAC, SLOT, wide);
  SJ_EVENT(mac, SLOT, narrow);
  SJ_EVENT(mac, grant, wide, narrow, wide, narrow, wide);
  SJ_EVENT(MAC, GRANT, 1, -1, 2, 3, -4);
  SJ_EVENT_MAC_IDLE();
  SJ_EVENT(queues, DEPTH, narrow);
}

int main(void) {
  fire(SJ_SUBSYS_MAC + SJ_EVENT_ID_MAC_SLOT, SJ_EVENT_ID_MAC_GRANT);
  return SJ_EVENT_ID_MAC_IDLE == 2 && SJ_SUBSYS_QUEUES == 0 ? 0 : 1;
}
