/* Blocks of tensors: memory, packing for messages, input data. */
#include "team_run/team_eval.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

bool team_block_make(struct team_block *b, const struct lx_team_box *box, lx_status *st)
{
    int64_t elements = lx_team_box_elements(box);
    b->box = *box;
    b->at = elements < INT64_MAX / 16 ? calloc((size_t)elements + 1, sizeof *b->at) : NULL;
    return b->at ? true : status_no_memory(st);
}

void team_block_free(struct team_block *b)
{
    free(b->at);
    b->at = NULL;
}

size_t team_element_bytes(bool fp32)
{
    return fp32 ? sizeof(float) : sizeof(double);
}

/* Calls for every run of elements along the last dimension: place in the block, and elements done so far. */
struct walk {
    const struct team_block *b;
    const struct lx_team_box *box;
    int64_t index[LX_MAX_RANK];
    int64_t run, at, done;
};

static bool walk_begin(struct walk *w, const struct team_block *b, const struct lx_team_box *box)
{
    *w = (struct walk){.b = b, .box = box, .run = box->rank ? box->size[box->rank - 1] : 1};
    for (int d = 0; d < box->rank; d++) w->at = w->at * b->box.size[d] + (box->offset[d] - b->box.offset[d]);
    return !lx_team_box_empty(box);
}

static bool walk_next(struct walk *w)
{
    int64_t step = 1;
    w->done += w->run;
    if (w->box->rank > 0) step = w->b->box.size[w->box->rank - 1];
    for (int d = w->box->rank - 2; d >= 0; d--) {
        w->at += step;
        if (++w->index[d] < w->box->size[d]) return true;
        w->at -= step * w->box->size[d];
        w->index[d] = 0;
        step *= w->b->box.size[d];
    }
    return false;
}

void team_block_pack(const struct team_block *b, const struct lx_team_box *box, bool fp32, void *to)
{
    struct walk w;
    if (!walk_begin(&w, b, box)) return;
    do {
        const double *from = b->at + w.at;
        if (fp32)
            for (int64_t i = 0; i < w.run; i++) ((float *)to)[w.done + i] = (float)from[i];
        else
            memcpy((double *)to + w.done, from, (size_t)w.run * sizeof *from);
    } while (walk_next(&w));
}

void team_block_unpack(struct team_block *b, const struct lx_team_box *box, bool fp32, const void *from)
{
    struct walk w;
    if (!walk_begin(&w, b, box)) return;
    do {
        double *to = b->at + w.at;
        if (fp32)
            for (int64_t i = 0; i < w.run; i++) to[i] = (double)((const float *)from)[w.done + i];
        else
            memcpy(to, (const double *)from + w.done, (size_t)w.run * sizeof *to);
    } while (walk_next(&w));
}

/* splitmix64's mixing: neighbours differ in every bit. */
static uint64_t mix(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void team_block_seed(struct team_block *b, const struct lx_tensor *t, uint64_t seed, bool fp32)
{
    uint64_t start = hash_bytes(HASH_START ^ mix(seed), t->name, strlen(t->name));
    struct walk w;
    if (!walk_begin(&w, b, &b->box)) return;
    do {
        int64_t global = 0;
        for (int d = 0; d < t->rank; d++)
            global = global * t->shape[d] + b->box.offset[d] + (d < t->rank - 1 ? w.index[d] : 0);
        for (int64_t i = 0; i < w.run; i++) {
            double v = (double)(mix(start + (uint64_t)(global + i)) >> 11) * 0x1p-52 - 1;
            b->at[w.at + i] = fp32 ? (double)(float)v : v;
        }
    } while (walk_next(&w));
}
