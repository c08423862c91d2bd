/* Shared by the passes, the checks and the rule sets of the loop stage. */
#pragma once

#include "loops/loops.h"

/* The four places that a primitive has for loops. */
enum loop_role { ROLE_M, ROLE_N, ROLE_K, ROLE_BATCH, ROLE_COUNT };

/* Cost of a loop in a role: the least wins, the first among equals. -1: the loop cannot have the role. */
typedef int64_t role_score(const struct lx_loops *l, const struct lx_loop *loop);

struct loop_fault {
    int loop; /* -1: none in particular */
    const char *words;
};
/* The document's number of the fault; 0: none. */
typedef int loop_check(const struct lx_loops *l, struct loop_fault *fault);

/* A rule set: what the passes do differently, and nothing else. */
struct lx_loop_rules {
    const char *name, *summary;
    const struct lx_loop_pass *const *order; /* LX_LOOP_PASSES of them */

    /* Moves: by exchanging two loops at positions that were looked up before (and may be stale), like the
     * document's version, or by shifting the loops in between. */
    bool exchanges;
    /* split */
    int64_t split_from;          /* the least size that is split */
    int64_t block[LX_DIM_COUNT]; /* the inner size to aim at; 0: the square root */
    bool only_roles;             /* only loops that will be primitive */
    /* fuse */
    int64_t fuse_most;  /* the largest product of two sizes */
    bool fuse_any_exec; /* also loops of different execution */
    bool drop_single;   /* remove loops of size 1 */
    /* primitives */
    role_score *score[ROLE_COUNT];
    role_score *unary_score[ROLE_COUNT];
    bool main_follows_roles; /* gemm or brgemm by the number of prim k, whatever the user asked for */
    /* reorder-shared: the heavier loop stands further out */
    uint64_t (*weight)(const struct lx_loop *loop);
    /* shared */
    bool (*enough)(int64_t tasks, int64_t threads); /* no further loop needs sharing */
    bool share_alone;                               /* share even with one thread */

    loop_check *const *checks; /* ends with NULL */
};

/* Does X walk on where Y ends? Same type, and stride(X) = |Y| * stride(Y) in all operands. */
bool loops_fit(const struct lx_loop *x, const struct lx_loop *y);
void loops_exchange(struct lx_loops *l, int i, int j);
/* Moves the loop at `from` to index `to`. */
void loops_move(struct lx_loops *l, int from, int to);
void loops_remove(struct lx_loops *l, int i);
/* The first primitive loop, or the count. */
int loops_first_prim(const struct lx_loops *l);
/* The first loop of that type and execution from `start` on, or -1. */
int loops_find(const struct lx_loops *l, enum lx_loop_type type, enum lx_loop_exec exec, int start);
int loops_prims(const struct lx_loops *l, enum lx_loop_type type);

/* The words of the enums of loops.h, by number. */
extern const char *const loop_type_words[], *const loop_exec_words[], *const loop_touch_words[],
                                                                          *const loop_dtype_words[];

extern const struct lx_loop_pass pass_reorder_fusing, pass_split, pass_fuse, pass_primitives,
    pass_reorder_shared, pass_shared;

/* The checks, in the document's order; see validate.c. */
extern loop_check *const checks_document[], *const checks_lxplan[];
