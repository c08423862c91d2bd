/* Every solver on placement problems captured from a real compiler, beside what that compiler's own
 * heuristics reached on them, all by one objective.
 *
 *     build/bin/bench_captures captures_placement_instances.json [SOLVER ...]
 *
 * The file holds, for each instance, buffers and, for several capacities, the spill cost that each reference
 * heuristic was left with. A point is under pressure when one of them spilt more than what is barred anyway;
 * only those are counted. Times are of single solves in this process, one after the other. */
#include "support/bench_clock.h"
#include "unstable.h"
#include "support/cjson_find.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOLVERS = 16, MAX_POINTS = 4096 };

struct tally {
    const char *name;
    int64_t avoidable;
    int points, proved, above_reference, above_best;
    double seconds[MAX_POINTS];
};

struct bench {
    const struct lx_solver *solvers[MAX_SOLVERS];
    struct tally ours[MAX_SOLVERS], theirs[MAX_SOLVERS];
    int solver_count, reference_count;
};

static int64_t number(const cJSON *object, const char *key)
{
    return (int64_t)cJSON_GetNumberValue(cjson_find(object, key));
}

/* The instance as a pattern of ours, so that it takes the same road as every other problem. */
static const struct lx_graph *as_list(const char *name, const cJSON *instance, int64_t capacity,
                                      lx_status *st)
{
    struct text t = {0};
    text_format(&t,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"%s\", \"capacity\": %" PRId64
                ", \"alignment\": 128, "
                "\"buffers\": [",
                name, capacity);
    const cJSON *b, *x;
    cJSON_ArrayForEach(b, cjson_find(instance, "buffers"))
    {
        if (b->prev && b->prev->next) text_add(&t, ", ");
        text_add(&t, "{\"name\": ");
        text_json_string(&t, cjson_find(b, "name")->valuestring);
        text_format(&t, ", \"size\": %" PRId64 ", \"cost\": %" PRId64 ", \"uses\": [", number(b, "size"),
                    number(b, "spill_cost"));
        cJSON_ArrayForEach(x, cjson_find(b, "uses"))
            text_format(&t, "%s%.0f", x->prev->next ? ", " : "", x->valuedouble);
        text_add(&t, "], \"in_place_parents\": [");
        cJSON_ArrayForEach(x, cjson_find(b, "in_place_parents"))
        {
            if (x->prev->next) text_add(&t, ", ");
            text_json_string(&t, x->valuestring);
        }
        text_add(&t, "]");
        const cJSON *reason = cjson_find(b, "residency_reason");
        if (cJSON_IsString(reason)) {
            text_add(&t, ", \"reason\": ");
            text_json_string(&t, reason->valuestring);
        }
        text_add(&t, "}");
    }
    text_add(&t, "]}");
    const struct lx_graph *g = lx_graph_of_text(name, t.at, t.length, st);
    text_free(&t);
    return g;
}

static struct tally *reference_tally(struct bench *b, const char *name)
{
    for (int i = 0; i < b->reference_count; i++)
        if (strcmp(b->theirs[i].name, name) == 0) return &b->theirs[i];
    b->theirs[b->reference_count].name = name;
    return &b->theirs[b->reference_count++];
}

static bool run_point(struct bench *b, const char *name, const cJSON *instance, const cJSON *point,
                      lx_status *st)
{
    int64_t forced = number(instance, "forced_spill_cost"), best_reference = INT64_MAX, best = INT64_MAX;
    int64_t spill[MAX_SOLVERS];
    bool pressure = false;
    const cJSON *r;
    cJSON_ArrayForEach(r, cjson_find(point, "results"))
    {
        pressure |= number(r, "spill_cost") > forced;
        if (number(r, "spill_cost") < best_reference) best_reference = number(r, "spill_cost");
    }
    if (!pressure) return true;
    cJSON_ArrayForEach(r, cjson_find(point, "results"))
    {
        struct tally *t = reference_tally(b, r->string);
        t->avoidable += number(r, "spill_cost") - forced;
        t->points++;
    }
    const struct lx_graph *g = as_list(name, instance, number(point, "capacity"), st);
    if (!g) return false;
    struct lx_problem p = {.objective = LX_SPILL,
                           .capacity = g->list->capacity,
                           .alignment = g->list->alignment,
                           .count = g->list->buffer_count,
                           .buffers = g->list->buffers};
    int64_t *address = mem_alloc((size_t)(p.count + 1) * sizeof *address);
    bool ok = address != NULL;
    for (int s = 0; ok && s < b->solver_count; s++) {
        struct lx_run run = {0};
        struct lx_answer answer = {.address = address};
        struct tally *t = &b->ours[s];
        double start = now();
        ok = lx_problem_solve(&p, b->solvers[s], &run, &answer, st);
        t->seconds[t->points++] = now() - start;
        spill[s] = answer.objective;
        if (spill[s] < best) best = spill[s];
        t->avoidable += answer.objective - forced;
        t->proved += answer.status == LX_OPTIMAL;
        t->above_reference += answer.objective > best_reference;
    }
    for (int s = 0; ok && s < b->solver_count; s++) b->ours[s].above_best += spill[s] > best;
    mem_free(address);
    lx_graph_free(g);
    return ok;
}

static void print(struct bench *b)
{
    printf("%-22s %7s %16s %7s %11s %11s %11s %11s\n", "solver", "points", "avoidable bytes", "proved",
           "above best", "above ref.", "median ms", "slowest ms");
    for (int i = 0; i < b->reference_count; i++)
        printf("%-22s %7d %16" PRId64 "   (reference)\n", b->theirs[i].name, b->theirs[i].points,
               b->theirs[i].avoidable);
    for (int s = 0; s < b->solver_count; s++) {
        struct tally *t = &b->ours[s];
        if (t->points == 0) continue;
        printf("%-22s %7d %16" PRId64 " %7d %11d %11d %11.3f %11.3f\n", t->name, t->points, t->avoidable,
               t->proved, t->above_best, t->above_reference, quantile(t->seconds, t->points, 0.5) * 1e3,
               quantile(t->seconds, t->points, 1) * 1e3);
    }
}

int main(int argc, char **argv)
{
    struct bench *b = mem_zeroed(1, sizeof *b);
    lx_status st;
    cJSON *root = NULL;
    size_t length;
    char *text = argc > 1 ? file_read(argv[1], &length, &st) : NULL;
    if (!b || argc < 2 || !text || !(root = cJSON_ParseWithLength(text, length))) {
        fprintf(stderr, "bench_captures: %s\n",
                argc < 2 ? "usage: bench_captures FILE.json [SOLVER ...]"
                : text   ? "not JSON"
                         : st.text);
        return 2;
    }
    for (const struct lx_solver *const *s = lx_solvers(); *s && b->solver_count < MAX_SOLVERS; s++) {
        bool wanted = argc == 2;
        for (int i = 2; i < argc; i++) wanted |= strcmp(argv[i], (*s)->name) == 0;
        if (!wanted) continue;
        b->ours[b->solver_count].name = (*s)->name;
        b->solvers[b->solver_count++] = *s;
    }
    const cJSON *instance, *point;
    bool ok = true;
    cJSON_ArrayForEach(instance, cjson_find(root, "instances"))
    {
        cJSON_ArrayForEach(point, cjson_find(instance, "reference")) ok =
            ok && run_point(b, instance->string, instance, point, &st);
    }
    if (ok)
        print(b);
    else
        fprintf(stderr, "bench_captures: %s\n", st.text);
    cJSON_Delete(root);
    mem_free(text);
    mem_free(b);
    return ok ? 0 : 3;
}
