/* Recurrent layers: one product for the inputs of all steps, then the steps one after the other. */
#include "model/layers.h"

#include <string.h>

enum { MOST_FUNCTIONS = 3 };

/* A function of one element that the file names. */
struct function {
    const char *kind;
    double alpha, beta;
};

/* One direction of a layer: what all its steps share. */
struct recurrent {
    int64_t steps, batch, hidden;
    int gates;
    struct function by[MOST_FUNCTIONS]; /* f, g, h */
    int32_t peep;                       /* [3 H]: how the gates i, o, f see the cell; -1: they do not */
    int32_t lengths;                    /* [B,1]: steps that count; -1: all */
    bool coupled;                       /* what is forgotten is what is not let in */
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

/* Are all sequences known to have all steps? */
static bool all_long(const struct layer *l, int64_t steps)
{
    const struct model_data *d = l->m->values.at[layer_in(l, 4)].data;
    bool all = d && d->ints;
    for (int64_t i = 0; all && i < d->type->elements; i++) all = model_data_int(d, i) >= steps;
    return all;
}

static bool begin(struct layer *l, struct recurrent *r, int32_t x, int dir, bool apart)
{
    const struct model_type *t = layer_type(l, x), *w = layer_type(l, layer_in(l, 2));
    r->steps = t->extent[0];
    r->batch = t->extent[1];
    r->hidden = w->extent[2];
    r->inputs = r->weights = r->bias = r->h = r->c = r->peep = r->lengths = -1;
    r->gates = (int)(w->extent[1] / w->extent[2]);
    r->coupled = layer_int(l, "input_forget", 0) != 0;
    if (layer_has(l, 7)) r->peep = part_of(l, layer_in(l, 7), dir);
    if (layer_has(l, 4) && !all_long(l, r->steps))
        r->lengths = layer_reshape(l, layer_in(l, 4), 2, (int64_t[]){r->batch, 1});
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

/* f, g or h of x. */
static int32_t by(struct layer *l, const struct recurrent *r, int which, int32_t x)
{
    const struct function *f = &r->by[which];
    bool affine = strcmp(f->kind, "Affine") == 0;
    if (affine) return layer_by(l, "Add", layer_by(l, "Mul", x, f->alpha), f->beta);
    layer_put_real(l, "alpha", f->alpha);
    layer_put_real(l, "beta", f->beta);
    return layer_one(l, f->kind, x);
}

/* A gate with what it sees of the cell; `at`: its place among the peepholes. */
static int32_t gate_by(struct layer *l, const struct recurrent *r, int32_t g, int from, int at, int32_t cell)
{
    int32_t x = gate(l, r, g, from, from + 1);
    if (r->peep >= 0 && cell >= 0)
        x = layer_two(l, "Add", x, layer_two(l, "Mul", gate(l, r, r->peep, at, at + 1), cell));
    return by(l, r, 0, x);
}

/* Gates i, o, f, c. */
static void lstm_step(struct layer *l, struct recurrent *r, int64_t t)
{
    int32_t g = plus(l, input_at(l, r, t), again(l, r, r->h, 0, 4)), in, out = -1, kept = -1;
    int32_t new = by(l, r, 1, gate(l, r, g, 3, 4));
    if (r->peep < 0) {
        int32_t s = by(l, r, 0, gate(l, r, g, 0, 3));
        in = gate(l, r, s, 0, 1);
        out = gate(l, r, s, 1, 2);
        kept = gate(l, r, s, 2, 3);
    } else {
        in = gate_by(l, r, g, 0, 0, r->c);
        kept = gate_by(l, r, g, 2, 2, r->c);
    }
    if (r->coupled) kept = layer_two(l, "Sub", layer_number(l, layer_element(l, in), 1), in);
    int32_t c = layer_two(l, "Mul", in, new);
    if (r->c >= 0) c = layer_two(l, "Add", layer_two(l, "Mul", kept, r->c), c);
    if (r->peep >= 0) out = gate_by(l, r, g, 1, 1, c);
    r->c = c;
    r->h = layer_two(l, "Mul", out, by(l, r, 2, c));
}

/* Gates z, r, h. */
static void gru_step(struct layer *l, struct recurrent *r, int64_t t)
{
    int32_t x = input_at(l, r, t), zr = plus(l, gate(l, r, x, 0, 2), again(l, r, r->h, 0, 2)), more;
    zr = by(l, r, 0, zr);
    int32_t z = gate(l, r, zr, 0, 1), reset = gate(l, r, zr, 1, 2);
    if (layer_int(l, "linear_before_reset", 0)) {
        more = again(l, r, r->h, 2, 3);
        if (more >= 0) more = layer_two(l, "Mul", reset, more);
    } else {
        more = again(l, r, r->h < 0 ? -1 : layer_two(l, "Mul", reset, r->h), 2, 3);
    }
    int32_t new = by(l, r, 1, plus(l, gate(l, r, x, 2, 3), more));
    int32_t one = layer_number(l, layer_element(l, z), 1);
    int32_t h = layer_two(l, "Mul", layer_two(l, "Sub", one, z), new);
    r->h = r->h < 0 ? h : layer_two(l, "Add", h, layer_two(l, "Mul", z, r->h));
}

static void rnn_step(struct layer *l, struct recurrent *r, int64_t t)
{
    r->h = by(l, r, 0, plus(l, input_at(l, r, t), again(l, r, r->h, 0, 1)));
}

struct cell {
    const char *kind;
    int gates, step_ops;
    bool apart; /* the bias of the recurrent product stays apart */
    void (*step)(struct layer *l, struct recurrent *r, int64_t t);
    const char *usual[MOST_FUNCTIONS];
    int functions;
};

static const struct cell cells[] = {{"LSTM", 4, 60, false, lstm_step, {"Sigmoid", "Tanh", "Tanh"}, 3},
                                    {"GRU", 3, 56, true, gru_step, {"Sigmoid", "Tanh", NULL}, 2},
                                    {"RNN", 1, 20, false, rnn_step, {"Tanh", NULL, NULL}, 1}};

/* What they take, and what of it where the file does not say. */
static const struct known_function {
    const char *kind;
    bool alpha, beta;
    double usual_alpha, usual_beta;
} known_functions[] = {{"Sigmoid", false, false, 0, 0},       {"Tanh", false, false, 0, 0},
                       {"Relu", false, false, 0, 0},          {"Softsign", false, false, 0, 0},
                       {"Softplus", false, false, 0, 0},      {"Elu", true, false, 1, 0},
                       {"LeakyRelu", true, false, 0.01, 0},   {"ThresholdedRelu", true, false, 1, 0},
                       {"HardSigmoid", true, true, 0.2, 0.5}, {"ScaledTanh", true, true, 1, 1},
                       {"Affine", true, true, 1, 0}};

/* The next number of a list; those who take none leave it. */
static bool next_number(const struct model_attr *list, bool takes, int *at, double *out)
{
    if (!takes || !list) return true;
    if (list->form != ATTR_REALS || *at >= list->count) return false;
    *out = list->reals[(*at)++];
    return true;
}

/* The functions of a direction: those that the file names one after the other for all directions, or the usual ones. */
static bool functions_of(const struct layer *l, const struct cell *cell, int dirs, int dir,
                         struct recurrent *r)
{
    const struct model_attr *names = model_attr_find(&l->op->attrs, "activations"),
                            *alpha = model_attr_find(&l->op->attrs, "activation_alpha"),
                            *beta = model_attr_find(&l->op->attrs, "activation_beta");
    int a = 0, b = 0, all = cell->functions * dirs;
    if (names && (names->form != ATTR_WORDS || names->count != all)) return false;
    for (int i = 0; i < all; i++) {
        const char *word = names ? names->words[i] : cell->usual[i % cell->functions];
        const struct known_function *f = NULL;
        for (size_t k = 0; k < sizeof known_functions / sizeof *known_functions; k++)
            if (strcmp(known_functions[k].kind, word) == 0) f = &known_functions[k];
        if (!f) return false;
        struct function own = {f->kind, f->usual_alpha, f->usual_beta};
        if (!next_number(alpha, f->alpha, &a, &own.alpha) || !next_number(beta, f->beta, &b, &own.beta))
            return false;
        if (i / cell->functions == dir) r->by[i % cell->functions] = own;
    }
    return (!alpha || a == alpha->count || a == 0) && (!beta || b == beta->count || b == 0);
}

/* What it takes to be written in steps. */
static const struct cell *cell_of(const struct layer *l)
{
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *w = layer_type(l, layer_in(l, 1)),
                            *r = layer_type(l, layer_in(l, 2));
    if (l->op->operand_count < 3 || model_attr_find(&l->op->attrs, "clip") || x->count != 3 ||
        w->count != 3 || r->count != 3)
        return NULL;
    int64_t steps = x->extent[layer_int(l, "layout", 0) != 0];
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (strcmp(cells[i].kind, l->op->kind) == 0 && r->extent[1] == cells[i].gates * r->extent[2] &&
            steps < l->limits->ops / cells[i].step_ops)
            return &cells[i];
    return NULL;
}

/* Beyond a sequence's length nothing changes: what was there, or 0, where the step does not count. */
static int32_t only_counted(struct layer *l, int32_t counts, int32_t new, int32_t old)
{
    if (counts < 0) return new;
    if (old < 0) old = layer_number(l, layer_element(l, new), 0);
    return layer_part(l, "Where", 3, (int32_t[]){counts, new, old});
}

/* One step; its result [1,1,B,H]. */
static int32_t step(struct layer *l, const struct cell *cell, struct recurrent *r, int64_t t)
{
    int32_t h = r->h, c = r->c, counts = -1;
    cell->step(l, r, t);
    int32_t y = r->h;
    if (r->lengths >= 0) {
        int32_t now = layer_number(l, layer_element(l, r->lengths), (double)t);
        counts = layer_two(l, "Greater", r->lengths, now);
        y = only_counted(l, counts, r->h, -1);
        r->h = h < 0 ? y : only_counted(l, counts, r->h, h);
        if (r->c >= 0) r->c = only_counted(l, counts, r->c, c);
    }
    return layer_reshape(l, y, 4, (int64_t[]){1, 1, r->batch, r->hidden});
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
        all[t] = step(l, cell, r, t);
    }
    return l->ok ? layer_concat(l, 0, (int)r->steps, all) : -1;
}

static int32_t swapped(struct layer *l, int32_t x)
{
    return x < 0 ? -1 : layer_permute(l, x, 3, (int64_t[]){1, 0, 2});
}

/* Results; where batches come first, they have other orders. */
static void results(struct layer *l, int32_t y, int32_t h, int32_t c)
{
    bool turn = layer_int(l, "layout", 0) != 0;
    layer_result(l, 0, turn ? layer_permute(l, y, 4, (int64_t[]){2, 0, 1, 3}) : y);
    layer_result(l, 1, turn ? swapped(l, h) : h);
    layer_result(l, 2, turn ? swapped(l, c) : c);
}

static void recurrent(struct layer *l)
{
    const struct cell *cell = cell_of(l);
    const char *word = model_attr_word(&l->op->attrs, "direction", "forward");
    int dirs = cell ? (int)layer_type(l, layer_in(l, 2))->extent[0] : 0;
    int32_t y[2], h[2], c[2], x = layer_in(l, 0);
    bool turn = layer_int(l, "layout", 0) != 0;
    if (dirs < 1 || dirs > 2 || (turn && (layer_has(l, 5) || layer_has(l, 6)))) {
        layer_fail(l);
        return;
    }
    if (turn) x = swapped(l, x);
    for (int d = 0; l->ok && d < dirs; d++) {
        struct recurrent r = {0};
        if (!functions_of(l, cell, dirs, d, &r)) {
            layer_fail(l);
            return;
        }
        y[d] = run(l, cell, x, d, d == 1 || strcmp(word, "reverse") == 0, &r);
        int64_t one[] = {1, r.batch, r.hidden};
        h[d] = layer_reshape(l, r.h, 3, one);
        c[d] = r.c < 0 || !l->ok ? h[d] : layer_reshape(l, r.c, 3, one);
    }
    if (l->ok)
        results(l, layer_concat(l, 1, dirs, y), layer_concat(l, 0, dirs, h), layer_concat(l, 0, dirs, c));
}

/* clang-format off */
const struct layer_row layers_recurrent[] = {
    {{NULL, NULL, "LSTM"}, recurrent},
    {{NULL, NULL, "GRU"}, recurrent},
    {{NULL, NULL, "RNN"}, recurrent},
    {{NULL}, NULL},
};
/* clang-format on */
