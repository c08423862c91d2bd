/* Which side of a contraction has the rows, how its blocks and steps are cut, how the groups of warps share a
 * block, and where its stages lie. */
#include "emit/tiling.h"

/* --- what fits --- */

int tiling_stick(const struct op_emission *o, int operand)
{
    int found = -1;
    for (int v = 0; v < o->x.var_count; v++)
        if (o->place[operand].axis[v].kind == AXIS_STICK) found = v;
    return found;
}

static bool tiling_plain(const struct op_emission *o)
{
    enum lx_dtype type = o->place[0].dtype;
    bool ok = (type == LX_FP16 || type == LX_BF16) && o->place[1].dtype == type && o->op->input_count == 2 &&
              (o->op->kind->traits & LX_CONTRACTS) && !o->all_cores &&
              !(o->op->kind->id == LX_KIND_BLEND && o->summed);
    for (int i = 0; i < 3 && ok; i++)
        for (int v = 0; v < o->x.var_count; v++) ok &= o->place[i].axis[v].kind != AXIS_WALK;
    return ok;
}

/* A variable that is to be the innermost goes last. */
static void tiling_last(int *vars, int count, int last)
{
    for (int i = 0; i + 1 < count; i++)
        if (vars[i] == last) {
            vars[i] = vars[i + 1];
            vars[i + 1] = last;
        }
}

/* Each variable to a side, to both, or to the terms. */
static bool tiling_sort(struct tiling *t)
{
    const struct op_emission *o = t->o;
    int kept[LX_MAX_VARS], count = output_variables(t->e, o, kept), stick = tiling_stick(o, o->out);
    if (stick < 0) return false;
    bool second = o->place[1].axis[stick].kind != AXIS_NONE;
    if (second && o->place[0].axis[stick].kind != AXIS_NONE) return false;
    t->side[COLUMNS_SIDE].operand = second;
    t->side[ROWS_SIDE].operand = !second;
    for (int i = 0; i < count; i++) {
        bool in[2];
        for (int s = 0; s < 2; s++) in[s] = o->place[t->side[s].operand].axis[kept[i]].kind != AXIS_NONE;
        struct tiling_side *one = &t->side[in[ROWS_SIDE] ? ROWS_SIDE : COLUMNS_SIDE];
        if (!in[0] && !in[1] && o->most[kept[i]] > 1) return false;
        if (in[0] && in[1])
            t->batch[t->batch_count++] = kept[i];
        else
            one->vars[one->var_count++] = kept[i];
    }
    for (int v = 0; v < o->x.var_count; v++) {
        if (!op_index_summed(&o->x, v)) continue;
        if (o->place[0].axis[v].kind == AXIS_NONE || o->place[1].axis[v].kind == AXIS_NONE) return false;
        t->terms[t->term_count++] = v;
    }
    return t->term_count > 0;
}

static bool tiling_even(const struct op_emission *o, const int *vars, int count)
{
    bool even = true;
    for (int i = 0; i < count; i++) even &= number_is(o->count[vars[i]], o->most[vars[i]]);
    return even;
}

/* The way of a side's sticks, and its rows: cores may differ in the outermost variable. */
static bool tiling_side_make(struct tiling *t, struct tiling_side *s)
{
    const struct op_emission *o = t->o;
    bool own = false;
    int last = s == &t->side[COLUMNS_SIDE] ? tiling_stick(o, o->out) : -1;
    s->stick = tiling_stick(o, s->operand);
    if (s->stick < 0) return false;
    s->along_terms = op_index_summed(&o->x, s->stick);
    s->rows = 1;
    for (int i = 0; i < s->var_count; i++) {
        own |= s->vars[i] == s->stick;
        s->rows *= o->most[s->vars[i]];
    }
    if (!s->along_terms && (!own || (last >= 0 && last != s->stick))) return false;
    if (!s->along_terms) last = s->stick;
    if (last >= 0) {
        int64_t unit = s->var_count > 1 && s->rows > o->most[last] ? CHUNK : 2;
        if (o->grain[last] % unit != 0) return false;
        tiling_last(s->vars, s->var_count, last);
    }
    if (s->var_count && !tiling_even(o, s->vars + 1, s->var_count - 1)) return false;
    s->own_rows = arena_format(&t->e->memory, "%lld", (long long)s->rows);
    s->over = s->var_count && !tiling_even(o, s->vars, 1);
    if (s->over) s->own_rows = number_times(t->e, o->count[s->vars[0]], s->rows / o->most[s->vars[0]]);
    return true;
}

/* Are the sticks of an operand in the scratchpad one below the other, as a group reads them? */
static bool tiling_regular(const struct tiling *t, struct tiling_side *s)
{
    const struct op_place *p = &t->o->place[s->operand];
    const struct place_axis *along = &p->axis[s->stick], *term = &p->axis[t->term];
    int64_t below = STICK_BYTES;
    if (p->in != PLACE_LX) return false;
    for (int i = s->var_count - 1; i >= 0; i--) {
        int v = s->vars[i];
        const struct place_axis *a = &p->axis[v];
        if (t->o->most[v] == 1 || v == s->stick) continue;
        if (!s->along_terms || a->kind != AXIS_PLAIN || !number_is(a->step, below)) return false;
        below *= t->o->most[v];
    }
    if (s->along_terms) return true;
    s->far = strtoll(along->step, NULL, 10);
    return number_is(along->step, s->far) && term->kind == AXIS_PLAIN && number_is(term->step, STICK_BYTES);
}

/* The steps of terms: as many at once as lie in one stick. */
static bool tiling_steps(struct tiling *t)
{
    const struct op_emission *o = t->o;
    const struct tiling_side *a = &t->side[0], *b = &t->side[1];
    if (a->along_terms && b->along_terms && a->stick != b->stick) return false;
    t->term = a->along_terms ? a->stick : b->along_terms ? b->stick : t->terms[t->term_count - 1];
    for (t->step = STEP_MOST; o->most[t->term] % t->step != 0; t->step /= 2)
        if (t->step == PIECE_TERMS) return false;
    t->steps = 1;
    for (int i = 0; i < t->term_count; i++) t->steps *= o->most[t->terms[i]];
    t->steps /= t->step;
    tiling_last(t->terms, t->term_count, t->term);
    return true;
}

/* --- shapes --- */

/* Bytes behind the plan's part of the scratchpad. */
static int64_t tiling_room(const struct tiling *t)
{
    int64_t room = t->e->graph->device.lx_bytes - t->e->stages_at - STAGES_SPARE - OVER_BYTES;
    return max_i64(room, STAGES_LEAST_BYTES);
}

static void tiling_block(struct tiling_side *s, int64_t most)
{
    int64_t few = s->rows > TILE_ROWS ? 2 * TILE_ROWS : TILE_ROWS;
    s->blocks = ceil_div_i64(s->rows, most);
    s->block = s->rows > few ? round_up_i64(ceil_div_i64(s->rows, s->blocks), GROUP_ROWS) : few;
    s->blocks = ceil_div_i64(s->rows, s->block);
}

static void tiling_blocks(struct tiling *t)
{
    struct tiling_side *rows = &t->side[ROWS_SIDE], *columns = &t->side[COLUMNS_SIDE];
    int64_t wide = 2 * BLOCK_MOST;
    tiling_block(rows, BLOCK_MOST);
    int64_t stage = (rows->block + wide) * t->step * 2;
    bool few = rows->block <= BLOCK_MOST / 2 && stage * BLOCK_STAGES <= tiling_room(t);
    tiling_block(columns, few ? wide : BLOCK_MOST);
}

/* How the groups share a block, by cycles: those in which a core reads and multiplies, and those for the code that
 * stores what a warp has. */
static int64_t tiling_cycles(const struct tiling *t, int s, int64_t groups, int64_t n, int c, int k)
{
    int64_t terms = t->steps * t->step / PIECE_TERMS, used = groups * c * k;
    int64_t multiply = terms * groups * c * max_i64(16 + 4 * n, 8 * n) * (8 + 8 / used) / 8;
    int64_t parts = k > 1 ? PARTS_CYCLES + (k - 1) * groups * c * n * 64 : 0;
    bool scattered = s == COLUMNS_SIDE && t->o->place[t->o->out].in != PLACE_LX;
    return multiply + parts + 2 * n * TILE_CYCLES * (scattered ? 2 : 1);
}

static bool tiling_groups(struct tiling *t)
{
    int64_t room = tiling_room(t) / 2, least = INT64_MAX;
    for (int s = 0; s < 2; s++)
        for (int c = 1; c <= GROUPS; c *= 2)
            for (int k = 1; k <= GROUPS; k *= 2) {
                int64_t groups = ceil_div_i64(t->side[s].block, GROUP_ROWS);
                int64_t pieces = t->side[!s].block / TILE_ROWS, n = pieces / c;
                if (groups * c * k > GROUPS || k * PIECE_TERMS > t->step || n * c != pieces ||
                    n * TILE_ROWS > BLOCK_MOST || (n & (n - 1)) ||
                    (k - 1) * groups * GROUP_ROWS * t->side[!s].block * 4 > room)
                    continue;
                int64_t cost = tiling_cycles(t, s, groups, n, c, k);
                if (cost >= least) continue;
                least = cost;
                t->long_side = s;
                t->side[s].warps = (int)groups * GROUP_WARPS, t->side[s].pieces = 1;
                t->side[!s].warps = c, t->side[!s].pieces = (int)n;
                t->term_warps = k;
            }
    return least < INT64_MAX;
}

/* Places of the stages behind the plan's part of the scratchpad. */
static void tiling_stages(struct tiling *t)
{
    struct emission *e = t->e;
    int64_t parts =
        (t->term_warps - 1) * t->side[t->long_side].warps * TILE_ROWS * t->side[!t->long_side].block * 4;
    int64_t beside = t->turns > t->steps ? parts : 0; /* else stages are empty when parts are added */
    t->stage_bytes = 0;
    for (int s = 0; s < 2; s++) {
        struct tiling_side *side = &t->side[s];
        int64_t sticks = side->along_terms ? side->block : ceil_div_i64(side->block, STEP_MOST) * t->step;
        if (side->staged) side->far = t->step * STICK_BYTES;
        side->stage_at = t->stage_bytes;
        side->stage_bytes = round_up_i64(sticks * STEP_MOST * 2, 1024);
        if (side->staged) t->stage_bytes += side->stage_bytes;
    }
    /* Waiting, addresses and products are latency: more steps at once share it. */
    t->group = 4;
    while (t->group > 1 && (t->group > t->steps || t->group * t->stage_bytes * 3 > tiling_room(t) - beside))
        t->group /= 2;
    t->groups = ceil_div_i64(t->steps, t->group);
    t->turns = t->turns / t->steps * t->groups;
    t->stage_bytes *= t->group;
    t->stages = t->stage_bytes
                    ? min_i64(min_i64((tiling_room(t) - beside) / t->stage_bytes, STAGES_MOST), t->turns + 1)
                    : 1;
    t->stages_at = e->stages_at;
    int64_t staged = t->stage_bytes * t->stages;
    t->parts_at = e->stages_at + (beside ? staged : 0);
    staged = beside ? staged + parts : max_i64(staged, parts);
    e->stages_bytes = max_i64(e->stages_bytes, staged + OVER_BYTES);
}

static void tiling_digits(struct tiling *t)
{
    const struct op_emission *o = t->o;
    for (int s = 0; s < 2; s++)
        item_digits_make(t->e, o, t->side[s].vars, t->side[s].var_count, -1, 1, 0, &t->side[s].digits);
    item_digits_make(t->e, o, t->batch, t->batch_count, -1, 1, 0, &t->batch_digits);
    item_digits_make(t->e, o, t->terms, t->term_count, t->term, (int)t->step, 0, &t->step_digits);
    t->inner = (struct item_digits){.count = 1, .total = "1"};
    t->inner.at[0] = (struct item_digit){.var = t->term,
                                         .unit = 1,
                                         .count = arena_format(&t->e->memory, "%lld", (long long)t->step),
                                         .name = "k"};
}

bool tiling_make(struct tiling *t)
{
    if (!tiling_plain(t->o) || !tiling_sort(t) || !tiling_side_make(t, &t->side[0]) ||
        !tiling_side_make(t, &t->side[1]) || !tiling_steps(t))
        return false;
    t->batches = 1;
    for (int i = 0; i < t->batch_count; i++) t->batches *= t->o->most[t->batch[i]];
    if (!tiling_even(t->o, t->batch, t->batch_count) || !tiling_even(t->o, t->terms, t->term_count))
        return false;
    for (int s = 0; s < 2; s++) t->side[s].staged = !tiling_regular(t, &t->side[s]);
    tiling_blocks(t);
    t->turns = t->batches * t->side[0].blocks * t->side[1].blocks * t->steps;
    if (!tiling_groups(t)) return false;
    for (int s = 0; s < 2; s++)
        t->side[s].over |= t->side[s].blocks * t->side[s].block > t->side[s].rows ||
                           (s == t->long_side && t->side[s].block < GROUP_ROWS);
    tiling_stages(t);
    tiling_digits(t);
    t->type = lx_dtype_word(t->o->place[0].dtype);
    return t->stages > (t->stage_bytes ? 1 : 0);
}
