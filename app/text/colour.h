/* Colours by meaning. Nothing else in the program knows an escape sequence. */
#pragma once

#include "base/base.h"

enum paint { PAINT_PLAIN, PAINT_GOOD, PAINT_BAD, PAINT_DIM, PAINT_HEADING, PAINT_WARN, PAINT_COUNT };

/* Decides once: colour only on a terminal, without NO_COLOR, and not on a dumb one. */
void paint_begin(void);
/* From now on output goes into a file. */
void paint_off(void);
bool paint_is_on(void);
/* `s` in a colour; without colours just `s`. */
void paint_add(struct text *t, enum paint p, const char *s);
/* The same with a colour of its own for each identity: one buffer, one colour. */
void paint_identity(struct text *t, int32_t identity, const char *s);

/* One line of progress on a terminal's standard error, and its removal. Nothing elsewhere. */
bool paint_progress_possible(void);
void paint_progress(const char *line);
void paint_progress_end(void);
