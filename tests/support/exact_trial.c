#include "support/exact_trial.h"

int64_t trial_count(const struct trial_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= t->shape[d];
    return n;
}

wide_number *trial_at(const struct trial_tensor *t, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < t->rank; d++) at = at * t->shape[d] + index[d];
    return t->data + at;
}

bool trial_next(const struct trial_tensor *t, int64_t *index)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        if (++index[d] < t->shape[d]) return true;
        index[d] = 0;
    }
    return false;
}

static wide_number trial_number(enum lx_dtype type, struct rng *rng)
{
    const struct number_type *t = &number_types[type];
    if (t->integer) return number_wrapped(t, (whole_number)rng_next(rng));
    double x = ldexp((double)((int64_t)rng_next(rng) >> 11), -40), back;
    uint64_t item = 0;
    items_narrow(t, &x, 1, &item);
    items_widen(t, &item, 1, &back);
    return (wide_number)back;
}

void trial_fill(struct trial_tensor *t, struct rng *rng)
{
    int64_t n = trial_count(t);
    t->data = mem_zeroed((size_t)n + 1, sizeof *t->data);
    for (int64_t i = 0; i < n; i++) t->data[i] = trial_number(t->type, rng);
}

static void trial_write_tensor(struct text *s, const struct trial_tensor *t, const char *name,
                               const char *role)
{
    text_format(s, "{\"name\": \"%s\", \"dtype\": \"%s\", \"role\": \"%s\", \"shape\": [", name,
                lx_dtype_word(t->type), role);
    for (int d = 0; d < t->rank; d++) text_format(s, "%s%lld", d ? ", " : "", (long long)t->shape[d]);
    text_add(s, "]}");
}

/* Tensors: the inputs, then the copy, the result and its copy. */
static char *trial_pattern(const struct trial *t, int cores)
{
    struct text s = {0};
    char name[16];
    text_format(&s,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", "
                "\"device\": {\"preset\": \"spyre\", \"cores\": %d}, \"tensors\": [",
                cores);
    for (int i = 0; i < t->inputs; i++) {
        snprintf(name, sizeof name, "x%d", i);
        trial_write_tensor(&s, &t->in[i], name, "input");
        text_add(&s, ", ");
    }
    trial_write_tensor(&s, &t->in[0], "c", "intermediate");
    text_add(&s, ", ");
    trial_write_tensor(&s, &t->out, "y", "intermediate");
    text_add(&s, ", ");
    trial_write_tensor(&s, &t->out, "z", "output");
    text_format(&s,
                "], \"ops\": [{\"name\": \"a\", \"kind\": \"clone\", \"inputs\": [\"x0\"], \"output\": "
                "\"c\"}, {\"name\": \"b\", %s, \"inputs\": [\"c\"",
                t->op);
    for (int i = 1; i < t->inputs; i++) text_format(&s, ", \"x%d\"", i);
    text_add(&s, "], \"output\": \"y\"}, "
                 "{\"name\": \"e\", \"kind\": \"clone\", \"inputs\": [\"y\"], \"output\": \"z\"}]}");
    return s.at;
}

static void trial_put(void *context, int32_t tensor, void *items)
{
    const struct trial *t = context;
    assert_true(tensor < t->inputs);
    items_from_wide(&number_types[t->in[tensor].type], t->in[tensor].data, trial_count(&t->in[tensor]),
                    items);
}

static void trial_take(void *context, int32_t tensor, const void *items)
{
    struct trial *t = context;
    (void)tensor;
    memcpy(t->got, items, (size_t)(trial_count(&t->out) * number_types[t->out.type].item));
}

static void trial_compare(const struct trial *t, const char *text)
{
    const struct number_type *type = &number_types[t->out.type];
    for (int64_t i = 0; i < trial_count(&t->out); i++) {
        wide_number got;
        items_to_wide(type, (const char *)t->got + i * type->item, 1, &got);
        if (got != t->out.data[i])
            fail_msg("%.21Lg, but it is %.21Lg at %lld of %s", got, t->out.data[i], (long long)i, text);
    }
}

static void trial_run(struct trial *t, int cores)
{
    lx_status st = {0};
    char *text = trial_pattern(t, cores);
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (!g) fail_msg("%s: %s", st.text, text);
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s: %s", st.text, text);
    struct lx_device_options run = {
        .verify = LX_VERIFY_FULL, .input = trial_put, .output = trial_take, .context = t};
    t->got = mem_zeroed((size_t)trial_count(&t->out) + 1, 8);
    struct lx_run_result *r = lx_device_run(p, &run, &st);
    if (!r) fail_msg("%s: %s", st.text, text);
    if (!r->ok)
        fail_msg("%s: %s", r->fault_count ? r->faults[0].text : r->unequal ? r->unequal : "wrong", text);
    trial_compare(t, text);
    lx_run_result_free(r);
    lx_plan_free(p);
    lx_graph_free(g);
    mem_free(text);
    mem_free(t->got);
}

void trial_run_all(struct trial *t)
{
    static const int cores[] = {1, 4, 32};
    for (int i = 0; i < 3; i++) trial_run(t, cores[i]);
    for (int i = 0; i < t->inputs; i++) mem_free(t->in[i].data);
    mem_free(t->out.data);
}
