/* The rows of the graph: an op with its lanes, figures and waits. */
#pragma once

#include "tui/core/views.h"

/* Lanes of tensors that several ops use, from the first op to the last. */
/* Columns of the lanes, and of the number of folded ones behind them. */
struct rail_room {
    int lanes, step; /* step: columns of a lane */
    int folded;
    int columns; /* of all */
};

enum graph_column {
    GRAPH_NAME,
    GRAPH_KIND,
    GRAPH_SHAPE,
    GRAPH_SPLITS,
    GRAPH_CORES,
    GRAPH_HBM,
    GRAPH_RING,
    GRAPH_TIME,
    GRAPH_BOUND,
    GRAPH_COLUMNS
};

/* Folded things have one row each, with the sums of their ops. */
struct graph_fold {
    bool nests, layers;
};

/* The parts of a row: tick, bracket of its nest, lanes, a mark in the colour of the output, columns, a
 * bar. */
struct graph_rows {
    struct rail_room rails;
    struct graph_fold fold;
    int ticks; /* columns of the numbers of ops */
    int nests; /* columns of the brackets of nests; 0: there are none */
    struct column columns[GRAPH_COLUMNS];
    struct fitted fitted;
    int columns_at, bar_at; /* from the left */
    double longest_us;      /* of an op: a whole bar */
};

void graph_rows_fit(const struct scene *on, int room, struct graph_fold fold, struct graph_rows *out);
/* The last op of the row that begins with an op: of its layers, or of its nest, if these are folded. */
int32_t graph_row_last(const struct outcome *o, int32_t op, struct graph_fold fold);
void put_graph_head(const struct scene *on, const struct graph_rows *r, struct box row);
void put_graph_row(const struct scene *on, const struct graph_rows *r, struct box row, int32_t op);
/* Is the text in the name of the op, of its kind or of its output? */
bool op_matches(const struct lx_graph *g, int32_t op, const char *text);
