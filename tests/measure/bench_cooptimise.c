/* Divisions and placement together: captured joint problems against the reference solution that came with
 * them, and generated graphs.
 *
 *     build/bin/bench_cooptimise [--steps N] [CAPTURES.json | PATTERN.json ...]
 *
 * Captures: the objective is bytes, size x (reads + 1) for every buffer off chip; the reference is its own
 * choice and residency, counted by the same rule after its legality was checked. Graphs: 32 cores, both
 * goals. Every solve is done twice and must give the same answer. Times are of one solve, with everything
 * that belongs to it. */
#include "support/bench_clock.h"
#include "support/captured_joint.h"
#include "base/file.h"
#include "base/memory.h"
#include "cooptimise/cooptimise.h"

#include <inttypes.h>
#include <stdio.h>

enum { CAPACITY = 1625344, ALIGNMENT = 128 };

static int64_t step_limit; /* 0: the search's own */

/* The reference's objective, or -1 when its solution is not legal in this model. */
static int64_t reference(const struct captured *c, const cJSON *solved)
{
    const struct lx_joint_problem *p = &c->problem;
    int32_t *choice = mem_zeroed((size_t)p->op_count + 1, sizeof *choice);
    bool *on = mem_zeroed((size_t)p->buffer_count + 1, sizeof *on);
    int64_t *address = mem_zeroed((size_t)p->buffer_count + 1, sizeof *address), objective = -1;
    struct arena memory = {0};
    struct lx_problem placement;
    lx_status st;
    const cJSON *v;
    cJSON_ArrayForEach(v, solved)
    {
        int32_t i = captured_find(c, cjson_find(v, "name")->valuestring);
        if (i < 0) continue;
        choice[i] = (int32_t)captured_number(v, "chosen_division", 0);
        on[i] = cJSON_IsTrue(cjson_find(v, "resident"));
        address[i] = on[i] ? captured_number(v, "address", LX_OFF_CHIP) : LX_OFF_CHIP;
    }
    lx_joint_placement(p, choice, &memory, &placement);
    if (lx_problem_check(&placement, address, &objective, &st))
        objective = lx_joint_cost(p, choice, on);
    else
        printf("    reference refused: %s\n", st.text);
    mem_free(choice);
    mem_free(on);
    mem_free(address);
    arena_free(&memory);
    return objective;
}

static bool run_capture(const char *name, const cJSON *graph)
{
    struct captured c;
    struct arena memory = {0};
    struct lx_joint_answer answer[3];
    lx_status st = {0};
    static const enum lx_joint_mode modes[3] = {LX_JOINT_FLIP, LX_JOINT_FULL, LX_JOINT_FULL};
    double seconds[3];
    const cJSON *one = cJSON_IsArray(graph) ? cJSON_GetArrayItem(graph, 0) : graph;
    bool ok = captured_read(&c, cjson_find(one, "inputs"), CAPACITY, ALIGNMENT);
    for (int i = 0; ok && i < 3; i++) {
        struct lx_joint_options how = {
            .mode = modes[i], .solver = lx_solver_find("auto"), .run.work_limit = step_limit};
        double start = now();
        ok = lx_joint_search(&c.problem, &how, &memory, &answer[i], &st);
        seconds[i] = now() - start;
    }
    if (!ok) {
        printf("%s: %s\n", name, st.text);
        return false;
    }
    int64_t theirs = reference(&c, cjson_find(one, "solved"));
    const struct lx_joint_answer *a = &answer[1];
    bool same =
        memcmp(a->choice, answer[2].choice, (size_t)c.problem.op_count * sizeof *a->choice) == 0 &&
        memcmp(a->address, answer[2].address, (size_t)c.problem.buffer_count * sizeof *a->address) == 0;
    printf("%-16s %4d %12" PRId64 " %12" PRId64 " %12" PRId64 " %12" PRId64 " %12" PRId64
           " %7.3f%% %8.1f %9" PRId64 " %s%s\n",
           name, (int)c.problem.op_count, a->seed_objective, answer[0].objective, theirs, a->objective,
           a->bound, 100 * lx_gap(a->objective, a->bound), seconds[1] * 1e3, a->steps,
           theirs < 0 || a->objective <= theirs ? "reached" : "WORSE",
           !same                                        ? " NOT REPEATED"
           : captured_agrees(&c, a->choice, a->address) ? ""
                                                        : " ILLEGAL");
    arena_free(&memory);
    arena_free(&c.memory);
    return same && a->objective <= theirs;
}

static bool run_file(const char *path)
{
    cJSON *root = NULL;
    lx_status st;
    size_t length;
    char *text = file_read(path, &length, &st);
    if (!text || !(root = cJSON_ParseWithLength(text, length))) {
        fprintf(stderr, "bench_cooptimise: %s: %s\n", path, text ? "not JSON" : st.text);
        mem_free(text);
        return false;
    }
    printf("%-16s %4s %12s %12s %12s %12s %12s %8s %8s %9s\n", "capture", "ops", "seed", "flip", "reference",
           "full", "bound", "gap", "ms", "steps");
    bool ok = true;
    const cJSON *graph;
    cJSON_ArrayForEach(graph, root) ok = run_capture(graph->string, graph) && ok;
    cJSON_Delete(root);
    mem_free(text);
    return ok;
}

static int64_t split_of(const struct lx_divisions *d, const struct lx_cooptimised *r, int32_t op, int i)
{
    return (r->divided[op] ? r->divided[op] : &d->at[op])->splits[i].split;
}

static void run_graph(const char *label, const struct lx_graph *g, lx_status *st)
{
    static const char *const goals[] = {"traffic", "time"};
    static const enum lx_joint_mode modes[] = {LX_JOINT_FLIP, LX_JOINT_FULL, LX_JOINT_FULL};
    struct lx_layouts *l = g ? lx_layouts_make(g, LX_WEIGHTS_FREE, st) : NULL;
    bool ok = l != NULL;
    for (int goal = 0; ok && goal < 2; goal++) {
        struct lx_cooptimised r[3];
        double seconds[3];
        bool same = true;
        struct lx_divisions *d = lx_divide(l, NULL, st);
        ok = d != NULL;
        for (int k = 0; ok && k < 3; k++) {
            struct lx_cooptimise_options how = {.mode = modes[k],
                                                .goal = (enum lx_cooptimise_goal)goal,
                                                .solver = lx_solver_find("auto"),
                                                .run.work_limit = step_limit,
                                                .clone_inputs = true,
                                                .outputs_on_chip = true};
            double start = now();
            ok = lx_cooptimise(d, &how, &r[k], st);
            seconds[k] = now() - start;
        }
        if (!ok) break;
        for (int32_t o = 0; o < d->count; o++)
            for (int i = 0; i < d->at[o].split_count; i++)
                same &= split_of(d, &r[1], o, i) == split_of(d, &r[2], o, i);
        for (int32_t t = 0; t < l->graph->tensor_count; t++) same &= r[1].address[t] == r[2].address[t];
        printf("%-24s %5d %-7s %13" PRId64 " %13" PRId64 " %13" PRId64 " %13" PRId64
               " | %10.1f %10.1f %10.1f %10.1f | %6.2f%% %9.1f ms %9" PRId64 " %s%s\n",
               label, (int)l->graph->op_count, goals[goal], r[1].seed.traffic_bytes, r[0].now.traffic_bytes,
               r[1].now.traffic_bytes, r[1].bound_bytes, r[1].seed.time_us, r[0].now.time_us,
               r[1].now.time_us, r[1].bound_us, 100 * r[1].gap, seconds[1] * 1e3, r[1].steps,
               lx_verdict_word(r[1].status), same ? "" : " NOT REPEATED");
        for (int k = 0; k < 3; k++) lx_cooptimised_free(&r[k]);
        lx_divisions_free(d);
    }
    if (!ok) printf("%s: %s\n", label, st->text);
    lx_layouts_free(l);
    lx_graph_free(g);
}

static void graph_header(void)
{
    printf("%-24s %5s %-7s %13s %13s %13s %13s | %10s %10s %10s %10s | %7s\n", "graph", "ops", "goal",
           "seed B", "flip B", "full B", "bound B", "seed us", "flip us", "full us", "bound us", "gap");
}

/* With the generator's own defaults, but for the ones given. */
static void run_generated(const char *name, const char *option, int64_t value)
{
    const struct lx_generator *k = lx_generator_find(name);
    int64_t values[32];
    lx_status st = {0};
    for (int i = 0; i < k->option_count; i++) {
        values[i] = k->options[i].def;
        if (option && strcmp(k->options[i].name, option) == 0) values[i] = value;
    }
    run_graph(name, k->build(values, &st), &st);
}

static bool is_pattern(const char *path)
{
    lx_status st;
    const struct lx_graph *g = lx_graph_read(path, &st);
    lx_graph_free(g);
    return g != NULL;
}

int main(int argc, char **argv)
{
    bool ok = true;
    lx_status st = {0};
    if (argc > 2 && strcmp(argv[1], "--steps") == 0) {
        step_limit = strtoll(argv[2], NULL, 10);
        argv += 2;
        argc -= 2;
    }
    for (int i = 1; i < argc; i++)
        if (!is_pattern(argv[i])) ok = run_file(argv[i]) && ok;
    graph_header();
    for (int i = 1; i < argc; i++) {
        const char *name = strrchr(argv[i], '/');
        if (is_pattern(argv[i])) run_graph(name ? name + 1 : argv[i], lx_graph_read(argv[i], &st), &st);
    }
    run_generated("decode", "ops", 304);
    run_generated("flash", "kv", 8192);
    run_generated("block", NULL, 0);
    return ok ? 0 : 1;
}
