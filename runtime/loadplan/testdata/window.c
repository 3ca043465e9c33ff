/* Says what it sees of the tracer's window: 5 when that is what it should be. */
#include <errno.h>
#include <sys/mman.h>

int main(void)
{
	char *window = (char *)0xfffe00000;

	if (window[0] != 'W' || window[0xfffff] != 'W')
		return 1;
	if (!mprotect(window, 4096, PROT_READ | PROT_WRITE) || errno != EACCES)
		return 2;
	return 5;
}
