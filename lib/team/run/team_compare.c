/* Compares the team's outputs with one device that runs the whole graph on the same data. */
#include "team/run/team_device.h"
#include "device/memory/dtypes.h"

struct comparison {
    const struct lx_graph *g;
    void *const *team; /* per tensor: elements */
    struct lx_team_result *r;
    const struct lx_team_run_options *how;
};

static void compare_item(const struct number_type *type, const char *got, const char *wanted,
                         struct lx_team_result *r)
{
    float a, b;
    items_decode(type, got, 1, &a);
    items_decode(type, wanted, 1, &b);
    r->elements++;
    if (isfinite(b) && fabs((double)b) > r->largest) r->largest = fabs((double)b);
    if (memcmp(got, wanted, (size_t)type->item) == 0 || (isnan(a) && isnan(b))) return;
    r->differing++;
    double difference = fabs((double)a - (double)b);
    /* a NaN against a number counts as an infinite difference */
    if (isnan(difference)) difference = INFINITY;
    if (difference > r->worst) r->worst = difference;
}

static void team_compare_output(void *context, int32_t tensor, const void *items)
{
    struct comparison *c = context;
    const struct lx_tensor *t = &c->g->tensors[tensor];
    const struct number_type *type = &number_types[t->dtype];
    struct lx_team_box whole = lx_team_box_of(t->rank, t->shape);
    int64_t n = lx_team_box_elements(&whole);
    const char *got = c->team[tensor], *wanted = items;
    for (int64_t i = 0; i < n; i++) compare_item(type, got + i * type->item, wanted + i * type->item, c->r);
}

/* Kernels may add in another order for another shape. */
bool lx_team_is_exact(const struct lx_team_plan *p)
{
    for (int32_t o = 0; o < p->graph->op_count; o++) {
        const struct lx_op *op = &p->graph->ops[o];
        if (op->kind->traits & LX_CONTRACTS || (op->reduces && !(op->kind->traits & LX_POINTWISE)))
            return false;
    }
    return p->exact;
}

static bool team_compare_stop(void *context)
{
    const struct comparison *c = context;
    return c->how->stop && c->how->stop(c->how->context);
}

bool team_compare(const struct lx_team_plan *p, const struct lx_team_run_options *how, void *const *whole,
                  struct lx_team_result *r, lx_status *st)
{
    struct comparison c = {.g = p->graph, .team = whole, .r = r, .how = how};
    struct lx_device_options run = {.seed = how->seed,
                                    .verify = LX_VERIFY_NONE,
                                    .stop = team_compare_stop,
                                    .output = team_compare_output,
                                    .context = &c};
    SCOPED(plan_free_at)
    struct lx_plan *plan = plan_of_device(p->graph, how->plan, st); /* its tensors are the graph's */
    struct lx_run_result *one = plan ? lx_device_run(plan, &run, st) : NULL;
    r->exact = lx_team_is_exact(p);
    r->limit = r->largest / 10;
    for (int32_t o = 0; o < p->graph->op_count;
         o++) { /* a result may jump when an operand changes in its last bit */
        const struct lx_op *op = &p->graph->ops[o];
        if (op->kind->id == LX_KIND_GREATER || lx_dtype_bits(p->graph->tensors[op->output].dtype) <= 8)
            r->limit = INFINITY;
    }
    bool ok = one != NULL;
    if (ok && !one->ok)
        ok = status_set(
            st, LX_E_NO,
            "one device's run of the whole graph is not right, so that nothing can be compared: %.400s",
            one->fault_count ? one->faults[0].text
            : one->unequal   ? one->unequal
                             : "wrong results");
    lx_run_result_free(one);
    return ok;
}
