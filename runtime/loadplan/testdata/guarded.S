/*
 * A program that jumps to a word which is no landing pad: SIGILL where its page
 * is guarded by BTI, else status 7. Its property asks for that.
 */
	.text
	.globl	_start
_start:
	adr	x9, 1f
	br	x9
1:	mov	x0, #7
	mov	x8, #94
	svc	#0

	.section .note.gnu.property, "a"
	.p2align 3
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, FEATURES, 0
