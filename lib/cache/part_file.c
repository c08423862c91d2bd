/* Files of lines and parts. Lines are read first, in one piece of 16 KiB at most; parts by who wants them. */
#include "cache/part_file.h"
#include "base/fail.h"
#include "base/file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_HEAD = 16384, SUM_LINE = 5 + 32 + 2 }; /* "head ", the sum, its end, the empty line */

/* Eight bytes, the lowest first whatever the machine, in one load: shifts of bytes took ten times as long. */
static uint64_t word_at(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return le64toh(w);
}

/* One to one in each of both: a change of one word is never lost. */
static uint64_t stirred(uint64_t h, uint64_t w)
{
    h = (h ^ w) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Four lanes that do not wait for each other. */
void part_sum(const char *data, size_t length, char out[33])
{
    enum { STEP = 32 };
    const unsigned char *p = (const unsigned char *)data;
    uint64_t lane[4] = {1, 2, 3, 4}, a = length, b = ~(uint64_t)length;
    unsigned char last[STEP] = {0};
    size_t whole = length / STEP * STEP;
    for (size_t i = 0; i < whole; i += STEP)
        for (int k = 0; k < 4; k++) lane[k] = stirred(lane[k], word_at(p + i + 8 * k));
    if (length > whole) memcpy(last, p + whole, length - whole);
    for (int k = 0; k < 4; k++) {
        a = stirred(a, stirred(lane[k], word_at(last + 8 * k)));
        b = stirred(b, a ^ lane[k] >> 31);
    }
    a = stirred(a, b >> 32);
    snprintf(out, 33, "%016" PRIx64 "%016" PRIx64, a, b);
}

bool part_file_damaged(const char *path, lx_status *st, const char *what)
{
    return status_set_at(st, LX_E_MISMATCH, path, 0, 0, "%s", what);
}

/* From `at` on, as much as there is. False: an error of the disk, or less than `least`. */
static bool read_at(int fd, char *to, size_t most, size_t least, int64_t at, size_t *got)
{
    for (*got = 0; *got < most;) {
        ssize_t n = pread(fd, to + *got, most - *got, (off_t)at + (off_t)*got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (n == 0) break;
        *got += (size_t)n;
    }
    return *got >= least;
}

/* --- Lines. --- */

const char *part_file_value(const struct part_file *f, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = f->head; *at && *at != '\n'; at = strchr(at, '\n') + 1)
        if (strncmp(at, key, n) == 0 && at[n] == ' ') return at + n + 1;
    return NULL;
}

bool part_file_line_is(const struct part_file *f, const char *key, const char *value)
{
    const char *at = part_file_value(f, key);
    size_t n = strlen(value);
    return at && strncmp(at, value, n) == 0 && at[n] == '\n';
}

void part_file_line(const struct part_file *f, const char *key, char *out, size_t size)
{
    const char *at = part_file_value(f, key);
    snprintf(out, size, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
}

/* The line of a part, from `at` on: "part NAME LENGTH SUM". */
static const char *part_words(const char *at, char name[32], int64_t *length, char sum[33])
{
    long long n;
    const char *line = strstr(at, "\npart ");
    if (!line || sscanf(line, "\npart %31s %lld %32s", name, &n, sum) != 3 || n < 0 ||
        (uint64_t)n > FILE_MAX_BYTES)
        return NULL;
    *length = n;
    return line + 1;
}

/* Where a part begins behind the lines, how long it is, and its sum. With "" all of them: where they end. */
static bool find_part(const struct part_file *f, const char *name, int64_t *start, int64_t *length,
                      char sum[33])
{
    char is[32];
    *start = (int64_t)f->head_length;
    *length = -1;
    for (const char *at = f->head; (at = part_words(at, is, length, sum)); *start += *length)
        if (strcmp(is, name) == 0) return true;
    return !*name;
}

/* --- Reading. --- */

static bool head_is_whole(struct part_file *f, size_t got, const char *magic)
{
    char sum[33];
    const char *end = memchr(f->head, 0, got) ? NULL : strstr(f->head, "\n\n");
    if (strncmp(f->head, magic, strlen(magic)) != 0 || !end) return false;
    f->head_length = (size_t)(end - f->head) + 2;
    f->head[f->head_length] = 0;
    if (f->head_length < SUM_LINE || !part_file_value(f, "head")) return false;
    part_sum(f->head, f->head_length - SUM_LINE, sum);
    return part_file_line_is(f, "head", sum);
}

static bool length_is_right(const struct part_file *f)
{
    struct stat info;
    int64_t end, length;
    char sum[33];
    return find_part(f, "", &end, &length, sum) && fstat(f->fd, &info) == 0 && info.st_size == end;
}

static bool look_at_head(struct part_file *f, const char *magic, lx_status *st)
{
    size_t got;
    f->head = malloc(MOST_HEAD + 1);
    if (!f->head) return status_no_memory(st);
    if (!read_at(f->fd, f->head, MOST_HEAD, 0, 0, &got))
        return status_set_at(st, LX_E_IO, f->path, 0, 0, "cannot read: %s", strerror(errno));
    f->head[got] = 0;
    if (!head_is_whole(f, got, magic))
        return part_file_damaged(f->path, st, "its first lines are not those of an entry, or were changed");
    return length_is_right(f) ||
           part_file_damaged(f->path, st, "it is not as long as it says: a part of it is missing");
}

bool part_file_open(const char *path, const char *magic, struct part_file *f, lx_status *st)
{
    *f = (struct part_file){.fd = open(path, O_RDONLY | O_CLOEXEC), .path = path};
    if (f->fd < 0) {
        f->none = errno == ENOENT || errno == ENOTDIR;
        return status_set_at(st, LX_E_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    }
    if (look_at_head(f, magic, st)) return true;
    part_file_close(f);
    return false;
}

void part_file_close(struct part_file *f)
{
    if (f->fd >= 0) close(f->fd);
    free(f->head);
    f->fd = -1;
    f->head = NULL;
}

/* Of large pages where there are some: most of the time of reading a large part is the first touch of small ones. */
static char *room_for(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    if (bytes < page) return malloc(bytes);
    size_t whole = (bytes + page - 1) / page * page;
    char *room = aligned_alloc(page, whole);
#ifdef MADV_HUGEPAGE
    if (room) (void)madvise(room, whole, MADV_HUGEPAGE);
#endif
    return room;
}

char *part_file_take(const struct part_file *f, const char *name, size_t *length, lx_status *st)
{
    int64_t start, bytes = -1;
    char sum[33], is[33];
    if (!find_part(f, name, &start, &bytes, sum) || (uint64_t)bytes > FILE_MAX_BYTES)
        return part_file_damaged(f->path, st, "a part of it is missing"), NULL;
    char *data = room_for((size_t)bytes + 1);
    if (!data) return status_no_memory(st), NULL;
    bool there = read_at(f->fd, data, (size_t)bytes, (size_t)bytes, start, length);
    if (there) part_sum(data, *length, is);
    data[there ? bytes : 0] = 0;
    if (there && strcmp(sum, is) == 0) return data;
    free(data);
    return part_file_damaged(f->path, st, "its bytes were changed: they have another sum"), NULL;
}

/* --- Writing. --- */

void part_line(struct text *lines, const char *key, const char *value)
{
    text_format(lines, "%s ", key);
    for (const char *c = value; *c; c++) text_add_n(lines, *c == '\n' ? " " : c, 1);
    text_add(lines, "\n");
}

static void add_head(const char *magic, const struct text *lines, const struct part *parts, int count,
                     struct text *out)
{
    char sum[33];
    text_add(out, magic);
    text_add_n(out, lines->at, lines->length);
    for (int i = 0; i < count; i++) {
        part_sum(parts[i].data, parts[i].length, sum);
        text_format(out, "part %s %zu %s\n", parts[i].name, parts[i].length, sum);
    }
    if (out->failed) return;
    part_sum(out->at, out->length, sum);
    text_format(out, "head %s\n\n", sum);
}

int64_t part_file_size(const char *magic, const struct text *lines, const struct part *parts, int count)
{
    struct text head = {0};
    add_head(magic, lines, parts, count, &head);
    int64_t bytes = (int64_t)head.length;
    for (int i = 0; i < count; i++) bytes += (int64_t)parts[i].length;
    text_free(&head);
    return bytes;
}

bool part_file_write(const char *path, const char *magic, const struct text *lines, const struct part *parts,
                     int count, lx_status *st)
{
    struct text all = {.failed = lines->failed};
    add_head(magic, lines, parts, count, &all);
    if (!all.failed && all.length > MOST_HEAD)
        return text_free(&all), status_set_at(st, LX_E_LIMIT, path, 0, 0, "its names are too long");
    for (int i = 0; i < count; i++) text_add_n(&all, parts[i].data, parts[i].length);
    bool ok = all.failed ? status_no_memory(st) : file_write_again(path, all.at, all.length, st);
    text_free(&all);
    return ok;
}
