/* Recurrent layers: one product for the inputs of all steps, then the steps one after the other. */
#include "model/layers.h"

#include <string.h>

/* One direction of a layer: what all its steps share. */
struct recurrent {
    int64_t steps, batch, hidden;
    int gates;
    int32_t inputs;  /* [T,B,gates H]: products of the inputs, biases added as far as that is the same */
    int32_t weights; /* [H,gates H] */
    int32_t bias;    /* of the recurrent product, [gates H], where it must be apart; -1: none */
    int32_t h, c;    /* [B,H]; -1: 0 */
};

static int32_t part_of(struct layer *l, int32_t x, int dir)
{
    const struct model_type *t = layer_type(l, x);
    return layer_reshape(l, layer_slice(l, x, 0, dir, dir + 1), t->count - 1, t->extent + 1);
}

static int32_t gate(struct layer *l, const struct recurrent *r, int32_t x, int from, int to)
{
    return layer_slice(l, x, layer_type(l, x)->count - 1, from * r->hidden, to * r->hidden);
}

static bool begin(struct layer *l, struct recurrent *r, int32_t x, int dir, bool apart)
{
    const struct model_type *t = layer_type(l, x), *w = layer_type(l, layer_in(l, 2));
    *r = (struct recurrent){t->extent[0], t->extent[1], w->extent[2], 0, -1, -1, -1, -1, -1};
    r->gates = (int)(w->extent[1] / w->extent[2]);
    int32_t kernel = layer_permute(l, part_of(l, layer_in(l, 1), dir), 2, (int64_t[]){1, 0});
    r->inputs = layer_two(l, "MatMul", x, kernel);
    r->weights = layer_permute(l, part_of(l, layer_in(l, 2), dir), 2, (int64_t[]){1, 0});
    if (layer_has(l, 3)) {
        int32_t b = part_of(l, layer_in(l, 3), dir);
        int32_t own = layer_slice(l, b, 0, 0, r->gates * r->hidden);
        r->bias = layer_slice(l, b, 0, r->gates * r->hidden, 2 * r->gates * r->hidden);
        if (!apart) own = layer_two(l, "Add", own, r->bias);
        if (!apart) r->bias = -1;
        r->inputs = layer_two(l, "Add", r->inputs, own);
    }
    if (layer_has(l, 5)) r->h = part_of(l, layer_in(l, 5), dir);
    if (layer_has(l, 6)) r->c = part_of(l, layer_in(l, 6), dir);
    return l->ok;
}

static int32_t input_at(struct layer *l, const struct recurrent *r, int64_t t)
{
    int64_t shape[] = {r->batch, r->gates * r->hidden};
    return layer_reshape(l, layer_slice(l, r->inputs, 0, t, t + 1), 2, shape);
}

/* h R' of some gates, with their bias; -1: h is 0 and there is no bias. */
static int32_t again(struct layer *l, const struct recurrent *r, int32_t h, int from, int to)
{
    int32_t y = h < 0 ? -1 : layer_two(l, "MatMul", h, gate(l, r, r->weights, from, to));
    if (r->bias < 0) return y;
    int32_t b = gate(l, r, r->bias, from, to);
    return y < 0 ? b : layer_two(l, "Add", y, b);
}

static int32_t plus(struct layer *l, int32_t a, int32_t b)
{
    return b < 0 ? a : layer_two(l, "Add", a, b);
}

/* Gates i, o, f, c. */
static void lstm_step(struct layer *l, struct recurrent *r, int64_t t)
{
    int32_t g = plus(l, input_at(l, r, t), again(l, r, r->h, 0, 4));
    int32_t s = layer_one(l, "Sigmoid", gate(l, r, g, 0, 3)), new = layer_one(l, "Tanh", gate(l, r, g, 3, 4));
    int32_t c = layer_two(l, "Mul", gate(l, r, s, 0, 1), new);
    if (r->c >= 0) c = layer_two(l, "Add", layer_two(l, "Mul", gate(l, r, s, 2, 3), r->c), c);
    r->c = c;
    r->h = layer_two(l, "Mul", gate(l, r, s, 1, 2), layer_one(l, "Tanh", c));
}

/* Gates z, r, h. */
static void gru_step(struct layer *l, struct recurrent *r, int64_t t)
{
    int32_t x = input_at(l, r, t), zr = plus(l, gate(l, r, x, 0, 2), again(l, r, r->h, 0, 2)), more;
    zr = layer_one(l, "Sigmoid", zr);
    int32_t z = gate(l, r, zr, 0, 1), reset = gate(l, r, zr, 1, 2);
    if (layer_int(l, "linear_before_reset", 0)) {
        more = again(l, r, r->h, 2, 3);
        if (more >= 0) more = layer_two(l, "Mul", reset, more);
    } else {
        more = again(l, r, r->h < 0 ? -1 : layer_two(l, "Mul", reset, r->h), 2, 3);
    }
    int32_t new = layer_one(l, "Tanh", plus(l, gate(l, r, x, 2, 3), more));
    int32_t one = layer_number(l, layer_element(l, z), 1);
    int32_t h = layer_two(l, "Mul", layer_two(l, "Sub", one, z), new);
    r->h = r->h < 0 ? h : layer_two(l, "Add", h, layer_two(l, "Mul", z, r->h));
}

static void rnn_step(struct layer *l, struct recurrent *r, int64_t t)
{
    r->h = layer_one(l, "Tanh", plus(l, input_at(l, r, t), again(l, r, r->h, 0, 1)));
}

struct cell {
    const char *kind;
    int gates, step_ops;
    bool apart; /* the bias of the recurrent product stays apart */
    void (*step)(struct layer *l, struct recurrent *r, int64_t t);
};

static const struct cell cells[] = {
    {"LSTM", 4, 40, false, lstm_step}, {"GRU", 3, 48, true, gru_step}, {"RNN", 1, 12, false, rnn_step}};

/* What it takes to be written in steps: the usual functions, all sequences of one length. */
static const struct cell *cell_of(const struct layer *l)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *w = layer_type(l, layer_in(l, 1)),
                            *r = layer_type(l, layer_in(l, 2));
    static const char *const odd[] = {"activations", "clip", "activation_alpha", "activation_beta", NULL};
    for (int i = 0; odd[i]; i++)
        if (model_attr_find(&l->op->attrs, odd[i])) return NULL;
    if (l->op->operand_count < 3 || layer_has(l, 4) || layer_has(l, 7) || layer_int(l, "input_forget", 0) ||
        layer_int(l, "layout", 0) || x->count != 3 || w->count != 3 || r->count != 3)
        return NULL;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (strcmp(cells[i].kind, l->op->kind) == 0 && r->extent[1] == cells[i].gates * r->extent[2] &&
            x->extent[0] < l->limits->ops / cells[i].step_ops)
            return &cells[i];
    return NULL;
}

/* [T,1,B,H], and what is left at the end */
static int32_t run(struct layer *l, const struct cell *cell, int32_t x, int dir, bool backward,
                   struct recurrent *r)
{
    if (!begin(l, r, x, dir, cell->apart)) return -1;
    int32_t *all = arena_array(&l->m->memory, (size_t)r->steps, sizeof *all);
    if (!all) return layer_fail(l), -1;
    for (int64_t i = 0; l->ok && i < r->steps; i++) {
        int64_t t = backward ? r->steps - 1 - i : i;
        cell->step(l, r, t);
        all[t] = layer_reshape(l, r->h, 4, (int64_t[]){1, 1, r->batch, r->hidden});
    }
    return l->ok ? layer_concat(l, 0, (int)r->steps, all) : -1;
}

static void recurrent(struct layer *l)
{
    const struct cell *cell = cell_of(l);
    const char *word = model_attr_word(&l->op->attrs, "direction", "forward");
    int64_t dirs = layer_type(l, layer_in(l, 2))->count ? layer_type(l, layer_in(l, 2))->extent[0] : 0;
    int32_t y[2], h[2], c[2];
    if (!cell || dirs < 1 || dirs > 2) {
        layer_fail(l);
        return;
    }
    for (int d = 0; d < dirs; d++) {
        struct recurrent r;
        y[d] = run(l, cell, layer_in(l, 0), d, d == 1 || strcmp(word, "reverse") == 0, &r);
        int64_t one[] = {1, r.batch, r.hidden};
        h[d] = layer_reshape(l, r.h, 3, one);
        c[d] = r.c < 0 || !l->ok ? h[d] : layer_reshape(l, r.c, 3, one);
    }
    layer_result(l, 0, layer_concat(l, 1, (int)dirs, y));
    layer_result(l, 1, layer_concat(l, 0, (int)dirs, h));
    layer_result(l, 2, layer_concat(l, 0, (int)dirs, c));
}

/* clang-format off */
const struct layer_row layers_recurrent[] = {
    {{NULL, NULL, "LSTM"}, recurrent},
    {{NULL, NULL, "GRU"}, recurrent},
    {{NULL, NULL, "RNN"}, recurrent},
    {{NULL}, NULL},
};
/* clang-format on */
