/* Reads patterns from JSON: whole files, and the copies in plans. */
#pragma once

#include "base/json/json.h"
#include "graph/builder.h"

/* Checks that `root` has `"lxplan": N`, N from oldest to newest, and `"kind": wanted`. */
bool pattern_check_header(const struct json *j, const struct json_value *root, const char *wanted,
                          int64_t oldest, int64_t newest, int64_t *version, lx_status *st);
const struct lx_graph *pattern_read_json(const struct json *j, const struct json_value *root, lx_status *st);
void pattern_write(const struct lx_graph *g, struct text *t);

/* Reads a device: the name of a preset, or an object. An object with a `preset` takes absent numbers from the
 * preset (spyre if it has neither `preset` nor `name`); one with a `name` must have all numbers. */
bool device_read(const struct json *j, const struct json_value *value, struct lx_device *out, lx_status *st);
/* Reads the device of a plan into `out`, which has the device of its pattern; absent keys leave a field
 * unchanged, unknown keys are ignored. */
bool device_read_over(const struct json *j, const struct json_value *value, struct lx_device *out,
                      lx_status *st);
/* A preset's name, or the preset of this name and what differs; of another device every field. */
void device_write(const struct lx_device *d, struct text *t);
/* Every field; NULL: in one line, else every line but the first has the margin. */
void device_write_whole(const struct lx_device *d, const char *margin, struct text *t);

/* Some editors write one. */
void skip_byte_order_mark(const char **text, size_t *length);

/* A field of comma-separated values, quoted where needed, also where a spreadsheet might see a formula. */
void csv_field(struct text *t, const char *s);

/* Declare a formats.c row's functions: there, and in their own file. Texts come without a byte order mark. */
#define FORMAT_READS(format)                                                                                 \
    bool format##_sniff(const char *text, size_t length);                                                    \
    const struct lx_graph *format##_read(const char *file, const char *text, size_t length, lx_status *st)
#define FORMAT_WRITES_BUFFERS(format) char *format##_write(const struct lx_buffers *list, size_t *length)
#define FORMAT_WRITES_ANSWERS(format)                                                                        \
    char *format##_write(const struct lx_graph *g, const int64_t *address, const int32_t *pool,              \
                         size_t *length, lx_status *st)
