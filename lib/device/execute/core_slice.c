/* The slice of one core: operands are packed into dense fp32 arrays, chunk by chunk, and handed to the leaf
 * of the op's class. Chunks cut variables of the output only, so that every sum is made in one piece. */
#include "device/execute/execute.h"
#include "base/checked.h"
#include "device/memory/pack.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_FLOATS = 1 << 22 }; /* 16 MiB of packed operands */

static leaf_function *const leaves[] = {[CLASS_POINTWISE] = leaf_pointwise,
                                        [CLASS_REDUCTION] = leaf_reduction,
                                        [CLASS_CONTRACTION] = leaf_contraction};

static int64_t width(const struct slice *s, int v)
{
    return s->to[v] - s->from[v];
}

static int64_t floats_of(const struct op_work *w, const struct slice *s, int operand)
{
    int64_t n = 1;
    for (int h = 0; h < w->x.rank[operand]; h++) n *= width(s, w->x.var[operand][h]);
    return n;
}

/* Both operands of a contraction have it, and the output. */
static bool is_batch(const struct op_work *w, int v)
{
    const struct op_index *x = &w->x;
    return w->class == CLASS_CONTRACTION && !op_index_reduced(x, v) && op_index_dim(x, 0, v) >= 0 &&
           op_index_dim(x, 1, v) >= 0;
}

/* The order of an operand's variables in its dense array: `last` ones innermost. A contraction wants those of
 * the sum inside for its first operand; a reduction too; else the order of the output. */
static void dense_strides(const struct op_work *w, const struct slice *s, int operand, int64_t *by_var)
{
    const struct op_index *x = &w->x;
    int order[LX_MAX_VARS], n = 0, out = x->operand_count - 1;
    bool sums_inside = true;
    if (w->class == CLASS_CONTRACTION && operand == 1) {
        /* The second operand as its sticks run, so that packing copies runs. */
        const struct lx_layout *l = &w->m->layouts[op_operand(w->op, operand)];
        sums_inside = l->stick_dim >= 0 && op_index_reduced(x, x->var[operand][l->stick_dim]);
    }
    /* Batch variables come first, in both operands of a contraction. */
    for (int pass = 0; pass < 2; pass++)
        for (int h = 0; h < x->rank[out]; h++)
            if (is_batch(w, x->var[out][h]) == (pass == 0)) order[n++] = x->var[out][h];
    int kept = n, batches = 0;
    for (int i = 0; i < kept; i++) batches += is_batch(w, order[i]);
    for (int v = 0; v < x->var_count; v++)
        if (op_index_reduced(x, v)) order[n++] = v;
    if (!sums_inside) { /* rotate: batches, sums, the rest */
        int turned[LX_MAX_VARS], k = 0;
        for (int i = 0; i < batches; i++) turned[k++] = order[i];
        for (int i = kept; i < n; i++) turned[k++] = order[i];
        for (int i = batches; i < kept; i++) turned[k++] = order[i];
        memcpy(order, turned, (size_t)n * sizeof *order);
    }
    int64_t stride = 1;
    for (int v = 0; v < x->var_count; v++) by_var[v] = 0;
    for (int i = n - 1; i >= 0; i--) {
        if (op_index_dim(x, operand, order[i]) < 0) continue;
        by_var[order[i]] = stride;
        stride *= width(s, order[i]);
    }
}

static bool pack_input(struct chunk *c, int i, struct arena *memory)
{
    struct op_work *w = c->w;
    const struct lx_layout *l = &w->m->layouts[op_operand(w->op, i)];
    int64_t count = floats_of(w, &c->slice, i);
    struct region r;
    dense_strides(w, &c->slice, i, c->var_stride[i]);
    c->operand[i] = malloc((size_t)max_i64(count, 1) * sizeof **c->operand);
    if (!c->operand[i]) return false;
    if (!c->core->usable[i]) {
        memset(c->operand[i], 0, (size_t)count * sizeof **c->operand);
        return true;
    }
    const struct place *p = &c->core->place[i];
    int64_t strides[LX_MAX_RANK];
    for (int h = 0; h < l->host_rank; h++) strides[h] = c->var_stride[i][(int)w->x.var[i][h]];
    if (!region_make(l, &p->box, &w->x, i, &c->slice, memory, &r)) return false;
    pack_gather(l, &r, p->in->bytes + p->address, c->operand[i], strides);
    return true;
}

/* Of what has been computed: each core counts its own. */
static void count_flops(struct op_work *w, const struct core_work *core, const struct slice *s)
{
    int64_t n = w->class == CLASS_CONTRACTION ? 2 : 1;
    for (int v = 0; v < w->x.var_count; v++) n *= max_i64(width(s, v), 0);
    if (!w->arith->moves) w->m->counted[core - w->core].flops += n;
}

static bool compute_chunk(struct op_work *w, const struct core_work *core, const struct slice *s)
{
    float *operands[LX_MAX_INPUTS] = {0};
    struct chunk *c = calloc(1, sizeof *c);
    struct arena memory = {0};
    bool ok = c != NULL;
    if (ok) *c = (struct chunk){.w = w, .core = core, .slice = *s, .to = core->out, .operand = operands};
    int out = w->operands - 1;
    for (int h = 0; ok && h < w->x.rank[out]; h++) {
        int v = w->x.var[out][h];
        c->to += (s->from[v] - core->slice.from[v]) * core->out_strides[h];
    }
    for (int i = 0; ok && i < w->op->input_count; i++) ok = pack_input(c, i, &memory);
    ok = ok && leaves[w->class](c);
    if (ok) count_flops(w, core, s);
    for (int i = 0; i < w->op->input_count; i++) free(operands[i]);
    arena_free(&memory);
    free(c);
    return ok;
}

/* Halves the widest variable of the output until the operands fit. */
static bool compute_slice(struct op_work *w, const struct core_work *core, const struct slice *s)
{
    int64_t floats = 0;
    int widest = -1;
    for (int i = 0; i < w->op->input_count; i++) floats += floats_of(w, s, i);
    for (int v = 0; v < w->x.var_count; v++)
        if (!op_index_reduced(&w->x, v) && width(s, v) > 1 && (widest < 0 || width(s, v) > width(s, widest)))
            widest = v;
    if (floats <= CHUNK_FLOATS || widest < 0) return compute_chunk(w, core, s);
    struct slice low = *s, high = *s;
    low.to[widest] = high.from[widest] = s->from[widest] + width(s, widest) / 2;
    return compute_slice(w, core, &low) && compute_slice(w, core, &high);
}

void compute_core(struct op_work *w, int64_t core)
{
    struct core_work *c = &w->core[core];
    int64_t n = 1;
    for (int h = w->x.rank[w->operands - 1] - 1; h >= 0; h--) {
        c->out_strides[h] = n;
        n *= max_i64(width(&c->slice, w->x.var[w->operands - 1][h]), 0);
    }
    c->out_count = n;
    c->out = malloc((size_t)max_i64(n, 1) * sizeof *c->out);
    bool ok = c->out != NULL;
    if (ok && c->idle) /* a core of a split sum without a share has nothing to add */
        for (int64_t i = 0; i < n; i++) c->out[i] = w->arith->sum ? w->arith->sum->neutral : 0;
    else if (ok)
        ok = compute_slice(w, c, &c->slice);
    if (!ok) __atomic_store_n(&w->no_memory, true, __ATOMIC_RELAXED);
}
