/* Reads tables as a loader does: mapped, in place, no allocation. Written from
 * FORMAT.md alone, as a second opinion: for each file it prints the lines of
 * `svcrelay dump` (cells separated by tabs), or why and where it refuses.
 *
 * What is between the two rulers needs nothing but the two headers that every
 * freestanding C11 compiler has. */
#include <stddef.h>
#include <stdint.h>

/* ---- freestanding ------------------------------------------------------- */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tables are read in place: little-endian machines only"
#endif

struct header {
	uint8_t magic[8];
	uint32_t format;
	uint16_t recogniser, window, flags, key_size;
	uint32_t exec_count, entry_count, reserved;
	uint8_t key[64];
};

struct range {
	uint32_t offset, size;
};

struct entry {
	uint32_t svc, hook, word, live, start, end;
	uint16_t number;
	uint8_t distance, kind;
	uint16_t flags, reserved;
};

#define AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
AT(header, magic, 0);
AT(header, format, 8);
AT(header, recogniser, 12);
AT(header, window, 14);
AT(header, flags, 16);
AT(header, key_size, 18);
AT(header, exec_count, 20);
AT(header, entry_count, 24);
AT(header, reserved, 28);
AT(header, key, 32);
AT(range, offset, 0);
AT(range, size, 4);
AT(entry, svc, 0);
AT(entry, hook, 4);
AT(entry, word, 8);
AT(entry, live, 12);
AT(entry, start, 16);
AT(entry, end, 20);
AT(entry, number, 24);
AT(entry, distance, 26);
AT(entry, kind, 27);
AT(entry, flags, 28);
AT(entry, reserved, 30);
_Static_assert(sizeof(struct header) == 96, "header");
_Static_assert(sizeof(struct range) == 8, "range");
_Static_assert(sizeof(struct entry) == 32, "entry");

enum { KIND_SVC = 1, KIND_BRIDGE, KIND_CALL };
enum { VIA_BRIDGE = 0x08, HOOK_IS_SVC = 0x10, BRIDGE_ENTRY = 0x20, KNOWN = 0x3f };
enum { KEY_IS_HASH = 1, NO_NUMBER = 0xffff };

/* A verdict is 0 or the name of an error, with its offset. */
struct verdict {
	const char *error;
	uint64_t offset;
};

#define REFUSE(name, at) return (struct verdict){ name, at }
#define TRY(expression) \
	do { \
		struct verdict v_ = (expression); \
		if (v_.error) \
			return v_; \
	} while (0)
#define FINE (struct verdict){ 0, 0 }

static uint32_t crc32c(const uint8_t *b, uint64_t n)
{
	uint32_t crc = 0xffffffff;

	while (n--) {
		crc ^= *b++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static struct verdict check_frame(const uint8_t *b, uint64_t n)
{
	static const uint8_t magic[8] = { 0x89, 'S', 'V', 'C', 'T', '\r', '\n', 0x1a };
	const struct header *h = (const void *)b;
	uint64_t end;

	if (n < 8)
		REFUSE("short", n);
	for (int i = 0; i < 8; i++)
		if (b[i] != magic[i])
			REFUSE("magic", 0);
	if (n < 12)
		REFUSE("short", n);
	if (h->format != 1)
		REFUSE("version", 8);
	if (n < 100)
		REFUSE("short", n);
	if (h->exec_count > 256)
		REFUSE("count", 20);
	if (h->entry_count > 65536)
		REFUSE("count", 24);
	end = 96 + 8 * (uint64_t)h->exec_count + 32 * (uint64_t)h->entry_count;
	if (n < end + 4)
		REFUSE("short", n);
	if (n > end + 4)
		REFUSE("long", end + 4);
	if (*(const uint32_t *)(const void *)(b + end) != crc32c(b, end))
		REFUSE("crc", end);
	return FINE;
}

static struct verdict check_header(const struct header *h)
{
	if (h->flags & ~KEY_IS_HASH)
		REFUSE("reserved", 16);
	if (h->reserved)
		REFUSE("reserved", 28);
	if (h->window < 1 || h->window > 255)
		REFUSE("window", 14);
	if (h->key_size < 8 || h->key_size > 64 || (h->flags & KEY_IS_HASH && h->key_size != 32))
		REFUSE("key", 18);
	for (uint32_t i = h->key_size; i < 64; i++)
		if (h->key[i])
			REFUSE("reserved", 32 + i);
	return FINE;
}

static uint64_t range_end(struct range r)
{
	return (uint64_t)r.offset + r.size;
}

static struct verdict check_ranges(const struct range *r, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at = 96 + 8 * (uint64_t)i;

		if (r[i].offset % 4 || r[i].size % 4)
			REFUSE("misaligned", at);
		if (!r[i].size || range_end(r[i]) > (uint64_t)1 << 32)
			REFUSE("range", at);
		if (!i)
			continue;
		if (r[i].offset < r[i - 1].offset)
			REFUSE("unsorted", at);
		if (r[i].offset == r[i - 1].offset)
			REFUSE("duplicate", at);
		if (r[i].offset < range_end(r[i - 1]))
			REFUSE("overlap", at);
	}
	return FINE;
}

static int flags_fit(const struct entry *e)
{
	if (e->flags & ~KNOWN)
		return 0;
	if (e->flags & VIA_BRIDGE && e->kind != KIND_CALL)
		return 0;
	if (e->flags & BRIDGE_ENTRY && e->kind != KIND_BRIDGE)
		return 0;
	return !(e->flags & HOOK_IS_SVC) || (e->kind != KIND_CALL && !(e->flags & BRIDGE_ENTRY));
}

static int number_fits(const struct entry *e)
{
	if (e->number == NO_NUMBER)
		return e->kind != KIND_SVC;
	return e->number <= 1023 && e->kind != KIND_BRIDGE;
}

static int distance_fits(const struct entry *e, uint32_t window)
{
	if (e->kind == KIND_SVC)
		return e->distance >= 1 && e->distance <= window;
	return e->kind == KIND_CALL || e->distance == 0;
}

static struct verdict check_fields(const struct entry *e, uint32_t window, uint64_t at)
{
	if (e->reserved)
		REFUSE("reserved", at + 30);
	if (e->kind < KIND_SVC || e->kind > KIND_CALL)
		REFUSE("kind", at + 27);
	if (!flags_fit(e))
		REFUSE("flags", at + 28);
	if (!number_fits(e))
		REFUSE("number", at + 24);
	if (!distance_fits(e, window))
		REFUSE("distance", at + 26);
	if (e->svc % 4)
		REFUSE("misaligned", at);
	if (e->hook % 4)
		REFUSE("misaligned", at + 4);
	if (e->start % 4)
		REFUSE("misaligned", at + 16);
	if (e->end % 4)
		REFUSE("misaligned", at + 20);
	return FINE;
}

static int hook_fits(const struct entry *e)
{
	if (e->kind == KIND_CALL || e->flags & HOOK_IS_SVC)
		return e->hook == e->svc;
	if (e->flags & BRIDGE_ENTRY)
		return e->hook < e->start;
	return (uint64_t)e->hook + 4 == e->svc;
}

static int bridge_fits(const struct entry *e)
{
	if (e->flags & BRIDGE_ENTRY)
		return e->start <= e->svc && e->svc < e->end;
	return !e->start && !e->end;
}

static int holds(struct range r, uint32_t offset)
{
	return offset >= r.offset && (uint64_t)offset + 4 <= range_end(r);
}

static struct range home_of(const struct range *r, uint32_t count, uint32_t svc)
{
	for (uint32_t i = 0; i < count; i++)
		if (holds(r[i], svc))
			return r[i];
	return (struct range){ 0, 0 };
}

static struct verdict check_place(const struct entry *e, struct range home, uint64_t at)
{
	if (!holds(home, e->svc))
		REFUSE("range", at);
	if (!holds(home, e->hook))
		REFUSE("range", at + 4);
	if (!hook_fits(e))
		REFUSE("hook", at + 4);
	if (!bridge_fits(e))
		REFUSE("bridge", at + 16);
	if (e->end > range_end(home))
		REFUSE("range", at + 20);
	return FINE;
}

static uint64_t extent_end(const struct entry *e)
{
	uint64_t end = (uint64_t)e->svc + 4;

	return e->end > end ? e->end : end;
}

static struct verdict check_entries(const struct header *h, const struct range *ranges, const struct entry *e)
{
	for (uint32_t i = 0; i < h->entry_count; i++) {
		uint64_t at = 96 + 8 * (uint64_t)h->exec_count + 32 * (uint64_t)i;

		TRY(check_fields(&e[i], h->window, at));
		if (i && e[i].svc == e[i - 1].svc)
			REFUSE("duplicate", at);
		if (i && e[i].svc < e[i - 1].svc)
			REFUSE("unsorted", at);
		TRY(check_place(&e[i], home_of(ranges, h->exec_count, e[i].svc), at));
		if (i && e[i].hook < extent_end(&e[i - 1]))
			REFUSE("overlap", at + 4);
	}
	return FINE;
}

static struct verdict check_table(const uint8_t *b, uint64_t n)
{
	const struct header *h = (const void *)b;
	const struct range *ranges = (const void *)(b + 96);

	TRY(check_frame(b, n));
	TRY(check_header(h));
	TRY(check_ranges(ranges, h->exec_count));
	return check_entries(h, ranges, (const void *)(ranges + h->exec_count));
}

/* ---- for the test: files and text --------------------------------------- */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_flags(uint16_t flags)
{
	static const char *const names[] = { "proven", "async-cancel", "edge-in-window",
					     "via-bridge", "hook-is-svc", "bridge-entry" };
	const char *separator = "";

	if (!flags)
		printf("-");
	for (int i = 0; i < 6; i++) {
		if (flags >> i & 1) {
			printf("%s%s", separator, names[i]);
			separator = ",";
		}
	}
}

static void print_entry(const struct entry *e)
{
	static const char *const kinds[] = { "", "svc", "bridge", "call" };

	printf("0x%08" PRIx32 "\t0x%08" PRIx32 "\t0x%08" PRIx32 "\t0x%08" PRIx32
	       "\t0x%08" PRIx32 "\t0x%08" PRIx32 "\t%s\t",
	       e->svc, e->hook, e->word, e->live, e->start, e->end, kinds[e->kind]);
	if (e->number == NO_NUMBER)
		printf("-");
	else
		printf("%u", e->number);
	printf("\t%u\t", e->distance);
	print_flags(e->flags);
	printf("\n");
}

static void print_table(const uint8_t *b)
{
	const struct header *h = (const void *)b;
	const struct range *ranges = (const void *)(b + 96);
	const struct entry *entries = (const void *)(ranges + h->exec_count);

	printf("key\t%s:", h->flags & KEY_IS_HASH ? "sha256" : "build-id");
	for (int i = 0; i < h->key_size; i++)
		printf("%02x", h->key[i]);
	printf("\nformat\t%" PRIu32 "\nrecogniser\t%u\nwindow\t%u\n", h->format, h->recogniser, h->window);
	for (uint32_t i = 0; i < h->exec_count; i++)
		printf("exec\t0x%08" PRIx32 "\t0x%08" PRIx32 "\n", ranges[i].offset, ranges[i].size);
	printf("entries\t%" PRIu32 "\n", h->entry_count);
	if (h->entry_count)
		printf("\nsvc\thook\tword\tlive\tstart\tend\tkind\tnumber\tdistance\tflags\n");
	for (uint32_t i = 0; i < h->entry_count; i++)
		print_entry(&entries[i]);
}

/* Maps a file; an empty one, which cannot be mapped, is no bytes. */
static int read_file(const char *name)
{
	static const uint8_t nothing[1];
	const uint8_t *b = nothing;
	struct verdict v;
	struct stat st;
	int fd = open(name, O_RDONLY);

	if (fd < 0 || fstat(fd, &st)) {
		perror(name);
		return 1;
	}
	if (st.st_size) {
		b = mmap(0, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (b == MAP_FAILED) {
			perror(name);
			return 1;
		}
	}
	v = check_table(b, (uint64_t)st.st_size);
	if (v.error)
		printf("refused\t%s\t0x%" PRIx64 "\n", v.error, v.offset);
	else
		print_table(b);
	if (b != nothing)
		munmap((void *)(uintptr_t)b, (size_t)st.st_size);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		printf("file\t%d\n", i);
		if (read_file(argv[i]))
			return 1;
	}
	return 0;
}
