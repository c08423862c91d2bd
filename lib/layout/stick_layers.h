/* Layers that repeat (graph/repeats.h) in the search over the ways of all ops: searched until the states at the end of one are
 * those at the end of the one before, but for a constant in what they cost and for the numbers of tensors. From there on every
 * layer of the run goes as the last one did: its states are made again, way by way, and none is searched for. What is found is
 * the same to the byte. The limit of the search comes nearer with each layer: where it would drop a state that the last layer
 * kept, the layer is searched; what it drops beyond those was not kept before. */
#ifndef LX_LAYOUT_STICK_LAYERS_H
#define LX_LAYOUT_STICK_LAYERS_H

#include "layout/stick_search.h"

/* All that the search had where a layer began. */
struct stick_border {
    int32_t op; /* -1: nothing is known */
    VEC(struct stick_state) states;
    VEC(tensor_state) keys;
    VEC(int32_t) slot, open_tensors;
};

struct stick_layers {
    const struct lx_graph *g;
    struct lx_repeat *runs;
    int32_t run_count, at; /* at: the run under way */
    struct stick_border last;
    int32_t *twin, *of; /* per tensor of a layer: that of the next one, and back; -1: none */
    VEC(int32_t) touched;
    int32_t again; /* layers that were not searched, of the last search */
};

/* `alive`: runs with dead ops are left out. Free it either way. */
bool stick_layers_make(struct stick_layers *l, const struct lx_graph *g, const bool *alive,
                       const struct lx_repeat *runs, int32_t run_count, lx_status *st);
void stick_layers_free(struct stick_layers *l);
/* A search begins. */
void stick_layers_begin(struct stick_layers *l, const struct stick_search *s);
/* Before op *o: did the search go on over whole layers, up to the op that *o is then? *ok: false, memory is out. */
bool stick_layers_go(struct stick_layers *l, struct stick_search *s, int32_t *o, bool *ok);

#endif
