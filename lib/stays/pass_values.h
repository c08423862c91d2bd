/* What the passes are set to: read where stays are found, chosen by whoever asks for a plan. */
#ifndef LX_STAYS_PASS_VALUES_H
#define LX_STAYS_PASS_VALUES_H

#include <stdbool.h>

/* The passes around the solver, in the order in which they work. Each can be switched off (or on). One table,
 * lx_passes(), has their names and help for files, command lines and screens. */
enum lx_clone { LX_CLONE_AUTO, LX_CLONE_HEURISTIC, LX_CLONE_NONE, LX_CLONE_COUNT };
enum lx_cooptimise_mode { LX_COOPTIMISE_NONE, LX_COOPTIMISE_FLIP, LX_COOPTIMISE_FULL, LX_COOPTIMISE_COUNT };
/* The steps of the softmax table; the last is everything that the passes allow. */
enum lx_stage { LX_STAGE_ALL, LX_STAGE_BASELINE, LX_STAGE_REDUCTIONS, LX_STAGE_IN_PLACE, LX_STAGE_COUNT };

/* Runs of ops in loops over tiles. */
enum lx_tile_mode { LX_TILE_AUTO, LX_TILE_NONE, LX_TILE_COUNT };
enum lx_online_mode { LX_ONLINE_AUTO, LX_ONLINE_NONE, LX_ONLINE_COUNT };

enum lx_matmul { LX_MATMUL_COST, LX_MATMUL_RULE, LX_MATMUL_COUNT };

struct lx_passes {
    bool undivided;  /* every op on one core, whole tensors */
    int matmul;      /* enum lx_matmul: how a contraction is divided */
    int cooptimise;  /* enum lx_cooptimise_mode */
    bool by_time;    /* co-optimise predicted time; else traffic, then time */
    int clone;       /* enum lx_clone: graph inputs copied on chip by the solver's choice, by the rule */
    bool no_outputs; /* graph outputs are never produced on chip */
    bool no_in_place;
    bool no_dump; /* nothing that an extern op would wipe is on chip */
    bool no_ring; /* ops that cut a tensor differently share it through HBM only */
    bool reorder; /* independent ops may change places */
    bool move;    /* stays may change their addresses: a copy inside each scratchpad */
    bool evict;   /* stays may be cut: a tensor leaves and comes back */
    int tile;     /* enum lx_tile_mode */
    int online;   /* enum lx_online_mode: where there are tiles */
    int stage;    /* enum lx_stage */
};

#endif
