/*
 * Says what its process looks like from inside, in words that are the same
 * wherever it was loaded: addresses as distances from its own symbols. Whoever
 * runs it compares the words with those of a run without the exec loader.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef BSS
#define BSS 100000
#endif
#ifndef ALIGN
#define ALIGN 4096
#endif

extern const char __ehdr_start[], _end[];
extern void _start(void);
static char bss[BSS];
static char data[70000] = {1, 2, 3, [69999] = 4};
static char *relocated = data + 5;
static _Thread_local int tls = 7;

static long nonzero(const char *from, long n)
{
	long count = 0;

	for (long i = 0; i < n; i++)
		count += from[i] != 0;
	return count;
}

static void say_auxv(void)
{
	unsigned char *random = (unsigned char *)getauxval(AT_RANDOM);
	unsigned long base = getauxval(AT_BASE), entry = getauxval(AT_ENTRY);

	printf("phdr %ld phent %ld phnum %ld\n", (long)(getauxval(AT_PHDR) - (uintptr_t)__ehdr_start),
	       getauxval(AT_PHENT), getauxval(AT_PHNUM));
	printf("entry %ld\n", (long)(entry - (uintptr_t)_start));
	printf("base %s\n", base == 0 ? "none" : memcmp((void *)base, ELFMAG, SELFMAG) ? "wrong" : "an ELF file");
	printf("execfn %s\n", (char *)getauxval(AT_EXECFN));
	printf("random %d platform %s\n", nonzero((char *)random, 16) > 4, (char *)getauxval(AT_PLATFORM));
	printf("page %ld hwcap %lx hwcap2 %lx secure %ld uid %ld clock %ld flags %ld\n", getauxval(AT_PAGESZ),
	       getauxval(AT_HWCAP), getauxval(AT_HWCAP2), getauxval(AT_SECURE), getauxval(AT_UID),
	       getauxval(AT_CLKTCK), getauxval(AT_FLAGS));
}

static void say_memory(void)
{
	char *end = sbrk(0);

	printf("data %d %d %d tail %ld relocated %d tls %d\n", data[0], data[2], data[69999],
	       nonzero(data + 3, sizeof(data) - 4), *(relocated - 3), tls);
	printf("bss %ld of %d\n", nonzero(bss, sizeof(bss)), BSS);
	memset(bss, 1, sizeof(bss));
	printf("aligned %d\n", (uintptr_t)__ehdr_start % ALIGN == 0);
	printf("brk %d\n", sbrk(1 << 20) == end && nonzero(end, 1 << 20) == 0);
}

/* What the kernel says of this program's code and data, and whether reservations
 * were left inside it or next to it. */
static void say_maps(void)
{
	char line[512], perms[8], name[256];
	unsigned long from, to, last = 0, reserved = 0;
	unsigned long begin = (uintptr_t)__ehdr_start, end = (uintptr_t)_end | (sysconf(_SC_PAGESIZE) - 1);
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f)) {
		*name = 0;
		if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %255s", &from, &to, perms, name) < 3)
			continue;
		if (from < last)
			printf("maps overlap at %lx\n", from);
		last = to;
		if (!strncmp(perms, "---", 3) && from <= end + 1 && to >= begin)
			reserved += to - from;
		if (strchr(perms, 'w') && strchr(perms, 'x') && strcmp(name, "[stack]"))
			printf("writable and executable: %s", line);
		if (from <= (uintptr_t)data && (uintptr_t)data < to)
			printf("data %s\n", perms);
		if (from <= (uintptr_t)_start && (uintptr_t)_start < to)
			printf("code %s\n", perms);
	}
	printf("reserved %lu\n", reserved);
	if (f)
		fclose(f);
}

static void say_fds(void)
{
	printf("fds");
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf(" %d", fd);
	printf("\n");
}

#ifdef EXECSTACK
static void say_stack(void)
{
	volatile uint32_t code[2] = {0x52800540, 0xd65f03c0}; /* mov w0, #42; ret */

	__builtin___clear_cache((char *)code, (char *)(code + 2));
	printf("stack runs: %d\n", ((int (*)(void))code)());
}
#else
static void say_stack(void) {}
#endif

int main(int argc, char **argv)
{
	char comm[16];

	for (int i = 0; i < argc; i++)
		printf("argv[%d] %s\n", i, argv[i]);
	printf("argv ends %d, env %s\n", argv[argc] == NULL, getenv("PROBE"));
	say_auxv();
	say_memory();
	say_maps();
	say_fds();
	say_stack();
	prctl(PR_GET_NAME, comm);
	printf("comm %s\n", comm);
	printf("done\n");
	return 5;
}
