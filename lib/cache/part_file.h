/* The form of the cache's files: lines of a key and a value, an empty line, and parts of bytes behind each other.
 *
 * A line per part has its length and its sum, the last line is the sum of all lines before it: whatever byte of what is
 * used was changed, it is noticed, and no part is read that nobody wants. Private to the room. */
#ifndef LX_CACHE_PART_FILE_H
#define LX_CACHE_PART_FILE_H

#include "base/status.h"
#include "base/text.h"

#include <stdint.h>

/* Of a file that is open. */
struct part_file {
    int fd;
    const char *path;
    char *head; /* its lines, terminated */
    size_t head_length;
    bool none; /* could not be opened because there is none */
};

struct part {
    const char *name, *data;
    size_t length;
};

/* Of data: the same on every machine, and quick. No guard against who means harm. */
void part_sum(const char *data, size_t length, char out[33]);

/* Opens the file if its lines are whole, begin with `magic` and say how long it is; then it is to be closed. */
bool part_file_open(const char *path, const char *magic, struct part_file *f, lx_status *st);
void part_file_close(struct part_file *f);
/* Says that something of it is wrong; false. */
bool part_file_damaged(const char *path, lx_status *st, const char *what);
/* The value of a line up to its end; NULL: there is no such line. */
const char *part_file_value(const struct part_file *f, const char *key);
bool part_file_line_is(const struct part_file *f, const char *key, const char *value);
void part_file_line(const struct part_file *f, const char *key, char *out, size_t size);
/* A part, malloc'ed and terminated, if it has its sum. NULL: `st`. */
char *part_file_take(const struct part_file *f, const char *name, size_t *length, lx_status *st);

void part_line(struct text *lines, const char *key, const char *value);
/* Writes the lines, behind `magic`, and the parts. */
bool part_file_write(const char *path, const char *magic, const struct text *lines, const struct part *parts,
                     int count, lx_status *st);
/* How many bytes that is. */
int64_t part_file_size(const char *magic, const struct text *lines, const struct part *parts, int count);

#endif
