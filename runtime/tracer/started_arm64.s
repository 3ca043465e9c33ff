//go:build linux && !cgo

#include "textflag.h"

#define SYS_fcntl		25
#define SYS_rt_sigaction	134
#define SYS_rt_sigprocmask	135
#define F_GETFD			1
#define SIG_IGN			1

// void noteStarted(void), C calling convention; a call into the kernel changes
// R0 alone.
//
// R9: number of the signal or descriptor; R10: the bits so far.
TEXT noteStarted(SB),NOSPLIT|NOFRAME,$0
	MOVD	$0, R0
	MOVD	$0, R1
	MOVD	$·started+0(SB), R2	// inherited.Blocked
	MOVD	$8, R3
	MOVD	$SYS_rt_sigprocmask, R8
	SVC

	MOVD	$0, R10
	MOVD	$1, R9
signal:
	MOVD	R9, R0
	MOVD	$0, R1
	MOVD	$·action(SB), R2
	MOVD	$8, R3
	MOVD	$SYS_rt_sigaction, R8
	SVC
	CBNZ	R0, nextSignal
	MOVD	·action(SB), R4
	CMP	$SIG_IGN, R4
	BNE	nextSignal
	SUB	$1, R9, R5
	MOVD	$1, R4
	LSL	R5, R4, R4
	ORR	R4, R10
nextSignal:
	ADD	$1, R9
	CMP	$65, R9
	BNE	signal
	MOVD	R10, ·started+8(SB)	// inherited.Ignored

	MOVD	$0, R10
	MOVD	$0, R9
descriptor:
	MOVD	R9, R0
	MOVD	$F_GETFD, R1
	MOVD	$SYS_fcntl, R8
	SVC
	TBZ	$63, R0, nextDescriptor
	MOVD	$1, R4
	LSL	R9, R4, R4
	ORR	R4, R10
nextDescriptor:
	ADD	$1, R9
	CMP	$3, R9
	BNE	descriptor
	MOVD	R10, ·started+16(SB)	// inherited.Closed

	MOVD	$1, R4
	MOVD	R4, ·started+24(SB)	// inherited.Known
	RET

// struct sigaction: handler, flags, restorer, mask
GLOBL	·action(SB),NOPTR,$32
