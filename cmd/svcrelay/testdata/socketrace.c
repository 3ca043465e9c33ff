// outside: binds sockets and says at its end whether anybody sent to them. inside:
// sends to a socket of its own while another thread writes the name of that into the
// same memory.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static volatile sig_atomic_t done;
static void end(int sig) { (void)sig, done = 1; }

static int receiver(const char *path)
{
	struct sockaddr_un a = { AF_UNIX, "" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	strcpy(a.sun_path, path);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0)
		perror(path), exit(1);
	return fd;
}

static int drain(int fd)
{
	char buf[16];
	int n = 0;
	while (recv(fd, buf, sizeof buf, 0) >= 0)
		n++;
	return n;
}

static struct sockaddr_un addr;
static struct msghdr header;
static struct mmsghdr headers[2];

// change writes one address and then the other.
static void *change(void *arg)
{
	(void)arg;
	for (int i = 0; !done; i++)
		strcpy(addr.sun_path, i % 2 ? "/open/inside/s" : "/open/outside/s");
	return NULL;
}

static int inside(void)
{
	mkdir("/open/inside", 0755);
	int to = receiver("/open/inside/s"), from = socket(AF_UNIX, SOCK_DGRAM, 0), got = 0;
	addr.sun_family = AF_UNIX;
	struct iovec iov = { "x", 1 };
	header = (struct msghdr){ &addr, sizeof addr, &iov, 1, NULL, 0, 0 };
	headers[0].msg_hdr = headers[1].msg_hdr = header;
	pthread_t t;
	pthread_create(&t, NULL, change, NULL);
	for (int i = 0; i < 400; i++) {
		int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
		sendto(from, "x", 1, 0, (struct sockaddr *)&addr, sizeof addr);
		sendmsg(from, &header, 0);
		sendmmsg(from, headers, 2, 0);
		if (connect(fd, (struct sockaddr *)&addr, sizeof addr) == 0)
			send(fd, "x", 1, 0);
		close(fd);
		got += drain(to);
	}
	done = 1;
	pthread_join(t, NULL);
	printf("inside: %s\n", got ? "reached" : "not reached");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "inside") == 0)
		return inside();
	signal(SIGTERM, end);
	mkdir("/open/outside", 0755);
	int fd = receiver("/open/outside/s");
	while (!done)
		usleep(1000);
	printf("outside: %s\n", drain(fd) ? "reached" : "not reached");
	return 0;
}
