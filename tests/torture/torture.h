/* What the programs of this folder share: an oracle that is asked about one random question after the other, by seed, for
 * as many or as long as one likes; and the row of the table that it ends with.
 *
 *   torture_X [COUNT|SECONDSs [FIRST]]
 *
 * Seeds FIRST, FIRST + 1, ...: COUNT of them, or for SECONDS. What is wrong is told with its seed, which alone repeats it
 * (torture_X 1 SEED). Exit code 1: something was. */
#ifndef LX_TESTS_TORTURE_H
#define LX_TESTS_TORTURE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What there is to count. The first three are amounts, the others must stay zero. X(id, heading) */
#define TORTURE_COUNTS(X)                                                                                    \
    X(TORTURE_QUESTIONS, "questions") /* that were asked */                                                  \
    X(TORTURE_JUDGED, "judged")       /* answers, or damaged ones, with which somebody else was asked */     \
    X(TORTURE_BEST, "best")           /* answers as good as any that is known */                             \
    X(TORTURE_REFUSED, "refused")     /* answers that the checker refuses, or values that are not true */    \
    X(TORTURE_FALSE, "false")         /* bounds, proofs and "infeasible" that do not hold */                 \
    X(TORTURE_DISAGREE, "disagree")   /* two judges that say different things */                             \
    X(TORTURE_ACCEPTED, "accepted")   /* damaged plans that are called legal */

#define TORTURE_ENUM(id, heading) id,
enum torture_count { TORTURE_COUNTS(TORTURE_ENUM) TORTURE_KINDS };
#undef TORTURE_ENUM

enum { TORTURE_FAULTS_TOLD = 20 };

struct torture {
    const char *name;
    uint64_t seed; /* the present one */
    int64_t count[TORTURE_KINDS];
    int64_t faults;
};

static inline void torture_fault(struct torture *t, enum torture_count kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline void torture_fault(struct torture *t, enum torture_count kind, const char *format, ...)
{
    va_list args;
    t->count[kind]++;
    if (t->faults++ >= TORTURE_FAULTS_TOLD) return;
    va_start(args, format);
    fprintf(stderr, "torture_%s, seed %" PRIu64 ": ", t->name, t->seed);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static inline double torture_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void torture_row(const struct torture *t)
{
    printf("%-10s", t->name);
    for (int k = 0; k < TORTURE_KINDS; k++) printf(" %10" PRId64, t->count[k]);
    putchar('\n');
}

/* Asks `one` about each seed, `usual` of them where nobody says how many; the exit code. */
static inline int torture_all(int argc, char **argv, const char *name, uint64_t usual,
                              void (*one)(struct torture *t))
{
    struct torture t = {.name = name};
    char *rest = NULL;
    uint64_t given = argc > 1 ? strtoull(argv[1], &rest, 10) : usual;
    bool by_time = rest && *rest == 's';
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    double ends = torture_clock() + (double)given;
    for (t.seed = first; by_time ? torture_clock() < ends : t.seed < first + given; t.seed++) one(&t);
    torture_row(&t);
    return t.faults > 0;
}

#endif
