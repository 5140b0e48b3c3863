/* The instructions that trial_sites.h offers to probes, in functions without a frame of their own:
 * what stands around them is exactly this. */

#if defined(__x86_64__)

/* Saves the pattern in the 64 bytes below the stack pointer, runs the instruction, and looks. */
.macro trial name, instruction:vararg
	.p2align 6
run_\name:
site_\name:
	\instruction
	decq %rdi
	jnz run_\name
	ret
	.p2align 6
leaf_\name:
	xorl %eax, %eax
	movabsq $0x5aa55aa55aa55aa5, %rcx
.Lagain_\name:
	.irp at, 8, 16, 24, 32, 40, 48, 56, 64
	movq %rcx, -\at(%rsp)
	.endr
leaf_site_\name:
	\instruction
	.irp at, 8, 16, 24, 32, 40, 48, 56, 64
	cmpq %rcx, -\at(%rsp)
	jne .Lchanged_\name
	.endr
	jmp .Lnext_\name
.Lchanged_\name:
	incq %rax
.Lnext_\name:
	decq %rdi
	jnz .Lagain_\name
	ret
.endm

/* A function that is called in a loop. */
.macro trial_of_return
	.p2align 6
site_returning:
	nop
	ret
	.p2align 6
run_returning:
	callq site_returning
	decq %rdi
	jnz run_returning
	ret
.endm

#elif defined(__aarch64__)

/* No call instruction writes to memory here, and the ABI has no red zone: the leaf has nothing to
 * lose. */
.macro trial name, instruction:vararg
	.p2align 6
run_\name:
site_\name:
	\instruction
	subs x0, x0, #1
	b.ne run_\name
	ret
	.p2align 6
leaf_\name:
	mov x1, x0
	mov x0, #0
1:
leaf_site_\name:
	\instruction
	subs x1, x1, #1
	b.ne 1b
	ret
.endm

.macro trial_of_return
	.p2align 6
site_returning:
	nop
	ret
	.p2align 6
run_returning:
	stp x29, x30, [sp, #-16]!
2:
	bl site_returning
	subs x0, x0, #1
	b.ne 2b
	ldp x29, x30, [sp], #16
	ret
.endm

#else
#error "sojourn traces x86-64 and arm64"
#endif

	.text
	trial plain0, nop
	trial plain1, nop
	trial plain2, nop
	trial plain3, nop
	trial plain4, nop
	trial plain5, nop
#if defined(__x86_64__)
	trial nop3, .byte 0x0f, 0x1f, 0x00
	trial nop8, .byte 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
	trial nop5, .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
	trial nop10, .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
	trial stepped, xorq %r11, %r11
#else
	trial nop3, nop
	trial nop8, nop
	trial nop5, nop
	trial nop10, nop
	trial stepped, eor x9, x9, x9
#endif

	trial_of_return
	.set leaf_site_returning, 0
	.set leaf_returning, 0

/* struct TrialSite, in the order in which trial_sites.cpp counts. */
	.section .data.rel.ro, "aw"
	.p2align 3
	.globl sj_trial_sites
	.hidden sj_trial_sites
	.type sj_trial_sites, %object
sj_trial_sites:
	.irp name, plain0, plain1, plain2, plain3, plain4, plain5, nop3, nop8, nop5, nop10, stepped, returning
	.quad site_\name, run_\name, leaf_site_\name, leaf_\name
	.endr
	.size sj_trial_sites, . - sj_trial_sites

	.section .note.GNU-stack, "", %progbits
