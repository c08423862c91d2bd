/* Plans for others: for code generators, for viewers, for other allocators. One row per format, the only
 * list of them: help, completions, errors and the C interface walk lx_export_at.
 *
 * * The same plan gives the same bytes. The formats that are also read are rows of files/formats.c; the
 * rows of both tables make one list. Each format is described in lib/files.md. */
#ifndef LX_EXPORT_EXPORTS_H
#define LX_EXPORT_EXPORTS_H

#include "files/formats.h"
#include "plan/plan.h"

struct text;
struct lx_team_plans;

struct lx_export {
    const char *name;    /* a word of its own: --format NAME */
    const char *summary; /* for people, as in "MiniMalloc CSV" */
    const char *help;    /* its contents */
    /* Appends to `out`; `other` is a plan to compare with, or NULL. False with `st`: the plan has nothing
     * of the kind. NULL: `format` writes it. */
    bool (*write)(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st);
    const struct lx_format *format; /* one of formats.c; NULL: it is only written, and only of plans */
};

/* Row i, formats that are read first. False: there are no more. */
bool lx_export_at(int i, struct lx_export *out);
/* By its name; false: `st` has the names that there are. */
bool lx_export_find(const char *name, struct lx_export *out, lx_status *st);

/* The plan in a format, by its name: malloc'ed, `*length` bytes, which may be zeros, and a zero behind
 * them. NULL: `st`. */
char *lx_export_write(const struct lx_plan *p, const struct lx_plan *other, const char *name, size_t *length,
                      lx_status *st);

/* The time line of a team, as team/run/team_clock.h has it, as trace events with a process per device. */
char *lx_team_trace(const struct lx_team_plans *p, size_t *length);

/* Parts of a problem that a list of buffers cannot express. */
struct lx_left_out {
    int32_t barred;   /* buffers that may not be placed: other tools place all that they are given */
    int32_t may_take; /* that may take another's place */
    int32_t shared;   /* that are in the place of another while that lives: no address is written of any */
    bool places;      /* the format could say where they are */
    unsigned needs;   /* lx_problem_needs */
};

/* The buffers of a problem that may be placed, as a format of lists has them, with their places (`p`;
 * NULL: of no plan) and the numbers that they have in their pattern `g`. */
char *lx_export_list(const struct lx_graph *g, const struct lx_problem *problem, const struct lx_plan *p,
                     const struct lx_format *format, size_t *length, struct lx_left_out *left, lx_status *st);

#endif
