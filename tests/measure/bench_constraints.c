/* Random small problems of the second version, every solver against brute force.
 *
 *   bench_constraints [FIRST COUNT MOST [SOLVER ...]]
 *
 * Problems FIRST to FIRST + COUNT - 1 of up to MOST buffers. Every answer of every solver that takes a problem must
 * pass the checker and be no better than the optimum by enumeration; what is claimed optimal or infeasible must be;
 * lx_bound is never above the optimum. Ends with a table: answers, legal ones, equal to the optimum, proved. */
#include "support/random_v2.h"
#include "support/v2_oracle.h"

#include <stdlib.h>

enum { MOST_SOLVERS = 16, MOST_BRUTE = 7, MOST_TRIES = 300000 };

struct tally {
    int64_t asked, refused, answers, equal, none, proved, proved_infeasible;
};

struct measure {
    struct oracle oracle;
    struct v2_problem v;
    struct tally tally[MOST_SOLVERS];
    int64_t problems, enumerated, infeasible, bound_equal, faults;
    uint64_t seed;
    bool with_oracle;
};

static void fault(struct measure *m, const char *who, const char *what, int64_t got)
{
    if (m->faults++ < 20)
        printf("seed %llu, %s: %s %lld (optimum %lld, %s)\n", (unsigned long long)m->seed, who, what,
               (long long)got, (long long)m->oracle.best, m->oracle.found ? "exists" : "none");
}

static void judge(struct measure *m, const char *name, struct tally *t, const struct lx_answer *a)
{
    const struct lx_problem *p = &m->v.p;
    const struct oracle *o = &m->oracle;
    int64_t value = 0;
    enum lx_rule rule;
    lx_status why = {0};
    bool legal = lx_check_places(p, a->pool, a->address, &value, &rule, &why);
    if (a->status == LX_ERROR) fault(m, name, a->message, a->objective);
    if (a->status == LX_INFEASIBLE) {
        t->proved_infeasible++;
        if (m->with_oracle ? o->found : legal) fault(m, name, "says infeasible", 0);
        return;
    }
    if (!legal && a->status != LX_LIMIT && a->status != LX_ERROR) fault(m, name, why.text, 0);
    t->none += !legal;
    t->answers += legal;
    if (legal && a->objective != value && p->objective != LX_FIT) fault(m, name, "has another value", value);
    if (!m->with_oracle) return;
    if (legal && (!o->found || value < o->best)) fault(m, name, "is better than the optimum", value);
    t->equal += legal && value == o->best;
    if (a->status != LX_OPTIMAL) return;
    t->proved++;
    if (value != o->best) fault(m, name, "is called optimal", value);
}

static void ask(struct measure *m, const struct lx_solver *s, struct tally *t)
{
    int64_t address[V2_MOST];
    int32_t pool[V2_MOST];
    struct lx_answer a = {.address = address, .pool = pool};
    struct lx_run run = {.seed = m->seed};
    lx_status st = {0};
    t->asked++;
    if (lx_problem_solve(&m->v.p, s, &run, &a, &st))
        judge(m, s->name, t, &a);
    else if (st.code == LX_E_USAGE)
        t->refused++;
    else
        fault(m, s->name, st.text, 0);
}

static void check_bound(struct measure *m)
{
    int64_t bound = 0;
    lx_status st;
    if (!lx_bound(&m->v.p, &bound, &st)) fault(m, "bound", st.text, 0);
    if (m->v.p.objective == LX_FIT ? m->oracle.found && bound == INT64_MAX
                                   : m->oracle.found && bound > m->oracle.best)
        fault(m, "bound", "is above the optimum", bound);
    m->bound_equal += m->oracle.found ? bound == m->oracle.best : bound == INT64_MAX;
}

static void one(struct measure *m, const struct lx_solver *const *solvers, int32_t most)
{
    struct rng r = rng_seed(m->seed);
    lx_status st;
    random_v2(&m->v, &r, most);
    if (!lx_problem_validate(&m->v.p, &st)) return;
    m->problems++;
    m->with_oracle = most <= MOST_BRUTE && oracle_solve(&m->oracle, &m->v.p, MOST_TRIES);
    if (m->with_oracle) {
        check_bound(m);
        m->enumerated++;
        m->infeasible += !m->oracle.found;
    }
    for (int s = 0; solvers[s]; s++) ask(m, solvers[s], &m->tally[s]);
}

static void report(const struct measure *m, const struct lx_solver *const *solvers)
{
    printf("%lld problems, %lld enumerated, %lld without an answer, bound equal on %lld, %lld faults\n",
           (long long)m->problems, (long long)m->enumerated, (long long)m->infeasible,
           (long long)m->bound_equal, (long long)m->faults);
    for (int s = 0; solvers[s]; s++) {
        const struct tally *t = &m->tally[s];
        printf(
            "%-10s asked %lld refused %lld answers %lld equal %lld none %lld optimal %lld infeasible %lld\n",
            solvers[s]->name, (long long)t->asked, (long long)t->refused, (long long)t->answers,
            (long long)t->equal, (long long)t->none, (long long)t->proved, (long long)t->proved_infeasible);
    }
}

int main(int argc, char **argv)
{
    static struct measure m;
    const struct lx_solver *some[MOST_SOLVERS + 1] = {0};
    const struct lx_solver *const *solvers = lx_solvers();
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    int32_t most = argc > 3 ? (int32_t)strtol(argv[3], NULL, 10) : 6;
    for (int i = 4; i < argc && i < 4 + MOST_SOLVERS; i++) {
        some[i - 4] = lx_solver_find(argv[i]);
        if (!some[i - 4]) return fprintf(stderr, "there is no solver %s\n", argv[i]), 2;
        solvers = some;
    }
    for (m.seed = first; m.seed < first + count; m.seed++) one(&m, solvers, most < V2_MOST ? most : V2_MOST);
    report(&m, solvers);
    return m.faults > 0;
}
