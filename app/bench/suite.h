/* The suite: problems that everybody can make again, with the best that is known of each.
 *
 * patterns/suite/CLASS/NAME.instance is one JSON file: `origin` are the words of a command whose output is the
 * problem, `sha256` is that of its bytes. `best` and `bound` are about the question of the class; a proved instance
 * without a best value has no answer. The best answer is a CSV file beside it, `id,offset`, or the output of another
 * command (`made`). Sizes: some 120 files, problems of 10 to 100,000 buffers, made anew each time. */
#pragma once

#include "bench/bench.h"

/* Name, objective of whole plans (LX_ASK_OWN: a placement problem), what it asks. */
#define SUITE_CLASSES(X)                                                                                     \
    X(fit, LX_ASK_OWN, "place all buffers in a capacity, or prove that they do not fit")                     \
    X(height, LX_ASK_OWN, "place all buffers in the least memory")                                           \
    X(spill, LX_ASK_OWN, "keep buffers on chip, so that the cost of the others is least")                    \
    X(linked, LX_ASK_OWN, "the same for graphs: costs linked, slots handed over, relayouts")                 \
    X(graphs, LX_ASK_TRAFFIC, "whole plans of graphs: bytes of HBM traffic")                                 \
    X(time, LX_ASK_TIME, "whole plans of graphs: nanoseconds from end to end")

struct suite_class {
    const char *name;
    enum lx_ask whole;
    const char *asks;
};

enum { SUITE_CLASS_COUNT = 6 };
extern const struct suite_class suite_classes[SUITE_CLASS_COUNT];

struct suite_instance {
    struct json json;                               /* of its file: all texts live in it */
    const char *path, *name, *hash, *by, *solution; /* solution: a file beside it, or NULL */
    const struct suite_class *class;
    const struct json_value *origin, *made; /* words of commands */
    int64_t buffers, best, bound;
    bool has_best, has_bound, proved;
};

static inline bool suite_is_infeasible(const struct suite_instance *i)
{
    return i->proved && !i->has_best;
}

/* Reads the file of an instance; its problem is not made. */
bool suite_read(const char *path, struct suite_instance *out, lx_status *st);
void suite_free(struct suite_instance *i);
/* The bytes that the words of a command make, in this process; "INSTANCE" and "patterns/..." are found. */
bool suite_output(const struct suite_instance *i, const struct json_value *words, struct text *out,
                  lx_status *st);
/* The problem; NULL with `st` also where the origin makes other bytes than it did. */
const struct lx_graph *suite_problem(const struct suite_instance *i, lx_status *st);
/* The files of all instances, or of the classes and instances that are named. */
bool suite_gather(struct call *call, const char *const *names, size_t count, struct paths *out);
/* Seconds of CPU that a run of an instance may take. */
double suite_limit(int64_t buffers);
/* The best answer of a placement problem, one address per buffer; false with `st`. */
bool suite_answer(const struct suite_instance *i, const struct lx_problem *p, int64_t *address,
                  lx_status *st);
/* Is it a plan of this graph, perhaps with its attention rewritten? */
bool suite_plan_is_of(const struct lx_plan *p, const struct lx_graph *g);
/* Value and bound of a whole plan in the unit of its class. */
int64_t suite_plan_value(enum lx_ask whole, const struct lx_plan *p);
int64_t suite_plan_bound(enum lx_ask whole, const struct lx_plan *p);

/* cmd_suite.c: rows with a better value or a new proof, the best per instance; says them, and how to record them. */
void suite_add_news(const struct results *r, const char *path, struct text *out);
