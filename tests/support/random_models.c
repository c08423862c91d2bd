#include "support/random_models.h"

static int64_t random_elements(const struct random_value *v)
{
    int64_t n = 1;
    for (int d = 0; d < v->rank; d++) n *= v->extent[d];
    return n;
}

static int random_below(struct random_model *m, int64_t n)
{
    return (int)rng_below(m->r, (uint64_t)n);
}

/* The type of a value as the format writes it. */
static void random_type(const struct random_model *m, struct text *t, const struct random_value *v)
{
    const char *element = v->half ? "bf16" : "f32";
    text_format(t, m->hlo ? "%s[" : "tensor<", element);
    for (int d = 0; d < v->rank; d++)
        text_format(t, m->hlo ? d ? ",%lld" : "%lld" : "%lldx", (long long)v->extent[d]);
    text_format(t, m->hlo ? "]" : "%s>", element);
}

static void random_list(struct text *t, int count, const int64_t *list)
{
    for (int i = 0; i < count; i++) text_format(t, "%s%lld", i ? ", " : "", (long long)list[i]);
}

static int random_argument(struct random_model *m, struct random_value v)
{
    int n = m->count++;
    v.argument = true;
    v.used = false;
    m->value[n] = v;
    if (m->hlo) {
        int number = 0;
        for (int i = 0; i < n; i++) number += m->value[i].argument;
        text_format(&m->arguments, "  v%d = ", n);
        random_type(m, &m->arguments, &v);
        text_format(&m->arguments, " parameter(%d)\n", number);
    } else {
        text_format(&m->arguments, "%s%%v%d: ", m->arguments.at && *m->arguments.at ? ", " : "", n);
        random_type(m, &m->arguments, &v);
    }
    return n;
}

/* An op with one or two operands and its attributes: `a` as HLO has them, or TTIR. */
static int random_op(struct random_model *m, const char *kind, int x, int y, struct random_value out,
                     const char *attributes)
{
    int n = m->count++;
    struct text *t = &m->ops;
    out.used = out.argument = false;
    m->value[n] = out;
    m->value[x].used = true;
    if (y >= 0) m->value[y].used = true;
    text_format(t, m->hlo ? "  v%d = " : "  %%v%d = ", n);
    if (m->hlo) random_type(m, t, &out);
    text_format(t, m->hlo ? " %s(v%d" : "\"ttir.%s\"(%%v%d", kind, x);
    if (y >= 0) text_format(t, m->hlo ? ", v%d" : ", %%v%d", y);
    if (m->hlo) {
        text_format(t, ")%s%s\n", *attributes ? ", " : "", attributes);
        return n;
    }
    text_format(t, ") <{%s}> : (", attributes);
    random_type(m, t, &m->value[x]);
    if (y >= 0) text_add(t, ", ");
    if (y >= 0) random_type(m, t, &m->value[y]);
    text_add(t, ") -> ");
    random_type(m, t, &out);
    text_add(t, "\n");
    return n;
}

static int64_t random_extent(struct random_model *m)
{
    static const int64_t list[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 12, 16, 32, 32, 64};
    return list[random_below(m, (int64_t)(sizeof list / sizeof *list))];
}

static struct random_value random_shape(struct random_model *m)
{
    struct random_value v = {.rank = 1 + random_below(m, 4)};
    for (int d = 0; d < v.rank; d++) v.extent[d] = random_extent(m);
    if (random_below(m, 2)) v.extent[v.rank - 1] = 32 << random_below(m, 3); /* whole sticks fold more */
    while (random_elements(&v) > 4096) v.extent[random_below(m, v.rank)] = 1 + random_below(m, 32);
    return v;
}

static int random_reshape_to(struct random_model *m, int x, struct random_value v)
{
    struct text a = {0};
    text_add(&a, "");
    if (!m->hlo) {
        text_add(&a, "shape = [");
        for (int d = 0; d < v.rank; d++)
            text_format(&a, "%s%lld : i32", d ? ", " : "", (long long)v.extent[d]);
        text_add(&a, "]");
    }
    v.half = m->value[x].half;
    int n = random_op(m, "reshape", x, -1, v, a.at);
    text_free(&a);
    return n;
}

static void random_reshape(struct random_model *m, int x)
{
    struct random_value from = m->value[x], v = {.rank = 0};
    int64_t carried = 1;
    for (int d = 0; d < from.rank; d++) {
        int64_t n = carried * from.extent[d], part = 1 + random_below(m, 8);
        carried = 1;
        if (d + 1 < from.rank && random_below(m, 3) == 0) {
            carried = n;
            continue;
        }
        bool cut =
            random_below(m, 2) && n % part == 0 && part > 1 && v.rank + 2 <= RANDOM_RANK - (from.rank - d);
        if (cut) v.extent[v.rank++] = part;
        v.extent[v.rank++] = cut ? n / part : n;
    }
    if (v.rank < RANDOM_RANK && random_below(m, 6) == 0) v.extent[v.rank++] = 1;
    random_reshape_to(m, x, v);
}

static void random_permute(struct random_model *m, int x)
{
    struct random_value from = m->value[x], v = from;
    int64_t order[RANDOM_RANK];
    struct text a = {0};
    for (int d = 0; d < v.rank; d++) order[d] = d;
    for (int d = v.rank - 1; d > 0; d--) {
        int k = random_below(m, d + 1);
        int64_t kept = order[d];
        order[d] = order[k], order[k] = kept;
    }
    for (int d = 0; d < v.rank; d++) v.extent[d] = from.extent[order[d]];
    text_add(&a, m->hlo ? "dimensions={" : "permutation = array<i64: ");
    random_list(&a, v.rank, order);
    text_add(&a, m->hlo ? "}" : ">");
    if (v.rank > 0) random_op(m, m->hlo ? "transpose" : "permute", x, -1, v, a.at);
    text_free(&a);
}

/* HLO: a new dimension anywhere. TTIR: one of extent 1 repeated. */
static void random_repeat(struct random_model *m, int x)
{
    struct random_value from = m->value[x], v = from;
    int64_t times = 2 + random_below(m, 3), at = random_below(m, v.rank + 1), list[RANDOM_RANK];
    struct text a = {0};
    if (random_elements(&from) * times > RANDOM_ELEMENTS || v.rank == RANDOM_RANK) return;
    if (m->hlo) {
        v.rank++;
        for (int d = v.rank - 1; d > at; d--) v.extent[d] = from.extent[d - 1];
        v.extent[at] = times;
        for (int d = 0; d < from.rank; d++) list[d] = d + (d >= at);
        text_add(&a, "dimensions={");
        random_list(&a, from.rank, list);
        text_add(&a, "}");
    } else {
        for (at = 0; at < v.rank && v.extent[at] != 1;) at++;
        if (at == v.rank) return;
        v.extent[at] = times;
        for (int d = 0; d < v.rank; d++) list[d] = d == at ? times : 1;
        text_add(&a, "broadcast_dimensions = array<i64: ");
        random_list(&a, v.rank, list);
        text_add(&a, ">");
    }
    random_op(m, "broadcast", x, -1, v, a.at);
    text_free(&a);
}

static void random_numbers(struct text *a, const char *key, int count, const int64_t *list)
{
    text_format(a, "%s = [", key);
    for (int d = 0; d < count; d++) text_format(a, "%s%lld : i32", d ? ", " : "", (long long)list[d]);
    text_add(a, "]");
}

static void random_slice(struct random_model *m, int x)
{
    struct random_value from = m->value[x], v = from;
    int64_t begin[RANDOM_RANK], end[RANDOM_RANK], step[RANDOM_RANK];
    struct text a = {0};
    for (int d = 0; d < v.rank; d++) {
        bool all = random_below(m, 2);
        begin[d] = all ? 0 : random_below(m, from.extent[d]);
        end[d] = all ? from.extent[d] : begin[d] + 1 + random_below(m, from.extent[d] - begin[d]);
        step[d] = all || random_below(m, 3) ? 1 : 1 + random_below(m, 3);
        v.extent[d] = (end[d] - begin[d] + step[d] - 1) / step[d];
    }
    if (m->hlo) {
        text_add(&a, "slice={");
        for (int d = 0; d < v.rank; d++)
            text_format(&a, "%s[%lld:%lld:%lld]", d ? ", " : "", (long long)begin[d], (long long)end[d],
                        (long long)step[d]);
        text_add(&a, "}");
    } else {
        random_numbers(&a, "begins", v.rank, begin);
        random_numbers(&a, ", ends", v.rank, end);
        random_numbers(&a, ", step", v.rank, step);
    }
    if (v.rank > 0) random_op(m, m->hlo ? "slice" : "slice_static", x, -1, v, a.at);
    text_free(&a);
}

static void random_reverse(struct random_model *m, int x)
{
    struct text a = {0};
    int64_t d = m->value[x].rank ? random_below(m, m->value[x].rank) : 0;
    text_format(&a, m->hlo ? "dimensions={%lld}" : "dimensions = array<i64: %lld>", (long long)d);
    if (m->value[x].rank > 0) random_op(m, "reverse", x, -1, m->value[x], a.at);
    text_free(&a);
}

static void random_pad(struct random_model *m, int x)
{
    struct random_value v = m->value[x];
    int64_t amount[2 * RANDOM_RANK];
    struct text a = {0};
    for (int d = 0; d < v.rank; d++) {
        for (int k = 0; k < 2; k++) amount[2 * d + k] = random_below(m, 3) ? 0 : random_below(m, 4);
        if (m->hlo && v.extent[d] > 2 && random_below(m, 6) == 0) amount[2 * d] = -1;
        v.extent[d] += amount[2 * d] + amount[2 * d + 1];
    }
    if (v.rank == 0 || random_elements(&v) > RANDOM_ELEMENTS) return;
    if (m->hlo) {
        text_add(&a, "padding=");
        for (int d = 0; d < v.rank; d++)
            text_format(&a, "%s%lld_%lld", d ? "x" : "", (long long)amount[2 * d],
                        (long long)amount[2 * d + 1]);
    } else {
        text_add(&a, "padding = array<i32: ");
        random_list(&a, 2 * v.rank, amount);
        text_add(&a, ">, value = 1.500000e+00 : f32");
    }
    int fill = m->hlo ? random_argument(m, (struct random_value){.half = v.half}) : -1;
    random_op(m, "pad", x, fill, v, a.at);
    text_free(&a);
}

/* A value of that shape and type: one that is there, perhaps reshaped; else a new argument. */
static int random_like(struct random_model *m, const struct random_value *v)
{
    for (int tries = 0; tries < 8; tries++) {
        int y = random_below(m, m->count);
        const struct random_value *u = &m->value[y];
        if (u->half != v->half || random_elements(u) != random_elements(v)) continue;
        bool same =
            u->rank == v->rank && memcmp(u->extent, v->extent, (size_t)v->rank * sizeof *v->extent) == 0;
        return same ? y : random_reshape_to(m, y, *v);
    }
    return random_argument(m, *v);
}

static void random_concat(struct random_model *m, int x)
{
    struct random_value v = m->value[x], other = v;
    struct text a = {0};
    if (v.rank == 0) return;
    int d = random_below(m, v.rank);
    if (random_below(m, 2)) other.extent[d] = 1 + random_below(m, 6);
    v.extent[d] += other.extent[d];
    if (random_elements(&v) > RANDOM_ELEMENTS || m->count + 3 > RANDOM_VALUES) return;
    int y = random_like(m, &other);
    text_format(&a, m->hlo ? "dimensions={%d}" : "dim = %d : si32", d);
    random_op(m, m->hlo ? "concatenate" : "concat", x, y, v, a.at);
    text_free(&a);
}

static void random_unary(struct random_model *m, int x)
{
    static const char *const kinds[2][4] = {{"neg", "abs", "tanh", "exp"},
                                            {"negate", "abs", "tanh", "exponential"}};
    random_op(m, kinds[m->hlo][random_below(m, 4)], x, -1, m->value[x], "");
}

static void random_binary(struct random_model *m, int x)
{
    static const char *const kinds[] = {"add", "subtract", "multiply", "maximum"};
    int y = random_like(m, &m->value[x]);
    random_op(m, kinds[random_below(m, 4)], x, y, m->value[x], "");
}

static void random_cast(struct random_model *m, int x)
{
    struct random_value v = m->value[x];
    v.half = !v.half;
    random_op(m, m->hlo ? "convert" : "typecast", x, -1, v, "");
}

static void random_reduce(struct random_model *m, int x)
{
    struct random_value from = m->value[x], v = {.half = from.half};
    bool sums = random_below(m, 3) > 0;
    int64_t gone[RANDOM_RANK];
    int count = 0;
    struct text a = {0};
    for (int d = 0; d < from.rank; d++)
        if (random_below(m, 2))
            gone[count++] = d;
        else
            v.extent[v.rank++] = from.extent[d];
    if (count == 0) return;
    if (m->hlo) {
        text_add(&a, "dimensions={");
        random_list(&a, count, gone);
        text_format(&a, "}, to_apply=%s%s", sums ? "plus" : "most", from.half ? "16" : "");
        text_format(&m->ops, sums ? "  c%d = %s[] constant(0)\n" : "  c%d = %s[] constant(-inf)\n", m->count,
                    from.half ? "bf16" : "f32");
        int n = m->count++;
        m->value[n] = v;
        m->value[x].used = true;
        text_format(&m->ops, "  v%d = ", n);
        random_type(m, &m->ops, &v);
        text_format(&m->ops, " reduce(v%d, c%d), %s\n", x, n, a.at);
    } else {
        text_add(&a, "dim_arg = [");
        for (int i = 0; i < count; i++) text_format(&a, "%s%lld : i32", i ? ", " : "", (long long)gone[i]);
        text_add(&a, "], keep_dim = false");
        random_op(m, sums ? random_below(m, 2) ? "sum" : "mean" : "max", x, -1, v, a.at);
    }
    text_free(&a);
}

/* Some dimensions of x are summed, some are of both; those of the other side in any order, with one or two of its own. */
static void random_product(struct random_model *m, int x)
{
    struct random_value a = m->value[x], b = {.half = a.half}, out = {.half = a.half};
    int64_t of_b[RANDOM_RANK + 2], batch[2][RANDOM_RANK], sum[2][RANDOM_RANK];
    int counts[2] = {0}, place[RANDOM_RANK], n = 0;
    struct text t = {0};
    bool left = random_below(m, 2);
    for (int d = 0; d < a.rank; d++) {
        place[d] = random_below(m, 4); /* 0: of both, 1 and 2: summed, 3: its own */
        if (place[d] != 3 && n < RANDOM_RANK - 1)
            of_b[n++] = d;
        else
            place[d] = 3;
    }
    of_b[n++] = -1;
    for (int d = n - 1; d > 0; d--) {
        int k = random_below(m, d + 1);
        int64_t kept = of_b[d];
        of_b[d] = of_b[k], of_b[k] = kept;
    }
    for (int d = 0; d < n; d++) b.extent[b.rank++] = of_b[d] < 0 ? random_extent(m) : a.extent[of_b[d]];
    for (int d = 0; d < a.rank; d++)
        for (int k = 0; k < n && place[d] != 3; k++)
            if (of_b[k] == d) {
                int64_t(*to)[RANDOM_RANK] = place[d] == 0 ? batch : sum;
                int *c = &counts[place[d] != 0];
                to[0][*c] = left ? d : k;
                to[1][(*c)++] = left ? k : d;
            }
    const struct random_value *l = left ? &a : &b, *r = left ? &b : &a;
    for (int i = 0; i < counts[0]; i++) out.extent[out.rank++] = l->extent[batch[0][i]];
    for (int s = 0; s < 2; s++) {
        const struct random_value *v = s ? r : l;
        for (int d = 0; d < v->rank; d++) {
            bool own = true;
            for (int i = 0; i < counts[0]; i++) own = own && batch[s][i] != d;
            for (int i = 0; i < counts[1]; i++) own = own && sum[s][i] != d;
            if (own && out.rank < RANDOM_RANK + 1)
                out.extent[out.rank < RANDOM_RANK ? out.rank : 0] = v->extent[d], out.rank++;
        }
    }
    if (counts[1] == 0 || out.rank > RANDOM_RANK || random_elements(&out) > RANDOM_ELEMENTS ||
        random_elements(&b) > RANDOM_ELEMENTS || m->count + 3 > RANDOM_VALUES)
        return;
    int y = random_like(m, &b);
    static const char *const keys[2][4] = {
        {"batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs"},
        {"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"}};
    for (int i = 0; i < 4; i++) {
        int count = counts[i / 2];
        if (m->hlo && count == 0) continue;
        text_format(&t,
                    m->hlo  ? "%s%s={"
                    : count ? "%s%s = array<i64: "
                            : "%s%s = array<i64",
                    t.at && *t.at ? ", " : "", keys[m->hlo][i]);
        random_list(&t, count, i / 2 ? sum[i % 2] : batch[i % 2]);
        text_add(&t, m->hlo ? "}" : ">");
    }
    random_op(m, m->hlo ? "dot" : "dot_general", left ? x : y, left ? y : x, out, t.at);
    text_free(&t);
}

static void random_step(struct random_model *m)
{
    static void (*const steps[])(struct random_model *, int) = {
        random_reshape, random_reshape, random_reshape, random_permute, random_permute,
        random_permute, random_repeat,  random_repeat,  random_slice,   random_slice,
        random_reverse, random_pad,     random_concat,  random_unary,   random_binary,
        random_binary,  random_cast,    random_reduce,  random_product, random_product};
    /* mostly what came last, so that chains are long */
    int back = random_below(m, 3) ? random_below(m, m->count < 3 ? m->count : 3) : random_below(m, m->count);
    steps[random_below(m, (int64_t)(sizeof steps / sizeof *steps))](m, m->count - 1 - back);
}

/* An op of its own for each result: views of arguments, and two of one tensor, are no results once they are folded. */
static int random_results(struct random_model *m, int *list)
{
    static const char *const kinds[2][4] = {{"neg", "abs", "tanh", "exp"},
                                            {"negate", "abs", "tanh", "exponential"}};
    int last = m->count - 1, count = 0;
    for (int i = last; i >= 0 && count < 4; i--) {
        if (m->value[i].used || m->value[i].argument) continue;
        list[count] = random_op(m, kinds[m->hlo][count], i, -1, m->value[i], "");
        count++;
    }
    return count;
}

static void random_end(struct random_model *m, struct text *out)
{
    int list[4], count = random_results(m, list);
    if (m->hlo) {
        static const char *const halves[] = {"", "16"}, *const types[] = {"f32", "bf16"};
        text_add(out, "HloModule m\n\n");
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 2; k++)
                text_format(out,
                            "%s%s {\n  p = %s[] parameter(0)\n  q = %s[] parameter(1)\n  ROOT s = %s[] %s(p, "
                            "q)\n}\n\n",
                            k ? "most" : "plus", halves[h], types[h], types[h], types[h],
                            k ? "maximum" : "add");
        text_format(out, "ENTRY e {\n%s%s  ROOT o = (", m->arguments.at, m->ops.at ? m->ops.at : "");
    } else
        text_format(out, "func.func @main(%s) -> (", m->arguments.at);
    for (int i = 0; i < count; i++) {
        if (i) text_add(out, ", ");
        random_type(m, out, &m->value[list[i]]);
    }
    text_format(out, m->hlo ? ") tuple(" : ") {\n%s  return ", m->ops.at ? m->ops.at : "");
    for (int i = 0; i < count; i++) text_format(out, m->hlo ? "%sv%d" : "%s%%v%d", i ? ", " : "", list[i]);
    for (int i = 0; i < count && !m->hlo; i++) {
        text_add(out, i ? ", " : " : ");
        random_type(m, out, &m->value[list[i]]);
    }
    text_add(out, m->hlo ? ")\n}\n" : "\n}\n");
}

void random_model(struct rng *r, bool hlo, struct text *out)
{
    struct random_model m = {.r = r, .hlo = hlo};
    int ops = 4 + random_below(&m, 16);
    text_add(&m.arguments, "");
    for (int i = 1 + random_below(&m, 2); i > 0; i--) {
        struct random_value v = random_shape(&m);
        v.half = random_below(&m, 5) == 0;
        random_argument(&m, v);
    }
    while (ops-- > 0 && m.count + 4 < RANDOM_VALUES) random_step(&m);
    bool any = false;
    for (int i = 0; i < m.count; i++) any |= !m.value[i].argument;
    if (!any) random_unary(&m, 0);
    random_end(&m, out);
    text_free(&m.arguments);
    text_free(&m.ops);
}
