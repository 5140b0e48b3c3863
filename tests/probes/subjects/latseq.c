/* Instrumented for LatSeq: as its users write it, in C and in C++. Prints "latseq ok" and exits 0.
 */
#include <sojourn/latseq.h>
#include <stddef.h>
#include <stdio.h>

typedef struct {
  uint16_t rnti;
  uint8_t drb;
  uint32_t psn;
  uint64_t wide;
} context_t;

static const char log_name[] = "latseq";
static volatile int length = 100;

__attribute__((noinline)) static void kinds(const context_t* ctxt, int len, long occupancy) {
  LATSEQ_P("D pdcp.tx--rlc.tx.am", "len%d:rnti%d:drb%d.psn%d", len, ctxt->rnti, ctxt->drb,
           ctxt->psn);
  if (len != 0) LATSEQ_P("U mac.demux--rlc.rx.am", "len%u::drb%u", len, ctxt->drb);
  LATSEQ_P("I rlc.am.txbuf", "occ%ld:drb%d", OCCUPANCY(occupancy, 2), ctxt->drb);
  LATSEQ_P("S rdtsc--gettimeofday", "%" PRIu64, ctxt->wide);
  LATSEQ_P("D mac.harq.down--", "rnti%x", ctxt->rnti);
  LATSEQ_P("U rlc.rx.am--pdcp.rx", "len%d:rnti%d:drb%d.psn%d.psn%d", len, ctxt->rnti, ctxt->drb,
           ctxt->psn, ctxt->psn + 1);
  LATSEQ_P("full2 D", "ip%d.mac%d", len, len + 1);
}

__attribute__((noinline)) static void conversions(const context_t* ctxt, size_t size,
                                                  signed char letter, long number) {
  LATSEQ_P("U conversions--all", "d%d.i%i.u%u.x%x.X%X.o%o.c%c:ld%ld.lu%lu.lx%lx:hu%hu.hhu%hhu",
           letter, (int)number, ctxt->psn, ctxt->psn, ctxt->psn, ctxt->rnti, letter, number,
           (unsigned long)number, number, ctxt->rnti, ctxt->drb);
  LATSEQ_P("U conversions--wide", "zu%zu:llx%llx.llu%llu.u64%" PRIu64 ".p%p:pad%08x", size,
           (unsigned long long)ctxt->wide, (unsigned long long)ctxt->wide, ctxt->wide, ctxt,
           ctxt->rnti);
}

__attribute__((noinline)) static void counts(int a, long b) {
  LATSEQ_P("D counts--one", "a%d", a);
  LATSEQ_P("D counts--sixteen",
           "a%d.b%ld.c%d.d%ld:e%d.f%ld.g%d.h%ld.i%d.j%ld.k%d.l%ld:m%d.n%ld.o%d.p%ld", a, b, a, b, a,
           b, a, b, a, b, a, b, a, b, a, b);
}

/* This function is never called: a linker may drop it, and the format with it. */
void dropped(int value);
void dropped(int value) {
  LATSEQ_P("D dropped--never", "only_here%d", value);
}

int main(void) {
  const context_t ctxt = {0x4601, 1, 7, UINT64_C(0xfedcba9876543210)};
  if (init_latseq(log_name, get_cpu_freq_cycles()) != 1) return 1;
  kinds(&ctxt, length, 12);
  conversions(&ctxt, sizeof ctxt, 'x', -5);
  counts(1, 2);
  if (close_latseq() != 1) return 1;
  puts("latseq ok");
  return 0;
}
