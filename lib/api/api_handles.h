/* The structs behind the handles of lxplan.h. Private to this folder, whose functions copy the callers' data
 * and turn errors into text.
 *
 * The result of a solve, a plan or a run is always a plan inside: a placement problem is a pattern that is a
 * bare list of buffers. */
#pragma once

#include "lxplan.h"
#include "base/base.h"
#include "base/words/words.h"
#include "import/model_import.h"
#include "plan/options.h"
#include "team/run/team_plans.h"
#include "team/run/team_run.h"

struct lx_error {
    lx_status st;
};

struct lx_text {
    char *at;
    int64_t size;
};

/* A call of the interface, up to any return: a border, and the plain locale for the thread, because numbers
 * in files have a point. If memory is out the call returns `failed`; `st` is the caller's error, or a dummy.
 * API_CHANGE is for functions that change a handle, which stays valid if memory is out. */
struct api_call {
    struct border border;
    lx_status nowhere, *st;
    void *locale; /* the caller's */
};

void api_enter(struct api_call *call, lx_error *e);
void api_leave(struct api_call *call);
int api_failed(struct api_call *call);

#define API_CALL(e, failed)   API_BORDER(e, failed, border_begin)
#define API_CHANGE(e, failed) API_BORDER(e, failed, border_begin_keeping)
#define API_BORDER(e, failed, begin)                                                                         \
    struct api_call api_call __attribute__((cleanup(api_leave)));                                            \
    api_enter(&api_call, e);                                                                                 \
    if (begin(&api_call.border)) return api_failed(&api_call), failed;                                       \
    lx_status *st = api_call.st;                                                                             \
    (void)st

/* False with `st`: the name of `what` is no UTF-8. NULL passes. */
bool api_is_utf8(const char *what, const char *name, lx_status *st);
/* Minus the code, for functions that return a number. */
int32_t api_code(const lx_status *st);
/* A text that owns `at`; NULL gives NULL. */
lx_text *api_text(char *at, size_t length);
/* The row of a format by its name, or by "csv"; NULL with `st`. */
const struct lx_format *api_format(const char *name, lx_status *st);

/* Options beside the settings of a plan. */
enum api_option { API_VERIFY, API_THREADS, API_OPTION_COUNT };

struct lx_options {
    struct lx_settings settings;
    VEC(const struct lx_solver *)
    solvers; /* with plug-ins, NULL-terminated; empty: the registry's */
    int32_t (*stop)(void *context);
    void *stop_context;
    void (*progress)(void *context, int64_t steps, double objective, double bound);
    void *progress_context;
    struct lx_team_grid team; /* no axes: one device */
    struct lx_import_options import;
    struct arena memory;           /* of names in `import` */
    char *file;                    /* lx_plan reads it if it gets no graph; NULL: none */
    int64_t own[API_OPTION_COUNT]; /* per row of the table in api_options.c */
};

/* The settings of `o`; NULL: all defaults. */
struct lx_settings api_settings(const lx_options *o);
int64_t api_own_option(const lx_options *o, enum api_option row);
/* The i-th option of the import: set from text, and its "name", "help", ...; NULL past the end. */
bool api_import_set(lx_options *o, int i, const char *text, lx_status *st);
const char *api_import_at(int i, const char *field);
/* For functions with `stop` and a context: NULL without a callback, and the options themselves. */
bool (*api_stop(const lx_options *o))(void *context);
void *api_context(const lx_options *o);
/* Fills in all options for a pattern (NULL: any); `how` and its pointers live as long as `o` and
 * `values`. */
bool api_plan_options(const lx_options *o, const struct lx_settings *settings, const struct lx_graph *g,
                      struct lx_plan_options *how, int64_t values[LX_MOST_SOLVER_OPTIONS], lx_status *st);

struct placement_pool {
    const char *name;
    int64_t capacity;
    VEC(struct lx_reserved) reserved;
};

struct placement_allowed {
    int32_t pool;
    int64_t cost;
};

struct placement_buffer {
    struct lx_buffer b; /* its arrays are these: */
    VEC(struct lx_life) lives;
    VEC(int64_t) uses;
    VEC(int32_t) parents;
    VEC(struct placement_allowed) allowed;
};

struct lx_placement {
    struct arena memory; /* strings, and members of groups */
    const char *name, *summary;
    enum lx_objective objective;
    int64_t alignment;
    VEC(struct placement_pool) pools;
    VEC(struct placement_buffer) buffers;
    struct names pool_names, buffer_names;
    VEC(int64_t) ids; /* of a file's buffers that had their own numbers */
    VEC(struct lx_pair) apart;
    VEC(struct lx_pair) exclusive;
    VEC(struct lx_pair) staging;
    VEC(struct lx_group) same_place;
    VEC(struct lx_group) together;
    VEC(struct lx_linked_cost) linked_costs;
    VEC(struct lx_reuse) reuse;
    bool plain;       /* a list read from a file without pools: its pool is only a capacity */
    int64_t capacity; /* if plain: of the list, -1: the device's */
};

/* placement_files.c: the problem, with all its data in `memory`; and the pattern, hashed and
 * reference-counted. */
bool placement_problem(const lx_placement *p, struct arena *memory, struct lx_problem *out, lx_status *st);
const struct lx_graph *placement_graph(const lx_placement *p, lx_status *st);

/* Any text into a pattern (format NULL: by content), and back. */
const struct lx_graph *api_read(const char *bytes, int64_t size, const char *format, lx_status *st);
lx_text *api_write(const struct lx_graph *g, const char *format, lx_status *st);

/* The plans of a team, and their runs. */
struct team_result {
    struct lx_team_plans *plans; /* shared by a plan and its runs */
    int *shares;
    bool ran;
    struct lx_team_result run; /* where it ran */
};

/* A row of a list that is made when it is asked for, and these lists. */
struct result_row {
    int64_t whole[7];
    double real[2];
    const char *word[3];
};

enum { RESULT_MADE = 5 };

typedef VEC(struct result_row) row_list;

struct result_made {
    bool made;
    row_list rows;
    struct arena memory;
};

struct lx_result {
    const struct lx_plan *plan;
    struct lx_run_result *run;  /* of lx_run; else NULL */
    struct joint_result *joint; /* of lx_joint_solve, without a plan; else NULL */
    struct team_result *team;   /* with option team, without a plan; else NULL */
    const char *pool_name;      /* of a placement with one pool that the plan leaves unnamed; else NULL */
    const char **splits;        /* per op of a graph, as text */
    const char *notes;          /* static; NULL: none */
    struct result_made *made;   /* per made list, of plans */
    struct arena memory;
};
