/* A growing string. Writers build whole files in memory, so a file is written completely or not at all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *at; /* terminated; NULL while empty */
    size_t length, room;
};

void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);
void text_pad(struct text *t, char c, size_t times);
void text_format(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Same as PRId64 but ten times faster: files are mostly numbers, also written for hashes. */
void text_int(struct text *t, int64_t value);
/* A JSON number that reads back as the same double; infinities and NaN as words. */
void text_json_number(struct text *t, double v);
/* `, "key": [1, 2]`. */
void text_json_ints(struct text *t, const char *key, const int64_t *values, int count);
/* A JSON string with its quotes; control characters are escaped, bytes that are not UTF-8 replaced. */
void text_json_string(struct text *t, const char *s);
/* The same for XML: escapes the five reserved characters. */
void text_xml(struct text *t, const char *s);
void text_free(struct text *t);

/* The length of the UTF-8 character at `s`, within `left` bytes; 0: none. */
int utf8_length(const char *s, size_t left);
