/*
 * The test build's way to a plan without a tracer: the loader is started as
 *
 *	loader PLANFILE ARGV...
 *
 * and finds the plan in the file. Its report goes to descriptor 3.
 */
#include "../../guest/loader.h"
#include "../../guest/sys.h"

HIDDEN struct sr_plan *sr_test_plan(uint64_t *sp);

enum { ROOM = 0x8000 };

static void copy(char *to, const char *from, long n)
{
	while (n-- > 0)
		*to++ = *from++;
}

/*
 * sp: argc, "loader", PLANFILE, ARGV... Two words are dropped, which keeps sp
 * aligned; the plan goes right below. In a plan of the tests execfn is not an
 * address but a wish: that of the program's argv[0].
 */
struct sr_plan *sr_test_plan(uint64_t *sp)
{
	char *room = (char *)sp - 2 * ROOM;
	long fd = sys4(SR_NR_openat, -100, (long)sp[2], 0, 0);
	long n = sys3(SR_NR_read, fd, (long)room, ROOM);
	uint64_t *stack = sp + 2;
	struct sr_plan *p = (struct sr_plan *)((char *)stack - n);

	sys3(SR_NR_close, fd, 0, 0);
	stack[0] = sp[0] - 2;
	copy((char *)p, room, n);
	if (p->execfn)
		p->execfn = stack[1];
	return p;
}

void sr_test_report(const struct sr_plan *p)
{
	sys3(SR_NR_write, 3, (long)p, p->size);
}
