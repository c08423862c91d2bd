/* Contractions by tiles of 16 x 8, as the matrix units of a GPU take them.
 *
 * One operand has the rows of the tiles, the other one the columns; the sticks of the output run along the
 * columns. A group of four warps multiplies 64 rows, 16 of each warp, with 16 to 128 columns by 16 terms at once,
 * or 64 columns with as many rows; it reads both from the scratchpad, where sticks run along the terms or along
 * the rows. Operands in HBM, and those whose sticks do not lie one below the other, come through stages, several
 * steps of terms ahead. Groups share the tiles of a block, and the terms of each step where the block has few
 * tiles; their parts are added in the order of warps. Other contractions are left to folds.c. */
#include "emit/emission.h"
#include "base/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE_ROWS = 16,
    TILE_COLUMNS = 8,
    PIECE_TERMS = 16,
    CHUNK = 8,        /* elements */
    STEP_MOST = 64,   /* terms of a step: a stick */
    BLOCK_MOST = 128, /* rows, and columns, of a block; twice as many columns of few rows */
    BLOCK_STAGES = 4, /* that such a block must have room for */
    GROUP_WARPS = 4,
    GROUPS = EMIT_WARPS / GROUP_WARPS,
    GROUP_ROWS = 64,
    TILE_CYCLES = 30,
    PARTS_CYCLES = 1000,
    OVER_BYTES = GROUP_ROWS * 128, /* a group reads so far, though its operand may have fewer rows */
    STAGES_MOST = 6,
    STAGES_LEAST_BYTES = 65536,
    STAGES_SPARE = 1024,
    STICK_BYTES = 128,
    ROWS_SIDE = 0,
    COLUMNS_SIDE = 1,
};

struct tiling_side {
    int operand, vars[LX_MAX_VARS], var_count;
    int stick; /* the variable along which its sticks run; -1: none */
    int64_t rows, block, blocks;
    const char *own_rows; /* of the core, which may be fewer */
    bool over;            /* blocks have more */
    bool along_terms, staged;
    bool early; /* its first stages are fetched before the sync that precedes the op */
    int64_t stage_at, stage_bytes;
    int warps, pieces; /* side by side, and of each: 16 rows */
    int64_t far;       /* bytes from 64 rows to the next 64, where sticks run along them */
    struct item_digits digits;
};

struct tiling {
    struct emission *e;
    const struct op_emission *o;
    const struct op_place *to;
    const char *type;
    struct tiling_side side[2];
    int long_side; /* of which a group has 64 rows */
    int batch[LX_MAX_VARS], batch_count, terms[LX_MAX_VARS], term_count;
    int term; /* that steps go along */
    int64_t step, steps, batches, turns;
    int64_t group, groups; /* steps between two meetings of the warps, and how often they meet in a block */
    int64_t stages, stage_bytes, stages_at, parts_at;
    int term_warps;
    struct item_digits batch_digits, step_digits, inner;
};

/* --- what fits --- */

static int tiling_stick(const struct op_emission *o, int operand)
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

static bool tiling_make(struct tiling *t)
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

/* --- words --- */

static void tiles_open(struct emission *e, const char *line)
{
    emit_line(e, "%s {", line);
    e->indent++;
}

static void tiles_close(struct emission *e)
{
    e->indent--;
    emit_line(e, "}");
}

static void digits_append(struct item_digits *to, const struct item_digits *from)
{
    for (int i = 0; i < from->count; i++) to->at[to->count++] = from->at[i];
}

/* Steps of a turn, in a row. */
static void tiles_each_step(const struct tiling *t, const char *turn)
{
    const char *first = "";
    if (t->groups > 1)
        first = arena_format(&t->e->memory, "%s %% %lld * %lld + ", turn, (long long)t->groups,
                             (long long)t->group);
    emit_line(t->e, "EACH(u, %lld) {", (long long)t->group);
    t->e->indent++;
    if (t->steps > 1) emit_line(t->e, "const int step = %su;", first);
    if (t->steps % t->group != 0) emit_line(t->e, "if (step >= %lld) continue;", (long long)t->steps);
}

/* Where a turn is among all: its blocks, its batch. */
static void tiles_turn(const struct tiling *t, const char *turn, bool terms)
{
    struct emission *e = t->e;
    int64_t before = t->groups;
    if (terms && t->steps > 1) item_digits_declare(e, &t->step_digits, "step");
    for (int s = 1; s >= 0; s--) {
        if (t->side[s].blocks > 1)
            emit_line(e, "const int %s = %s / %lld %% %lld * %lld;", s ? "first_column" : "first_row", turn,
                      (long long)before, (long long)t->side[s].blocks, (long long)t->side[s].block);
        before *= t->side[s].blocks;
    }
    if (t->batches > 1)
        item_digits_declare(e, &t->batch_digits,
                            arena_format(&e->memory, "(%s / %lld)", turn, (long long)before));
}

/* "first_row + ": of what a row of the block is a part. */
static const char *tiles_first(const struct tiling *t, int s)
{
    return t->side[s].blocks == 1 ? "" : s ? "first_column + " : "first_row + ";
}

/* The chunk of a side at `row` and at the inner term `k` of a step. */
static const char *tiles_chunk(const struct tiling *t, int s)
{
    struct item_digits all = t->batch_digits;
    digits_append(&all, &t->side[s].digits);
    digits_append(&all, &t->step_digits);
    digits_append(&all, &t->inner);
    return item_address(t->e, &t->o->place[t->side[s].operand], &all, NULL);
}

/* Likewise in its stage, at row `r` of the block. */
static const char *tiles_staged(const struct tiling *t, int s)
{
    const struct tiling_side *side = &t->side[s];
    const char *at = arena_format(&t->e->memory, "stage + %lld", (long long)side->stage_at);
    if (side->along_terms) return arena_format(&t->e->memory, "STAGE(%s, r, k)", at);
    return arena_format(&t->e->memory, "STAGE(%s + r / 64 * %lld, k, r %% 64)", at,
                        (long long)t->step * STICK_BYTES);
}

/* --- stages --- */

/* The stage of step u of a turn. */
static const char *tiles_stage(const struct tiling *t, const char *turn)
{
    return arena_format(&t->e->memory, "%lld + %s %% %lld * %lld + u * %lld", (long long)t->stages_at, turn,
                        (long long)t->stages, (long long)t->stage_bytes,
                        (long long)(t->stage_bytes / t->group));
}

static void tiles_fetch_side(const struct tiling *t, int s)
{
    struct emission *e = t->e;
    const struct tiling_side *side = &t->side[s];
    long long per_row = t->step / CHUNK, wide = min_i64(side->block, STEP_MOST) / CHUNK, step = t->step;
    bool here = t->o->place[side->operand].in == PLACE_LX;
    emit_line(e, "FOR_ITEMS(i, %lld) {", (long long)side->block * per_row);
    e->indent++;
    if (side->along_terms)
        emit_line(e, "const int r = i / %lld, k = i %% %lld * %d;", per_row, per_row, CHUNK);
    else
        emit_line(e, "const int r = i / %lld * %d + i %% %lld * %d, k = i / %lld %% %lld;", wide * step,
                  STEP_MOST, wide, CHUNK, wide, step);
    emit_line(e, "const int row = %sr;", tiles_first(t, s));
    if (side->over) emit_line(e, "if (row >= %s) continue;", side->own_rows);
    item_digits_declare(e, &side->digits, "row");
    emit_line(e, here ? "copy16(%s, %s);" : "copy16_in(%s, %s);", tiles_staged(t, s), tiles_chunk(t, s));
    tiles_close(e);
}

static void tiles_fetch(const struct tiling *t, bool early)
{
    struct emission *e = t->e;
    emit_line(e, "const int ahead = turn + %lld;", (long long)t->stages - 1);
    tiles_open(e, arena_format(&e->memory, "if (ahead < %lld)", (long long)t->turns));
    tiles_each_step(t, "ahead");
    emit_line(e, "const int stage = %s;", tiles_stage(t, "ahead"));
    tiles_turn(t, "ahead", true);
    for (int s = 0; s < 2; s++) {
        if (!t->side[s].staged || (early && !t->side[s].early)) continue;
        if (t->side[s].early && !early) emit_line(e, "if (turn >= 0)");
        tiles_fetch_side(t, s);
    }
    tiles_close(e);
    tiles_close(e);
}

/* --- products --- */

/* Opens the loop over warps, with the first row tile and column tile of each. */
static void tiles_warp(const struct tiling *t)
{
    static const char *const name[] = {"row_tile", "column_tile"};
    struct emission *e = t->e;
    int l = t->long_side, r = t->side[l].warps, c = t->side[!l].warps, used = r * c * t->term_warps;
    emit_line(e, "EACH_WARP(warp)%s {",
              used < EMIT_WARPS ? arena_format(&e->memory, " if (warp < %d)", used) : "");
    e->indent++;
    emit_line(e, "const int %s = warp %% %d, %s = warp / %d %% %d * %d;", name[l], r, name[!l], r, c,
              t->side[!l].pieces);
    if (t->term_warps > 1) emit_line(e, "const int part = warp / %d;", r * c);
}

/* Where a side's rows of the warp's group begin in the scratchpad, at the terms `from` of the step. */
static const char *tiles_begin(const struct tiling *t, int s)
{
    const struct tiling_side *side = &t->side[s];
    struct emission *e = t->e;
    const char *row = s ? "column" : "row", *tile = arena_format(&e->memory, "%s_tile", row);
    if (s == t->long_side) tile = arena_format(&e->memory, "%s / %d * %d", tile, GROUP_WARPS, GROUP_WARPS);
    emit_line(e, "const int %s = %s%s * %d;", row, side->staged ? "" : tiles_first(t, s), tile, TILE_ROWS);
    if (side->staged && side->along_terms)
        return arena_format(&e->memory, "stage + %lld + %s * %d + from * 2", (long long)side->stage_at, row,
                            STICK_BYTES);
    if (side->staged)
        return arena_format(&e->memory, "stage + %lld + %s / %d * %lld + %s %% %d * 2 + from * %d",
                            (long long)side->stage_at, row, GROUP_ROWS, (long long)side->far, row, GROUP_ROWS,
                            STICK_BYTES);
    item_digits_declare(e, &side->digits, row);
    const char *address = tiles_chunk(t, s); /* LX(...) */
    return address + strlen("LX");
}

static void tiles_multiply(const struct tiling *t)
{
    struct emission *e = t->e;
    int l = t->long_side;
    const struct tiling_side *side = &t->side[!l];
    emit_line(e, "EACH(piece, %lld) {", (long long)t->step / PIECE_TERMS / t->term_warps);
    e->indent++;
    if (t->term_warps > 1)
        emit_line(e, "const int from = (piece * %d + part) * %d;", t->term_warps, PIECE_TERMS);
    else
        emit_line(e, "const int from = piece * %d;", PIECE_TERMS);
    if (!t->side[0].staged || !t->side[1].staged) emit_line(e, "const int k = from;");
    const char *a = tiles_begin(t, l), *b = tiles_begin(t, !l);
    emit_line(e, "MULTIPLY(%s, %d, %d, %d, OF_WARP(y, warp), warp, %s, %s, %lld);", t->type,
              side->pieces * TILE_ROWS, !t->side[l].along_terms, !side->along_terms, a, b,
              (long long)side->far);
    tiles_close(e);
}

/* --- results --- */

/* Warps that had the same tiles add their parts, in order. */
static void tiles_add_parts(const struct tiling *t)
{
    struct emission *e = t->e;
    int tiles = t->side[0].pieces * t->side[1].pieces * 2, warps = t->side[0].warps * t->side[1].warps;
    const char *at = "%lld + ((%s) * %d + j) * 512";
    if (t->parts_at == t->stages_at && t->stage_bytes) emit_line(e, "meet_warps();");
    tiles_warp(t);
    at = arena_format(&e->memory, at, (long long)t->parts_at, arena_format(&e->memory, "warp - %d", warps),
                      tiles);
    emit_line(e, "if (part > 0) EACH(j, %d) part_out(%s, &OF_WARP(y, warp)[j]);", tiles, at);
    tiles_close(e);
    emit_line(e, "meet_warps();");
}

static void tiles_store(const struct tiling *t, const char *again)
{
    struct emission *e = t->e;
    struct item_digits all = t->batch_digits;
    bool turned = t->long_side == COLUMNS_SIDE; /* pairs lie below each other */
    int tiles = t->side[!t->long_side].pieces * 2, warps = t->side[0].warps * t->side[1].warps;
    int stick = turned ? -1 : tiling_stick(t->o, t->o->out);
    const char *own = arena_format(&e->memory, "%d + pair_row(h)", TILE_ROWS);
    const char *other = arena_format(&e->memory, "%d + n * %d + pair_column(h)%s", TILE_ROWS, TILE_COLUMNS,
                                     turned ? " + g" : "");
    digits_append(&all, &t->side[0].digits);
    digits_append(&all, &t->side[1].digits);
    emit_line(e, "EACH(n, %d) EACH_PAIR(h) {", tiles);
    e->indent++;
    emit_line(e, "f2 pair = pair_of(&OF_WARP(y, warp)[n], h);");
    for (int g = 1; g < t->term_warps; g++)
        emit_line(e, "pair = pair_sum(pair, pair_in(%lld + ((warp + %d) * %d + n) * 512, h));",
                  (long long)t->parts_at, warps * (g - 1), tiles);
    tiles_open(e, turned ? "EACH(g, 2)" : "");
    emit_line(e, "const int row = %srow_tile * %s;", tiles_first(t, 0), turned ? other : own);
    emit_line(e, "const int column = %scolumn_tile * %s;", tiles_first(t, 1), turned ? own : other);
    for (int s = 0; s < 2; s++)
        if (t->side[s].over)
            emit_line(e, "if (%s >= %s) continue;", s ? "column" : "row", t->side[s].own_rows);
    item_digits_declare(e, &t->side[0].digits, "row");
    item_digits_declare(e, &t->side[1].digits, "column");
    if (*again) {
        tiles_open(e, arena_format(&e->memory, "if (%s)", again));
        item_load(e, t->to, &all, NULL, stick, turned ? 1 : 2, "before");
        emit_line(e, turned ? "pair.at[g] += before;" : "pair = pair_sum(pair, before);");
        tiles_close(e);
    }
    item_store(e, t->to, &all, NULL, stick, turned ? 1 : 2, turned ? "pair.at[g]" : "pair");
    tiles_close(e);
    tiles_close(e);
}

static void tiles_end_block(const struct tiling *t, const char *again)
{
    struct emission *e = t->e;
    long long turns = t->groups; /* of a block */
    if (turns > 1) tiles_open(e, arena_format(&e->memory, "if (turn %% %lld == %lld)", turns, turns - 1));
    tiles_turn(t, "turn", false);
    if (t->term_warps > 1) tiles_add_parts(t);
    tiles_warp(t);
    if (t->term_warps > 1) emit_line(e, "if (part == 0)");
    tiles_store(t, again);
    emit_line(e, "EACH(j, %d) OF_WARP(y, warp)[j] = no_tile();", t->side[!t->long_side].pieces * 2);
    tiles_close(e);
    if (turns > 1) tiles_close(e);
}

/* Does the operand of a side come from HBM as no op has written it? */
static bool tiles_arrives(const struct tiling *t, int s)
{
    const struct emission *e = t->e;
    int32_t tensor = op_operand(t->o->op, t->side[s].operand);
    bool arrives = t->o->place[t->side[s].operand].in == PLACE_HBM;
    for (int32_t k = 0; k < e->graph->op_count && arrives; k++)
        for (int i = e->graph->ops[k].input_count; i < op_operand_count(&e->graph->ops[k]); i++)
            arrives &= op_operand(&e->graph->ops[k], i) != tensor;
    return arrives;
}

static void tiles_early(struct tiling *t)
{
    for (int s = 0; s < 2; s++)
        t->side[s].early = t->e->early == t->e->tick && t->side[s].staged && tiles_arrives(t, s);
}

void tiles_begin_early(struct emission *e, const struct op_emission *o)
{
    struct tiling t = {.e = e, .o = o};
    e->early = e->tick;
    if (!tiling_make(&t)) return;
    tiles_early(&t);
    if (!t.side[0].early && !t.side[1].early) return;
    emit_line(e, "/* the first stages of what the sync does not concern */");
    if (o->workers < e->cores) emit_line(e, "if (core < %d)", (int)o->workers);
    tiles_open(e,
               arena_format(&e->memory, "for (int turn = %lld; turn < 0; turn++)", 1 - (long long)t.stages));
    tiles_fetch(&t, true);
    tiles_close(e);
}

bool body_tiles(struct emission *e, const struct op_emission *o, const struct op_place *to, const char *again)
{
    struct tiling t = {.e = e, .o = o, .to = to};
    if (!tiling_make(&t)) return false;
    tiles_early(&t);
    bool staged = t.stage_bytes > 0;
    int tiles = t.side[0].pieces * t.side[1].pieces * 2;
    tiles_open(e, "");
    emit_line(e, "TILES(y, %d);", tiles);
    emit_line(e, "for (int turn = %lld; turn < %lld; turn++) {", staged ? 1 - (long long)t.stages : 0,
              (long long)t.turns);
    e->indent++;
    if (!staged) emit_line(e, "if (turn == 0) stages_written();");
    if (staged) {
        emit_line(e, "if (turn >= 0) STAGE_THERE(%lld);", (long long)t.stages - 2);
        tiles_fetch(&t, false);
        emit_line(e, "STAGE_BEGUN;");
        emit_line(e, "if (turn < 0) continue;");
    }
    tiles_warp(&t);
    emit_line(e, "PRODUCT_BEGINS(y, %d);", tiles);
    tiles_each_step(&t, "turn");
    if (staged) emit_line(e, "const int stage = %s;", tiles_stage(&t, "turn"));
    tiles_turn(&t, "turn", true);
    tiles_multiply(&t);
    tiles_close(e);
    emit_line(e, "PRODUCT_ENDS(y, %d);", tiles);
    tiles_close(e);
    tiles_end_block(&t, again);
    tiles_close(e);
    tiles_close(e);
    return true;
}
