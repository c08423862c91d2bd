/* Elements, reductions and views, a row of the output at a time. */
#include "device/reference/evaluate.h"

enum { BLOCK = JUDGED_MOST, TASKS = 64, ROUNDED_BEFORE = 4 };

/* Absolute error of formulas of several steps when a step leaves the range of fp32: silu(-89) is -2e-37, but
 * exp(89) is infinite. */
static const double LOST_BY_FORMULAS = 0x1p-119, LOST_BY_ROUNDING = 0x1p-149, EXACT_INTEGERS = 0x1p24;

static double evaluate_unit_of(const struct evaluation *e)
{
    return e->numbers == NUMBERS_FP64 ? 0x1p-52 : 0x1p-24;
}

/* Results in fp64 are rounded when stored; fp32 storing is exact, and its bounds count on that. */
static double stored_in_fp32(const struct evaluation *e, double value)
{
    return e->numbers == NUMBERS_FP64 && e->g->tensors[e->op->output].dtype == LX_FP32 ? 0x1p-24 * fabs(value)
                                                                                       : 0;
}

double one_part_of(const struct evaluation *e)
{
    double n = (double)e->divisor;
    return e->numbers == NUMBERS_FP64 ? 1 / n : (double)(1 / (float)n);
}

double slack_of_sum(const struct evaluation *e, double absolute, double value)
{
    if (e->op->kind->error == LX_ERROR_OF_POWERS) {
        /* Each power is rounded with its exponent, by at most log(n) u on the average of the powers' weights,
         * and once per addition; the logarithm and the largest exponent are rounded twice, alone and when
         * joined to the sum before. Cores make the sum in one piece. */
        double n = (double)e->terms, steps = n + 8 + 4 * log(n + 1), each = fmax(absolute, fabs(value)) + 8;
        return (expm1(steps * log1p(0x1p-24)) + 2 * each * 0x1p-24) * (1 + 0x1p-10);
    }
    if (e->numbers == NUMBERS_FP64 && !e->meaning->fold->divides)
        return e->growth * absolute + stored_in_fp32(e, value) + LOST_BY_ROUNDING;
    if (e->op->kind->error == LX_ERROR_OF_PRODUCT)
        return e->growth * fabs(value) + (double)(e->terms + 1) * LOST_BY_ROUNDING * absolute;
    if (e->integers && absolute <= EXACT_INTEGERS) return e->op->kind->ulps * 0x1p-23 * fabs(value);
    if (e->meaning->fold->divides)
        return e->growth * absolute * one_part_of(e) + stored_in_fp32(e, value) + LOST_BY_ROUNDING;
    return e->growth * absolute + (double)(e->terms + 1) * LOST_BY_ROUNDING;
}

double slack_of_element(const struct evaluation *e, double operand, double value)
{
    const struct lx_kind *k = e->op->kind;
    double size = fabs(k->error == LX_ERROR_OF_OPERAND ? operand : value);
    bool once = k->ulps <= 0.5;
    if (once && e->integers && size <= EXACT_INTEGERS && value == rint(value)) return 0;
    return k->ulps * 2 * evaluate_unit_of(e) * size + stored_in_fp32(e, value) +
           (once ? LOST_BY_ROUNDING : LOST_BY_FORMULAS);
}

bool op_is_shaped(const struct lx_graph *g, const struct lx_op *op)
{
    if (op->map) return true;
    bool shaped = op->input_count == 1 && g->tensors[op->output].rank >= 0 &&
                  g->tensors[op->inputs[0]].rank == g->tensors[op->output].rank;
    return shaped && (op->offset || op->kind->id == LX_KIND_RESTICKIFY);
}

static int64_t step_in(const struct evaluation *e, int operand, int v)
{
    const struct lx_op *op = e->op;
    const struct lx_tensor *t = &e->g->tensors[op_operand(op, operand)];
    int64_t step = 0, n = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        if (op->map->index[operand][d] == v) {
            /* Walked dimensions step by `by`. */
            const struct lx_walk *w = op->map->walks ? &op->map->walks[operand] : NULL;
            step = n * (w && w->offset ? w->by[d] : 1);
        }
        n *= t->shape[d];
    }
    return step;
}

static void evaluate_add_variable(struct evaluation *e, int v)
{
    int k = e->vars, inputs = e->op->input_count < 3 ? e->op->input_count : 3;
    int64_t extent = e->op->map->extent[v], out = step_in(e, e->op->input_count, v), step[3] = {0};
    bool one = k > 0 && k != e->kept_vars && e->out_step[k - 1] == out * extent;
    for (int i = 0; i < inputs; i++) {
        step[i] = step_in(e, i, v);
        one = one && e->step[i][k - 1] == step[i] * extent;
    }
    if (one)
        k--;
    else
        e->vars++;
    e->extent[k] = one ? e->extent[k] * extent : extent;
    e->out_step[k] = out;
    for (int i = 0; i < 3; i++) e->step[i][k] = step[i];
}

void evaluate_growth(struct evaluation *e)
{
    /* (1 + u)^n (1 + last) - 1: the largest share of a term that its roundings can add. */
    double last = e->op->kind->ulps * 2 * evaluate_unit_of(e),
           terms = (double)e->terms + ROUNDED_BEFORE * (e->before.items != NULL);
    e->growth = expm1(terms * log1p(evaluate_unit_of(e)) + log1p(last));
    if (e->divisor == 0) e->divisor = e->terms;
}

static void order_variables(struct evaluation *e)
{
    const struct lx_einsum *map = e->op->map;
    int out = e->op->input_count;
    bool placed[LX_MAX_VARS] = {0};
    e->vars = e->kept_vars = 0;
    for (int d = 0; d < map->rank[out]; d++) {
        evaluate_add_variable(e, map->index[out][d]);
        placed[map->index[out][d]] = true;
    }
    e->kept_vars = e->vars;
    e->terms = 1;
    for (int v = 0; v < map->var_count; v++)
        if (!placed[v]) {
            evaluate_add_variable(e, v);
            e->terms *= map->extent[v];
        }
    evaluate_growth(e);
}

/* Offsets of output element `n` in the inputs. */
static void evaluate_offsets_of(const struct evaluation *e, int64_t n, int64_t *offset)
{
    offset[0] = offset[1] = offset[2] = 0;
    for (int k = e->kept_vars - 1; k >= 0; k--) {
        for (int i = 0; i < 3; i++) offset[i] += n % e->extent[k] * e->step[i][k];
        n /= e->extent[k];
    }
}

static int64_t summed_offset(const struct evaluation *e, int64_t j)
{
    int64_t offset = 0;
    for (int k = e->vars - 1; k >= e->kept_vars; k--) {
        offset += j % e->extent[k] * e->step[0][k];
        j /= e->extent[k];
    }
    return offset;
}

int64_t run_from(int64_t n, int64_t to, int64_t row)
{
    int64_t left = row - n % row;
    left = left < to - n ? left : to - n;
    return left < BLOCK ? left : BLOCK;
}

/* ---- element by element ---- */

static void pointwise_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    int last = e->kept_vars - 1, inputs = e->op->input_count;
    int64_t row = last >= 0 ? e->extent[last] : 1, count;
    double x[3][BLOCK] = {{0}}, value[BLOCK], slack[BLOCK], constant = e->op->value;
    bool rounds = e->bounded && e->op->kind->error != LX_ERROR_NONE;
    if (e->numbers == NUMBERS_FP32) constant = (double)(float)constant;
    for (int64_t i = 0; e->op->has_value && i < BLOCK; i++) x[inputs][i] = constant;
    for (int64_t n = from; n < to; n += count) {
        int64_t at[3];
        count = run_from(n, to, row);
        evaluate_offsets_of(e, n, at);
        for (int i = 0; i < inputs && i < 3; i++)
            operand_row(&e->in[i], at[i], last >= 0 ? e->step[i][last] : 0, count, x[i]);
        for (int64_t i = 0; i < count; i++) {
            double v[3] = {x[0][i], x[1][i], x[2][i]};
            value[i] = e->meaning->in_double(v);
            if (e->cuts) value[i] = trunc(value[i]);
            if (rounds) slack[i] = slack_of_element(e, x[0][i], value[i]);
        }
        e->take(e->context, worker, n,
                &(struct expected){.count = count,
                                   .value = value,
                                   .slack = rounds ? slack : NULL,
                                   .signless = e->op->kind->traits & LX_REDUCES});
    }
}

/* ---- reductions ---- */

/* Adds one term to each element. `absolute` of a fold that does not add: the largest finite term, or the
 * product of terms above 1. */
static void fold_terms(const struct meaning_fold *fold, const double *term, int64_t count, int64_t step,
                       double *value, double *absolute)
{
    for (int64_t i = 0; fold->adds && i < count; i++) {
        value[i * step] += term[i];
        absolute[i * step] += fabs(term[i]);
    }
    for (int64_t i = 0; !fold->adds && i < count; i++) {
        double *size = &absolute[i * step], now = fabs(term[i]);
        value[i * step] = fold->in_double((double[]){value[i * step], term[i]});
        if (fold->multiplies)
            *size = fmax(*size, 1) * fmax(now, 1);
        else if (now > *size && now <= (double)FLT_MAX)
            *size = now;
    }
}

static void reduction_block(const struct evaluation *e, int worker, int64_t from, int64_t to)
{
    int last = e->kept_vars - 1;
    int64_t row = last >= 0 ? e->extent[last] : 1, count;
    int64_t step = last >= 0 ? e->step[0][last] : 0;
    double value[BLOCK], absolute[BLOCK], slack[BLOCK];
    bool rounds = e->bounded && e->op->kind->error != LX_ERROR_NONE;
    bool side_by_side = step == 1 || (e->vars > e->kept_vars && step > 0 && step < e->step[0][e->vars - 1]);
    for (int64_t n = from; n < to; n += count) {
        int64_t at[3];
        count = run_from(n, to, row);
        evaluate_offsets_of(e, n, at);
        for (int64_t i = 0; i < count; i++) {
            value[i] = e->meaning->fold->start;
            absolute[i] = 0;
        }
        if (e->before.items) operand_row(&e->before, n, 1, count, value);
        for (int64_t i = 0; e->before.items && i < count; i++) absolute[i] = fabs(value[i]);
        if (side_by_side) {
            /* Rows of terms side by side, if the output runs like the input. */
            double term[BLOCK];
            for (int64_t j = 0; j < e->terms; j++) {
                operand_row(&e->in[0], at[0] + summed_offset(e, j), step, count, term);
                fold_terms(e->meaning->fold, term, count, 1, value, absolute);
            }
        }
        for (int64_t i = 0; !side_by_side && i < count; i++) {
            /* All terms of one element, along the last summed variable. */
            double term[BLOCK];
            int64_t run = e->extent[e->vars - 1], apart = e->step[0][e->vars - 1];
            for (int64_t j = 0; j < e->terms; j += run)
                for (int64_t k = 0, some; k < run; k += some) {
                    some = run - k < BLOCK ? run - k : BLOCK;
                    operand_row(&e->in[0], at[0] + i * step + summed_offset(e, j) + k * apart, apart, some,
                                term);
                    fold_terms(e->meaning->fold, term, some, 0, &value[i], &absolute[i]);
                }
        }
        for (int64_t i = 0; i < count; i++) {
            if (e->meaning->fold->divides) value[i] *= one_part_of(e);
            if (rounds) slack[i] = slack_of_sum(e, absolute[i], value[i]);
        }
        e->take(e->context, worker, n,
                &(struct expected){.count = count,
                                   .value = value,
                                   .slack = rounds ? slack : NULL,
                                   .peak = rounds ? absolute : NULL,
                                   .signless = true});
    }
}

/* ---- tasks ---- */

struct share {
    const struct evaluation *e;
    void (*block)(const struct evaluation *e, int worker, int64_t from, int64_t to);
    int64_t per_task;
};

static void share_task(void *context, int64_t task, int worker)
{
    const struct share *s = context;
    int64_t from = task * s->per_task, to = from + s->per_task, count = s->e->out_count;
    s->block(s->e, worker, from, to < count ? to : count);
}

void evaluate_op(struct evaluation *e, struct pool *pool)
{
    const struct lx_tensor *out = &e->g->tensors[e->op->output];
    struct share s = {.e = e, .block = view_block};
    e->meaning = meaning_of(e->op->kind);
    e->numbers = op_numbers(e->g, e->op);
    e->cuts = e->op->kind->id == LX_KIND_CAST && number_types[out->dtype].integer && out->dtype != LX_BOOL;
    bool all = true;
    for (int i = 0; i < e->op->input_count; i++)
        all = all && number_types[e->g->tensors[e->op->inputs[i]].dtype].integer;
    e->integers = all && (!e->op->has_value || e->op->value == rint(e->op->value));
    e->out_count = 1;
    for (int d = 0; d < out->rank; d++) e->out_count *= out->shape[d];
    if (e->op->kind->traits & LX_CHOOSES) {
        evaluate_choice(e);
        return;
    }
    if (e->op->kind->traits & LX_RANKS) {
        evaluate_ranking(e);
        return;
    }
    if (e->op->window_count) {
        (e->numbers == NUMBERS_INTEGER ? evaluate_whole_windows : evaluate_windows)(e, pool);
        return;
    }
    if (e->op->kind->traits & LX_PLACES) {
        s.block = placing_block;
    } else if (e->op->map) {
        order_variables(e);
        /* Begin of the boxes that are read. */
        const struct lx_einsum *map = e->op->map;
        for (int i = 0; map->walks && i < e->op->input_count; i++) {
            const struct lx_tensor *t = &e->g->tensors[e->op->inputs[i]];
            e->in[i].base = 0;
            for (int d = 0; map->walks[i].offset && d < t->rank; d++)
                e->in[i].base = e->in[i].base * t->shape[d] + map->walks[i].first[d];
        }
        /* 64-bit integers that are moved, or cast to a rounded type. */
        const struct number_type *type = e->in[0].type;
        bool long_move = (e->op->kind->id == LX_KIND_CAST || e->op->kind->traits & LX_VIEW) && type &&
                         type->integer && type->bits == 64;
        bool whole =
            e->numbers == NUMBERS_INTEGER && !(e->op->kind->traits & LX_VIEW); /* views compute nothing */
        if (!whole && e->op->kind->traits & LX_CONTRACTS) {
            evaluate_contraction(e, pool);
            return;
        }
        s.block = e->op->kind->id == LX_KIND_ARGMAX || e->op->kind->id == LX_KIND_ARGMIN ? pick_block
                  : whole                                                                ? integer_block
                  : long_move                                                            ? long_move_block
                  : e->op->reduces                                                       ? reduction_block
                                                                                         : pointwise_block;
    }
    s.per_task = e->out_count / TASKS + 1;
    pool_run(pool, (e->out_count + s.per_task - 1) / s.per_task, share_task, &s);
}
