/* A sweep on paper: the forms of its answer, one row of sweep_forms each. */
#pragma once

#include "sweep/sweep_lines.h"
#include "text/table.h"
#include "command.h"

struct sweep_paper {
    int width, height; /* of the chart: characters, or pixels; 0: as usual */
    bool ascii;
};

struct sweep_form {
    const char *name;
    void (*write)(const struct sweep *s, const struct sweep_paper *how, struct text *out);
};

/* Ends with a row without a name; text first. */
extern const struct sweep_form sweep_forms[];

/* cmd_sweep.c: fills the rows of planning options that `sweep` takes; main calls it before it parses. */
void sweep_rows_begin(void);

/* sweep_tables.c: a row per value, and one per size that was searched for. */
struct sweep_row {
    const struct sweep *sweep;
    const struct sweep_line *line;
    const struct sweep_value *value;
    size_t size;
    enum sweep_find find; /* of a knee */
};
void sweep_csv(const struct sweep *s, const struct sweep_paper *how, struct text *out);
/* The same under another name of the pattern. */
void sweep_json_named(const struct sweep *s, const char *name, struct text *out);
void sweep_json(const struct sweep *s, const struct sweep_paper *how, struct text *out);
/* A row per size, a column per solver: for people. */
void sweep_add_table(const struct sweep *s, int64_t cores, struct text *out);

/* team_sweep.c: sweep --team; the exit code. */
int sweep_team(struct call *call);
