/* How a contraction is cut into tiles: what tiling.c finds and tiles.c writes. Private to the room. */
#pragma once

#include "emit/emission.h"

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

/* False: it has no tiles. */
bool tiling_make(struct tiling *t);
/* The variable along which the sticks of an operand run; -1: none. */
int tiling_stick(const struct op_emission *o, int operand);
