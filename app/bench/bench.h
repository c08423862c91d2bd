/* The benchmark: its runs, limits and results.
 *
 * One *run* is (instance x solver x seed x repeat). Each happens in a process of its own (run_child.c), its
 * answer is checked again by the parent (run_child.c) and becomes one line of the results file
 * (results_file.c). Sizes: up to some 10,000 runs on some 1,000 instances; at most one instance per job is
 * in memory. */
#pragma once

#include "planning/planning.h"
#include "base/json/json.h"

/* How a run ended. `timeout` is the wall clock only, with or without an answer (see `value` of the row); a
 * solver that ends by itself or by its work limit is `feasible` with a complete answer, `none` without. */
#define OUTCOMES(X)                                                                                          \
    X(OUTCOME_OPTIMAL, "optimal")       /* legal, and proved to be best */                                   \
    X(OUTCOME_FEASIBLE, "feasible")     /* legal and complete, not proved */                                 \
    X(OUTCOME_INFEASIBLE, "infeasible") /* proved that nothing fits */                                       \
    X(OUTCOME_NONE, "none")             /* gave up without a complete answer */                              \
    X(OUTCOME_TIMEOUT, "timeout")       /* the time limit was reached */                                     \
    X(OUTCOME_MEMORY, "memory")         /* the memory limit was reached */                                   \
    X(OUTCOME_CRASH, "crash")           /* the process died */                                               \
    X(OUTCOME_ERROR, "error")           /* the solver said that it failed */                                 \
    X(OUTCOME_WRONG, "wrong")           /* the checker refused it, or another answer contradicts it */       \
    X(OUTCOME_BAD_INPUT, "bad_input")   /* the instance could not be read */

#define OUTCOME_ENUM(id, word) id,
enum outcome { OUTCOMES(OUTCOME_ENUM) OUTCOME_COUNT };
#undef OUTCOME_ENUM

/* A solver notices the time limit a little late; an answer that comes later than this is none. */
#define LATE 1.05
/* A run with a limit on its CPU seconds may take so many times that limit by the clock, and some more. */
enum { WALL_PER_CPU = 20 };

/* One line of a results file. Strings live in the arena of whoever made the row. */
struct row {
    const char *instance, *hash, *name; /* path as found, identity of the problem, name of the pattern */
    const char *question;               /* spill, fit or height */
    const char *solver, *config;        /* solver "" for bad input */
    const char *status, *claim;         /* settled verdict; the solver's own word; "" when it gave none */
    const char *stats;                  /* a JSON object */
    const char *message;
    const char *class,
        *known_status;          /* of an instance of the suite: its class, "proved" or "open"; else "" */
    const char *answer;         /* addresses, blanks between, of one that is better than all known; else "" */
    int64_t known, known_bound; /* what the suite knows */
    bool has_known, has_known_bound, has_limit;
    int64_t buffers, capacity, seed, repeat;
    enum outcome outcome;
    bool has_value, has_bound, has_seconds, has_clocks, has_measured;
    int64_t value, bound, steps;     /* value only of a legal and complete answer */
    double device_us, end_to_end_us; /* predicted of a graph so placed; not of a bare list */
    double measured_us;              /* of a launch of its program, median */
    int64_t asked_bytes;             /* of memory beyond the scratchpads, by a launch */
    double seconds;                  /* measured by the solver, in its process, without reading the file */
    double wall, cpu;                /* of the process */
    int64_t peak_kb;                 /* its resident set, with what it inherited from the harness */
    double time_limit;               /* its own (has_limit), or that of the file it stands in, from readers */
    int file, line;                  /* where it stands; filled in by readers */
};

typedef VEC(struct row) rows;

struct bench_solver {
    const struct lx_solver *solver;
    struct lx_settings how;
    int64_t values[LX_MOST_SOLVER_OPTIONS]; /* of its options */
    char config[17];                        /* hash of solver, options and limits */
};

struct settings {
    struct lx_settings options; /* problems and runs, from the command line */
    struct model_options models;
    VEC(struct bench_solver) solvers;
    int64_t seeds, seed, repeats, warmup, memory_mb, work;
    bool suite;          /* instances of the suite, each with a limit of its own on CPU seconds */
    int64_t jobs;        /* runs at the same time in this process */
    int64_t ranks;       /* processes that share the work, each with so many */
    struct text hosts;   /* of all files, "A; B"; empty: this one's */
    struct text cpus;    /* likewise */
    double time, grace;  /* seconds; a process that outlives both together is killed */
    const char *lx;      /* as given, or NULL */
    const char *machine; /* that times the programs of answers; NULL: none */
    double lx_percent;   /* -1: none */
};

struct instance {
    const char *path, *name;
    char hash[17];
    enum lx_objective objective;
    int64_t buffers, capacity;
    double limit;                     /* seconds: of CPU for an instance of the suite, else of the clock */
    enum lx_ask whole;                /* of whole plans; LX_ASK_OWN: a placement problem */
    const char *class, *known_status; /* as in a row */
    int64_t known, known_bound;
    bool has_known, has_known_bound;
    const char *bad; /* why it could not be read; NULL: it could */
};

typedef VEC(struct instance) instances;

/* An instance in memory, shared by the jobs that work on it. */
struct loaded {
    const struct instance *of;
    struct lx_question *question;
    int64_t bound; /* proved by the library, whoever solves */
    int users;
};

struct planned {
    int32_t instance, solver, seed_index, repeat; /* solver -1: a bad instance, nothing is run */
};

typedef VEC(struct planned) schedule;

/* The result of a run's process. */
struct child_result {
    bool complete; /* the whole message arrived and is intact */
    bool killed_for_time, killed_for_memory;
    int wait_status;
    double wall, cpu;
    int64_t peak_kb, base_kb; /* base: resident set of the harness when it forked */
    const struct wire *wire;  /* where complete; then places, or the text of a plan */
    const char *plan;
    const int64_t *address;
    const int32_t *pool;
};

const char *outcome_word(enum outcome o);
enum outcome outcome_find(const char *word); /* OUTCOME_COUNT if there is none */

/* settings.c */
extern const struct option_row bench_rows[];
extern struct option_row bench_plan_rows[]; /* filled by bench_begin, which main calls first */
void bench_begin(void);
extern const struct option_words bench_words[];
bool settings_read(struct call *call, struct settings *s);
/* Only the solvers that -s and -O name, with `s->options` for all of them. */
bool settings_solvers(struct call *call, struct settings *s);
void settings_free(struct settings *s);

/* measured.c: the option --on; false where there is no such machine. */
bool measured_ready(struct call *call, struct settings *s);
/* The k-th machine whose times mean something. */
const char *machine_with_clock(int k);
/* Times the program of a graph's answer; `words` are why not. */
void measured_row(const struct settings *s, const struct lx_question *q, const int64_t *address,
                  struct row *row, char *words, size_t size);

/* instances.c */
bool instances_gather(struct call *call, const struct settings *s, struct arena *memory, instances *out);
struct loaded *instance_load(const struct instance *i, const struct settings *s, lx_status *st);
void instance_release(struct loaded *l);

/* harness.c: the order of the runs. */
void schedule_make(struct call *call, const struct settings *s, const instances *list, schedule *out);

/* judge_result.c: the parent's own opinion. `row` has its names already. */
void judge_result(const struct settings *s, const struct bench_solver *solver, const struct loaded *l,
                  const struct child_result *r, struct arena *memory, struct row *row);

/* provenance.c: the first line of a results file, without its end. */
void provenance_write(const struct settings *s, const instances *list, struct text *out);
/* False with `st` when two headers describe experiments that must not be mixed. */
bool provenance_same(const char *path, const char *before, const char *now, lx_status *st);
/* The first line of a results file, read before, and a member of its header; NULL: it has none. */
struct json header_read(const char *line);
const struct json_value *header_member(const struct json *line, const char *key);
/* How many ranks made the file with this header. */
int64_t provenance_ranks(const char *header);
/* False with `st` when another process would make other runs than this one, whose header is `ours`; else its
 * machine is added to the settings. */
bool provenance_join(struct settings *s, int rank, const char *ours, const char *theirs, lx_status *st);

/* results_file.c */
struct results_file {
    int fd; /* -1: none */
    const char *path;
    int64_t length; /* bytes, as far as we know */
};
void row_write(const struct row *r, struct text *out);
/* A new file, or an old one to go on with; the rows that it has already are appended to `done`. */
bool results_open(struct call *call, struct results_file *f, const char *path, const struct text *header,
                  struct arena *memory, rows *done);
bool results_append(struct results_file *f, const struct row *r, lx_status *st);
/* The same of a row that is written already, with its end. */
bool results_append_line(struct results_file *f, const char *line, size_t length, lx_status *st);
/* False with `st`, and closed, when the file is no longer where and what it was. */
bool results_are_kept(struct results_file *f, lx_status *st);
void results_close(struct results_file *f);

struct results {
    rows rows;
    struct arena memory;
    VEC(const char *) headers; /* one JSON line per file */
    VEC(const char *) files;
    VEC(const char *) problems; /* "FILE:LINE: what" */
};
/* Adds a file. False (with `st`): it has no good header. Bad lines behind it only become `problems`. */
bool results_read(struct results *r, const char *path, lx_status *st);
/* The same from memory; `*torn` is where a last line without its end begins, or `length`. */
bool results_parse(struct results *r, const char *path, const char *text, size_t length, size_t *torn,
                   lx_status *st);
/* One line, without its end; strings go into `memory`. False with `st`. */
bool row_read(struct arena *memory, const char *path, const char *text, size_t length, struct row *row,
              lx_status *st);
void results_free(struct results *r);

/* cmd_report.c: what bench prints at its end. */
bool report_rows(struct call *call, struct results *r, struct text *out);

enum field_kind {
    FIELD_WORD,    /* a text; null where it is empty */
    FIELD_MESSAGE, /* a text, also where it is empty */
    FIELD_OBJECT,  /* JSON text; {} where it is empty */
    FIELD_OUTCOME, /* the word of an outcome */
    FIELD_WHOLE,   /* null: unknown, or a number that JSON cannot carry */
    FIELD_BYTES,   /* the same; absent from files of before, which is unknown, too */
    FIELD_SECONDS, /* 0 or more; null: unknown */
    FIELD_MICROS,  /* the same; absent from files of 0.1, which is unknown, too */
    FIELD_NOTE,    /* a text; absent where it is empty */
    FIELD_GAP,     /* made from value and bound, for other readers; not read */
    FIELD_KINDS
};

struct row_field {
    const char *key;
    enum field_kind kind;
    size_t at;    /* of the member in struct row */
    size_t known; /* offset of its "known" flag; 0: always known */
};

/* Ends with a row without a key. */
extern const struct row_field row_fields[];

static inline const char **field_text(struct row *r, const struct row_field *f)
{
    return (const char **)((char *)r + f->at);
}

static inline bool field_is_text(const struct row_field *f)
{
    return f->kind == FIELD_NOTE || f->kind == FIELD_WORD || f->kind == FIELD_MESSAGE ||
           f->kind == FIELD_OBJECT;
}

static inline bool field_is_whole(const struct row_field *f)
{
    return f->kind == FIELD_WHOLE || f->kind == FIELD_BYTES;
}

static inline bool field_is_known(const struct row *r, const struct row_field *f)
{
    return !f->known || *(const bool *)((const char *)r + f->known);
}
