/* Ops without an index map, which one core makes: constants, counts along an axis, and the same elements
 * in another shape. */
#include "emit/emission.h"

/* The number of an element of the operand in host order, by digits of the output. */
static const char *opaque_number(struct emission *e, const struct op_emission *o, const struct item_digits *d)
{
    const char *sum = "0";
    for (int i = 0; i < d->count; i++) {
        int64_t step = d->at[i].unit;
        for (int h = o->x.rank[o->out] - 1; h >= 0 && o->x.var[o->out][h] != d->at[i].var; h--)
            step *= o->x.extent[o->x.var[o->out][h]];
        sum = number_sum(e, sum, number_times(e, d->at[i].name, step));
    }
    return sum;
}

/* Digits of the input's dimensions, of element `flat`. */
static void opaque_input_digits(struct emission *e, const struct op_emission *o, struct item_digits *d)
{
    int vars[LX_MAX_RANK];
    for (int h = 0; h < o->x.rank[0]; h++) vars[h] = o->x.var[0][h];
    item_digits_make(e, o, vars, o->x.rank[0], -1, 1, 0, d);
    item_digits_declare(e, d, "flat");
}

/* "c_12[flat]", a table of the op's numbers. */
static const char *opaque_table(struct emission *e, const struct lx_op_data *data)
{
    if (data->count == 1) return emit_value(e, data->numbers[0], data->wholes ? data->wholes[0] : 0);
    text_format(&e->tables, "TABLE %s constant_%d[%" PRId64 "] = {", e->number, (int)e->tick, data->count);
    for (int64_t i = 0; i < data->count; i++)
        text_format(&e->tables, "%s%s%s", i ? "," : "", i % 16 ? " " : "\n    ",
                    emit_value(e, data->numbers[i], data->wholes ? data->wholes[i] : 0));
    text_add(&e->tables, "};\n");
    return arena_format(&e->memory, "constant_%d[flat]", (int)e->tick);
}

bool body_opaque(struct emission *e, const struct op_emission *o)
{
    int vars[LX_MAX_VARS], count = output_variables(e, o, vars);
    enum lx_kind_id kind = o->op->kind->id;
    struct item_digits d, from;
    const struct lx_op_params *p = o->op->params;
    if (kind != LX_KIND_CONSTANT && kind != LX_KIND_IOTA && kind != LX_KIND_RESHAPE)
        return emit_refuse(e, "there is no body for the kind %s", o->op->kind->name);
    item_digits_make(e, o, vars, count, -1, 1, 0, &d);
    emit_line(e, "FOR_ITEMS(i, %s) {", d.total);
    e->indent++;
    item_digits_declare(e, &d, "i");
    emit_line(e, "const int flat = %s;", opaque_number(e, o, &d));
    if (kind == LX_KIND_RESHAPE) {
        opaque_input_digits(e, o, &from);
        item_load(e, &o->place[0], &from, NULL, -1, 1, "y");
    } else if (kind == LX_KIND_CONSTANT)
        emit_line(e, "const %s y = %s;", e->number, opaque_table(e, o->op->data));
    else {
        const char *index = "0";
        for (int i = 0; i < d.count; i++)
            if (p && p->axis >= 0 && d.at[i].var == o->x.var[o->out][p->axis]) index = d.at[i].name;
        emit_line(e, "const %s y = (%s)(%.17g + %.17g * %s);", e->number, e->number, p ? p->start : 0.0,
                  p ? p->step : 1.0, index);
    }
    item_store(e, &o->place[o->out], &d, NULL, -1, 1, "y");
    e->indent--;
    emit_line(e, "}");
    return true;
}
