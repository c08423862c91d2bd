/* LSTM: one matmul for the inputs of all steps, then step by step about twenty ops. */
#include "import/layers/layers.h"

enum { LSTM_GATES = 4, LSTM_STEP_OPS = 60 };

/* One direction of a layer. */
struct lstm {
    int64_t steps, batch, hidden;
    int32_t inputs;  /* [T,B,4H]: X W' and the biases */
    int32_t weights; /* [H,4H] */
    int32_t h, c;    /* [B,H]; -1: 0 */
};

static int32_t lstm_direction(struct layer *l, int operand, int dir)
{
    const struct model_type *t = layer_type(l, layer_in(l, operand));
    int32_t own = layer_slice(l, layer_in(l, operand), 0, dir, dir + 1);
    return layer_reshape(l, own, t->count - 1, t->extent + 1);
}

static struct lstm lstm_begin(struct layer *l, int dir)
{
    const struct model_type *t = layer_type(l, layer_in(l, 0)), *w = layer_type(l, layer_in(l, 2));
    struct lstm r = {.steps = t->extent[0], .batch = t->extent[1], .hidden = w->extent[2], .h = -1, .c = -1};
    int64_t turn[] = {1, 0}, width = LSTM_GATES * r.hidden;
    r.inputs = layer_two(l, "MatMul", layer_in(l, 0), layer_permute(l, lstm_direction(l, 1, dir), 2, turn));
    r.weights = layer_permute(l, lstm_direction(l, 2, dir), 2, turn);
    if (layer_in(l, 3) >= 0) {
        int32_t bias = lstm_direction(l, 3, dir), own = layer_slice(l, bias, 0, 0, width);
        int32_t both = layer_two(l, "Add", own, layer_slice(l, bias, 0, width, 2 * width));
        r.inputs = layer_two(l, "Add", r.inputs, both);
    }
    if (layer_in(l, 5) >= 0) r.h = lstm_direction(l, 5, dir);
    if (layer_in(l, 6) >= 0) r.c = lstm_direction(l, 6, dir);
    return r;
}

static int32_t lstm_gates(struct layer *l, const struct lstm *r, int32_t x, int from, int to)
{
    return layer_slice(l, x, layer_type(l, x)->count - 1, from * r->hidden, to * r->hidden);
}

/* Gates i, o, f, c. The result is h of the step as [1,1,B,H]. */
static int32_t lstm_step(struct layer *l, struct lstm *r, int64_t t)
{
    int32_t g = layer_reshape(l, layer_slice(l, r->inputs, 0, t, t + 1), 2,
                              (int64_t[]){r->batch, LSTM_GATES * r->hidden});
    if (r->h >= 0)
        g = layer_two(l, "Add", g, layer_two(l, "MatMul", r->h, lstm_gates(l, r, r->weights, 0, LSTM_GATES)));
    int32_t candidate = layer_one(l, "Tanh", lstm_gates(l, r, g, 3, 4));
    int32_t s = layer_one(l, "Sigmoid", lstm_gates(l, r, g, 0, 3));
    int32_t in = lstm_gates(l, r, s, 0, 1), out = lstm_gates(l, r, s, 1, 2),
            forget = lstm_gates(l, r, s, 2, 3);
    int32_t c = layer_two(l, "Mul", in, candidate);
    if (r->c >= 0) c = layer_two(l, "Add", layer_two(l, "Mul", forget, r->c), c);
    r->c = c;
    r->h = layer_two(l, "Mul", out, layer_one(l, "Tanh", c));
    return layer_reshape(l, r->h, 4, (int64_t[]){1, 1, r->batch, r->hidden});
}

/* False, leaving the op generic, for activations other than Sigmoid, Tanh, Tanh, sequence lengths, peepholes,
 * clipping, or batch-first layout. */
static bool lstm_is_plain(const struct layer *l)
{
    static const char *const odd[] = {"clip", "activation_alpha", "activation_beta"}, *const usual[] = {
                                                                                          "Sigmoid", "Tanh",
                                                                                          "Tanh"};
    const struct model_attr *names = model_attr_find(&l->op->attrs, "activations");
    const struct model_type *x = layer_type(l, layer_in(l, 0)), *w = layer_type(l, layer_in(l, 1)),
                            *r = layer_type(l, layer_in(l, 2));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (model_attr_find(&l->op->attrs, odd[i])) return false;
    if (names && names->form != ATTR_WORDS) return false;
    for (int i = 0; names && i < names->count; i++)
        if (strcmp(names->words[i], usual[i % 3]) != 0) return false;
    return layer_in(l, 4) < 0 && layer_in(l, 7) < 0 && x->count == 3 && w->count == 3 && r->count == 3 &&
           layer_int(l, "layout", 0) == 0 && layer_int(l, "input_forget", 0) == 0 && r->extent[0] >= 1 &&
           r->extent[0] <= 2 && r->extent[1] == LSTM_GATES * r->extent[2] &&
           x->extent[0] < l->limits->ops / LSTM_STEP_OPS;
}

bool derive_lstm(struct layer *l)
{
    int32_t y[2], h[2], c[2];
    if (!lstm_is_plain(l)) return false;
    int dirs = (int)layer_type(l, layer_in(l, 2))->extent[0];
    bool reverse = strcmp(model_attr_word(&l->op->attrs, "direction", "forward"), "reverse") == 0;
    for (int d = 0; d < dirs; d++) {
        struct lstm r = lstm_begin(l, d);
        int32_t *all = arena_array(&l->m->memory, (size_t)r.steps, sizeof *all);
        for (int64_t i = 0; l->ok && i < r.steps; i++) {
            int64_t t = d == 1 || reverse ? r.steps - 1 - i : i;
            all[t] = lstm_step(l, &r, t);
        }
        if (!l->ok) return false;
        y[d] = layer_concat(l, 0, (int)r.steps, all);
        h[d] = layer_reshape(l, r.h, 3, (int64_t[]){1, r.batch, r.hidden});
        c[d] = layer_reshape(l, r.c, 3, (int64_t[]){1, r.batch, r.hidden});
    }
    layer_result(l, 0, layer_concat(l, 1, dirs, y));
    layer_result(l, 1, layer_concat(l, 0, dirs, h));
    return layer_result(l, 2, layer_concat(l, 0, dirs, c));
}
