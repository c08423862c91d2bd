/* The proof of an instance: a certificate, or engines that share no code. */
#pragma once

#include "unstable.h"
#include "base/base.h"

struct suite_claim {
    const struct lx_question *question;
    const struct lx_problem *problem; /* of the question */
    const int64_t *address;           /* the best answer; NULL: proved to have none */
    int64_t best, bound; /* in the problem's unit; of an infeasible fit the capacity and a byte */
};

/* How many engines reach the bound, `needed` at most; a certificate counts as two. `who`: their names. */
int suite_prove(const struct suite_claim *c, int needed, struct text *who);
