/* Reductions and contractions: terms along the variables that the output lacks become one element.
 *
 * Where sticks of the output run along a variable, a thread makes up to 8 elements side by side and goes
 * through all terms; else the lanes of a warp share the terms of one element, and fold their
 * results in a fixed tree. Where a core has few elements, several threads (warps) share the terms of one, and
 * their parts are folded in order.
 *
 * A sum whose terms are split over groups of cores is made in two steps: each core writes its part, as
 * fp32, to global memory; when the cores of the sum have met, each that keeps the result adds the parts in
 * order. In a nest that sums over its tiles, the sum so far is read back and added. */
#include "emit/emission.h"

/* A way to fold: the neutral element, and the function of two. */
struct fold_row {
    const char *start, *name;
};

/* clang-format off */
static const struct fold_row folds[LX_KIND_COUNT] = {
    [LX_KIND_SUM] = {"0", "sum"}, [LX_KIND_MEAN] = {"0", "sum"}, [LX_KIND_MATMUL] = {"0", "sum"},
    [LX_KIND_BLEND] = {"0", "sum"}, [LX_KIND_MAX] = {"-INFINITY", "max"}, [LX_KIND_MIN] = {"INFINITY", "min"},
    [LX_KIND_PROD] = {"1", "product"}, [LX_KIND_ANY] = {"0", "any"}, [LX_KIND_ALL] = {"1", "all"},
    [LX_KIND_LOGSUMEXP] = {"LEAST", "powers"},
};
/* clang-format on */

enum { WARP_LANES = 32 };

struct fold {
    struct emission *e;
    const struct op_emission *o;
    const struct fold_row *row;
    int vector, width; /* of items of the output; vector -1: a warp per element */
    int kept[LX_MAX_VARS], kept_count, summed[LX_MAX_VARS], summed_count;
    int term_vector, term_width; /* of a warp's terms */
    struct item_digits out, terms;
    int64_t all_terms;                /* in all tiles and on all cores */
    int64_t items, parts, part_terms; /* items of a core; parts 1: terms are not shared */
    struct op_place partial;
    int64_t partial_bytes;          /* of one core's part */
    const struct chain_link *chain; /* of rows; NULL: none */
    int number;                     /* in it */
};

static const char *folds_element(const struct fold *f)
{
    return f->vector >= 0 ? ".at[j]" : "";
}

static void folds_end_items(const struct fold *f)
{
    f->e->indent--;
    emit_line(f->e, "}");
}

/* A loop over the terms that does `statement` with the operands a (and b) of each. */
static void folds_terms(const struct fold *f, const char *statement)
{
    struct emission *e = f->e;
    bool warp = f->vector < 0;
    int vector = warp ? f->term_vector : f->vector, width = warp ? f->term_width : f->width;
    if (f->chain) {
        row_each(e, &f->chain[f->number]);
        chain_operand(e, f->chain, f->number, 0, "a");
        emit_line(e, "EACH(j, %d) %s;", width, statement);
        folds_end_items(f);
        return;
    }
    if (f->parts > 1)
        emit_line(e, "%s(term, %lld) {", warp ? "FOR_LANES" : "FOR_TERMS", (long long)f->part_terms);
    else
        emit_line(e, "%s(k, %s) {", warp ? "FOR_LANES" : "FOR_TERMS", f->terms.total);
    e->indent++;
    if (f->parts > 1) emit_line(e, "const int k = part * %lld + term;", (long long)f->part_terms);
    item_digits_declare(e, &f->terms, "k");
    for (int i = 0; i < f->o->op->input_count; i++) {
        char name[2] = {(char)('a' + i)};
        item_load(e, &f->o->place[i], &f->out, &f->terms, vector, width, name);
    }
    if (width > 1)
        emit_line(e, "EACH(j, %d) %s;", width, statement);
    else
        emit_line(e, "%s;", statement);
    e->indent--;
    emit_line(e, "}");
}

/* "y.at[j] = fold_sum(y.at[j], a.at[j])": into `to`, an element of the output. */
static const char *folds_statement(const struct fold *f, const char *to, const char *fold, const char *term)
{
    int width = f->vector >= 0 ? f->width : f->term_width;
    const char *y = arena_format(&f->e->memory, "%s%s%s", to, f->vector < 0 ? "_lane" : "",
                                 f->vector >= 0 || width > 1 ? ".at[j]" : "");
    SCOPED(text_free) struct text t = {0};
    for (const char *c = term; *c; c++) /* operands are named @a, @b */
        if (*c == '@')
            text_format(&t, "%c%s", *++c, width > 1 ? ".at[j]" : "");
        else
            text_add_n(&t, c, 1);
    const char *whole = arena_format(&f->e->memory, "%s = fold_%s(%s, %s)", y, fold, y, t.at);
    return whole;
}

static void folds_declare(const struct fold *f, const char *name, const char *start)
{
    if (f->vector >= 0)
        emit_line(f->e, "f%d %s = same%d(%s);", f->width, name, f->width, start);
    else
        emit_line(f->e, "float %s = %s;", name, start);
}

/* Likewise; a lane has a sum for each of the terms that it takes at once. */
static void folds_begin(const struct fold *f, const char *name, const char *start)
{
    if (f->vector >= 0)
        folds_declare(f, name, start);
    else if (f->term_width > 1)
        emit_line(f->e, "f%d %s_lane = same%d(%s);", f->term_width, name, f->term_width, start);
    else
        emit_line(f->e, "float %s_lane = %s;", name, start);
}

/* Folds the results of a warp's lanes into one. */
static void folds_lanes(const struct fold *f, const char *name, const char *fold)
{
    if (f->vector >= 0) return;
    emit_line(f->e, "float %s = %s_lane%s;", name, name, f->term_width > 1 ? ".at[0]" : "");
    if (f->term_width > 1)
        emit_line(f->e, "EACH(j, %d) %s = fold_%s(%s, %s_lane.at[j + 1]);", f->term_width - 1, name, fold,
                  name, name);
    emit_line(f->e, "%s = lanes_%s(%s);", name, fold, name);
}

/* The elements of y from the terms of this core. */
static void folds_compute(const struct fold *f)
{
    enum lx_kind_id kind = f->o->op->kind->id;
    bool contracts = f->o->op->kind->traits & LX_CONTRACTS;
    if (kind != LX_KIND_LOGSUMEXP) {
        folds_begin(f, "y", f->row->start);
        const char *y =
            folds_statement(f, "y", contracts ? "product_sum" : f->row->name, contracts ? "@a, @b" : "@a");
        if (kind == LX_KIND_BLEND && f->o->summed) {
            folds_begin(f, "share", "0");
            y = arena_format(&f->e->memory, "{ %s; %s; }", y, folds_statement(f, "share", "sum", "@a"));
        }
        folds_terms(f, y);
        folds_lanes(f, "y", f->row->name);
        if (kind == LX_KIND_BLEND && f->o->summed) folds_lanes(f, "share", "sum");
        return;
    }
    /* Powers of e relative to the largest. */
    folds_begin(f, "top", "-INFINITY");
    folds_terms(f, folds_statement(f, "top", "max", "@a"));
    folds_lanes(f, "top", "max");
    folds_begin(f, "y", "0");
    const char *term = f->vector >= 0 ? "power(@a, top.at[j])" : "power(@a, top)";
    folds_terms(f, folds_statement(f, "y", "sum", term));
    folds_lanes(f, "y", "sum");
    if (f->vector >= 0)
        emit_line(f->e, "EACH(j, %d) y.at[j] = powers_end(top.at[j], y.at[j]);", f->width);
    else
        emit_line(f->e, "y = powers_end(top, y);");
}

/* Whether levels over which the nest sums are all at their first (last) index. */
static const char *folds_condition(struct emission *e, unsigned summed, bool last)
{
    const char *all = "";
    for (int k = 0; e->nest && k < e->nest->level_count; k++)
        if (summed & level_bit(k))
            all = arena_format(&e->memory, last ? "%s%sn%d == %lld" : "%s%sn%d > 0", all,
                               *all ? last ? " && " : " || " : "", k, (long long)e->nest->tiles[k] - 1);
    return all;
}

static void folds_each(const struct fold *f, const char *statement)
{
    if (f->vector >= 0)
        emit_line(f->e, "EACH(j, %d) %s;", f->width, statement);
    else
        emit_line(f->e, "%s;", statement);
}

/* Adds the tiles before this one, and divides a mean. */
static void folds_complete(const struct fold *f)
{
    struct emission *e = f->e;
    const struct op_emission *o = f->o;
    const char *at = folds_element(f);
    bool again = o->summed && *folds_condition(e, o->summed, false);
    if (again) {
        emit_line(e, "if (%s) {", folds_condition(e, o->summed, false));
        e->indent++;
        item_load(e, &o->place[o->out], &f->out, NULL, f->vector, f->vector >= 0 ? f->width : 1, "before");
        bool blends = o->op->kind->id == LX_KIND_BLEND;
        const char *before = blends ? arena_format(&e->memory, "before%s * (1 - share%s)", at, at)
                                    : arena_format(&e->memory, "before%s", at);
        folds_each(f, arena_format(&e->memory, "y%s = fold_%s(y%s, %s)", at, f->row->name, at, before));
        e->indent--;
        emit_line(e, "}");
    }
    if (o->op->kind->id == LX_KIND_MEAN) {
        const char *last =
            again ? arena_format(&e->memory, "if (%s) ", folds_condition(e, o->summed, true)) : "";
        emit_line(e, "%s%sy%s *= (1 / (float)%lld);", last,
                  f->vector >= 0 ? f->width == 8 ? "EACH(j, 8) " : "EACH(j, 4) " : "", at,
                  (long long)f->all_terms);
    }
}

/* Stores y in the output, or in a part of it. */
static void folds_store(const struct fold *f, const struct op_place *to)
{
    struct emission *e = f->e;
    if (f->vector < 0) emit_line(e, "if (FIRST_LANE)");
    e->indent += f->vector < 0;
    item_store(e, to, &f->out, NULL, f->vector, f->vector >= 0 ? f->width : 1, "y");
    e->indent -= f->vector < 0;
}

/* Stores a part of a sum, or completes it. */
static void folds_end(const struct fold *f, const struct op_place *part)
{
    if (!part) folds_complete(f);
    folds_store(f, part ? part : &f->o->place[f->o->out]);
}

static void folds_begin_items(const struct fold *f)
{
    emit_line(f->e, "%s%s(%s, %s) {", f->o->all_cores ? "FOR_ALL_" : "FOR_",
              f->vector >= 0 ? "ITEMS" : "ROWS", "i", f->out.total);
    f->e->indent++;
    item_digits_declare(f->e, &f->out, "i");
}

/* How many threads (warps) share the terms of an element, so that a core has work for all. */
static void folds_share(struct fold *f)
{
    const struct op_emission *o = f->o;
    int64_t threads = f->vector >= 0 ? EMIT_THREADS : EMIT_WARPS;
    int64_t least = f->vector >= 0 ? 16 : 8 * WARP_LANES, terms = item_digits_count(&f->terms);
    int64_t most = o->op->kind->id == LX_KIND_LOGSUMEXP ? 8 : 32; /* folding two of these takes long */
    f->items = ceil_div_i64(item_digits_count(&f->out), o->all_cores ? f->e->cores : 1);
    f->parts = 1;
    bool rows = f->vector < 0 && o->place[0].in == PLACE_LX; /* each a warp's */
    if (rows || (o->op->kind->id == LX_KIND_BLEND && o->summed) || !f->items || terms < 4 * least) return;
    while (f->parts < most && f->items * f->parts * 2 <= threads && terms % (f->parts * 2) == 0 &&
           terms / (f->parts * 2) >= least)
        f->parts *= 2;
    f->part_terms = terms / f->parts;
}

/* Opens a loop over a core's items, `every` times; declares where each one is. */
static void folds_begin_own(const struct fold *f, const char *number, int64_t every)
{
    struct emission *e = f->e;
    const char *loop = f->vector >= 0 ? "FOR_ITEMS" : "FOR_ROWS";
    emit_line(e, "%s(%s, %lld) {", loop, number, (long long)(f->items * every));
    e->indent++;
    const char *i = every > 1 ? arena_format(&e->memory, "%s %% %lld", number, (long long)f->items) : number;
    if (f->o->all_cores) i = arena_format(&e->memory, "core * %lld + %s", (long long)f->items, i);
    emit_line(e, "const int i = %s;", i);
    if (f->o->all_cores) emit_line(e, "if (i >= %s) continue;", f->out.total);
    item_digits_declare(e, &f->out, "i");
}

/* Each thread (warp) folds a part of the terms; then the parts are folded. */
static void folds_in_parts(const struct fold *f, const struct op_place *to)
{
    struct emission *e = f->e;
    const char *type = f->vector >= 0 ? arena_format(&e->memory, "f%d", f->width) : "float";
    const char *at = folds_element(f);
    int64_t bytes = f->vector >= 0 ? f->width * 4 : 4;
    folds_begin_own(f, "w", f->parts);
    emit_line(e, "const int part = w / %lld;", (long long)f->items);
    folds_compute(f);
    emit_line(e, "%sPART(%s, %lld + w * %lld) = y;", f->vector < 0 ? "if (FIRST_LANE) " : "", type,
              (long long)e->stages_at, (long long)bytes);
    folds_end_items(f);
    emit_line(e, "meet_threads();");
    folds_begin_own(f, "w", 1);
    folds_declare(f, "y", f->row->start);
    emit_line(e, "EACH(g, %lld) {", (long long)f->parts);
    e->indent++;
    emit_line(e, "const %s part = PART(%s, %lld + (g * %lld + w) * %lld);", type, type,
              (long long)e->stages_at, (long long)f->items, (long long)bytes);
    folds_each(f, arena_format(&e->memory, "y%s = fold_%s(y%s, part%s)", at, f->row->name, at, at));
    folds_end_items(f);
    folds_end(f, to);
    folds_end_items(f);
    e->stages_bytes = max_i64(e->stages_bytes, f->items * f->parts * bytes);
}

/* The elements from the terms of this core, into the output or into a part of it. */
static void folds_own(struct fold *f, const struct op_place *to)
{
    folds_share(f);
    if (f->parts > 1) {
        folds_in_parts(f, to);
        return;
    }
    folds_begin_items(f);
    folds_compute(f);
    folds_end(f, to);
    folds_end_items(f);
}

/* A part of a sum in global memory, dense: (slot, group, element), twice for iterations that follow each
 * other. */
static void folds_partial_place(struct fold *f)
{
    struct emission *e = f->e;
    const struct op_emission *o = f->o;
    int64_t bytes = 4;
    f->partial = (struct op_place){.in = PLACE_ASIDE, .dtype = LX_FP32, .item = 4};
    for (int i = f->kept_count; i >= 0; i--) {
        int v = i == f->kept_count ? f->vector : f->kept[i];
        if (v < 0 || (i < f->kept_count && v == f->vector)) continue;
        f->partial.axis[v] = (struct place_axis){.kind = v == f->vector ? AXIS_STICK : AXIS_PLAIN,
                                                 .step = arena_format(&e->memory, "%lld", (long long)bytes),
                                                 .elements = o->most[v]};
        bytes *= o->most[v];
    }
    f->partial_bytes = round_up_i64(bytes, 128);
    int64_t slots = ceil_div_i64(o->workers, o->groups), all = f->partial_bytes * o->groups * slots;
    const char *slot =
        arena_format(&e->memory, "(%s) * %lld", o->slot, (long long)(f->partial_bytes * o->groups));
    f->partial.base = number_sum(e, arena_format(&e->memory, "%lld", (long long)e->facts.aside_bytes),
                                 number_is(o->slot, 0) ? "0" : slot);
    const char *turn = "0";
    for (int k = 0; e->nest && k < e->nest->level_count; k++)
        turn = arena_format(&e->memory, "(%s * %lld + n%d)", turn, (long long)e->nest->tiles[k], k);
    if (e->nest)
        f->partial.base =
            arena_format(&e->memory, "%s + %s %% 2 * %lld", f->partial.base, turn, (long long)all);
    e->facts.aside_bytes += all * (e->nest ? 2 : 1);
}

static const char *folds_group(const struct fold *f)
{
    const char *group = f->o->group;
    return strchr(group, ' ') ? arena_format(&f->e->memory, "(%s)", group) : group;
}

/* Items of a sum that its cores add together. */
static void folds_begin_shared(const struct fold *f)
{
    emit_line(f->e, "FOR_SHARED_%s(i, %s, %s, %lld) {", f->vector >= 0 ? "ITEMS" : "ROWS", f->out.total,
              folds_group(f), (long long)f->o->groups);
    f->e->indent++;
    item_digits_declare(f->e, &f->out, "i");
}

/* Asks early how far the counter of the group is: the answer takes a while. */
static void folds_ask(const struct fold *f)
{
    struct emission *e = f->e;
    emit_line(e, "unsigned *const meeting = counters + %lld + %s;", (long long)e->facts.counters, f->o->slot);
    emit_line(e, "const unsigned met = round_of(meeting);");
    e->facts.counters += ceil_div_i64(f->o->workers, f->o->groups);
}

/* The second step: parts are added in the order of the sum. */
static void folds_join_groups(struct fold *f)
{
    struct emission *e = f->e;
    const struct op_emission *o = f->o;
    const char *at = folds_element(f);
    emit_line(e, "meet_group(meeting, %lld, %s == 0, met + ROUND, %d, fault);", (long long)o->groups,
              folds_group(f), (int)e->tick);
    bool one = o->place[o->out].in != PLACE_LX;
    if (one && !o->shared) emit_line(e, "if (%s == 0)", folds_group(f));
    if (o->shared)
        folds_begin_shared(f);
    else
        folds_begin_items(f);
    folds_declare(f, "y", f->row->start);
    emit_line(e, "for (int g = 0; g < %lld; g++) {", (long long)o->groups);
    e->indent++;
    struct op_place part = f->partial;
    part.base = arena_format(&e->memory, "%s + g * %lld", part.base, (long long)f->partial_bytes);
    item_load(e, &part, &f->out, NULL, f->vector, f->vector >= 0 ? f->width : 1, "part");
    folds_each(f, arena_format(&e->memory, "y%s = fold_%s(y%s, part%s)", at, f->row->name, at, at));
    e->indent--;
    emit_line(e, "}");
    folds_end(f, NULL);
    folds_end_items(f);
}

static void folds_parts(struct fold *f)
{
    struct emission *e = f->e;
    const char *group = arena_format(&e->memory, "(%s) * %lld", f->o->group, (long long)f->partial_bytes);
    struct op_place mine = f->partial;
    mine.base = number_sum(e, mine.base, group);
    if (body_tiles(e, f->o, &mine, "")) {
        folds_join_groups(f);
        return;
    }
    folds_own(f, &mine);
    folds_join_groups(f);
}

/* The widest steps that all operands can take; chooses between the two ways. */
static void folds_shape(struct fold *f)
{
    const struct op_emission *o = f->o;
    const struct op_place *out = &o->place[o->out];
    f->vector = f->term_vector = -1;
    f->width = f->term_width = 1;
    f->kept_count = output_variables(f->e, o, f->kept);
    for (int i = 0; i < f->kept_count; i++)
        if (out->axis[f->kept[i]].kind == AXIS_STICK && item_width(o, f->kept[i], NULL) > 1)
            f->vector = f->kept[i];
    if (f->vector >= 0) f->width = item_width(o, f->vector, NULL);
    for (int v = 0; v < o->x.var_count; v++) {
        if (!op_index_summed(&o->x, v)) continue;
        f->summed[f->summed_count++] = v;
        if (f->vector < 0 && o->place[0].axis[v].kind == AXIS_STICK && item_width(o, v, NULL) > 1)
            f->term_vector = v;
    }
    if (f->term_vector >= 0) f->term_width = item_width(o, f->term_vector, NULL);
    int64_t terms = 1; /* of a core: rather all lanes than wide steps */
    for (int i = 0; i < f->summed_count; i++) terms *= o->most[f->summed[i]];
    f->term_width = row_width(terms, f->term_width);
    item_digits_make(f->e, o, f->kept, f->kept_count, f->vector, f->width,
                     f->vector < 0 ? 0 : out->axis[f->vector].elements, &f->out);
    item_digits_make(f->e, o, f->summed, f->summed_count, f->term_vector, f->term_width,
                     f->term_vector < 0 ? 0 : o->place[0].axis[f->term_vector].elements, &f->terms);
}

static int64_t folds_all_terms(const struct emission *e, const struct lx_op *op)
{
    int64_t all = 1;
    struct op_index whole;
    op_index_of(e->graph, op, &whole);
    for (int v = 0; v < whole.var_count; v++)
        if (op_index_summed(&whole, v)) all *= whole.extent[v];
    return all;
}

bool fold_row(struct emission *e, struct chain_link *link)
{
    const struct op_emission *o = &link->o;
    struct fold f = {.e = e, .o = o, .row = &folds[o->op->kind->id]};
    memset(link->made, -1, sizeof link->made);
    if (!f.row->start || (o->op->kind->traits & LX_CONTRACTS) || o->groups > 1 || o->summed ||
        o->place[0].in != PLACE_LX)
        return false;
    folds_shape(&f);
    link->form = LINK_FOLD;
    link->vector = f.term_vector;
    link->width = f.term_width;
    link->digits = f.out;
    link->terms = f.terms;
    return f.vector < 0 && f.term_vector >= 0 && f.summed_count == 1;
}

void fold_row_body(struct emission *e, const struct chain_link *chain, int length, int number)
{
    const struct chain_link *link = &chain[number];
    const struct op_emission *o = &link->o;
    struct fold f = {.e = e, .o = o, .row = &folds[o->op->kind->id], .chain = chain, .number = number};
    folds_shape(&f);
    f.all_terms = folds_all_terms(e, o->op);
    f.out = link->digits;
    emit_line(e, "float y%d; {", number);
    e->indent++;
    folds_compute(&f);
    folds_complete(&f);
    emit_line(e, "y%d = y;", number);
    if (chain_keeps(e, chain, length, number)) {
        emit_line(e, "meet_lanes();");
        folds_store(&f, &o->place[o->out]);
    }
    folds_end_items(&f);
}

bool body_fold(struct emission *e, const struct op_emission *o)
{
    struct fold f = {.e = e, .o = o, .row = &folds[o->op->kind->id]};
    if (!f.row->start) return emit_refuse(e, "there is no body for the reduction %s", o->op->kind->name);
    if (o->groups > 1 && o->summed && o->op->kind->id == LX_KIND_BLEND)
        return emit_refuse(e, "a running average with split sums");
    if (strcmp(e->number, "float") != 0)
        return emit_refuse(e, "there are no reductions of type %s", e->number);
    f.all_terms = folds_all_terms(e, o->op);
    folds_shape(&f);
    if (o->groups > 1) {
        folds_partial_place(&f);
        emit_line(e, "{");
        e->indent++;
        folds_ask(&f);
        folds_parts(&f);
        e->indent--;
        emit_line(e, "}");
        return true;
    }
    if (body_tiles(e, o, &o->place[o->out], folds_condition(e, o->summed, false))) return true;
    folds_own(&f, NULL);
    return true;
}
