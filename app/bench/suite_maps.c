/* Maps of the best answers of the suite, as data of a report's page: rectangles of ticks and addresses. An answer is
 * read or made again; what cannot be read has no map. Large ones keep their largest buffers. */
#include "bench/report.h"
#include "bench/suite.h"

enum { MOST_RECTANGLES = 1500 };

struct rectangle {
    int64_t start, end, low, size;
    const char *name;
};

static int rectangles_by_area(const void *a, const void *b)
{
    const struct rectangle *x = a, *y = b;
    double p = (double)(x->end - x->start) * (double)x->size,
           q = (double)(y->end - y->start) * (double)y->size;
    return (p < q) - (p > q);
}

static void suite_map_add(const struct suite_instance *i, const struct lx_problem *p, const int64_t *address,
                          struct text *out)
{
    OWNED struct rectangle *r = mem_alloc(((size_t)p->count + 1) * sizeof *r);
    size_t n = 0;
    for (int32_t b = 0; b < p->count; b++)
        if (address[b] >= 0)
            r[n++] = (struct rectangle){p->buffers[b].start, p->buffers[b].end, address[b],
                                        p->buffers[b].size, p->buffers[b].name};
    qsort(r, n, sizeof *r, rectangles_by_area);
    text_add(out, out->at[out->length - 1] == '{' ? "\n" : ",\n");
    text_format(out, "\"%s/", i->class->name);
    struct text name = {0};
    text_json_string(&name, i->name);
    text_add(out, name.at + 1);
    text_free(&name);
    text_format(out, ": {\"path\": ");
    text_json_string(out, i->path);
    text_format(out, ", \"placed\": %zu, \"buffers\": %d, \"rects\": [", n, (int)p->count);
    for (size_t k = 0; k < n && k < MOST_RECTANGLES; k++) {
        text_format(out, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", k ? "," : "", r[k].start,
                    r[k].end, r[k].low, r[k].size);
        text_json_string(out, r[k].name);
        text_add(out, "]");
    }
    text_add(out, "]}");
}

static void suite_map_of_plan(const struct suite_instance *i, struct text *out)
{
    SCOPED(text_free) struct text t = {0};
    lx_status ignored = {0};
    bool made = i->made && suite_output(i, i->made, &t, &ignored);
    SCOPED(plan_free_at) struct lx_plan *p = made ? lx_plan_of_text(i->path, t.at, t.length, &ignored) : NULL;
    if (p) suite_map_add(i, &p->problem, p->answer.address, out);
}

void suite_maps(const struct summary *s, struct text *out)
{
    for (size_t k = 0; k < s->problems.count; k++) {
        struct suite_instance i;
        lx_status ignored = {0};
        if (!s->problems.at[k].class[0] || !suite_read(s->problems.at[k].path, &i, &ignored)) continue;
        SCOPED(graph_free_at) const struct lx_graph *g = i.class->whole ? NULL : suite_problem(&i, &ignored);
        struct lx_question *q = g ? lx_problem_of(g, &(struct lx_plan_options){0}, &ignored) : NULL;
        OWNED int64_t *address = mem_alloc(((size_t)(q ? q->problem.count : 0) + 1) * sizeof *address);
        if (i.class->whole) suite_map_of_plan(&i, out);
        if (q && i.has_best && suite_answer(&i, &q->problem, address, &ignored))
            suite_map_add(&i, &q->problem, address, out);
        lx_question_free(q);
        suite_free(&i);
    }
}
