/*
 * How a hit writes its record into its thread's ring. Not for use by itself: ring_site.h includes
 * it.
 *
 * One thread writes a ring, yet not alone: a signal handler may hit points in the middle of a hit.
 * So a hit is a restartable sequence:
 *
 *   from = cursor            where the record goes: free space that nobody reads yet
 *   write the whole record   stamp, id, values
 *   if cursor is still from, cursor = from + bytes        in one instruction; else begin again
 *
 * A handler in between wrote its own records over the unfinished one and moved the cursor, so the
 * last step fails and the hit begins again, with a new stamp: stamps rise in the order of records.
 * No lock prefix: only this thread's own handlers can come between two instructions. All below the
 * cursor is whole at any moment, also when the thread is killed, or leaves a handler by siglongjmp.
 * `from` waits in the thread's private page and not in a register; a handler that hits a point puts
 * its own there, which is behind the cursor once it returns: the last step fails as it should.
 *
 * Between owner and collector: a record's stores come before the cursor's (release), and the
 * collector reads the cursor (acquire) before the record. The collector has read a record before it
 * raises `limit` over its place (release), and the owner reads `limit` (acquire) before it writes
 * there. Each of the two words has one writer; no other order matters, on any machine. x86-64 keeps
 * stores and loads in these orders by itself; arm64 is told by ldar and stlxr.
 *
 * `alive` is in the private page, which the kernel wipes in a forked child (MADV_WIPEONFORK): the
 * child's first hit finds 0 and takes the slow path to a ring of its own.
 *
 * It is one assembler statement that needs four registers, all of them free to use in any function,
 * because of what compilers do otherwise: a call, or more values alive than there are such
 * registers, cost the function around the point a frame, traced or not. The slow path keeps every
 * register, and steps over the red zone.
 */
#ifndef SOJOURN_DETAIL_RING_WRITE_H
#define SOJOURN_DETAIL_RING_WRITE_H

#include <sojourn/ring_abi.h>

/* Of this module's runtime (hidden: each module has rings of its own). Never null: a thread without
 * a ring has one that is not alive. Refers to it, so that who forgets the library hears of it. */
#ifdef __cplusplus
extern "C" {
#endif
extern __thread struct sj_ring* sj_ring_self
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
#ifdef __cplusplus
}
#endif

/* clang-format off */

/* Sets .Lsj_bytes from the sizes of the values, which may be negative. */
#define SJ_RING_ADD_SIZE_(index)                                              \
  ".if %c[sj_size" #index "] < 0\n"                                           \
  ".set .Lsj_bytes, .Lsj_bytes - %c[sj_size" #index "]\n"                     \
  ".else\n"                                                                   \
  ".set .Lsj_bytes, .Lsj_bytes + %c[sj_size" #index "]\n"                     \
  ".endif\n"
#define SJ_RING_BEGIN_BYTES_ ".set .Lsj_bytes, 12\n"
#define SJ_RING_END_BYTES_ ".set .Lsj_bytes, (.Lsj_bytes + 7) & ~7\n.set .Lsj_at, 12\n"

/* One value: as wide as its size says, at .Lsj_at of the record. */
#define SJ_RING_PUT_WIDTH_(index, width, instruction)                         \
  ".if %c[sj_size" #index "] == " #width " || %c[sj_size" #index "] == -" #width "\n" \
  instruction                                                                 \
  ".set .Lsj_at, .Lsj_at + " #width "\n"                                      \
  ".endif\n"

#if defined(__x86_64__)

#define SJ_RING_CLOBBERS_ "rax", "rcx", "rdx", "rsi", "memory", "cc"
#define SJ_RING_VALUE_CONSTRAINT_ "er"

#define SJ_RING_PUT_REGISTER_(index)                                                        \
  SJ_RING_PUT_WIDTH_(index, 1, "movb %b[sj_value" #index "], .Lsj_at(%%rsi)\n")             \
  SJ_RING_PUT_WIDTH_(index, 2, "movw %w[sj_value" #index "], .Lsj_at(%%rsi)\n")             \
  SJ_RING_PUT_WIDTH_(index, 4, "movl %k[sj_value" #index "], .Lsj_at(%%rsi)\n")             \
  SJ_RING_PUT_WIDTH_(index, 8, "movq %q[sj_value" #index "], .Lsj_at(%%rsi)\n")
#define SJ_RING_PUT_MEMORY_(index)                                                          \
  "movq 8*" #index "(%[sj_values]), %%rax\n"                                                \
  SJ_RING_PUT_WIDTH_(index, 1, "movb %%al, .Lsj_at(%%rsi)\n")                               \
  SJ_RING_PUT_WIDTH_(index, 2, "movw %%ax, .Lsj_at(%%rsi)\n")                               \
  SJ_RING_PUT_WIDTH_(index, 4, "movl %%eax, .Lsj_at(%%rsi)\n")                              \
  SJ_RING_PUT_WIDTH_(index, 8, "movq %%rax, .Lsj_at(%%rsi)\n")

/* rcx the ring, rsi the record. */
#define SJ_RING_WRITE_(flag, put)                                             \
  "testb $1, " flag "(%%rip)\n"                                               \
  "jz 4f\n"                                                                   \
  "1: movq sj_ring_self@gottpoff(%%rip), %%rcx\n"                             \
  "movq %%fs:(%%rcx), %%rcx\n"                                                \
  "cmpl $0, %c[sj_alive](%%rcx)\n"                                            \
  "je 3f\n"                                                                   \
  "movq %c[sj_cursor](%%rcx), %%rax\n"                                        \
  "movq %c[sj_mask](%%rcx), %%rsi\n"                                          \
  "movq %%rax, %c[sj_from](%%rcx)\n"                                          \
  "andq %%rax, %%rsi\n"                                                       \
  "addq $.Lsj_bytes, %%rax\n"                                                 \
  "leaq %c[sj_data](%%rcx,%%rsi), %%rsi\n"                                    \
  "cmpq %c[sj_limit](%%rcx), %%rax\n"                                         \
  "jg 3f\n"                                                                   \
  "rdtsc\n"                                                                   \
  "movl %%eax, (%%rsi)\n"                                                     \
  "movl %%edx, 4(%%rsi)\n"                                                    \
  "leaq 998f(%%rip), %%rax\n"                                                 \
  "movl %%eax, 8(%%rsi)\n"                                                    \
  put                                                                         \
  "movq %c[sj_from](%%rcx), %%rax\n"                                          \
  "leaq .Lsj_bytes(%%rax), %%rdx\n"                                           \
  "998: cmpxchgq %%rdx, %c[sj_cursor](%%rcx)\n"                               \
  "je 4f\n"                                                                   \
  "jmp 1b\n"                                                                  \
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

#define SJ_RING_CLOBBERS_ "x8", "x9", "x10", "x16", "x17", "memory", "cc"
#define SJ_RING_VALUE_CONSTRAINT_ "r"

#define SJ_RING_PUT_REGISTER_(index)                                                        \
  SJ_RING_PUT_WIDTH_(index, 1, "strb %w[sj_value" #index "], [x9, .Lsj_at]\n")              \
  SJ_RING_PUT_WIDTH_(index, 2, "sturh %w[sj_value" #index "], [x9, .Lsj_at]\n")             \
  SJ_RING_PUT_WIDTH_(index, 4, "stur %w[sj_value" #index "], [x9, .Lsj_at]\n")              \
  SJ_RING_PUT_WIDTH_(index, 8, "stur %x[sj_value" #index "], [x9, .Lsj_at]\n")
#define SJ_RING_PUT_MEMORY_(index)                                                          \
  "ldr x10, [%[sj_values], 8*" #index "]\n"                                                 \
  SJ_RING_PUT_WIDTH_(index, 1, "strb w10, [x9, .Lsj_at]\n")                                 \
  SJ_RING_PUT_WIDTH_(index, 2, "sturh w10, [x9, .Lsj_at]\n")                                \
  SJ_RING_PUT_WIDTH_(index, 4, "stur w10, [x9, .Lsj_at]\n")                                 \
  SJ_RING_PUT_WIDTH_(index, 8, "stur x10, [x9, .Lsj_at]\n")

/* x8 the ring, x9 the record. The private page is too far off for an offset in an instruction. */
#define SJ_RING_WRITE_(flag, put)                                             \
  "adrp x8, " flag "\n"                                                       \
  "ldrh w8, [x8, :lo12:" flag "]\n"                                           \
  "tbz w8, #0, 4f\n"                                                          \
  "1: mrs x9, tpidr_el0\n"                                                    \
  "adrp x8, :gottprel:sj_ring_self\n"                                         \
  "ldr x8, [x8, :gottprel_lo12:sj_ring_self]\n"                               \
  "ldr x8, [x9, x8]\n"                                                        \
  "add x16, x8, %[sj_alive]\n"                                                \
  "ldr w9, [x16]\n"                                                           \
  "cbz w9, 3f\n"                                                              \
  "ldr x17, [x8, %[sj_cursor]]\n"                                             \
  "str x17, [x16, %[sj_from] - %[sj_alive]]\n"                                \
  "ldr x9, [x8, %[sj_mask]]\n"                                                \
  "and x9, x9, x17\n"                                                         \
  "add x9, x9, x8\n"                                                          \
  "add x9, x9, %[sj_data]\n"                                                  \
  "add x17, x17, .Lsj_bytes\n"                                                \
  "add x10, x8, %[sj_limit]\n"                                                \
  "ldar x10, [x10]\n"                                                         \
  "cmp x17, x10\n"                                                            \
  "b.gt 3f\n"                                                                 \
  "mrs x10, cntvct_el0\n"                                                     \
  "str x10, [x9]\n"                                                           \
  "adr x10, 998f\n"                                                           \
  "str w10, [x9, 8]\n"                                                        \
  put                                                                         \
  "ldr x10, [x16, %[sj_from] - %[sj_alive]]\n"                                \
  "add x17, x10, .Lsj_bytes\n"                                                \
  "add x8, x8, %[sj_cursor]\n"                                                \
  "998: ldxr x9, [x8]\n"                                                      \
  "cmp x9, x10\n"                                                             \
  "b.ne 1b\n"                                                                 \
  "stlxr w9, x17, [x8]\n"                                                     \
  "cbnz w9, 998b\n"                                                           \
  "b 4f\n"                                                                    \
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
  [sj_from] "n"(SJ_RING_PRIVATE + 8),                                         \
  [sj_data] "n"(SJ_RING_DATA),                                                \
  [sj_cursor] "n"(__builtin_offsetof(struct sj_ring, cursor)),                \
  [sj_limit] "n"(__builtin_offsetof(struct sj_ring, limit)),                  \
  [sj_mask] "n"(__builtin_offsetof(struct sj_ring, mask))

/* clang-format on */

#endif
