/*
 * Where the kernel enters the exec loader, and where the program is entered.
 *
 * The loader finds its plan at sp: the tracer lowers sp at the exec stop, and sp
 * is the one register that it can set there, since the kernel writes the result
 * of execve over x0 afterwards.
 */
#include "abi.h"

	.file	"loader.S"	/* else the linker names a temporary file */

	.section .note.svcrelay, "a", %note
	.p2align 2
	.word 2f - 1f
	.word 4f - 3f
	.word SR_NOTE_TYPE
1:	.asciz SR_NOTE_NAME
2:	.p2align 2
3:	.word SR_VERSION
4:

	.cfi_sections .debug_frame
	.text

/*
 * _Noreturn void _start(void)
 * sp: the plan; all else zero
 *
 * The program gets what the kernel gives: zeros and the stack. x30 alone is not
 * zero: no branch goes far without a register, and ret is the one that may land
 * on any word of a page guarded by BTI. Everybody's _start clears x30 or ignores
 * it. Floating point was never touched.
 */
	.globl	_start
	.hidden	_start
	.type	_start, %function
_start:
	.cfi_startproc
	.cfi_undefined x30
	mov	x0, sp
#ifdef LOADER_TEST
	sub	sp, sp, #0x10000
	bl	sr_test_plan
	mov	sp, x0
#endif
	bl	sr_load		/* struct sr_start sr_load(plan x0), in x0, x1 */
	mov	sp, x1
	mov	x30, x0
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
	mov	x\n, xzr
	.endr
	msr	nzcv, xzr
	ret
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", %progbits
