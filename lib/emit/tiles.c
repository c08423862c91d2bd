/* Contractions by tiles of 16 x 8, as the matrix units of a GPU take them.
 *
 * One operand has the rows of the tiles, the other one the columns; the sticks of the output run along the
 * columns. Each is read in pieces of 16 rows (columns) x 16 terms, from chunks of 8 elements: sticks run along
 * the terms or along the rows, and all else is an address. Operands in HBM come through stages of the
 * scratchpad, several steps of terms ahead. Warps share the tiles of a block, and the terms of each step where
 * the block has few tiles; their parts are added in the order of warps. Other contractions are left to folds.c. */
#include "emit/emission.h"

enum {
    TILE_ROWS = 16,
    TILE_COLUMNS = 8,
    PIECE_TERMS = 16,
    CHUNK = 8,            /* elements */
    STEP_MOST = 64,       /* terms of a step: a stick */
    BLOCK_MOST = 128,     /* rows, and columns, of a block; twice as many columns of few rows */
    BLOCK_STAGES = 4,     /* that such a block must have room for */
    WARP_TILES_MOST = 16, /* of one warp, in registers */
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
    int64_t stage_at, stage_bytes;
    int warps, pieces; /* side by side, and of each */
    struct item_digits digits;
};

struct tiling {
    struct emission *e;
    const struct op_emission *o;
    const struct op_place *to;
    const char *type;
    struct tiling_side side[2];
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
    s->staged = o->place[s->operand].in != PLACE_LX;
    return true;
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
    return max_i64(t->e->graph->device.lx_bytes - t->e->stages_at - STAGES_SPARE, STAGES_LEAST_BYTES);
}

static void tiling_block(struct tiling_side *s, int64_t most)
{
    s->blocks = ceil_div_i64(s->rows, most);
    s->block = round_up_i64(ceil_div_i64(s->rows, s->blocks), s->blocks > 1 ? STEP_MOST : TILE_ROWS);
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

/* How the warps share a block: by the time that one needs to read pieces and to multiply them. */
static void tiling_warps(struct tiling *t)
{
    int64_t room = tiling_room(t) / 2, area = t->side[0].block * t->side[1].block * 4;
    int64_t rows = t->side[0].block / TILE_ROWS, columns = t->side[1].block / TILE_ROWS, least = INT64_MAX;
    for (int r = 1; r <= EMIT_WARPS; r++)
        for (int c = 1; r * c <= EMIT_WARPS; c++)
            for (int k = 1; r * c * k <= EMIT_WARPS && (k - 1) * area <= room; k *= 2) {
                int64_t m = rows / r, n = columns / c, tiles = m * n * 2, pieces = t->step / PIECE_TERMS / k;
                if (rows % r || columns % c || !pieces || tiles > WARP_TILES_MOST) continue;
                int64_t cost =
                    t->steps * pieces * (4 * (m + n) + 3 * tiles) + (k > 1 ? k * tiles * TILE_ROWS : 0);
                if (cost >= least) continue;
                least = cost;
                t->side[0].warps = r, t->side[0].pieces = (int)m;
                t->side[1].warps = c, t->side[1].pieces = (int)n;
                t->term_warps = k;
            }
}

/* Places of the stages behind the plan's part of the scratchpad. */
static void tiling_stages(struct tiling *t)
{
    struct emission *e = t->e;
    int64_t parts = (t->term_warps - 1) * t->side[0].block * t->side[1].block * 4;
    int64_t beside = t->turns > t->steps ? parts : 0; /* else stages are empty when parts are added */
    t->stage_bytes = 0;
    for (int s = 0; s < 2; s++) {
        struct tiling_side *side = &t->side[s];
        int64_t sticks = side->along_terms ? side->block : ceil_div_i64(side->block, STEP_MOST) * t->step;
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
    e->stages_bytes = max_i64(e->stages_bytes, beside ? staged + parts : max_i64(staged, parts));
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
    tiling_blocks(t);
    for (int s = 0; s < 2; s++) t->side[s].over |= t->side[s].blocks * t->side[s].block > t->side[s].rows;
    t->turns = t->batches * t->side[0].blocks * t->side[1].blocks * t->steps;
    tiling_warps(t);
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
    bool pieces = side->block % STEP_MOST && side->block > STEP_MOST && !side->along_terms;
    long long rows = pieces ? round_up_i64(side->block, STEP_MOST) : side->block;
    emit_line(e, "FOR_ITEMS(i, %lld) {", rows * per_row);
    e->indent++;
    if (side->along_terms)
        emit_line(e, "const int r = i / %lld, k = i %% %lld * %d;", per_row, per_row, CHUNK);
    else
        emit_line(e, "const int r = i / %lld * %d + i %% %lld * %d, k = i / %lld %% %lld;", wide * step,
                  STEP_MOST, wide, CHUNK, wide, step);
    emit_line(e, "const int row = %sr;", tiles_first(t, s));
    if (side->over || pieces) emit_line(e, "if (row >= %s) continue;", side->own_rows);
    item_digits_declare(e, &side->digits, "row");
    emit_line(e, "copy16_in(%s, %s);", tiles_staged(t, s), tiles_chunk(t, s));
    tiles_close(e);
}

static void tiles_fetch(const struct tiling *t)
{
    struct emission *e = t->e;
    emit_line(e, "const int ahead = turn + %lld;", (long long)t->stages - 1);
    tiles_open(e, arena_format(&e->memory, "if (ahead < %lld)", (long long)t->turns));
    tiles_each_step(t, "ahead");
    emit_line(e, "const int stage = %s;", tiles_stage(t, "ahead"));
    tiles_turn(t, "ahead", true);
    for (int s = 0; s < 2; s++)
        if (t->side[s].staged) tiles_fetch_side(t, s);
    tiles_close(e);
    tiles_close(e);
    emit_line(e, "STAGE_BEGUN;");
}

/* --- products --- */

/* The pieces of a side at the terms `from` of the step. */
static void tiles_take(const struct tiling *t, int s)
{
    struct emission *e = t->e;
    const struct tiling_side *side = &t->side[s];
    const char *first = s ? "column_tile" : "row_tile";
    emit_line(e, "EACH(j, %d) %s(lane_row, lane_term) {", side->pieces,
              side->along_terms ? "PIECE_ROWS" : "PIECE_TERMS");
    e->indent++;
    emit_line(e, "const int r = (%s + j) * %d + lane_row, k = from + lane_term;", first, TILE_ROWS);
    if (!side->staged) {
        const char *row = arena_format(&e->memory, "%sr", tiles_first(t, s));
        const char *last = side->along_terms ? "least(%s, %s - 1)" : "least(%s, (%s - 1) / 8 * 8)";
        emit_line(e, "const int row = %s;",
                  side->over ? arena_format(&e->memory, last, row, side->own_rows) : row);
        item_digits_declare(e, &side->digits, "row");
    }
    emit_line(e, "take%s_%s(&%c[j], lane_row, lane_term, %s);", side->along_terms ? "" : "_turned", t->type,
              s ? 'b' : 'a', side->staged ? tiles_staged(t, s) : tiles_chunk(t, s));
    tiles_close(e);
}

/* Opens the loop over warps, with the first row tile and column tile of each. */
static void tiles_warp(const struct tiling *t)
{
    struct emission *e = t->e;
    int r = t->side[0].warps, c = t->side[1].warps, used = r * c * t->term_warps;
    emit_line(e, "EACH_WARP(warp)%s {",
              used < EMIT_WARPS ? arena_format(&e->memory, " if (warp < %d)", used) : "");
    e->indent++;
    emit_line(e, "const int row_tile = warp %% %d * %d, column_tile = warp / %d %% %d * %d;", r,
              t->side[0].pieces, r, c, t->side[1].pieces);
    if (t->term_warps > 1) emit_line(e, "const int part = warp / %d;", r * c);
}

static void tiles_multiply(const struct tiling *t)
{
    struct emission *e = t->e;
    int m = t->side[0].pieces, n = t->side[1].pieces;
    tiles_warp(t);
    emit_line(e, "EACH(piece, %lld) {", (long long)t->step / PIECE_TERMS / t->term_warps);
    e->indent++;
    if (t->term_warps > 1)
        emit_line(e, "const int from = (piece * %d + part) * %d;", t->term_warps, PIECE_TERMS);
    else
        emit_line(e, "const int from = piece * %d;", PIECE_TERMS);
    emit_line(e, "struct piece a[%d], b[%d];", m, n);
    tiles_take(t, ROWS_SIDE);
    tiles_take(t, COLUMNS_SIDE);
    emit_line(e,
              "EACH(m, %d) EACH(n, %d) multiply_%s(&OF_WARP(y, warp)[m * %d + n], &a[m], &b[n / 2], n %% 2);",
              m, n * 2, t->type, n * 2);
    tiles_close(e);
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
    int n = t->side[1].pieces * 2, tiles = t->side[0].pieces * n, warps = t->side[0].warps * t->side[1].warps;
    int stick = tiling_stick(t->o, t->o->out);
    digits_append(&all, &t->side[0].digits);
    digits_append(&all, &t->side[1].digits);
    emit_line(e, "EACH(m, %d) EACH(n, %d) EACH_PAIR(h) {", t->side[0].pieces, n);
    e->indent++;
    emit_line(e, "const int row = %s(row_tile + m) * %d + pair_row(h);", tiles_first(t, 0), TILE_ROWS);
    emit_line(e, "const int column = %s(column_tile * 2 + n) * %d + pair_column(h);", tiles_first(t, 1),
              TILE_COLUMNS);
    for (int s = 0; s < 2; s++)
        if (t->side[s].over)
            emit_line(e, "if (%s >= %s) continue;", s ? "column" : "row", t->side[s].own_rows);
    item_digits_declare(e, &t->side[0].digits, "row");
    item_digits_declare(e, &t->side[1].digits, "column");
    emit_line(e, "f2 pair = pair_of(&OF_WARP(y, warp)[m * %d + n], h);", n);
    for (int g = 1; g < t->term_warps; g++)
        emit_line(e, "pair = pair_sum(pair, pair_in(%lld + ((warp + %d) * %d + m * %d + n) * 512, h));",
                  (long long)t->parts_at, warps * (g - 1), tiles, n);
    if (*again) {
        tiles_open(e, arena_format(&e->memory, "if (%s)", again));
        item_load(e, t->to, &all, NULL, stick, 2, "before");
        emit_line(e, "pair = pair_sum(pair, before);");
        tiles_close(e);
    }
    item_store(e, t->to, &all, NULL, stick, 2, "pair");
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
    emit_line(e, "EACH(j, %d) OF_WARP(y, warp)[j] = no_tile();", t->side[0].pieces * t->side[1].pieces * 2);
    tiles_close(e);
    if (turns > 1) tiles_close(e);
}

bool body_tiles(struct emission *e, const struct op_emission *o, const struct op_place *to, const char *again)
{
    struct tiling t = {.e = e, .o = o, .to = to};
    if (!tiling_make(&t)) return false;
    bool staged = t.stage_bytes > 0;
    tiles_open(e, "");
    emit_line(e, "TILES(y, %d);", t.side[0].pieces * t.side[1].pieces * 2);
    emit_line(e, "for (int turn = %lld; turn < %lld; turn++) {", staged ? 1 - (long long)t.stages : 0,
              (long long)t.turns);
    e->indent++;
    if (staged) {
        emit_line(e, "if (turn >= 0) STAGE_THERE(%lld);", (long long)t.stages - 2);
        tiles_fetch(&t);
        emit_line(e, "if (turn < 0) continue;");
    }
    tiles_each_step(&t, "turn");
    if (staged) emit_line(e, "const int stage = %s;", tiles_stage(&t, "turn"));
    tiles_turn(&t, "turn", true);
    tiles_multiply(&t);
    tiles_close(e);
    tiles_end_block(&t, again);
    tiles_close(e);
    tiles_close(e);
    return true;
}
