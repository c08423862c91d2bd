/* Loops over the elements of a core's part. An item is what a thread moves at once: up to 16 bytes along a
 * stick. Its number has a digit per variable, the fastest along memory, and two where sticks run: the
 * place in a stick, and the stick. */
#include "emit/emission.h"

static void digit_add(struct emission *e, const struct op_emission *o, int var, int64_t unit,
                      const char *count, const char *suffix, struct item_digits *out)
{
    struct item_digit *d = &out->at[out->count];
    if (number_is(count, 1)) return;
    *d = (struct item_digit){.var = var, .unit = unit, .count = count};
    snprintf(d->name, sizeof d->name, "%c_%s", o->x.letter[var], suffix);
    if (strchr(count, ' ')) d->count = arena_format(&e->memory, "(%s)", count);
    out->total =
        number_is(out->total, 1) ? d->count : arena_format(&e->memory, "%s * %s", out->total, d->count);
    out->count++;
}

static const char *divided(struct emission *e, const char *count, int64_t by)
{
    int64_t n = strtoll(count, NULL, 10);
    if (by == 1) return count;
    if (number_is(count, n)) return arena_format(&e->memory, "%lld", (long long)ceil_div_i64(n, by));
    return arena_format(&e->memory, "((%s) + %lld) / %lld", count, (long long)by - 1, (long long)by);
}

void item_digits_make(struct emission *e, const struct op_emission *o, const int *vars, int count, int vector,
                      int width, int64_t stick, struct item_digits *out)
{
    *out = (struct item_digits){.total = "1"};
    bool splits = vector >= 0 && stick > width && o->most[vector] > stick && o->grain[vector] % stick == 0;
    if (splits)
        digit_add(e, o, vector, width, arena_format(&e->memory, "%lld", (long long)(stick / width)), "at",
                  out);
    for (int i = count - 1; i >= 0; i--) {
        bool along = vars[i] == vector;
        if (!along)
            digit_add(e, o, vars[i], 1, o->count[vars[i]], "at", out);
        else if (splits)
            digit_add(e, o, vector, stick, divided(e, o->count[vector], stick), "stick", out);
        else
            digit_add(e, o, vector, width, divided(e, o->count[vector], width), "at", out);
    }
}

int64_t item_digits_count(const struct item_digits *d)
{
    int64_t all = 1;
    for (int i = 0; i < d->count; i++) {
        int64_t n = strtoll(d->at[i].count, NULL, 10);
        all *= number_is(d->at[i].count, n) ? n : 0;
    }
    return all;
}

void item_digits_declare(struct emission *e, const struct item_digits *d, const char *item)
{
    const char *before = "1";
    SCOPED(text_free) struct text line = {0};
    for (int i = 0; i < d->count; i++) {
        text_add(&line, i ? ", " : "const int ");
        text_format(&line, "%s = %s", d->at[i].name, item);
        if (!number_is(before, 1)) text_format(&line, strchr(before, '*') ? " / (%s)" : " / %s", before);
        if (i + 1 < d->count) text_format(&line, " %% %s", d->at[i].count);
        before = number_is(before, 1) ? d->at[i].count
                                      : arena_format(&e->memory, "%s * %s", before, d->at[i].count);
    }
    if (d->count) emit_line(e, "%s;", line.at);
}

/* Does the digit stay inside one stick of the operand? */
static bool digit_in_stick(const struct item_digit *d, int64_t elements)
{
    int64_t n = strtoll(d->count, NULL, 10);
    return number_is(d->count, n) && n * d->unit <= elements;
}

/* The bytes that a digit leads from the base. */
static const char *digit_bytes(struct emission *e, const struct op_place *p, const struct item_digit *d)
{
    const struct place_axis *a = &p->axis[d->var];
    const char *step = strchr(a->step, ' ') ? arena_format(&e->memory, "(%s)", a->step) : a->step;
    int64_t bytes = strtoll(a->step, NULL, 10);
    bool known = number_is(a->step, bytes);
    if (a->kind == AXIS_STICK && digit_in_stick(d, a->elements))
        return number_times(e, d->name, d->unit * p->item);
    if (a->kind == AXIS_PLAIN || (a->kind == AXIS_STICK && d->unit % a->elements == 0)) {
        int64_t units = a->kind == AXIS_PLAIN ? d->unit : d->unit / a->elements;
        if (known) return number_times(e, d->name, bytes * units);
        return arena_format(&e->memory, "%s * %s", number_times(e, d->name, units), step);
    }
    return arena_format(&e->memory, "STICKS_TO(%s, %lld, %s, %d)", number_times(e, d->name, d->unit),
                        (long long)a->elements, step, p->item);
}

/* A walk takes all digits of its variable together. */
static const char *walk_bytes(struct emission *e, const struct op_place *p, int var,
                              const struct item_digits *d, const struct item_digits *more)
{
    const struct place_axis *a = &p->axis[var];
    const char *index = a->first;
    for (int k = 0; k < 2; k++) {
        const struct item_digits *s = k ? more : d;
        for (int i = 0; s && i < s->count; i++)
            if (s->at[i].var == var)
                index = number_sum(e, index, number_times(e, s->at[i].name, s->at[i].unit * a->by));
    }
    return arena_format(&e->memory, "STICKS_TO(%s, %lld, %s, %d)", index, (long long)a->elements, a->step,
                        p->item);
}

const char *item_address(struct emission *e, const struct op_place *p, const struct item_digits *d,
                         const struct item_digits *more)
{
    static const char *const memories[] = {[PLACE_LX] = "LX(%s)",
                                           [PLACE_HBM] = "hbm + %s",
                                           [PLACE_ASIDE] = "aside + %s",
                                           [PLACE_TRACE] = "trace + %s"};
    const char *sum = p->base;
    for (int v = 0; v < LX_MAX_VARS; v++)
        if (p->axis[v].kind == AXIS_WALK) sum = number_sum(e, sum, walk_bytes(e, p, v, d, more));
    for (int k = 0; k < 2; k++) {
        const struct item_digits *s = k ? more : d;
        for (int i = 0; s && i < s->count; i++) {
            enum axis_kind kind = p->axis[s->at[i].var].kind;
            if (kind == AXIS_PLAIN || kind == AXIS_STICK)
                sum = number_sum(e, sum, digit_bytes(e, p, &s->at[i]));
        }
    }
    SCOPED(text_free) struct text t = {0};
    text_format(&t, memories[p->in], sum);
    const char *address = arena_string(&e->memory, t.at);
    return address;
}

int item_width(const struct op_emission *o, int v, const struct op_place *further)
{
    int most = 1, bits = 1;
    if (v < 0) return 1;
    for (int i = 0; i <= op_operand_count(o->op); i++) {
        const struct op_place *p = i < op_operand_count(o->op) ? &o->place[i] : further;
        if (p && p->axis[v].kind != AXIS_NONE && number_types[p->dtype].integer && p->dtype != LX_BOOL)
            return 1;
        if (p && p->axis[v].kind == AXIS_STICK && p->item > bits) bits = p->item;
        if (p && p->axis[v].kind == AXIS_STICK) most = EMIT_VECTOR_BYTES;
    }
    most /= bits;
    most = most > 8 ? 8 : most;
    while (most > 1 && o->grain[v] % most != 0) most /= 2;
    return most == 2 ? 1 : most;
}

static const char *type_word(enum lx_dtype dtype)
{
    return dtype == LX_BOOL ? "fp16" : lx_dtype_word(dtype);
}

void item_load(struct emission *e, const struct op_place *p, const struct item_digits *d,
               const struct item_digits *more, int vector, int width, const char *name)
{
    const char *at = item_address(e, p, d, more), *type = type_word(p->dtype);
    const struct place_axis *a = vector >= 0 ? &p->axis[vector] : NULL;
    if (width == 1) {
        emit_line(e, "const %s %s = load_%s(%s);", e->number, name, type, at);
        return;
    }
    switch (a ? a->kind : AXIS_NONE) {
    case AXIS_NONE: emit_line(e, "const f%d %s = same%d(load_%s(%s));", width, name, width, type, at); break;
    case AXIS_STICK: emit_line(e, "const f%d %s = load%d_%s(%s);", width, name, width, type, at); break;
    case AXIS_PLAIN: {
        struct op_place one = *p;
        one.base = arena_format(&e->memory, "%s + j * %s", p->base, a->step);
        emit_line(e, "f%d %s;", width, name);
        emit_line(e, "EACH(j, %d) %s.at[j] = load_%s(%s);", width, name, type,
                  item_address(e, &one, d, more));
        break;
    }
    case AXIS_WALK: {
        struct op_place one = *p;
        one.axis[vector].first = arena_format(&e->memory, "%s + j * %lld", a->first, (long long)a->by);
        emit_line(e, "f%d %s;", width, name);
        emit_line(e, "EACH(j, %d) %s.at[j] = load_%s(%s);", width, name, type,
                  item_address(e, &one, d, more));
        break;
    }
    }
}

const char *item_word(enum lx_dtype dtype)
{
    return dtype == LX_BOOL ? "bool" : lx_dtype_word(dtype);
}

void item_store(struct emission *e, const struct op_place *p, const struct item_digits *d,
                const struct item_digits *more, int vector, int width, const char *name)
{
    const char *type = item_word(p->dtype);
    enum axis_kind kind = vector >= 0 ? p->axis[vector].kind : AXIS_NONE;
    if (width == 1) {
        emit_line(e, "store_%s(%s, %s);", type, item_address(e, p, d, more), name);
        return;
    }
    if (kind == AXIS_STICK) {
        emit_line(e, "store%d_%s(%s, %s);", width, type, item_address(e, p, d, more), name);
        return;
    }
    struct op_place one = *p;
    if (kind == AXIS_PLAIN) one.base = arena_format(&e->memory, "%s + j * %s", p->base, p->axis[vector].step);
    if (kind == AXIS_WALK)
        one.axis[vector].first =
            arena_format(&e->memory, "%s + j * %lld", p->axis[vector].first, (long long)p->axis[vector].by);
    emit_line(e, "EACH(j, %d) store_%s(%s, %s.at[j]);", width, type, item_address(e, &one, d, more), name);
}
