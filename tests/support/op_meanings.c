#include "support/op_meanings.h"

static int64_t items_of(const struct lx_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= t->shape[d];
    assert_true(n <= MOST);
    return n;
}

static void put(void *context, int32_t tensor, void *items)
{
    struct tried *n = context;
    const struct lx_tensor *t = &n->g->tensors[tensor];
    const struct number_type *type = &number_types[t->dtype];
    int which = t->name[0] - 'a';
    assert_in_range(which, 0, 2);
    for (int64_t i = 0; i < items_of(t); i++)
        n->in[which][i] =
            type->integer ? (double)((i * 5 + which) % 4) : (double)((i * 7 + which * 3) % 17) / 8 - 1;
    items_narrow(type, n->in[which], items_of(t), items);
}

static void take(void *context, int32_t tensor, const void *items)
{
    struct tried *n = context;
    const struct lx_tensor *t = &n->g->tensors[tensor];
    n->count = items_of(t);
    items_widen(&number_types[t->dtype], items, n->count, n->out);
}

void meaning_run(const struct meaning *m, bool no_fold, struct tried *n)
{
    struct lx_import_options options = {.branch = -1, .no_fold = no_fold};
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_device_options device = {.input = put, .output = take, .context = n};
    lx_status st = {0};
    n->g = lx_model_import(m->name, m->text, strlen(m->text), &options, NULL, &st);
    if (!n->g) fail_msg("%s: %s", m->name, st.text);
    for (int32_t o = 0; o < n->g->op_count; o++)
        if (n->g->ops[o].kind->traits & LX_MIXES) fail_msg("%s: %s is generic", m->name, n->g->ops[o].name);
    struct lx_plan *p = lx_plan_make(n->g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s: %s", m->name, st.text);
    struct lx_run_result *r = lx_device_run(p, &device, &st);
    if (!r || !r->ok) fail_msg("%s: %s", m->name, st.text);
    lx_run_result_free(r);
    lx_plan_free(p);
    lx_graph_free(n->g);
}

void try_meanings(const struct meaning *all, size_t count)
{
    static struct tried n;
    for (size_t i = 0; i < 2 * count; i++) {
        const struct meaning *m = &all[i / 2];
        memset(&n, 0, sizeof n);
        meaning_run(m, i % 2, &n);
        m->of(&n);
        assert_true(n.count > 0);
        for (int64_t k = 0; k < n.count; k++)
            if (fabs(n.out[k] - n.want[k]) > 1e-5 * fmax(1, fabs(n.want[k])) && n.out[k] != n.want[k] &&
                !(isnan(n.out[k]) && isnan(n.want[k])))
                fail_msg("%s: %.9g at %lld, not %.9g", m->name, n.out[k], (long long)k, n.want[k]);
    }
}
