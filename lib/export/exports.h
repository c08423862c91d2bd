/* Plans for others: for code generators, for viewers, for other allocators. One row per format, the only
 * list of them: help, completions, errors and the C interface walk lx_export_at.
 *
 * * The same plan gives the same bytes. The formats that are also read are rows of files/formats.c; the
 * rows of both tables make one list. Each format is described in lib/files.md. */
#pragma once

#include "files/formats.h"
#include "plan/plan.h"

struct text;
struct lx_team_plans;

struct lx_export {
    const char *name;    /* a single word: --format NAME */
    const char *summary; /* for people, as in "MiniMalloc CSV" */
    const char *help;    /* its contents */
    /* Appends to `out`; `other` is a plan to compare with, or NULL. False with `st`: the plan has nothing to
     * write. NULL: `format` writes it. */
    bool (*write)(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st);
    const struct lx_format *format; /* a row of formats.c; NULL: only for plans */
};

/* Row i, readable formats first. False: no more rows. */
bool lx_export_at(int i, struct lx_export *out);
/* By name; false: `st` lists the names. */
bool lx_export_find(const char *name, struct lx_export *out, lx_status *st);

/* The plan in the named format: malloc'ed, `*length` bytes, perhaps with zeros, then a zero. NULL: `st`. */
char *lx_export_write(const struct lx_plan *p, const struct lx_plan *other, const char *name, size_t *length,
                      lx_status *st);

/* The timeline of a team (team/run/team_clock.h) as trace events with a process per device. */
char *lx_team_trace(const struct lx_team_plans *p, size_t *length);

/* Parts of a problem that a list of buffers cannot express. */
struct lx_left_out {
    int32_t barred;   /* buffers that may not be placed: other tools place all buffers */
    int32_t may_take; /* buffers that may take over another's place */
    int32_t shared;   /* buffers on another's place while that is alive: their addresses are left out */
    bool places;      /* the format could carry addresses */
    unsigned needs;   /* lx_problem_needs */
};

/* Writes the placeable buffers of a problem in a list format, with their places (`p`; NULL: none) and their
 * numbers in the pattern `g`. */
char *lx_export_list(const struct lx_graph *g, const struct lx_problem *problem, const struct lx_plan *p,
                     const struct lx_format *format, size_t *length, struct lx_left_out *left, lx_status *st);
