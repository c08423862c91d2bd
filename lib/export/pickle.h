/* Writes values as a pickle of protocol 2, byte by byte, so that it is the same on every machine. Only the opcodes that
 * small readers know, and no memo; lists come in runs of at most 1,000 items, as some readers spread them as arguments.
 * Private to the stage.
 *
 *     pickle_begin(t), pickle_dict_begin(t), pickle_string(t, "sizes"), pickle_list_begin(&l, t);
 *     for (i = 0; i < n; i++) pickle_list_next(&l), pickle_int(t, size[i]);
 *     pickle_list_end(&l), pickle_dict_end(t), pickle_end(t); */
#ifndef LX_EXPORT_PICKLE_H
#define LX_EXPORT_PICKLE_H

#include "base/text.h"

void pickle_begin(struct text *t);
void pickle_end(struct text *t);
/* Up to 2^53; larger ones would not be numbers to a script. */
void pickle_int(struct text *t, int64_t n);
void pickle_string(struct text *t, const char *s);

/* A dictionary: begun, then keys (strings) and values in turn, then ended. Not for more than 1,000 keys. */
void pickle_dict_begin(struct text *t);
void pickle_dict_end(struct text *t);

struct pickle_list {
    struct text *t;
    int in_run;
};

void pickle_list_begin(struct pickle_list *l, struct text *t);
/* Before each item. */
void pickle_list_next(struct pickle_list *l);
void pickle_list_end(struct pickle_list *l);

#endif
