#include "support/softmax_graphs.h"

static void softmax_add(char *to, size_t size, const char *format, ...)
{
    size_t at = strlen(to);
    va_list args;
    va_start(args, format);
    vsnprintf(to + at, size - at, format, args);
    va_end(args);
}

static void softmax_tensor(struct softmax_text *t, const char *name, const char *shape, const char *role)
{
    softmax_add(t->tensors, sizeof t->tensors,
                "%s{\"name\": \"%s\", \"shape\": [%s], \"dtype\": \"%s\"%s%s%s}", t->tensors[0] ? ",\n" : "",
                name, shape, t->dtype, *role ? ", \"role\": \"" : "", role, *role ? "\"" : "");
}

static void softmax_op(struct softmax_text *t, const char *name, const char *kind, const char *inputs,
                       const char *einsum, const char *shape, const char *role, const char *more)
{
    softmax_tensor(t, name, shape, role);
    softmax_add(t->ops, sizeof t->ops,
                "%s{\"name\": \"%s\", \"kind\": \"%s\", \"inputs\": [%s], \"output\": \"%s\", \"einsum\": "
                "\"%s\"%s}",
                t->ops[0] ? ",\n" : "", name, kind, inputs, name, einsum, more);
}

static void softmax_letters(const struct softmax_form *f, struct softmax_shapes *x)
{
    const char *g = f->groups ? "g" : "";
    char many[24] = "";
    if (f->groups) snprintf(many, sizeof many, "%ld, ", f->groups);
    snprintf(x->all, sizeof x->all, "%ld, %s%ld, %ld", f->heads, many, f->rows, f->columns);
    snprintf(x->rows, sizeof x->rows, "%ld, %s%ld", f->heads, many, f->rows);
    snprintf(x->out, sizeof x->out, "%ld, %s%ld, %ld", f->heads, many, f->rows, f->width);
    snprintf(x->key, sizeof x->key, "%ld, %ld, %ld", f->heads, f->columns, f->width);
    snprintf(x->s, sizeof x->s, "h%sst", g);
    snprintf(x->r, sizeof x->r, "h%ss", g);
    snprintf(x->o, sizeof x->o, "h%ssd", g);
    snprintf(x->k, sizeof x->k, "htd");
    snprintf(x->drop, sizeof x->drop, "%s->%s", x->s, x->r);
    snprintf(x->same, sizeof x->same, "%s->%s", x->s, x->s);
    snprintf(x->against, sizeof x->against, "%s,%s->%s", x->s, x->r, x->s);
    snprintf(x->by, sizeof x->by, "%s,%s->%s", x->o, x->r, x->o);
    if (f->swapped)
        snprintf(x->product, sizeof x->product, "%s,%s->%s", x->k, x->s, x->o);
    else
        snprintf(x->product, sizeof x->product, "%s,%s->%s", x->s, x->k, x->o);
}

const char *softmax_name(char *out, const char *name, int layer)
{
    if (layer == 0)
        snprintf(out, 40, "%s", name);
    else
        snprintf(out, 40, "%s%d", name, layer);
    return out;
}

const char *softmax_quoted(char *out, const char *const *names)
{
    for (int i = 0; names[i]; i++) softmax_add(out, 200, "%s\"%s\"", i ? ", " : "", names[i]);
    return out;
}

/* The contractions with the weights, and the divisions behind them. The last one's name is left in `y`. */
static void softmax_products(struct softmax_text *t, const struct softmax_form *f,
                             const struct softmax_shapes *x, int layer, const char *weights, char *y)
{
    bool late = f->division == DIVIDED_LATE || f->division == RECIPROCAL_LATE;
    const char *by = f->division == RECIPROCAL_LATE ? SOFTMAX_NAME("one_by") : SOFTMAX_NAME("sum");
    for (int n = 0; n < (f->products ? f->products : 1); n++) {
        char v[40], acc[60], out[60];
        snprintf(v, sizeof v, "v%d_%d", layer, n);
        snprintf(acc, sizeof acc, "acc%d_%d", layer, n);
        snprintf(out, sizeof out, "y%d_%d", layer, n);
        softmax_tensor(t, v, x->key, "input");
        softmax_op(t, late ? acc : out, "matmul",
                   f->swapped ? SOFTMAX_INPUTS(v, weights) : SOFTMAX_INPUTS(weights, v), x->product, x->out,
                   "", "");
        if (late)
            softmax_op(t, out, f->division == RECIPROCAL_LATE ? "mul" : "div", SOFTMAX_INPUTS(acc, by), x->by,
                       x->out, "", "");
        snprintf(y, 60, "%s", out);
    }
}

static void softmax_layer(struct softmax_text *t, const struct softmax_form *f,
                          const struct softmax_shapes *x, int layer, const char *q, char *y)
{
    char s[40];
    const char *k = SOFTMAX_NAME("k"), *max = SOFTMAX_NAME("max"), *sum = SOFTMAX_NAME("sum"),
               *exp = SOFTMAX_NAME("exp"), *p = SOFTMAX_NAME("p");
    char einsum[40], other[40];
    softmax_name(s, "scores", layer);
    softmax_tensor(t, k, x->key, "input");
    snprintf(einsum, sizeof einsum, "%s,%s->%s", x->o, x->k, x->s);
    softmax_op(t, s, "matmul", SOFTMAX_INPUTS(q, k), einsum, x->all, "", "");
    if (f->scaled) {
        softmax_op(t, SOFTMAX_NAME("scaled"), "mul", SOFTMAX_INPUTS(s), x->same, x->all, "",
                   ", \"value\": 0.125");
        softmax_name(s, "scaled", layer);
    }
    snprintf(other, sizeof other, "%s", s);
    if (f->masked) {
        char mask[60], with[40];
        snprintf(mask, sizeof mask, "%ld, %ld", f->rows, f->columns);
        softmax_tensor(t, SOFTMAX_NAME("mask"), mask, "input");
        snprintf(with, sizeof with, "%s,st->%s", x->s, x->s);
        softmax_op(t, SOFTMAX_NAME("masked"), "add", SOFTMAX_INPUTS(s, SOFTMAX_NAME("mask")), with, x->all,
                   "", "");
        softmax_name(s, "masked", layer);
    }
    softmax_op(t, max, "max", SOFTMAX_INPUTS(s), x->drop, x->rows, f->max_out ? "output" : "", "");
    softmax_op(t, SOFTMAX_NAME("sub"), "sub", SOFTMAX_INPUTS(f->other_scores ? other : s, max), x->against,
               x->all, "", "");
    softmax_op(t, exp, "exp", SOFTMAX_INPUTS(SOFTMAX_NAME("sub")), x->same, x->all, "", "");
    softmax_op(t, sum, "sum", SOFTMAX_INPUTS(exp), x->drop, x->rows, "", "");
    if (f->division >= BY_RECIPROCAL) {
        snprintf(einsum, sizeof einsum, "%s->%s", x->r, x->r);
        softmax_op(t, SOFTMAX_NAME("one_by"), "reciprocal", SOFTMAX_INPUTS(sum), einsum, x->rows, "", "");
    }
    if (f->division == DIVIDED_EARLY || f->division == BY_RECIPROCAL)
        softmax_op(t, p, f->division == BY_RECIPROCAL ? "mul" : "div",
                   SOFTMAX_INPUTS(exp, f->division == BY_RECIPROCAL ? SOFTMAX_NAME("one_by") : sum),
                   x->against, x->all, f->weights_out ? "output" : "", "");
    else
        p = exp;
    softmax_products(t, f, x, layer, p, y);
    if (f->logged) {
        char add[40];
        snprintf(einsum, sizeof einsum, "%s->%s", x->r, x->r);
        snprintf(add, sizeof add, "%s,%s->%s", x->r, x->r, x->r);
        softmax_op(t, SOFTMAX_NAME("log"), "log", SOFTMAX_INPUTS(sum), einsum, x->rows, "", "");
        softmax_op(t, SOFTMAX_NAME("lse"), "add", SOFTMAX_INPUTS(max, SOFTMAX_NAME("log")), add, x->rows,
                   "output", "");
    }
    if (f->sum_read || f->exp_read) {
        snprintf(einsum, sizeof einsum, "%s", f->sum_read ? x->r : x->s);
        softmax_add(einsum, sizeof einsum, "->%s", f->sum_read ? x->r : x->s);
        softmax_op(t, SOFTMAX_NAME("wanted"), "neg", SOFTMAX_INPUTS(f->sum_read ? sum : exp), einsum,
                   f->sum_read ? x->rows : x->all, "output", "");
    }
}

const struct lx_graph *softmax_graph(const struct softmax_form *f, int64_t usable, lx_status *st)
{
    struct softmax_text *t = mem_zeroed(1, sizeof *t);
    struct softmax_shapes x;
    char q[60] = "q", y[60] = "";
    char *text = mem_zeroed(1, 50000);
    if (!t || !text) abort();
    t->dtype = f->dtype ? f->dtype : "fp16";
    softmax_letters(f, &x);
    softmax_tensor(t, "q", x.out, "input");
    for (int layer = 0; layer < (f->layers ? f->layers : 1); layer++) {
        softmax_layer(t, f, &x, layer, q, y);
        snprintf(q, sizeof q, "%s", y);
    }
    snprintf(
        text, 50000,
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"softmax\", \"device\": {\"preset\": \"spyre\", "
        "\"lx_usable_bytes\": %lld},\n\"tensors\": [%s],\n\"ops\": [%s]}",
        (long long)usable, t->tensors, t->ops);
    const struct lx_graph *g = lx_graph_of_text("softmax", text, strlen(text), st);
    mem_free(text);
    mem_free(t);
    return g;
}
