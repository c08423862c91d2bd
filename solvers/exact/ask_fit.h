/* From a choice of kept items and handovers to addresses: asks the Fit engine, finds cores of choices that do
 * not pack, and places greedily. */
#pragma once

#include "exact/budget.h"
#include "exact/fit/fit.h"
#include "exact/model.h"

struct packer {
    const struct model *m;
    int64_t capacity; /* the problem's, or more: a choice made for less room may be packed into more */
    struct fit_item *items;
    struct fit_piece *pieces;
    int32_t *head; /* per fit item: the first model item of its chain */
    int32_t *next; /* per model item: the child that takes its slot, or -1 */
    int64_t *base;
    struct fit_limits limits;
    int64_t nodes; /* spent by the Fit engine so far */
    int64_t calls;
    int32_t item_count, piece_count;
    struct arena memory;
};

/* The caller frees `memory`. */
void packer_new(struct packer *k, const struct model *m, struct budget *budget);

/* The address of an item of size 0, which conflicts with nothing. */
static inline int64_t packer_empty(const struct packer *k, int32_t i)
{
    return max_i64(0, k->m->p->buffers[k->m->items[i].buffer].fixed);
}

/* Makes the chains of the kept items under these handovers items and pieces of a Fit problem. False: a
 * chain's fixed addresses or alignments contradict each other; `*broken` is its first item. */
bool packer_chains(struct packer *k, const bool *kept, const bool *merged, int32_t *broken);

/* Do the kept items pack with exactly these handovers? On FIT_YES `address` (per model item) is filled,
 * LX_OFF_CHIP for the rest. */
enum fit_result pack_exactly(struct packer *k, const bool *kept, const bool *merged, int64_t nodes,
                             int64_t *address);

/* Shrinks `kept`, a choice that does not pack, to a core that still does not. */
void shrink_core(struct packer *k, bool *kept, const bool *merged, int64_t nodes);

/* Chooses handovers for the kept items: preferred parents first. */
void merge_greedily(const struct model *m, const bool *kept, bool *merged);

/* Orders of the chains for place_greedily. */
enum place_order { BY_SIZE, BY_AREA, BY_DENSITY, BY_START, BY_WIDTH, PLACE_ORDERS };

/* Puts the wanted chains at the lowest free addresses, then other items that fit, densest first. The result is
 * legal; returns its spill. */
int64_t place_greedily(struct packer *k, const bool *wanted, const bool *merged, enum place_order order,
                       int64_t *address);

/* Puts the wanted chains only, the longest lives first; returns the highest end, or -1 if one finds no place. */
int64_t place_only(struct packer *k, const bool *wanted, const bool *merged, int64_t *address);

/* Places items off chip that fit into a legal placement, densest first; returns its spill. */
int64_t fill_gaps(struct packer *k, int64_t *address);

/* Packs the large kept items exactly and puts small and other items into the gaps. Returns the best value of
 * `tries` ways, its plan in `address`. `*large` FIT_NO: the large items marked in `core` do not pack. Only
 * for models without handovers. */
int64_t levels_plan(struct packer *k, const bool *kept, int tries, int64_t aim, int64_t *address, bool *core,
                    enum fit_result *large);
