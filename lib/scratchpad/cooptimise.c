/* From a divided graph to the joint problem and back.
 *
 * Every tensor is a buffer, every op an op at its own tick. What a tensor costs off chip is its device bytes
 * for every appearance as an operand. A cloned input is loaded once, by its first reader; an output that is
 * produced on chip is stored once, by its last writer.
 *
 * For traffic, tolls are bytes times a power of two so large that all predicted times together stay below it:
 * traffic first, then time. Times are halved as often as that needs. */
#include "scratchpad/cooptimise.h"
#include "base/checked.h"
#include "base/fail.h"
#include "layout/op_index.h"
#include "scratchpad/cooptimise_menu.h"

#include <stdlib.h>
#include <string.h>

/* All tolls and times of a problem together stay below this. */
static const int64_t most_cost = (int64_t)1 << 59;

static const char *const mode_words[] = {
    [LX_JOINT_SEED] = "off", [LX_JOINT_FLIP] = "flip", [LX_JOINT_FULL] = "full"};

const char *lx_joint_mode_word(enum lx_joint_mode m)
{
    return (unsigned)m < sizeof mode_words / sizeof *mode_words ? mode_words[m] : "unknown";
}

int lx_joint_mode_find(const char *word)
{
    for (int i = 0; i < (int)(sizeof mode_words / sizeof *mode_words); i++)
        if (strcmp(word, mode_words[i]) == 0) return i;
    return -1;
}

struct tensor_use {
    int32_t first_op, last_op, last_writer, access_count, reader_count;
    const struct lx_op *stuck; /* an op that works through memory only */
};

struct work {
    struct lx_divisions *d;
    const struct lx_graph *g;
    const struct lx_cooptimise_options *how;
    struct arena memory;
    struct tensor_use *use;
    bool *barred;
    const char **reason;
    int64_t *bytes; /* per tensor, on the device */
    struct op_menus menus;
    struct lx_joint_problem problem;
    int64_t scale; /* of a byte; 0: tolls are not used */
    int shift;     /* of picoseconds, to the right */
};

static void gather(struct work *w)
{
    for (int32_t t = 0; t < w->g->tensor_count; t++)
        w->use[t].first_op = w->use[t].last_op = w->use[t].last_writer = -1;
    for (int32_t o = 0; o < w->g->op_count; o++)
        for (int i = 0; i <= w->g->ops[o].input_count; i++) {
            const struct lx_op *op = &w->g->ops[o];
            struct tensor_use *u = &w->use[op_operand(op, i)];
            u->access_count++;
            if (i == op->input_count)
                u->last_writer = o;
            else if (u->last_op != o || u->access_count == 1)
                u->reader_count++;
            if (u->first_op < 0) u->first_op = o;
            u->last_op = o;
            if (w->d->at[o].kind != LX_DIVIDED && !u->stuck) u->stuck = op;
        }
}

/* The first reason that holds, or NULL. */
static const char *reason_of(const struct work *w, int32_t t, struct arena *memory)
{
    const struct tensor_use *u = &w->use[t];
    enum lx_role role = w->g->tensors[t].role;
    if (u->access_count == 0) return "no op uses it";
    if (u->stuck && (u->stuck->kind->traits & LX_EXTERN))
        return arena_format(memory, "op %s is extern and works on HBM only", u->stuck->name);
    if (u->stuck) return arena_format(memory, "op %s: its index map is not known", u->stuck->name);
    if (role == LX_INPUT || role == LX_WEIGHT) {
        if (!w->how->clone_inputs) return "graph input: it arrives in HBM";
        if (u->reader_count < 2) return "graph input: read once, so that a copy on chip saves nothing";
    }
    if (role == LX_OUTPUT && (!w->how->outputs_on_chip || u->reader_count == 0))
        return "graph output: it leaves through HBM";
    return NULL;
}

static bool find_reasons(struct work *w, lx_status *st)
{
    for (int32_t t = 0; t < w->g->tensor_count; t++) {
        const struct lx_layout *y = &w->d->layouts->layouts[t];
        const char *reason = reason_of(w, t, &w->memory);
        w->reason[t] = reason;
        w->barred[t] = reason != NULL;
        w->bytes[t] = y->rank > 0 ? lx_layout_bytes(y) : w->g->tensors[t].bytes;
        if (w->bytes[t] > LX_INT_MAX)
            return status_set(st, LX_E_RANGE, "tensor %s is beyond 2^53 bytes", w->g->tensors[t].name);
    }
    return true;
}

/* May `op` write its output over tensor `in`? The same bytes in the same order wherever it reads it, and the
 * tensor dies here. */
static bool in_place(const struct work *w, int32_t o, int32_t in)
{
    const struct lx_op *op = &w->g->ops[o];
    const struct lx_layout *y = w->d->layouts->layouts;
    if (!(op->kind->traits & LX_IN_PLACE) || op->reduces || !op->map || in == op->output) return false;
    if (w->use[in].last_op != o || w->use[op->output].first_op != o) return false;
    if (!lx_layout_equal(&y[in], &y[op->output])) return false;
    for (int i = 0; i < op->input_count; i++)
        if (op->inputs[i] == in &&
            (op->map->rank[i] != op->map->rank[op->input_count] ||
             memcmp(op->map->index[i], op->map->index[op->input_count], (size_t)op->map->rank[i]) != 0))
            return false;
    return true;
}

static bool add_parents(const struct work *w, struct lx_joint_buffer *buffers, struct arena *memory)
{
    for (int32_t o = 0; o < w->g->op_count; o++) {
        const struct lx_op *op = &w->g->ops[o];
        struct lx_joint_buffer *child = &buffers[op->output];
        int32_t parents[LX_MAX_INPUTS], count = 0;
        if (child->reason || w->use[op->output].first_op != o) continue;
        for (int i = 0; i < op->input_count; i++) {
            bool again = false;
            for (int32_t k = 0; k < count; k++) again |= parents[k] == op->inputs[i];
            if (!again && !buffers[op->inputs[i]].reason && in_place(w, o, op->inputs[i]))
                parents[count++] = op->inputs[i];
        }
        child->parents = arena_copy_array(memory, parents, (size_t)count, sizeof *parents);
        child->parent_count = count;
        if (!child->parents) return false;
    }
    return true;
}

static bool fill_buffers(struct work *w, struct lx_joint_buffer *buffers, lx_status *st)
{
    const struct lx_graph *g = w->g;
    struct lx_joint_access **list = calloc((size_t)g->tensor_count + 1, sizeof *list);
    bool ok = list != NULL;
    for (int32_t t = 0; ok && t < g->tensor_count; t++) {
        const struct tensor_use *u = &w->use[t];
        bool given = g->tensors[t].role == LX_INPUT || g->tensors[t].role == LX_WEIGHT;
        buffers[t] = (struct lx_joint_buffer){.name = g->tensors[t].name,
                                              .bytes = w->bytes[t],
                                              .start = u->access_count ? u->first_op : 0,
                                              .end = u->access_count ? u->last_op + 1 : 1,
                                              .first_use_is_read = given,
                                              .reason = w->reason[t]};
        list[t] = arena_array(&w->memory, (size_t)u->access_count, sizeof **list);
        buffers[t].accesses = list[t];
        ok = list[t] != NULL;
    }
    for (int32_t o = 0; ok && o < g->op_count; o++) {
        const struct op_menu *menu = &w->menus.at[w->menus.of_op[o]];
        for (int i = 0; i <= g->ops[o].input_count; i++) {
            int32_t t = op_operand(&g->ops[o], i);
            struct lx_joint_buffer *b = &buffers[t];
            bool load = b->first_use_is_read && b->access_count == 0;
            bool store =
                g->tensors[t].role == LX_OUTPUT && i == g->ops[o].input_count && w->use[t].last_writer == o;
            list[t][b->access_count++] = (struct lx_joint_access){
                .op = o,
                .always = load || store,
                .toll = w->bytes[t] * w->scale,
                .memory = &menu->memory[(int64_t)i * menu->count],
                .label = w->barred[t] ? NULL : &menu->label[(int64_t)i * menu->count]};
        }
    }
    ok = ok && add_parents(w, buffers, &w->memory);
    free(list);
    return ok || status_no_memory(st);
}

/* The power of two that a byte counts, and how much finer times must not be. */
static bool find_scale(struct work *w, lx_status *st)
{
    int64_t traffic = 1, time = 1;
    for (int32_t t = 0; t < w->g->tensor_count; t++)
        for (int32_t k = 0; k < w->use[t].access_count; k++)
            if (!add_i64(traffic, w->bytes[t], &traffic) || traffic > LX_INT_MAX)
                return status_set(st, LX_E_RANGE,
                                  "the traffic of all operands together is beyond 2^53 bytes");
    for (int32_t o = 0; o < w->g->op_count; o++) {
        const struct op_menu *m = &w->menus.at[w->menus.of_op[o]];
        int64_t most = 0;
        for (int32_t c = 0; c < m->count; c++) {
            int64_t memory = m->compute[c] + m->extra[c];
            for (int i = 0; i < m->operand_count; i++) memory += m->memory[(int64_t)i * m->count + c];
            most = max_i64(most, memory);
        }
        if (!add_i64(time, most, &time)) time = INT64_MAX;
    }
    int64_t room = most_cost;
    if (w->how->goal == LX_GOAL_TRAFFIC) {
        w->scale = 1;
        while (w->scale < (int64_t)1 << 40 && traffic <= most_cost / (w->scale * 2)) w->scale *= 2;
        room = w->scale;
    }
    while (time >> w->shift >= room) w->shift++;
    for (int32_t k = 0; w->shift > 0 && k < w->menus.count; k++) {
        struct op_menu *m = &w->menus.at[k];
        for (int32_t c = 0; c < m->count; c++) m->compute[c] >>= w->shift;
        for (int32_t c = 0; c < m->count; c++) m->extra[c] >>= w->shift;
        for (int64_t c = 0; c < (int64_t)m->count * m->operand_count; c++) m->memory[c] >>= w->shift;
    }
    return true;
}

static bool make_problem(struct work *w, lx_status *st)
{
    const struct lx_graph *g = w->g;
    size_t tensors = (size_t)g->tensor_count;
    w->use = arena_array(&w->memory, tensors, sizeof *w->use);
    w->barred = arena_array(&w->memory, tensors, sizeof *w->barred);
    w->reason = arena_array(&w->memory, tensors, sizeof *w->reason);
    w->bytes = arena_array(&w->memory, tensors, sizeof *w->bytes);
    struct lx_joint_op *ops = arena_array(&w->memory, (size_t)g->op_count, sizeof *ops);
    struct lx_joint_buffer *buffers = arena_array(&w->memory, tensors, sizeof *buffers);
    if (!w->use || !w->barred || !w->reason || !w->bytes || !ops || !buffers) return status_no_memory(st);
    gather(w);
    if (!find_reasons(w, st) ||
        !op_menus_make(w->d, w->barred, w->how->keep_pace, &w->memory, &w->menus, st) || !find_scale(w, st) ||
        !fill_buffers(w, buffers, st))
        return false;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct op_menu *m = &w->menus.at[w->menus.of_op[o]];
        ops[o] = (struct lx_joint_op){.name = g->ops[o].name,
                                      .tick = o,
                                      .choice_count = m->count,
                                      .seed = m->seed,
                                      .compute = m->compute,
                                      .extra = m->extra,
                                      .flip = m->flip};
    }
    w->problem = (struct lx_joint_problem){.capacity = w->how->capacity > 0 ? w->how->capacity
                                                                            : lx_device_usable(&g->device),
                                           .alignment = g->device.stick_bytes,
                                           .op_count = g->op_count,
                                           .buffer_count = g->tensor_count,
                                           .label_count = w->menus.label_count,
                                           .ops = ops,
                                           .buffers = buffers,
                                           .label_size = w->menus.label_size};
    return true;
}

/* Traffic and predicted time of an answer, whatever the goal was. */
static bool measure(const struct work *w, const int32_t *choice, const int64_t *address,
                    struct lx_cooptimise_figures *out)
{
    int64_t *memory = calloc((size_t)w->g->op_count + 1, sizeof *memory), time = 0;
    if (!memory) return false;
    *out = (struct lx_cooptimise_figures){0};
    for (int32_t t = 0; t < w->g->tensor_count; t++) {
        const struct lx_joint_buffer *b = &w->problem.buffers[t];
        out->on_chip += address[t] >= 0;
        for (int32_t k = 0; k < b->access_count; k++) {
            const struct lx_joint_access *a = &b->accesses[k];
            if (address[t] >= 0 && !a->always) continue;
            out->traffic_bytes += w->bytes[t];
            memory[a->op] += a->memory[choice[a->op]];
        }
    }
    for (int32_t o = 0; o < w->g->op_count; o++) {
        const struct lx_joint_op *op = &w->problem.ops[o];
        time += max_i64(op->compute[choice[o]], memory[o]) + op->extra[choice[o]];
    }
    out->time_us = (double)time * (double)((int64_t)1 << w->shift) / 1e6;
    free(memory);
    return true;
}

static bool replace_divisions(struct work *w, const int32_t *choice, int32_t *changed, lx_status *st)
{
    struct lx_divisions *d = w->d;
    double predicted = d->predicted_us;
    struct lx_division *before = arena_copy_array(&w->memory, d->at, (size_t)d->count, sizeof *d->at);
    if (!before) return status_no_memory(st);
    for (int32_t o = 0; o < w->g->op_count; o++) {
        const struct op_menu *m = &w->menus.at[w->menus.of_op[o]];
        if (choice[o] == m->seed) continue;
        if (!lx_division_replace(d, o, &m->splits[(int64_t)choice[o] * m->split_count], st)) {
            memcpy(d->at, before, (size_t)d->count * sizeof *d->at);
            d->predicted_us = predicted;
            return false;
        }
        ++*changed;
    }
    return true;
}

static bool solve(struct work *w, struct lx_cooptimised *out, lx_status *st)
{
    struct lx_joint_options how = {LX_JOINT_SEED, w->how->solver, w->how->run};
    struct lx_joint_answer seed, now;
    if (!lx_joint_solve(&w->problem, &how, &w->memory, &seed, st)) return false;
    if (!measure(w, seed.choice, seed.address, &out->seed)) return status_no_memory(st);
    how.mode = w->how->mode;
    if (how.mode == LX_JOINT_SEED)
        now = seed;
    else if (!lx_joint_solve(&w->problem, &how, &w->memory, &now, st))
        return false;
    if (!measure(w, now.choice, now.address, &out->now)) return status_no_memory(st);
    out->address = malloc(((size_t)w->g->tensor_count + 1) * sizeof *out->address);
    if (!out->address) return status_no_memory(st);
    memcpy(out->address, now.address, (size_t)w->g->tensor_count * sizeof *out->address);
    out->steps = now.steps;
    out->leaves = now.leaves;
    out->status = now.status;
    if (w->how->goal == LX_GOAL_TRAFFIC) {
        out->bound_bytes = min_i64(now.bound / w->scale, out->now.traffic_bytes);
        out->gap = lx_gap(out->now.traffic_bytes, out->bound_bytes);
        if (out->gap <= 0) out->status = LX_OPTIMAL;
    } else {
        out->bound_us = (double)now.bound * (double)((int64_t)1 << w->shift) / 1e6;
        out->gap = lx_gap(now.objective, now.bound);
    }
    return replace_divisions(w, now.choice, &out->changed, st);
}

bool lx_cooptimise(struct lx_divisions *d, const struct lx_cooptimise_options *how,
                   struct lx_cooptimised *out, lx_status *st)
{
    struct work w = {.d = d, .g = d->layouts->graph, .how = how};
    *out = (struct lx_cooptimised){.status = LX_ERROR};
    bool ok = make_problem(&w, st) && solve(&w, out, st);
    arena_free(&w.memory);
    if (!ok) lx_cooptimised_free(out);
    return ok;
}

void lx_cooptimised_free(struct lx_cooptimised *c)
{
    if (!c) return;
    free(c->address);
    *c = (struct lx_cooptimised){.status = LX_ERROR};
}
