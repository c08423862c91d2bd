/* Ops that choose by indices, where each index is one position: rows are read from, or written to, the place
 * that an index operand names. Other elements of the destination keep their values. */
#include "emit/emission.h"
#include "graph/choice.h"

/* Variables of the moved operand, in the order of its memory. */
static int choice_variables(const struct emission *e, const struct op_emission *o, int operand, int *vars)
{
    struct op_emission moved = *o;
    moved.out = operand;
    return output_variables(e, &moved, vars);
}

/* Declares the position along a chosen axis, and adds it to the digits. */
static bool choice_position(struct emission *e, const struct op_emission *o, const struct lx_choice *c,
                            int axis, struct item_digits *d)
{
    int v = c->var[axis], window = c->window[axis];
    int64_t room = o->x.extent[v] - (window < 0 ? 1 : o->op->map->extent[window]);
    struct item_digit *to = &d->at[d->count];
    const char *start;
    if (c->start)
        start = arena_format(&e->memory, "%lld", (long long)c->start[axis]);
    else {
        const struct op_place *p = &o->place[c->index + (c->index_count > 1 ? axis : 0)];
        start = arena_format(&e->memory, "load_%s(%s)", lx_dtype_word(p->dtype), item_address(e, p, d, NULL));
    }
    *to = (struct item_digit){
        .var = v, .unit = 1, .count = arena_format(&e->memory, "%lld", (long long)o->x.extent[v])};
    snprintf(to->name, sizeof to->name, "%c_chosen", o->x.letter[v]);
    const char *ahead = "";
    for (int i = 0; i < d->count; i++)
        if (window >= 0 && d->at[i].var == window)
            ahead = arena_format(&e->memory, "%s + %s", ahead, number_times(e, d->at[i].name, d->at[i].unit));
    emit_line(e, "const int %s = position(%s, %lld)%s;", to->name, start, (long long)room, ahead);
    d->count++;
    return true;
}

bool body_choice(struct emission *e, const struct op_emission *o)
{
    struct lx_choice c;
    int vars[LX_MAX_VARS], vector = -1, width = 1;
    struct item_digits d;
    enum lx_kind_id kind = o->op->kind->id;
    lx_choice_of(o->op, &c);
    if (kind == LX_KIND_SCATTER) return emit_refuse(e, "there is no body for scatter");
    if (c.vector >= 0 && c.axis_count > 1)
        return emit_refuse(e, "one index names a place along several axes");
    bool puts = c.operand == o->out;
    const struct op_place *from = &o->place[puts ? c.other : c.operand], *to = &o->place[o->out];
    int count = choice_variables(e, o, c.other, vars);
    if (from->dtype != to->dtype) return emit_refuse(e, "it changes the type of what it moves");
    for (int i = 0; i < count; i++) {
        bool whole = from->axis[vars[i]].kind == AXIS_STICK && to->axis[vars[i]].kind == AXIS_STICK;
        if (whole) vector = vars[i];
    }
    for (int a = 0; a < c.axis_count; a++) {
        for (int64_t k = 0; c.window[a] >= 0 && k < o->workers; k++)
            if (!number_is(o->count[c.window[a]], o->x.extent[c.window[a]]))
                return emit_refuse(e, "the rows that it moves are split over cores");
        for (int i = 0; i < c.index_count; i++)
            if (vector >= 0 && o->place[c.index + i].axis[vector].kind != AXIS_NONE) vector = -1;
    }
    if (vector >= 0) width = item_width(o, vector, NULL);
    if (width == 1) vector = -1;
    item_digits_make(e, o, vars, count, vector, width, vector < 0 ? 0 : to->axis[vector].elements, &d);
    emit_line(e, "%s(i, %s) {", o->all_cores ? "FOR_ALL_ITEMS" : "FOR_ITEMS", d.total);
    e->indent++;
    item_digits_declare(e, &d, "i");
    for (int a = 0; a < c.axis_count; a++)
        if (!choice_position(e, o, &c, a, &d)) return false;
    item_load(e, from, &d, NULL, vector, width, "y");
    item_store(e, to, &d, NULL, vector, width, "y");
    e->indent--;
    emit_line(e, "}");
    return true;
}
