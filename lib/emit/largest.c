/* The place of the largest, or the least, along one index: by a warp per element, or by several, each in a slice
 * of the terms, where there are few. Where the operand is in HBM, and most cores have no part or there are few
 * elements, warps of all cores look for it and meet; of equal ones the first wins in any order. */
#include "emit/emission.h"

struct search {
    struct emission *e;
    const struct op_emission *o;
    struct item_digits rows, along;
    int v, width;
    int64_t slices, length; /* terms of a slice, in steps of the width; slices 1: no */
    int64_t owners;         /* cores that want rows; every one is helped by as many others */
    bool helped;
    int64_t at; /* of what was found: in `aside`, or in the scratchpad */
};

static int64_t largest_owners(const struct op_emission *o)
{
    return o->all_cores ? 1 : o->workers;
}

bool largest_is_shared(const struct emission *e, const struct op_emission *o)
{
    return largest_owners(o) * 2 <= e->cores && o->place[0].in == PLACE_HBM;
}

/* The largest of a row's terms [from, to), in y on all lanes. */
static void largest_look(const struct search *s, const char *from, const char *to)
{
    struct emission *e = s->e;
    const char *at = "0", *sign = s->o->op->kind->id == LX_KIND_ARGMIN ? "-" : "";
    emit_line(e, "struct largest y = {0, -1};");
    emit_line(e, "FOR_LANES_FROM(k, %s, %s) {", from, to);
    e->indent++;
    item_digits_declare(e, &s->along, "k");
    item_load(e, &s->o->place[0], &s->rows, &s->along, s->width > 1 ? s->v : -1, s->width, "a");
    for (int i = 0; i < s->along.count; i++)
        at = number_sum(e, at, number_times(e, s->along.at[i].name, s->along.at[i].unit));
    if (s->width > 1)
        emit_line(e, "EACH(j, %d) { const struct largest x = {%sa.at[j], %s + j}; y = largest_of(y, x); }",
                  s->width, sign, at);
    else
        emit_line(e, "const struct largest x = {%sa, %s}; y = largest_of(y, x);", sign, at);
    e->indent--;
    emit_line(e, "}");
    emit_line(e, "y = lanes_largest(y);");
}

static void largest_store(const struct search *s)
{
    emit_line(s->e, "if (FIRST_LANE)");
    s->e->indent++;
    item_store(s->e, &s->o->place[s->o->out], &s->rows, NULL, -1, 1, "y.at");
    s->e->indent -= 2;
    emit_line(s->e, "}");
}

/* Each warp looks through a slice of a row, its core's or that of the one it helps; then every owner puts its
 * slices together. */
static void largest_of_slices(const struct search *s)
{
    struct emission *e = s->e;
    const char *rows = s->rows.total;
    const long long owners = s->owners, helpers = s->helped ? e->cores / s->owners : 1;
    const char *part = s->helped ? "((struct largest *)(void *)(aside + %lld))[(%s) * %lld + core]"
                                 : "PART(struct largest, %lld + (%s) * 8)";
    emit_line(e, "{");
    e->indent++;
    if (s->helped) {
        emit_line(e, "unsigned *const meeting = counters + %lld;", (long long)e->facts.counters++);
        emit_line(e, "const unsigned met = round_of(meeting);");
        emit_line(e, "const int helper = core / %lld, owner = core %% %lld;", owners, owners);
        emit_line(e, "if (helper < %lld) {", helpers);
        e->indent++;
        emit_line(e, "const int core = owner;");
    } else
        emit_line(e, "const int helper = 0;");
    emit_line(e, "FOR_ROWS(i, (%s * %lld + %lld) / %lld) {", rows, (long long)s->slices, helpers - 1,
              helpers);
    e->indent++;
    emit_line(e, "const int w = i * %lld + helper;", helpers);
    emit_line(e, "if (w >= %s * %lld) continue;", rows, (long long)s->slices);
    emit_line(e, "const int from = w / (%s) * %lld;", rows, (long long)s->length);
    item_digits_declare(e, &s->rows, arena_format(&e->memory, "(w %% (%s))", rows));
    largest_look(s, "from",
                 arena_format(&e->memory, "least(%s, from + %lld)", s->along.total, (long long)s->length));
    emit_line(e, "if (FIRST_LANE) %s = y;", arena_format(&e->memory, part, (long long)s->at, "w", owners));
    e->indent--;
    emit_line(e, "}");
    if (s->helped) {
        e->indent--;
        emit_line(e, "}");
        emit_line(e, "meet_group(meeting, CORES, core == 0, met + ROUND, %d, fault);", (int)e->tick);
        emit_line(e, "if (core < %lld)", owners);
    } else
        emit_line(e, "meet_threads();");
    emit_line(e, "FOR_ROWS(i, %s) {", rows);
    e->indent++;
    item_digits_declare(e, &s->rows, "i");
    emit_line(e, "struct largest y = {0, -1};");
    emit_line(e, "FOR_LANES(k, %lld) {", (long long)s->slices);
    emit_line(e, "    const struct largest x = %s;",
              arena_format(&e->memory, part, (long long)s->at, arena_format(&e->memory, "k * (%s) + i", rows),
                           owners));
    emit_line(e, "    y = largest_of(y, x);");
    emit_line(e, "}");
    emit_line(e, "y = lanes_largest(y);");
    largest_store(s);
    e->indent--;
    emit_line(e, "}");
}

bool body_largest(struct emission *e, const struct op_emission *o)
{
    enum { WARP_LANES = 32 };
    int kept[LX_MAX_VARS], count = output_variables(e, o, kept), terms = 0;
    struct search s = {.e = e, .o = o, .v = -1, .width = 1, .owners = largest_owners(o)};
    int64_t rows = 1;
    s.helped = largest_is_shared(e, o);
    int64_t warps = (s.helped ? e->cores / s.owners : 1) * EMIT_WARPS;
    for (int i = 0; i < o->x.var_count; i++)
        if (op_index_summed(&o->x, i)) s.v = i, terms++;
    if (terms != 1 || o->groups > 1 || o->summed)
        return emit_refuse(e, "places of more than one index, or in parts");
    bool sticks = o->place[0].axis[s.v].kind == AXIS_STICK;
    if (sticks) s.width = item_width(o, s.v, NULL);
    for (int i = 0; i < count; i++) rows *= o->most[kept[i]];
    item_digits_make(e, o, kept, count, -1, 1, 0, &s.rows);
    item_digits_make(e, o, &s.v, 1, s.width > 1 ? s.v : -1, s.width,
                     s.width > 1 ? o->place[0].axis[s.v].elements : 0, &s.along);
    int64_t steps = ceil_div_i64(o->most[s.v], s.width);
    s.length = round_up_i64(ceil_div_i64(steps, max_i64(warps / rows, 1)), WARP_LANES);
    s.slices = ceil_div_i64(steps, s.length);
    if (s.slices > 1 || (s.helped && !o->all_cores)) {
        int64_t bytes = round_up_i64(rows * s.slices * s.owners * 8, 128);
        s.at = s.helped ? e->facts.aside_bytes : e->stages_at;
        if (s.helped)
            e->facts.aside_bytes += bytes;
        else
            e->stages_bytes = max_i64(e->stages_bytes, bytes);
        largest_of_slices(&s);
        return true;
    }
    emit_line(e, "%s(i, %s) {", o->all_cores ? "FOR_ALL_ROWS" : "FOR_ROWS", s.rows.total);
    e->indent++;
    item_digits_declare(e, &s.rows, "i");
    largest_look(&s, "0", s.along.total);
    largest_store(&s);
    return true;
}
