/*
 * System calls for freestanding code: no errno, no wrapper, no libc.
 *
 * The arm64 Linux ABI: the number in x8, arguments in x0 to x5, the result in
 * x0, negative errno for a failure; the kernel preserves every other register.
 */
#ifndef SVCRELAY_SYS_H
#define SVCRELAY_SYS_H

#include "../sysno/sysno.h"

static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

static inline long sys4(long nr, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
			 : "memory", "cc");
	return x0;
}

static inline long sys3(long nr, long a, long b, long c)
{
	return sys4(nr, a, b, c, 0);
}

/* Failures are the last page of the address space, as everywhere in Linux. */
static inline int failed(long r)
{
	return (unsigned long)r > -4096UL;
}

#endif
