/*
 * How a hit writes its record into its thread's ring. Not for use by itself: ring_site.h includes
 * it.
 *
 * One thread writes a ring, yet not alone: a signal handler may hit points in the middle of a hit.
 * So a hit reserves, writes and publishes:
 *
 *   from = reserved, now = the cycle counter
 *   if reserved is still from, reserved = from + bytes    in one instruction; else begin again
 *   write the record: stamp, id, values
 *   if cursor is from, cursor = from + bytes, then, as long as reserved has moved on and the
 *   cursor has not, cursor = reserved                     in one instruction
 *
 * A handler between the first two steps makes the second fail, and the hit begins again with a new
 * stamp: so stamps rise in the order of records. A handler after that finds the cursor behind its
 * own `from`: it interrupted a hit that has not published yet, and leaves that to it. So all below
 * the cursor is whole at any moment, and it never steps back. No lock prefix: only this thread's
 * own handlers can come between two instructions.
 *
 * (Writing first and reserving with the last instruction would need no second word, but a hit that
 * goes on after a handler would write over the handler's record before it noticed.)
 *
 * Between owner and collector: a record's stores come before the cursor's (release), and the
 * collector reads the cursor (acquire) before the record. The collector has read a record before it
 * raises `limit` over its place (release), and the owner reads `limit` (acquire) before it writes
 * there. Each of the two words has one writer; no other order matters, on any machine. x86-64 keeps
 * stores and loads in these orders by itself; arm64 is told by ldar and stlr.
 *
 * `alive` and `reserved` are in a private page, which the kernel wipes in a forked child
 * (MADV_WIPEONFORK): the child's first hit finds 0 and takes the slow path to a ring of its own.
 *
 * The collector's reading leaves the ring's lines in its cache: each has to be asked back before it
 * can be written, which takes longer than all the rest of a hit. So a hit asks for the line that is
 * due a kilobyte later, and those ways overlap. It never faults, also past the ring's end.
 *
 * It is one assembler statement that needs four registers, all of them free to use in any function,
 * because of what compilers do otherwise: a call, or more values alive than there are such
 * registers, cost the function around the point a frame, traced or not. The slow path keeps every
 * register, and steps over the red zone.
 *
 * What stays open: a handler that leaves an unfinished hit for good (siglongjmp) leaves that
 * thread's ring unpublished from there on. Its hits are lost once it is full, and counted.
 */
#ifndef SOJOURN_DETAIL_RING_WRITE_H
#define SOJOURN_DETAIL_RING_WRITE_H

#include <sojourn/ring_abi.h>

/* The ring of the calling thread, from this module's runtime (hidden: each module has rings of its
 * own). Never null: a thread without a ring has one that is not alive. The reference makes the link
 * fail if the library is missing. */
#ifdef __cplusplus
extern "C" {
#endif
extern __thread struct sj_ring* sj_ring_self
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
#ifdef __cplusplus
}
#endif

/* clang-format off */

/* Sets .Lsj_width from a value's size, which is negative for signed types. */
#define SJ_RING_WIDTH_(size)                                                  \
  ".set .Lsj_width, " size "\n"                                               \
  ".if .Lsj_width < 0\n"                                                      \
  ".set .Lsj_width, -.Lsj_width\n"                                            \
  ".endif\n"

/* Sets .Lsj_bytes to the record's, and .Lsj_at to where its values begin. */
#define SJ_RING_COUNT_BYTES_(sizes)                                           \
  ".set .Lsj_at, 12\n"                                                        \
  ".set .Lsj_bytes, .Lsj_at + 7\n"                                            \
  SJ_RING_EACH_SIZE_(sizes, SJ_RING_WIDTH_("\\s")                             \
    ".set .Lsj_bytes, .Lsj_bytes + .Lsj_width\n")                             \
  ".set .Lsj_bytes, .Lsj_bytes & ~7\n"

/* One value, as wide as its size says, at .Lsj_at of the record. */
#define SJ_RING_PUT_(size, one, two, four, eight)                             \
  SJ_RING_WIDTH_(size)                                                        \
  ".if .Lsj_width == 1\n" one                                                 \
  ".elseif .Lsj_width == 2\n" two                                             \
  ".elseif .Lsj_width == 4\n" four                                            \
  ".else\n" eight                                                             \
  ".endif\n"                                                                  \
  ".set .Lsj_at, .Lsj_at + .Lsj_width\n"

#if defined(__x86_64__)

#define SJ_RING_CLOBBERS_ "rax", "rcx", "rdx", "rsi", "memory", "cc"
#define SJ_RING_VALUE_CONSTRAINT_ "er"

#define SJ_RING_PUT_REGISTER_(index)                                          \
  SJ_RING_PUT_("%c[sj_size" #index "]",                                       \
               "movb %b[sj_value" #index "], .Lsj_at(%%rax)\n",               \
               "movw %w[sj_value" #index "], .Lsj_at(%%rax)\n",               \
               "movl %k[sj_value" #index "], .Lsj_at(%%rax)\n",               \
               "movq %q[sj_value" #index "], .Lsj_at(%%rax)\n")
#define SJ_RING_PUT_MEMORY_                                                   \
  "movq .Lsj_from(%[sj_values]), %%rdx\n"                                     \
  ".set .Lsj_from, .Lsj_from + 8\n"                                           \
  SJ_RING_PUT_("\\s",                                                         \
               "movb %%dl, .Lsj_at(%%rax)\n",                                 \
               "movw %%dx, .Lsj_at(%%rax)\n",                                 \
               "movl %%edx, .Lsj_at(%%rax)\n",                                \
               "movq %%rdx, .Lsj_at(%%rax)\n")

/* Only where SJ_FLAG_RING is set and SJ_FLAG_OFF is not: one comparison for both. rcx the ring, rsi
 * the position behind the record, rax the record. */
#define SJ_RING_WRITE_(flag, put)                                             \
  "cmpb $1, " flag "(%%rip)\n"                                                \
  "jne 4f\n"                                                                  \
  "1: movq sj_ring_self@gottpoff(%%rip), %%rcx\n"                             \
  "movq %%fs:(%%rcx), %%rcx\n"                                                \
  "cmpl $0, %c[sj_alive](%%rcx)\n"                                            \
  "je 3f\n"                                                                   \
  "movq %c[sj_reserved](%%rcx), %%rsi\n"                                      \
  "addq $.Lsj_bytes, %%rsi\n"                                                 \
  "cmpq %c[sj_limit](%%rcx), %%rsi\n"                                         \
  "jg 3f\n"                                                                   \
  "rdtsc\n"                                                                   \
  "shlq $32, %%rdx\n"                                                         \
  "orq %%rax, %%rdx\n"                                                        \
  "leaq -.Lsj_bytes(%%rsi), %%rax\n"                                          \
  "cmpxchgq %%rsi, %c[sj_reserved](%%rcx)\n"                                  \
  "jne 1b\n"                                                                  \
  "andq %c[sj_mask](%%rcx), %%rax\n"                                          \
  "leaq %c[sj_data](%%rcx,%%rax), %%rax\n"                                    \
  "movq %%rdx, (%%rax)\n"                                                     \
  "prefetchw 1024(%%rax)\n"                                                   \
  "998: leaq 998b(%%rip), %%rdx\n"                                            \
  "movl %%edx, 8(%%rax)\n"                                                    \
  put                                                                         \
  "leaq -.Lsj_bytes(%%rsi), %%rax\n"                                          \
  "cmpq %%rax, %c[sj_cursor](%%rcx)\n"                                        \
  "jne 4f\n"                                                                  \
  "movq %%rsi, %c[sj_cursor](%%rcx)\n"                                        \
  "5: cmpq %%rsi, %c[sj_reserved](%%rcx)\n"                                   \
  "je 4f\n"                                                                   \
  "movq %%rsi, %%rax\n"                                                       \
  "movq %c[sj_reserved](%%rcx), %%rsi\n"                                      \
  "cmpxchgq %%rsi, %c[sj_cursor](%%rcx)\n"                                    \
  "je 5b\n"                                                                   \
  "jmp 4f\n"                                                                  \
  "3: leaq -128(%%rsp), %%rsp\n"                                              \
  "leaq 998b(%%rip), %%rax\n"                                                 \
  "pushq %%rax\n"                                                             \
  "pushq $.Lsj_bytes\n"                                                       \
  "call sj_ring_slow\n"                                                       \
  "popq %%rax\n"                                                              \
  "leaq 136(%%rsp), %%rsp\n"                                                  \
  "testq %%rax, %%rax\n"                                                      \
  "jnz 1b\n"                                                                  \
  "4:\n"

#else

#define SJ_RING_CLOBBERS_ "x8", "x9", "x10", "x11", "x16", "x17", "memory", "cc"
#define SJ_RING_VALUE_CONSTRAINT_ "r"

#define SJ_RING_PUT_REGISTER_(index)                                          \
  SJ_RING_PUT_("%c[sj_size" #index "]",                                       \
               "strb %w[sj_value" #index "], [x9, .Lsj_at]\n",                \
               "sturh %w[sj_value" #index "], [x9, .Lsj_at]\n",               \
               "stur %w[sj_value" #index "], [x9, .Lsj_at]\n",                \
               "stur %x[sj_value" #index "], [x9, .Lsj_at]\n")
#define SJ_RING_PUT_MEMORY_                                                   \
  "ldr x10, [%[sj_values], .Lsj_from]\n"                                      \
  ".set .Lsj_from, .Lsj_from + 8\n"                                           \
  SJ_RING_PUT_("\\s",                                                         \
               "strb w10, [x9, .Lsj_at]\n",                                   \
               "sturh w10, [x9, .Lsj_at]\n",                                  \
               "stur w10, [x9, .Lsj_at]\n",                                   \
               "stur x10, [x9, .Lsj_at]\n")

/* x8 the ring, x9 the record, x17 the position behind it, x16 the private page, which is too far off
 * for an offset in an instruction. */
#define SJ_RING_WRITE_(flag, put)                                             \
  "adrp x8, " flag "\n"                                                       \
  "ldrb w8, [x8, :lo12:" flag "]\n"                                           \
  "cmp w8, #1\n"                                                              \
  "b.ne 4f\n"                                                                 \
  "1: mrs x9, tpidr_el0\n"                                                    \
  "adrp x8, :gottprel:sj_ring_self\n"                                         \
  "ldr x8, [x8, :gottprel_lo12:sj_ring_self]\n"                               \
  "ldr x8, [x9, x8]\n"                                                        \
  "add x16, x8, %[sj_alive]\n"                                                \
  "ldr w9, [x16], 8\n"                                                        \
  "cbz w9, 3f\n"                                                              \
  "add x10, x8, %[sj_limit]\n"                                                \
  "ldar x10, [x10]\n"                                                         \
  "ldxr x9, [x16]\n"                                                          \
  "add x17, x9, .Lsj_bytes\n"                                                 \
  "cmp x17, x10\n"                                                            \
  "b.gt 3f\n"                                                                 \
  "mrs x10, cntvct_el0\n"                                                     \
  "stxr w11, x17, [x16]\n"                                                    \
  "cbnz w11, 1b\n"                                                            \
  "ldr x16, [x8, %[sj_mask]]\n"                                               \
  "and x9, x9, x16\n"                                                         \
  "add x9, x9, x8\n"                                                          \
  "add x9, x9, %[sj_data]\n"                                                  \
  "str x10, [x9]\n"                                                           \
  "prfm pstl1keep, [x9, 1024]\n"                                              \
  "998: adr x10, 998b\n"                                                      \
  "str w10, [x9, 8]\n"                                                        \
  put                                                                         \
  "add x16, x8, %[sj_alive]\n"                                                \
  "ldr x10, [x8, %[sj_cursor]]\n"                                             \
  "add x8, x8, %[sj_cursor]\n"                                                \
  "add x10, x10, .Lsj_bytes\n"                                                \
  "cmp x10, x17\n"                                                            \
  "b.ne 4f\n"                                                                 \
  "stlr x17, [x8]\n"                                                          \
  "5: ldr x10, [x16, 8]\n"                                                    \
  "cmp x10, x17\n"                                                            \
  "b.eq 4f\n"                                                                 \
  "6: ldxr x9, [x8]\n"                                                        \
  "cmp x9, x17\n"                                                             \
  "b.ne 4f\n"                                                                 \
  "stlxr w11, x10, [x8]\n"                                                    \
  "cbnz w11, 6b\n"                                                            \
  "mov x17, x10\n"                                                            \
  "b 5b\n"                                                                    \
  "3: adr x8, 998b\n"                                                         \
  "mov x9, .Lsj_bytes\n"                                                      \
  "stp x9, x8, [sp, #-32]!\n"                                                 \
  "str x30, [sp, #16]\n"                                                      \
  "bl sj_ring_slow\n"                                                         \
  "ldr x30, [sp, #16]\n"                                                      \
  "ldr x8, [sp], #32\n"                                                       \
  "cbnz x8, 1b\n"                                                             \
  "4:\n"

#endif

#define SJ_RING_OFFSETS_                                                      \
  [sj_alive] "n"(SJ_RING_PRIVATE),                                            \
  [sj_reserved] "n"(SJ_RING_PRIVATE + 8),                                     \
  [sj_data] "n"(SJ_RING_DATA),                                                \
  [sj_cursor] "n"(__builtin_offsetof(struct sj_ring, cursor)),                \
  [sj_limit] "n"(__builtin_offsetof(struct sj_ring, limit)),                  \
  [sj_mask] "n"(__builtin_offsetof(struct sj_ring, mask))

/* clang-format on */

#endif
