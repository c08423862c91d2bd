/* Launch options as texts of options and fields of plan files. Private to the stage. */
#pragma once

#include "base/base.h"
#include "plan/options.h"

/* Rows LX_OPTION_ORDER and LX_OPTION_TILES of the table of options: set from text, written as text,
 * cleared. */
bool launch_option_set(struct lx_launch_options *o, int row, const char *text, lx_status *st);
void launch_option_text(const struct lx_launch_options *o, int row, struct text *t);
void launch_option_clear(struct lx_launch_options *o, int row);
bool launch_options_same(const struct lx_launch_options *a, const struct lx_launch_options *b);

/* Reads the file of an order @FILE into `memory`: numbers from 0 on, each once. */
bool launch_list_read(struct lx_launch_options *o, struct arena *memory, lx_status *st);

/* Sets the hint "s/8,t/4" of an op, or "lx" or "hbm" of a tensor; replaces an earlier one. */
bool hint_option_set(struct lx_settings *o, const char *name, const char *text, lx_status *st);
/* The graph with all hints: a reference, or NULL with `st`. */
const struct lx_graph *hint_options_graph(const struct lx_settings *o, const struct lx_graph *g,
                                          lx_status *st);
