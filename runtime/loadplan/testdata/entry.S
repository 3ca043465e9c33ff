/*
 * A program that looks at what the kernel leaves in the registers: it ends with
 * status 0 when x0 to x29, the flags and the floating-point state are zero, sp is
 * aligned and points at argc 1, and the stack below it was never used; with another
 * status it says which was not.
 */
	.arch armv8-a
	.text
	.globl	_start
_start:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
	cbnz	x\n, 1f
	.endr
	mrs	x0, nzcv
	cbnz	x0, 2f
	mrs	x0, fpcr
	cbnz	x0, 2f
	mrs	x0, fpsr
	cbnz	x0, 2f
	mov	x0, sp
	tst	x0, #15
	b.ne	3f
	ldr	x0, [sp]
	cmp	x0, #1
	b.ne	3f
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	fmov	x0, d\n
	cbnz	x0, 4f
	fmov	x0, v\n\().d[1]
	cbnz	x0, 4f
	.endr
	sub	x1, sp, #160		/* less than any plan */
	mov	x2, sp
0:	ldr	x0, [x1], #8
	cbnz	x0, 5f
	cmp	x1, x2
	b.ne	0b
	mov	x0, #0
	b	9f
1:	mov	x0, #101
	b	9f
2:	mov	x0, #102
	b	9f
3:	mov	x0, #103
	b	9f
4:	mov	x0, #104
	b	9f
5:	mov	x0, #105
9:	mov	x8, #94
	svc	#0
