/* Functions for generators. Tensors have the generator's own numbers; the builder declares a tensor when an
 * op first uses it. After a failure (g->failed) every call does nothing. */
#include "files/gen_common.h"

void gen_begin(struct gen *g, const char *name, const char *summary, lx_status *st)
{
    *g = (struct gen){.st = st, .scope = ""};
    builder_begin(&g->b, "generated", name);
    g->b.graph->summary = arena_string(g->b.memory, summary);
}

void gen_scope(struct gen *g, const char *format, ...)
{
    if (g->failed) return;
    char text[80];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    g->scope = arena_string(g->b.memory, text);
}

const struct lx_graph *gen_finish(struct gen *g)
{
    VEC_FREE(&g->tensors);
    if (!g->failed) return builder_finish(&g->b, g->st);
    builder_abandon(&g->b);
    return NULL;
}

static int32_t gen_add_tensor(struct gen *g, const char *name, struct gen_tensor t)
{
    if (g->failed) return -1;
    t.number = -1;
    t.name = arena_format(g->b.memory, "%s%s", g->scope, name);
    VEC_PUSH(&g->tensors, t);
    return (int32_t)g->tensors.count - 1;
}

int32_t gen_tensor(struct gen *g, const char *name, enum lx_role role, int rank, const int64_t *shape)
{
    struct gen_tensor t = {.role = role, .rank = rank};
    memcpy(t.shape, shape, (size_t)rank * sizeof *shape);
    return gen_add_tensor(g, name, t);
}

int32_t gen_bytes(struct gen *g, const char *name, enum lx_role role, int64_t bytes)
{
    return gen_add_tensor(g, name, (struct gen_tensor){.role = role, .rank = -1, .bytes = bytes});
}

/* Adds `op` with operands in our numbering, unless it exceeds the limit or an input is missing. `made`: its
 * output is this new tensor; NULL: it is `output`. Declares tensors on their first use, inputs before
 * outputs. */
static int32_t gen_add_op(struct gen *g, const char *name, const char *kind, int count, const int32_t *inputs,
                          int32_t output, const struct gen_tensor *made, struct lx_op op)
{
    int32_t numbers[LX_MAX_INPUTS];
    if (g->failed || (g->op_limit && (int64_t)g->b.ops.count >= g->op_limit)) return -1;
    for (int i = 0; i < count; i++)
        if (inputs[i] < 0) return -1;
    if (made) output = gen_add_tensor(g, name, *made);
    if (output < 0) return -1;
    bool ok = count <= LX_MAX_INPUTS;
    for (int i = 0; i <= count && ok; i++) {
        struct gen_tensor *t = &g->tensors.at[i < count ? inputs[i] : output];
        if (t->number < 0)
            t->number = builder_tensor(&g->b, t->name, t->role, LX_FP16, t->rank, t->shape, t->bytes, g->st);
        *(i < count ? &numbers[i] : &op.output) = t->number;
        ok = t->number >= 0;
    }
    op.name = arena_format(g->b.memory, "%s%s", g->scope, name);
    op.kind = lx_kind_find(kind);
    op.inputs = numbers;
    op.input_count = count;
    if (!ok || !op.kind || !builder_op(&g->b, &op, g->st)) g->failed = true;
    return output;
}

static int32_t gen_mapped(struct gen *g, const char *name, const char *kind, const char *einsum, int count,
                          const int32_t *inputs)
{
    /* Finds the extent of each letter of the inputs, then of the output's letters. */
    int64_t extent[128] = {0};
    const char *at = einsum, *arrow = strstr(einsum, "->");
    for (int i = 0; i < count; i++) {
        if (g->failed || inputs[i] < 0) return -1;
        const struct gen_tensor *t = &g->tensors.at[inputs[i]];
        for (int d = 0; d < t->rank && *at && *at != ',' && *at != '-'; d++)
            extent[(unsigned char)*at++ & 127] = t->shape[d];
        if (*at == ',') at++;
    }
    struct gen_tensor out = {.role = LX_ROLE_COUNT};
    for (at = arrow ? arrow + 2 : ""; *at && out.rank < LX_MAX_RANK; at++)
        out.shape[out.rank++] = extent[*at & 127];
    return gen_add_op(g, name, kind, count, inputs, -1, &out, (struct lx_op){.einsum = einsum});
}

int32_t gen_unary(struct gen *g, const char *name, const char *kind, const char *einsum, int32_t a)
{
    return gen_mapped(g, name, kind, einsum, 1, &a);
}

int32_t gen_binary(struct gen *g, const char *name, const char *kind, const char *einsum, int32_t a,
                   int32_t b)
{
    return gen_mapped(g, name, kind, einsum, 2, (const int32_t[]){a, b});
}

int32_t gen_constant(struct gen *g, const char *name, const char *kind, int32_t a, double value)
{
    if (g->failed || a < 0) return -1;
    struct gen_tensor out = g->tensors.at[a];
    out.role = LX_ROLE_COUNT;
    return gen_add_op(g, name, kind, 1, &a, -1, &out, (struct lx_op){.has_value = true, .value = value});
}

int32_t gen_slice(struct gen *g, const char *name, int32_t whole, const int64_t *offset, int rank,
                  const int64_t *shape)
{
    struct gen_tensor out = {.role = LX_ROLE_COUNT, .rank = rank};
    memcpy(out.shape, shape, (size_t)rank * sizeof *shape);
    return gen_add_op(g, name, "slice", 1, &whole, -1, &out, (struct lx_op){.offset = offset});
}

void gen_insert(struct gen *g, const char *name, int32_t part, int32_t whole, const int64_t *offset)
{
    gen_add_op(g, name, "insert", 1, &part, whole, NULL, (struct lx_op){.offset = offset});
}

void gen_plain(struct gen *g, const char *name, const char *kind, int count, const int32_t *inputs,
               int32_t output)
{
    gen_add_op(g, name, kind, count, inputs, output, NULL, (struct lx_op){0});
}

/* "NAME_PART" in `out`, for the steps of a compound. */
static const char *part_name(char out[80], const char *name, const char *part)
{
    snprintf(out, 80, "%.48s_%.24s", name, part);
    return out;
}

int32_t gen_rms_norm(struct gen *g, const char *name, int32_t x)
{
    if (g->failed || x < 0) return -1;
    char n[80];
    int64_t width = g->tensors.at[x].shape[1];
    int32_t weight = gen_tensor(g, part_name(n, name, "weight"), LX_WEIGHT, SHAPE(width));
    int32_t square = gen_binary(g, part_name(n, name, "square"), "mul", "sm,sm->sm", x, x);
    int32_t mean = gen_unary(g, part_name(n, name, "mean"), "mean", "sm->s", square);
    int32_t shifted = gen_constant(g, part_name(n, name, "eps"), "add", mean, 1e-5);
    int32_t scale = gen_unary(g, part_name(n, name, "rsqrt"), "rsqrt", "s->s", shifted);
    int32_t scaled = gen_binary(g, part_name(n, name, "scaled"), "mul", "sm,s->sm", x, scale);
    return gen_binary(g, name, "mul", "sm,m->sm", scaled, weight);
}

int32_t gen_softmax(struct gen *g, const char *name, int32_t scores, const char *letters)
{
    char n[80], rows[LX_MAX_RANK + 1] = "", keep[40], drop[40], against[40];
    size_t rank = strlen(letters);
    memcpy(rows, letters, rank - 1);
    snprintf(keep, sizeof keep, "%s->%s", letters, letters);
    snprintf(drop, sizeof drop, "%s->%s", letters, rows);
    snprintf(against, sizeof against, "%s,%s->%s", letters, rows, letters);
    int32_t top = gen_unary(g, part_name(n, name, "max"), "max", drop, scores);
    int32_t moved = gen_binary(g, part_name(n, name, "sub"), "sub", against, scores, top);
    int32_t raised = gen_unary(g, part_name(n, name, "exp"), "exp", keep, moved);
    int32_t total = gen_unary(g, part_name(n, name, "sum"), "sum", drop, raised);
    return gen_binary(g, name, "div", against, raised, total);
}

/* --- The table of generators. --- */

#define GENERATOR_ROW(name, count, summary) {#name, summary, gen_##name##_options, count, gen_##name},
static const struct lx_generator generators[] = {GENERATORS(GENERATOR_ROW){0}};
#undef GENERATOR_ROW

const struct lx_generator *lx_generators(void)
{
    return generators;
}

const struct lx_generator *lx_generator_find(const char *name)
{
    for (const struct lx_generator *g = generators; g->name; g++)
        if (strcmp(g->name, name) == 0) return g;
    return NULL;
}

const struct lx_graph *lx_generated_for(const struct lx_graph *g, int64_t bytes, enum lx_objective objective,
                                        lx_status *st)
{
    const struct lx_graph *sized = bytes < 0 ? lx_graph_ref(g) : lx_graph_with_capacity(g, bytes, st),
                          *asked = sized && sized->list ? graph_with_objective(sized, objective)
                                                        : lx_graph_ref(sized);
    lx_graph_free(sized);
    lx_graph_free(g);
    return asked;
}
