/*
 * The exec loader: what the kernel's ELF loader does, done by the process itself
 * because the kernel may exec only one file of an Android app and cannot see the
 * guest's program interpreter. The tracer has read the headers; this program
 * carries out its plan with plain system calls, of which only openat needs the
 * tracer again: first for the window, then for each image.
 *
 * Rules of mapping are those of Linux 6.6 and later (elf_load): the tail of the
 * last file page of a writable segment is cleared to the page's end, pages behind
 * it are anonymous and always writable, holes between segments are unmapped.
 *
 * All of it fits in one page, which therefore stays mapped: the instruction that
 * would unmap it has to be somewhere.
 */
#include "loader.h"
#include "sys.h"

#define AT_FDCWD	(-100)
#define O_CLOEXEC	02000000
#define MAP_SHARED	0x01
#define MAP_PRIVATE	0x02
#define MAP_FIXED	0x10
#define MAP_ANONYMOUS	0x20
#define MAP_NORESERVE	0x4000
#define MAP_FIXED_NOREPLACE 0x100000
#define PROT_GROWSDOWN	0x01000000
#define PR_SET_NAME	15
#define EINVAL		22
#define EEXIST		17

enum {
	AT_NULL, AT_IGNORE, AT_EXECFD, AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ,
	AT_BASE, AT_FLAGS, AT_ENTRY, AT_HWCAP2 = 26, AT_EXECFN = 31,
};

#define HWCAP2_BTI	(1 << 17)
#define PHDR_SIZE	56

/* The auxiliary vector: pairs of a type and a value. */
struct aux {
	uint64_t type;
	uint64_t value;
};

static uint64_t down(const struct sr_plan *p, uint64_t a) { return a & -p->page; }
static uint64_t up(const struct sr_plan *p, uint64_t a) { return down(p, a + p->page - 1); }

static struct sr_image *images(struct sr_plan *p) { return (struct sr_image *)(p + 1); }

static const struct sr_segment *segments(struct sr_plan *p, const struct sr_image *m)
{
	return (const struct sr_segment *)(images(p) + p->images) + m->first;
}

static uint64_t *stack(const struct sr_plan *p) { return (uint64_t *)((char *)p + p->size); }

static long map(uint64_t at, uint64_t size, uint32_t prot, int flags, int fd, uint64_t offset)
{
	return sys6(SR_NR_mmap, (long)at, (long)size, prot, MAP_PRIVATE | flags, fd, (long)offset);
}

static void unmap(uint64_t from, uint64_t to)
{
	if (from < to)
		sys3(SR_NR_munmap, (long)from, (long)(to - from), 0);
}

/* The result of the call does not matter: a tracer listens or nobody does. */
static void report(struct sr_plan *p)
{
#ifdef LOADER_TEST
	sr_test_report(p);
#endif
	if (p->report != SR_NO_REPORT)
		sys3(p->report, (long)p, (long)SR_PLAN_MAGIC, 0);
}

static _Noreturn void leave(void)
{
	for (;;)
		sys3(SR_NR_exit_group, SR_EXIT_STATUS, 0, 0);
}

static _Noreturn void fail(struct sr_plan *p, uint32_t step, long result)
{
	p->step = step;
	p->err = (uint32_t)-result;
	report(p);
	leave();
}

static long check(struct sr_plan *p, uint32_t step, long result)
{
	if (failed(result))
		fail(p, step, result);
	return result;
}

/* Somebody started the loader by hand. */
static _Noreturn void no_plan(void)
{
	static const char message[] = "svcrelay loader: no plan, I am started by a tracer only\n";

	sys3(SR_NR_write, 2, (long)message, sizeof(message) - 1);
	leave();
}

/* The vector lies behind argc, the arguments, the environment and their ends. */
static struct aux *find_auxv(const struct sr_plan *p)
{
	uint64_t *word = stack(p);

	word += 1 + *word + 1;
	while (*word++)
		;
	return (struct aux *)word;
}

static uint64_t lookup(const struct aux *a, uint64_t type)
{
	for (; a->type; a++)
		if (a->type == type)
			return a->value;
	return 0;
}

static void take_page_size(struct sr_plan *p, const struct aux *a)
{
	p->page = lookup(a, AT_PAGESZ);
	if (p->page < 0x1000 || p->page > 0x10000 || (p->page & (p->page - 1)))
		fail(p, SR_STEP_PLAN, -EINVAL);
}

/* A kernel before 4.17 takes a fixed place that is taken for a mere wish. */
static uint64_t reserve_fixed(struct sr_plan *p, uint64_t at, uint64_t size)
{
	uint64_t got = (uint64_t)check(p, SR_STEP_RESERVE,
		map(at, size, 0, MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0));

	if (got != at)
		fail(p, SR_STEP_RESERVE, -EEXIST);
	return got;
}

/*
 * Finds room for an image and sets its base; returns the reservation's start and
 * its end through *end. The kernel chooses, so the choice is random; what
 * alignment costs is cut off again with the holes.
 */
static uint64_t reserve(struct sr_plan *p, struct sr_image *m, uint64_t *end)
{
	uint64_t low = down(p, m->low), size = up(p, m->low + m->span) - low;
	uint64_t slack = m->align > p->page ? m->align - p->page : 0;
	uint64_t at;

	if (m->flags & SR_IMAGE_FIXED) {
		m->base = 0;
		*end = low + size;
		return reserve_fixed(p, low, size);
	}
	at = (uint64_t)check(p, SR_STEP_RESERVE,
		map(0, size + slack, 0, MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	*end = at + size + slack;
	/* The base, not the first address, is what alignment is about. */
	m->base = at - low;
	if (slack)
		m->base = (m->base + m->align - 1) & -m->align;
	return at;
}

static void clear(uint64_t from, uint64_t to)
{
	for (; from < to && from % 8; from++)
		*(volatile char *)from = 0;
	for (; from < to; from += 8)
		*(volatile uint64_t *)from = 0;
}

/* Maps one segment at its page-aligned start; returns the end of its pages. */
static uint64_t map_segment(struct sr_plan *p, const struct sr_segment *s, uint64_t addr, int fd, uint32_t prot)
{
	uint64_t start = down(p, addr), anon = start;
	uint64_t file_end = addr + s->filesz, end = up(p, addr + s->memsz);

	if (s->filesz) {
		check(p, SR_STEP_MAP, map(start, file_end - start, prot, MAP_FIXED, fd, s->offset - (addr - start)));
		anon = up(p, file_end);
		if (s->memsz > s->filesz && prot & SR_PROT_WRITE)
			clear(file_end, anon);
	}
	if (anon < end)
		check(p, SR_STEP_ZERO, map(anon, end - anon, SR_PROT_READ | SR_PROT_WRITE | (prot & SR_PROT_EXEC),
			MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	return anon < end ? end : anon;
}

static int open_image(struct sr_plan *p, const struct sr_image *m)
{
	if (!m->path)
		return m->fd;
	return (int)check(p, SR_STEP_OPEN,
		sys4(SR_NR_openat, AT_FDCWD, (long)((char *)p + m->path), O_CLOEXEC, 0));
}

/* no_prot is taken out of every protection. */
static void load_image(struct sr_plan *p, struct sr_image *m, uint32_t no_prot)
{
	const struct sr_segment *s = segments(p, m);
	int fd = open_image(p, m);
	uint64_t end, done = reserve(p, m, &end);

	for (p->segment = 0; p->segment < m->segments; p->segment++, s++) {
		uint64_t addr = m->base + s->addr;

		unmap(done, down(p, addr));
		done = map_segment(p, s, addr, fd, s->prot & ~no_prot);
	}
	unmap(done, end);
	if (!(m->flags & SR_IMAGE_KEEP_FD))
		sys3(SR_NR_close, fd, 0, 0);
}

/*
 * Maps the tracer's window, read-only for good: a shared mapping of a descriptor
 * that was opened for reading cannot be made writable. A tracer that offers none
 * answers the open with an error, and is told by it that there is none.
 */
static void map_window(struct sr_plan *p)
{
	long fd, at;

	if (!p->window)
		return;
	fd = sys4(SR_NR_openat, AT_FDCWD, (long)((char *)p + p->window), O_CLOEXEC, 0);
	if (failed(fd))
		return;
	at = check(p, SR_STEP_WINDOW, sys6(SR_NR_mmap, SR_WINDOW_ADDR, SR_WINDOW_SIZE, SR_PROT_READ,
		MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0));
	if (at != SR_WINDOW_ADDR)
		fail(p, SR_STEP_WINDOW, -EEXIST);
	sys3(SR_NR_close, fd, 0, 0);
}

/* Loads all and returns the one that starts: the interpreter, else the program. */
static const struct sr_image *load_images(struct sr_plan *p, const struct aux *a)
{
	uint32_t no_prot = lookup(a, AT_HWCAP2) & HWCAP2_BTI ? 0 : SR_PROT_BTI;
	struct sr_image *m = images(p), *starts = m;

	for (p->image = 0; p->image < p->images; p->image++, m++) {
		load_image(p, m, no_prot);
		if (m->flags & SR_IMAGE_INTERP)
			starts = m;
	}
	return starts;
}

/*
 * The whole stack, as the kernel does it: down to the mapping's start by
 * PROT_GROWSDOWN, up to the kernel's copy of the path, which is its last word.
 * Android forbids this to apps. Most programs that ask for it never run code
 * there, so refusal is recorded and not fatal.
 */
static void make_stack_executable(struct sr_plan *p, const struct aux *a)
{
	uint64_t from = down(p, (uint64_t)stack(p)), last = lookup(a, AT_EXECFN);
	long r;

	if (last < from)
		last = from;
	r = sys3(SR_NR_mprotect, (long)from, (long)(down(p, last) + p->page - from),
		 SR_PROT_READ | SR_PROT_WRITE | SR_PROT_EXEC | PROT_GROWSDOWN);
	p->stackerr = (uint32_t)-r;
}

static void patch_auxv(const struct sr_plan *p, const struct sr_image *m, const struct sr_image *starts, struct aux *a)
{
	for (; a->type; a++) {
		switch (a->type) {
		case AT_PHDR: a->value = m->base + m->phdr; break;
		case AT_PHENT: a->value = PHDR_SIZE; break;
		case AT_PHNUM: a->value = m->phnum; break;
		case AT_BASE: a->value = starts == m ? 0 : starts->base; break;
		case AT_ENTRY: a->value = m->base + m->entry; break;
		case AT_EXECFN: if (p->execfn) a->value = p->execfn; break;
		}
	}
}

struct sr_start sr_load(struct sr_plan *p)
{
	struct sr_start start;
	const struct sr_image *starts;
	struct aux *auxv;

	if (p->magic != SR_PLAN_MAGIC)
		no_plan();
	auxv = find_auxv(p);
	take_page_size(p, auxv);
	map_window(p);
	starts = load_images(p, auxv);
	if (p->flags & SR_PLAN_EXEC_STACK)
		make_stack_executable(p, auxv);
	patch_auxv(p, images(p), starts, auxv);
	sys3(SR_NR_prctl, PR_SET_NAME, (long)p->comm, 0);
	start.pc = p->start = starts->base + starts->entry;
	start.sp = (uint64_t)stack(p);
	report(p);
	/* Nothing of the plan, host paths least of all, stays below the stack. */
	clear((uint64_t)p, start.sp);
	return start;
}
