/* The tables of formats (files/formats.h, export/exports.h) in words: for help texts and for options that name one. */
#ifndef LX_APP_PLANNING_FORMAT_WORDS_H
#define LX_APP_PLANNING_FORMAT_WORDS_H

#include "command.h"

/* "a pattern as JSON, MiniMalloc CSV or XLA CSV" */
void add_formats(struct text *out);
/* The rows for the end of a help: name, what it is, what is in it. `written`: only those that are. */
void formats_help(struct text *out, bool written);
/* Name k of those that are written; NULL behind the last. */
const char *written_format_word(int k);
/* The one of --format, by default the first that writes lists of buffers; false with `call->st`. */
bool written_format(struct call *call, struct lx_export *out);

#endif
