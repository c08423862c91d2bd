/* Contractions by tiles of 16 x 8, as the matrix units of a GPU take them.
 *
 * One operand has the rows of the tiles, the other one the columns; the sticks of the output run along the
 * columns. A group of four warps multiplies 64 rows, 16 of each warp, with 16 to 128 columns by 16 terms at once,
 * or 64 columns with as many rows; it reads both from the scratchpad, where sticks run along the terms or along
 * the rows. Operands in HBM, and those whose sticks do not lie one below the other, come through stages, several
 * steps of terms ahead. Groups share the tiles of a block, and the terms of each step where the block has few
 * tiles; their parts are added in the order of warps. Other contractions are left to folds.c. */
#include "emit/tiling.h"

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
