/*
 * What a call costs: calls ROUNDS COUNT [NAME]. For each call it prints the
 * median over ROUNDS of the time of COUNT of them, in nanoseconds a call. In a
 * machine that counts instructions a nanosecond is an instruction.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS 101
#define DIR "/tmp/calls/a/b/c/d"
#define FILE_NAME DIR "/file"

static int dir;
static char buf[4096];
static struct stat st;
static const char *self;

static void *nothing(void *arg) { return arg; }

static void do_getppid(void) { syscall(SYS_getppid); }
static void do_stat(void) { stat(FILE_NAME, &st); }
static void do_open(void) { close(open(FILE_NAME, O_RDONLY)); }
static void do_access(void) { access(FILE_NAME, R_OK); }
static void do_dirfd(void) { fstatat(dir, "file", &st, 0); }
static void do_missing(void) { stat(DIR "/none", &st); }
static void do_exe(void) { readlink("/proc/self/exe", buf, sizeof(buf)); }
static void do_getcwd(void) { getcwd(buf, sizeof(buf)); }
static void do_uname(void) { uname((struct utsname *)buf); }
static void do_brk(void) { syscall(SYS_brk, 0); }
static void do_fstat(void) { fstat(dir, &st); }

static void do_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, nothing, NULL);
	pthread_join(t, NULL);
}

static void do_exec(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl(self, self, (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

/* A call, and how many times fewer of it are made. */
static const struct {
	const char *name;
	void (*make)(void);
	int fewer;
} calls[] = {
	{"getppid", do_getppid, 1}, {"stat", do_stat, 1}, {"open+close", do_open, 1},
	{"access", do_access, 1}, {"fstatat", do_dirfd, 1}, {"missing", do_missing, 1},
	{"readlink-exe", do_exe, 1}, {"getcwd", do_getcwd, 1}, {"uname", do_uname, 1},
	{"brk", do_brk, 1}, {"fstat", do_fstat, 1}, {"thread", do_thread, 10},
	{"fork+exec+wait", do_exec, 40},
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(void (*make)(void), int rounds, int count)
{
	double all[MAX_ROUNDS];

	for (int r = 0; r < rounds; r++) {
		double start = now();

		for (int i = 0; i < count; i++)
			make();
		all[r] = (now() - start) / count;
	}
	qsort(all, rounds, sizeof(*all), compare);
	return all[rounds / 2];
}

static void make_file(void)
{
	char path[] = DIR;

	for (char *p = path + 5; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(path, 0755);
	}
	mkdir(path, 0755);
	close(open(FILE_NAME, O_CREAT | O_WRONLY, 0644));
	dir = open(DIR, O_RDONLY | O_DIRECTORY);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 0; /* what do_exec runs */
	int rounds = atoi(argv[1]), count = atoi(argv[2]);

	if (rounds < 1 || rounds > MAX_ROUNDS || count < 40)
		return 2;
	self = argv[0];
	make_file();
	if (dir < 0 || stat(FILE_NAME, &st))
		return 1;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (argc > 3 && !strstr(argv[3], calls[i].name))
			continue;
		calls[i].make();
		printf("%s %.0f\n", calls[i].name, median(calls[i].make, rounds, count / calls[i].fewer));
	}
	return 0;
}
