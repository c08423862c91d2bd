/* Ops that make each element from elements at the same indices, or move elements: one expression per kind.
 * All is computed in fp32 and rounded once, where it is stored. */
#include "emit/emission.h"

/* clang-format off */
static const char *const expressions[LX_KIND_COUNT] = {
    [LX_KIND_ADD] = "add", [LX_KIND_SUB] = "sub", [LX_KIND_MUL] = "mul", [LX_KIND_DIV] = "div",
    [LX_KIND_POW] = "pow", [LX_KIND_MAX] = "max", [LX_KIND_MIN] = "min", [LX_KIND_NEG] = "neg",
    [LX_KIND_ABS] = "abs", [LX_KIND_EXP] = "exp", [LX_KIND_LOG] = "log", [LX_KIND_SQRT] = "sqrt",
    [LX_KIND_RSQRT] = "rsqrt", [LX_KIND_RECIPROCAL] = "reciprocal", [LX_KIND_RELU] = "relu",
    [LX_KIND_GELU] = "gelu", [LX_KIND_GELU_ERF] = "gelu_erf", [LX_KIND_SILU] = "silu",
    [LX_KIND_SIGMOID] = "sigmoid", [LX_KIND_TANH] = "tanh", [LX_KIND_COS] = "cos", [LX_KIND_SIN] = "sin",
    [LX_KIND_ERF] = "erf", [LX_KIND_GREATER] = "gt", [LX_KIND_EQ] = "eq", [LX_KIND_NE] = "ne",
    [LX_KIND_LT] = "lt", [LX_KIND_LE] = "le", [LX_KIND_GE] = "ge", [LX_KIND_FLOOR] = "floor",
    [LX_KIND_CEIL] = "ceil", [LX_KIND_ROUND] = "round", [LX_KIND_SIGN] = "sign", [LX_KIND_WHERE] = "where",
    [LX_KIND_CLAMP] = "clamp", [LX_KIND_AND] = "and", [LX_KIND_OR] = "or", [LX_KIND_NOT] = "not",
    [LX_KIND_CLONE] = "copy", [LX_KIND_CAST] = "copy", [LX_KIND_RESTICKIFY] = "copy",
    [LX_KIND_SLICE] = "copy", [LX_KIND_INSERT] = "copy",
};
/* clang-format on */

int output_variables(const struct emission *e, const struct op_emission *o, int *vars)
{
    const struct lx_layout *l = &e->plan->layouts->layouts[op_operand(o->op, o->out)];
    int n = 0;
    for (int k = 0; k + 1 < l->rank; k++) {
        int v = l->host_dim[k] < 0 ? -1 : o->x.var[o->out][(int)l->host_dim[k]];
        for (int i = 0; i < n; i++)
            if (vars[i] == v) v = -1;
        if (v >= 0) vars[n++] = v;
    }
    /* Dimensions of extent 1 have no place of their own; a repeated variable has one. */
    for (int h = 0; h < o->x.rank[o->out]; h++) {
        int v = o->x.var[o->out][h];
        for (int i = 0; i < n && v >= 0; i++)
            if (vars[i] == v) v = -1;
        if (v >= 0) vars[n++] = v;
    }
    return n;
}

/* Kinds that there are for whole numbers and fp64. */
static bool pointwise_exact(enum lx_kind_id kind)
{
    static const signed char exact[] = {
        LX_KIND_ADD,     LX_KIND_SUB,   LX_KIND_MUL,  LX_KIND_NEG,   LX_KIND_MAX,    LX_KIND_MIN,
        LX_KIND_GREATER, LX_KIND_GE,    LX_KIND_LT,   LX_KIND_LE,    LX_KIND_EQ,     LX_KIND_NE,
        LX_KIND_WHERE,   LX_KIND_CLONE, LX_KIND_CAST, LX_KIND_SLICE, LX_KIND_INSERT, LX_KIND_RESTICKIFY};
    for (size_t i = 0; i < sizeof exact; i++)
        if ((enum lx_kind_id)exact[i] == kind) return true;
    return false;
}

/* Kinds that are quicker where the result is rounded to 16 bits. */
static bool pointwise_twofold(enum lx_kind_id kind)
{
    return kind == LX_KIND_EXP || kind == LX_KIND_DIV || kind == LX_KIND_SIGMOID || kind == LX_KIND_SILU ||
           kind == LX_KIND_GELU;
}

/* The variable along which the output has its sticks from their begin on; -1: none. */
static int pointwise_vector(const struct op_emission *o, const int *vars, int count)
{
    for (int i = 0; i < count; i++)
        if (o->place[o->out].axis[vars[i]].kind == AXIS_STICK) return vars[i];
    return -1;
}

/* "op_add(a.at[j], b.at[j])". */
static const char *pointwise_call(struct emission *e, const struct op_emission *o, const char *element)
{
    SCOPED(text_free) struct text t = {0};
    const char *numbers = strcmp(e->number, "float") == 0 ? "op"
                          : strcmp(e->number, "i64") == 0 ? "whole"
                                                          : "wide";
    enum lx_kind_id kind = o->op->kind->id;
    bool fine = pointwise_twofold(kind) && o->place[o->out].dtype == LX_FP32;
    text_format(&t, "%s_%s%s(", numbers, expressions[kind], fine ? "_fine" : "");
    for (int i = 0; i < o->op->input_count; i++) text_format(&t, "%s%c%s", i ? ", " : "", 'a' + i, element);
    if (o->op->has_value)
        text_format(&t, "%s%s", o->op->input_count ? ", " : "", emit_value(e, o->op->value, o->op->whole));
    text_add(&t, ")");
    const char *call = arena_string(&e->memory, t.at);
    return call;
}

static bool pointwise_can(struct emission *e, const struct lx_op *op)
{
    if (!expressions[op->kind->id]) return emit_refuse(e, "there is no body for the kind %s", op->kind->name);
    if (strcmp(e->number, "float") != 0 && !pointwise_exact(op->kind->id))
        return emit_refuse(e, "there is no body for the kind %s with numbers of type %s", op->kind->name,
                           e->number);
    return op->input_count <= 3 || emit_refuse(e, "it has more than three operands");
}

/* The loop over the items of a link. */
static bool pointwise_link(struct emission *e, struct chain_link *link)
{
    const struct op_emission *o = &link->o;
    int vars[LX_MAX_VARS], count = output_variables(e, o, vars);
    link->vector = pointwise_vector(o, vars, count);
    link->width = item_width(o, link->vector, NULL);
    memset(link->made, -1, sizeof link->made);
    if (!pointwise_can(e, o->op)) return false;
    if (link->width == 1) link->vector = -1;
    item_digits_make(e, o, vars, count, link->vector, link->width,
                     link->vector < 0 ? 0 : o->place[o->out].axis[link->vector].elements, &link->digits);
    return true;
}

bool pointwise_row(struct emission *e, struct chain_link *link)
{
    const struct op_emission *o = &link->o;
    int vars[LX_MAX_VARS], count = output_variables(e, o, vars), rows = 0;
    memset(link->made, -1, sizeof link->made);
    if (!tick_is_pointwise(e, e->tick) || !pointwise_can(e, o->op)) return false;
    link->vector = pointwise_vector(o, vars, count);
    link->width = item_width(o, link->vector, NULL);
    link->form = link->width > 1 ? LINK_ROW : LINK_NUMBER;
    if (link->form == LINK_NUMBER) link->vector = -1;
    for (int i = 0; i < count; i++)
        if (vars[i] != link->vector) vars[rows++] = vars[i];
    item_digits_make(e, o, vars, rows, -1, 1, 0, &link->digits);
    if (link->form == LINK_NUMBER) return true;
    link->width = row_width(o->most[link->vector], link->width);
    item_digits_make(e, o, &link->vector, 1, link->vector, link->width,
                     o->place[o->out].axis[link->vector].elements, &link->terms);
    return true;
}

void pointwise_link_body(struct emission *e, const struct chain_link *chain, int length, int number)
{
    const struct chain_link *link = &chain[number];
    const struct op_emission *o = &link->o;
    int width = link->form == LINK_NUMBER ? 1 : link->width;
    bool row = link->form == LINK_ROW, keeps = chain_keeps(e, chain, length, number);
    const char *y = arena_format(&e->memory, row ? "y%d[t]" : "y%d", number);
    if (row)
        row_open(e, link, number);
    else {
        if (width > 1) emit_line(e, "f%d %s;", width, y);
        emit_line(e, width > 1 ? "{" : "%s %s; {", e->number, y);
        e->indent++;
    }
    for (int i = 0; i < o->op->input_count; i++) {
        char name[2] = {(char)('a' + i)};
        chain_operand(e, chain, number, i, name);
    }
    if (width == 1)
        emit_line(e, "%s = %s;", y, pointwise_call(e, o, ""));
    else
        emit_line(e, "EACH(j, %d) %s.at[j] = %s;", width, y, pointwise_call(e, o, ".at[j]"));
    if (keeps && link->form == LINK_NUMBER) emit_line(e, "meet_lanes();");
    if (keeps && link->form == LINK_NUMBER) emit_line(e, "if (FIRST_LANE)");
    if (keeps) item_store(e, &o->place[o->out], &link->digits, &link->terms, link->vector, width, y);
    e->indent--;
    emit_line(e, "}");
}

static bool pointwise_follows(struct emission *e, struct chain_link *link)
{
    return tick_is_pointwise(e, e->tick) && op_places_make(e, &link->o) && pointwise_link(e, link);
}

bool body_pointwise(struct emission *e, const struct op_emission *o)
{
    struct chain_link *chain = arena_array(&e->memory, CHAIN_MOST + 1, sizeof *chain);
    int length = 1;
    chain[0] = (struct chain_link){.o = *o, .tick = e->tick};
    if (!pointwise_link(e, &chain[0])) return false;
    while (chain_next(e, chain, length, &chain[length], pointwise_follows)) length++;
    if (chain_waits(e, chain, length)) emit_line(e, "meet_core();");
    emit_line(e, "%s(i, %s) {", o->all_cores ? "FOR_ALL_ITEMS" : "FOR_ITEMS", chain[0].digits.total);
    e->indent++;
    item_digits_declare(e, &chain[0].digits, "i");
    for (int i = 0; i < length; i++) {
        if (i) tick_comment(e, chain[i].tick);
        pointwise_link_body(e, chain, length, i);
    }
    e->indent--;
    emit_line(e, "}");
    return true;
}

void body_copy(struct emission *e, const struct op_emission *o, const struct op_place *from,
               const struct op_place *to)
{
    int vars[LX_MAX_VARS], count = output_variables(e, o, vars), vector = -1;
    struct op_emission two = *o; /* with these two operands alone */
    struct lx_op copy = *o->op;
    int32_t inputs[1] = {o->op->output};
    struct item_digits d;
    copy.input_count = 1;
    copy.inputs = inputs;
    two.op = &copy;
    two.place[0] = *from;
    two.place[1] = *to;
    for (int i = 0; i < count; i++)
        if (to->axis[vars[i]].kind == AXIS_STICK && from->axis[vars[i]].kind != AXIS_NONE) vector = vars[i];
    int width = item_width(&two, vector, NULL);
    if (width == 1) vector = -1;
    item_digits_make(e, o, vars, count, vector, width, vector < 0 ? 0 : to->axis[vector].elements, &d);
    emit_line(e, "%s(i, %s) {", o->all_cores ? "FOR_ALL_ITEMS" : "FOR_ITEMS", d.total);
    e->indent++;
    item_digits_declare(e, &d, "i");
    item_load(e, from, &d, NULL, vector, width, "y");
    item_store(e, to, &d, NULL, vector, width, "y");
    e->indent--;
    emit_line(e, "}");
}

/* Its inputs one after the other: a copy of each, as far as a core has it. */
bool body_concat(struct emission *e, struct op_emission *o)
{
    int axis = o->x.var[o->out][o->op->params->axis];
    int64_t at = 0;
    struct op_emission part = *o;
    if (e->nest) return emit_refuse(e, "it joins tensors in a nest");
    for (int i = 0; i < o->op->input_count; i++) {
        int h = op_index_dim(&o->x, i, axis);
        int64_t count = h < 0 ? 1 : e->graph->tensors[o->op->inputs[i]].shape[h];
        if (!op_place_narrowed(e, &part, i, axis, at, count) ||
            !op_place_narrowed(e, &part, o->out, axis, at, count))
            return false;
        body_copy(e, &part, &part.place[i], &part.place[o->out]);
        at += count;
    }
    return true;
}
