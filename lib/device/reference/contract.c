/* Contractions in fp64, as blocked products of matrices, each with the sum of its absolute terms.
 *
 * The last variables of the output that only one operand has are the columns; variables that only the other
 * one has are the rows; the remaining output variables are walked outside. Columns stand side by side in the
 * output, so that a row of a block is a row of the output.
 *
 * A block is ROWS x COLUMNS; its sum runs in steps of DEPTH, for which both operands are packed into panels
 * of TILE_ROWS and TILE_COLUMNS, and the tile keeps its sums in registers. Absolute terms are summed in fp32,
 * DEPTH at a time: too low by a factor of at most (1 + u)^DEPTH < 1 + 2^-15, which ABSOLUTE_ROUNDED makes up
 * for. The order of all sums is fixed. */
#include "device/reference/evaluate.h"

enum { TILE_ROWS = 4, TILE_COLUMNS = 8, ROWS = 96, COLUMNS = 128, DEPTH = 256 }; /* DEPTH is the largest */
static const double ABSOLUTE_ROUNDED = 1 + 0x1p-14;

typedef double pair __attribute__((vector_size(16)));
typedef double pair_memory __attribute__((vector_size(16), aligned(8), may_alias));
typedef float quad __attribute__((vector_size(16)));
typedef float quad_memory __attribute__((vector_size(16), aligned(4), may_alias));

/* A thread's packed operands and sums. */
struct workspace {
    double a[ROWS * DEPTH], b[COLUMNS * DEPTH];
    float a_size[ROWS * DEPTH], b_size[COLUMNS * DEPTH];
    double sum[ROWS][COLUMNS], size[ROWS][COLUMNS], slack[COLUMNS], row[DEPTH];
};

/* Offsets in an operand or the output for an index over several variables. */
struct walk {
    int64_t count;
    int64_t *offset;
    int64_t step; /* from each offset to the next if always the same; else -1 */
};

enum { IN_A, IN_B, IN_OUT, PLACES };
struct contraction {
    struct evaluation *e;
    struct operand a, b;
    struct walk rows[PLACES], columns[PLACES], summed[PLACES], outer[PLACES];
    int64_t row_blocks, column_blocks;
    struct workspace **space; /* per worker */
};

/* ---- walks ---- */

static void walk_make(const struct evaluation *e, const int *vars, int count, const int64_t *step,
                      struct walk *w)
{
    int64_t n = 1, inside = 1;
    for (int k = 0; k < count; k++) n *= e->extent[vars[k]];
    w->count = n;
    w->offset = mem_zeroed((size_t)n + 1, sizeof *w->offset);
    for (int k = count - 1; k >= 0; k--) {
        for (int64_t i = 0; i < n; i++) w->offset[i] += i / inside % e->extent[vars[k]] * step[vars[k]];
        inside *= e->extent[vars[k]];
    }
    w->step = n > 1 ? w->offset[1] : 1;
    for (int64_t i = 1; i < n && w->step >= 0; i++)
        if (w->offset[i] - w->offset[i - 1] != w->step) w->step = -1;
}

static void walks_make(struct contraction *c, const int *vars, int count, int a, struct walk *w)
{
    const struct evaluation *e = c->e;
    walk_make(e, vars, count, e->step[a], &w[IN_A]);
    walk_make(e, vars, count, e->step[1 - a], &w[IN_B]);
    walk_make(e, vars, count, e->out_step, &w[IN_OUT]);
}

/* Operand `a` has the row variables, the other the column variables. */
static void divide_variables(struct contraction *c, int a)
{
    const struct evaluation *e = c->e;
    int rows[LX_MAX_VARS], columns[LX_MAX_VARS], outer[LX_MAX_VARS], summed[LX_MAX_VARS], n[4] = {0};
    int first = e->kept_vars; /* the first column variable */
    while (first > 0 && e->step[a][first - 1] == 0 && e->extent[first - 1] > 0) first--;
    for (int k = 0; k < e->vars; k++) {
        if (k >= e->kept_vars)
            summed[n[3]++] = k;
        else if (k >= first)
            columns[n[1]++] = k;
        else if (e->step[1 - a][k] == 0)
            rows[n[0]++] = k;
        else
            outer[n[2]++] = k;
    }
    walks_make(c, rows, n[0], a, c->rows);
    walks_make(c, columns, n[1], a, c->columns);
    walks_make(c, outer, n[2], a, c->outer);
    walks_make(c, summed, n[3], a, c->summed);
}

/* ---- packing ---- */

static void contract_fetch(const struct operand *o, int64_t at, const struct walk *w, int64_t from,
                           int64_t count, double *to)
{
    if (w->step >= 0)
        operand_row(o, at + w->offset[from], w->step, count, to);
    else
        operand_gather(o, at, w->offset + from, count, to);
}

/* Panels of `width` lines, one depth after the other; missing lines are 0. */
struct packing {
    const struct operand *o;
    int64_t at; /* offset by the outer variables */
    const struct walk *lines, *depth;
    int64_t first, count, depth_from, depth_count;
    int width;
    double *to;
    float *sizes; /* or NULL */
};

/* Puts a line into its panel: every width-th number. */
static void contract_put_line(const struct packing *p, int64_t line, const double *row)
{
    int64_t place = line / p->width * p->width * p->depth_count + line % p->width;
    double *to = p->to + place;
    for (int64_t k = 0; k < p->depth_count; k++) to[k * p->width] = row[k];
    float *sizes = p->sizes ? p->sizes + place : NULL;
    for (int64_t k = 0; sizes && k < p->depth_count; k++) sizes[k * p->width] = (float)fabs(row[k]);
}

/* Along the sum, or along the lines if these are side by side. */
static void contract_pack(const struct packing *p, double *row)
{
    int64_t padded = (p->count + p->width - 1) / p->width * p->width;
    memset(row, 0, DEPTH * sizeof *row);
    for (int64_t i = p->count; i < padded; i++) contract_put_line(p, i, row);
    bool across = p->lines->step == 1 && p->depth->step != 1;
    for (int64_t k = 0; across && k < p->depth_count; k++) {
        contract_fetch(p->o, p->at + p->depth->offset[p->depth_from + k], p->lines, p->first, p->count, row);
        for (int64_t i = 0; i < p->count; i += p->width) {
            int64_t place = i * p->depth_count + k * p->width, n = min_i64(p->count - i, p->width);
            for (int64_t j = 0; j < n; j++) p->to[place + j] = row[i + j];
            for (int64_t j = 0; p->sizes && j < n; j++) p->sizes[place + j] = (float)fabs(row[i + j]);
        }
    }
    for (int64_t i = 0; !across && i < p->count; i++) {
        contract_fetch(p->o, p->at + p->lines->offset[p->first + i], p->depth, p->depth_from, p->depth_count,
                       row);
        contract_put_line(p, i, row);
    }
}

/* ---- tiles ---- */

static void tile_sum(const double *a, const double *b, int64_t depth, double *to)
{
    enum { PAIRS = TILE_COLUMNS / 2 };
    pair sum[TILE_ROWS][PAIRS] = {{{0}}};
    for (int64_t k = 0; k < depth; k++, a += TILE_ROWS, b += TILE_COLUMNS)
        for (int j = 0; j < PAIRS; j++) {
            pair right = *(const pair_memory *)(b + 2 * j);
            for (int i = 0; i < TILE_ROWS; i++) sum[i][j] += a[i] * right;
        }
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < PAIRS; j++) *(pair_memory *)(to + i * COLUMNS + 2 * j) += sum[i][j];
}

/* Two panels of columns at once keep more sums in flight. */
static void tile_sizes(const float *a, const float *b, const float *b_next, int64_t depth, double *to,
                       double *to_next)
{
    enum { QUADS = TILE_COLUMNS / 4 };
    quad sum[TILE_ROWS][QUADS * 2] = {{{0}}};
    for (int64_t k = 0; k < depth; k++, a += TILE_ROWS, b += TILE_COLUMNS, b_next += TILE_COLUMNS)
        for (int j = 0; j < QUADS; j++) {
            quad right = *(const quad_memory *)(b + 4 * j), next = *(const quad_memory *)(b_next + 4 * j);
            for (int i = 0; i < TILE_ROWS; i++) {
                sum[i][j] += a[i] * right;
                sum[i][QUADS + j] += a[i] * next;
            }
        }
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_COLUMNS; j++) {
            to[i * COLUMNS + j] += (double)sum[i][j / 4][j % 4];
            if (to_next) to_next[i * COLUMNS + j] += (double)sum[i][QUADS + j / 4][j % 4];
        }
}

/* ---- blocks ---- */

struct block {
    int64_t outer, row, rows, column, columns;
};

static void add_depth(const struct contraction *c, const struct block *b, struct workspace *w, int64_t from,
                      bool sizes)
{
    int64_t left = c->summed[IN_A].count - from, depth = left < DEPTH ? left : DEPTH;
    struct packing pa = {&c->a,
                         c->outer[IN_A].offset[b->outer],
                         &c->rows[IN_A],
                         &c->summed[IN_A],
                         b->row,
                         b->rows,
                         from,
                         depth,
                         TILE_ROWS,
                         w->a,
                         sizes ? w->a_size : NULL},
                   pb = {&c->b,
                         c->outer[IN_B].offset[b->outer],
                         &c->columns[IN_B],
                         &c->summed[IN_B],
                         b->column,
                         b->columns,
                         from,
                         depth,
                         TILE_COLUMNS,
                         w->b,
                         sizes ? w->b_size : NULL};
    contract_pack(&pa, w->row);
    contract_pack(&pb, w->row);
    for (int64_t j = 0; j < b->columns; j += TILE_COLUMNS)
        for (int64_t i = 0; i < b->rows; i += TILE_ROWS)
            tile_sum(w->a + i * depth, w->b + j * depth, depth, &w->sum[i][j]);
    for (int64_t j = 0; sizes && j < b->columns; j += 2 * TILE_COLUMNS)
        for (int64_t i = 0; i < b->rows; i += TILE_ROWS) {
            bool two = j + TILE_COLUMNS < b->columns;
            const float *at = w->b_size + j * depth, *next = two ? at + TILE_COLUMNS * depth : at;
            tile_sizes(w->a_size + i * depth, at, next, depth, &w->size[i][j],
                       two ? &w->size[i][j + TILE_COLUMNS] : NULL);
        }
}

/* --- A blend over tiles is a running average: the average so far counts 1 - (the sum of this tile's
 * weights), with an error of so many roundings of 1 + (the sum of their sizes). --- */

/* Sets the factor of the average so far, and its absolute terms; 1 for other sums. */
static void blend_left(const struct evaluation *e, int64_t at, int64_t count, double *left, double *size)
{
    int64_t last = -1;
    int64_t run = e->vars > e->kept_vars ? e->extent[e->vars - 1] : 1;
    int64_t step = e->vars > e->kept_vars ? e->step[0][e->vars - 1] : 0;
    for (int64_t j = 0; j < count; j++) {
        left[j] = size[j] = 1;
        if (e->op->kind->id != LX_KIND_BLEND) continue;
        /* Begin of the weights of the element's row. */
        int64_t row = 0;
        for (int64_t k = e->kept_vars - 1, rest = at + j; k >= 0; k--) {
            row += rest % e->extent[k] * e->step[0][k];
            rest /= e->extent[k];
        }
        if (row == last) {
            left[j] = left[j - 1];
            size[j] = size[j - 1];
            continue;
        }
        last = row;
        for (int64_t n = 0; n < e->terms; n += run) {
            int64_t term = row;
            for (int64_t k = e->vars - 1, rest = n; k >= e->kept_vars; k--) {
                term += rest % e->extent[k] * e->step[0][k];
                rest /= e->extent[k];
            }
            for (int64_t i = 0; i < run; i += JUDGED_MOST) {
                double weight[JUDGED_MOST];
                int64_t some = run - i < JUDGED_MOST ? run - i : JUDGED_MOST;
                operand_row(&e->in[0], term + i * step, step, some, weight);
                for (int64_t k = 0; k < some; k++) left[j] -= weight[k], size[j] += fabs(weight[k]);
            }
        }
    }
}

/* In a sum over tiles the earlier tiles' sum is one more term; in a blend, times the rest that the weights
 * leave. */
static void add_before(const struct evaluation *e, int64_t at, int64_t count, double *value, double *absolute)
{
    double before[COLUMNS], left[COLUMNS], size[COLUMNS];
    if (!e->before.items) return;
    operand_row(&e->before, at, 1, count, before);
    blend_left(e, at, count, left, size);
    for (int64_t j = 0; j < count; j++) {
        value[j] += before[j] * left[j];
        absolute[j] += fabs(before[j]) * size[j];
    }
}

static void contract_hand_over(const struct contraction *c, const struct block *b, struct workspace *w,
                               int64_t i, int worker)
{
    const struct evaluation *e = c->e;
    int64_t at = c->outer[IN_OUT].offset[b->outer] + c->rows[IN_OUT].offset[b->row + i] +
                 c->columns[IN_OUT].offset[b->column];
    for (int64_t j = 0; e->bounded && j < b->columns; j++) {
        double *size = &w->size[i][j];
        if (!(*size <= DBL_MAX) && fabs(w->sum[i][j]) <= DBL_MAX) {
            /* Absolute terms that left the range of fp32 are summed once more in fp64. */
            double sum = 0;
            for (int64_t k = 0; k < c->summed[IN_A].count; k++) {
                double x, y;
                operand_row(&c->a,
                            c->outer[IN_A].offset[b->outer] + c->rows[IN_A].offset[b->row + i] +
                                c->summed[IN_A].offset[k],
                            1, 1, &x);
                operand_row(&c->b,
                            c->outer[IN_B].offset[b->outer] + c->columns[IN_B].offset[b->column + j] +
                                c->summed[IN_B].offset[k],
                            1, 1, &y);
                sum += fabs(x * y);
            }
            *size = sum;
        }
        *size = *size * ABSOLUTE_ROUNDED + (double)e->terms * 0x1p-149;
    }
    add_before(e, at, b->columns, w->sum[i], w->size[i]);
    for (int64_t j = 0; e->bounded && j < b->columns; j++)
        w->slack[j] = slack_of_sum(e, w->size[i][j], w->sum[i][j]);
    e->take(e->context, worker, at,
            &(struct expected){.count = b->columns,
                               .value = w->sum[i],
                               .slack = e->bounded ? w->slack : NULL,
                               .peak = e->bounded ? w->size[i] : NULL,
                               .signless = true});
}

static void block_task(void *context, int64_t task, int worker)
{
    struct contraction *c = context;
    if (!c->space[worker]) c->space[worker] = mem_alloc(sizeof **c->space);
    struct workspace *w = c->space[worker];
    struct block b = {.outer = task / (c->row_blocks * c->column_blocks),
                      .row = task / c->column_blocks % c->row_blocks * ROWS,
                      .column = task % c->column_blocks * COLUMNS};
    b.rows = min_i64(c->rows[IN_A].count - b.row, ROWS);
    b.columns = min_i64(c->columns[IN_A].count - b.column, COLUMNS);
    memset(w->sum, 0, sizeof w->sum);
    memset(w->size, 0, sizeof w->size);
    for (int64_t k = 0; k < c->summed[IN_A].count; k += DEPTH) {
        if (cancel_requested()) return;
        add_depth(c, &b, w, k, c->e->bounded);
    }
    for (int64_t i = 0; i < b.rows; i++) contract_hand_over(c, &b, w, i, worker);
}

/* ---- dots: neither rows nor columns ---- */

static void dot_task(void *context, int64_t task, int worker)
{
    struct contraction *c = context;
    const struct evaluation *e = c->e;
    double value[COLUMNS], absolute[COLUMNS], slack[COLUMNS];
    int64_t from = task * COLUMNS, count = min_i64(c->outer[IN_A].count - from, COLUMNS);
    for (int64_t i = 0; i < count; i++) {
        int64_t sums = c->summed[IN_A].count;
        value[i] = absolute[i] = 0;
        for (int64_t k = 0; k < sums; k += DEPTH) {
            double a[DEPTH], b[DEPTH];
            int64_t n = min_i64(sums - k, DEPTH);
            contract_fetch(&c->a, c->outer[IN_A].offset[from + i], &c->summed[IN_A], k, n, a);
            contract_fetch(&c->b, c->outer[IN_B].offset[from + i], &c->summed[IN_B], k, n, b);
            for (int64_t j = 0; j < n; j++) {
                value[i] += a[j] * b[j];
                absolute[i] += fabs(a[j] * b[j]);
            }
        }
    }
    add_before(e, from, count, value, absolute);
    for (int64_t i = 0; i < count; i++) slack[i] = slack_of_sum(e, absolute[i], value[i]);
    e->take(e->context, worker, from,
            &(struct expected){.count = count,
                               .value = value,
                               .slack = e->bounded ? slack : NULL,
                               .peak = absolute,
                               .signless = true});
}

void evaluate_contraction(struct evaluation *e, struct pool *pool)
{
    struct contraction c = {.e = e};
    int last = e->kept_vars - 1, workers = pool_threads(pool);
    /* Columns belong to the operand that alone has the output's last variable. */
    int a = last >= 0 && e->step[1][last] == 0 && e->step[0][last] != 0 ? 1 : 0;
    c.a = e->in[a];
    c.b = e->in[1 - a];
    c.space = mem_zeroed((size_t)workers, sizeof *c.space);
    divide_variables(&c, a);
    if (c.rows[IN_A].count == 1 && c.columns[IN_A].count == 1)
        pool_run(pool, (c.outer[IN_A].count + COLUMNS - 1) / COLUMNS, dot_task, &c);
    else {
        c.row_blocks = (c.rows[IN_A].count + ROWS - 1) / ROWS;
        c.column_blocks = (c.columns[IN_A].count + COLUMNS - 1) / COLUMNS;
        pool_run(pool, c.outer[IN_A].count * c.row_blocks * c.column_blocks, block_task, &c);
    }
    struct walk *all[] = {c.rows, c.columns, c.outer, c.summed};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < PLACES; k++) mem_free(all[i][k].offset);
    for (int i = 0; i < workers; i++) mem_free(c.space[i]);
    mem_free(c.space);
}
