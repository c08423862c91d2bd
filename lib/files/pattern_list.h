/* Private to the pattern readers: shared functions of their files. */
#pragma once

#include "files/pattern.h"

/* Keys of a list beside "buffers", "capacity", "alignment" and "objective". */
#define LIST_KEYS "pools", "apart", "exclusive", "same_place", "together", "charges", "reuse"

struct reader {
    const struct json *j;
    struct graph_builder b;
    lx_status *st;
};

/* pattern_read.c */
struct place place_of(const struct json_value *value);
bool read_ints(struct reader *r, const struct json_value *array, const char *what, int64_t low, size_t most,
               int64_t **out, int *count);

/* Room for a list of words in an error, and for the suggested one; number of words compared. */
enum { WORDS_LIST = 700, WORDS_MEANT = 80, WORDS_MOST = 2000 };
/* " did you mean \"fp16\"?" for an unknown word; empty if none is near. */
const char *words_meant(const char *word, const char *const *words, char *out, size_t size);
/* Reads an optional string from a list of words: its index. */
bool read_word(struct reader *r, const struct json_value *object, const char *key, const char *const *words,
               enum lx_code code, int *out);

/* pattern_ops.c: read one tensor or op. */
bool read_tensor(struct reader *r, const struct json_value *v);
bool read_op(struct reader *r, const struct json_value *v);

/* pattern_list.c: reads a whole list. */
bool read_list(struct reader *r, const struct json_value *root, const struct json_value *buffers);
