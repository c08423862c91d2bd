/* Co-optimisation of a divided graph: its joint problem, the goals, and the divisions that reach them.
 *
 * Every tensor is a buffer and every op has its own tick. A tensor off chip costs its device bytes for every
 * appearance as an operand. A cloned input is loaded once, by its first reader; an output produced on chip is
 * stored once, by its last writer.
 *
 * Goal time is this problem. Goal traffic asks for the fewest bytes among the plans that take no longer than
 * the old divisions. First a byte costs more than all times together; if that plan is too slow, the price of
 * a byte, in picoseconds, is bisected until the plan is fast enough. Every price proves a bound: any plan
 * moves at least (bound - old time) / price bytes. The old plan is always among the candidates. */
#include "cooptimise/cooptimise.h"
#include "cooptimise/cooptimise_menu.h"

enum {
    MOST_STEPS = 8000000, /* of all searches together */
    LEAST_STEPS = 1000000,
    STEPS_AN_OP = 10000,
    PRICES = 16,   /* of a byte: BYTE_TIME times 1, 2, 4, ... picoseconds */
    BYTE_TIME = 7, /* at 150 GB/s */
    TRAFFIC_SEARCHES = 6,
};

/* Limit on the sum of all times of a problem, and on the sum of all tolls. */
static const int64_t most_cost = (int64_t)1 << 58;

/* --- The joint problem of a divided graph. --- */

struct tensor_use {
    int32_t first_op, last_op, last_writer, access_count, reader_count;
    const struct lx_op *stuck; /* first op that works on HBM only */
};

struct graph_problem {
    const struct lx_divisions *d;
    const struct lx_graph *g;
    struct arena memory;
    struct tensor_use *use;            /* per tensor */
    const char **reason;               /* per tensor: why it is never on chip, or NULL */
    int64_t *bytes;                    /* per tensor, on the device */
    struct lx_joint_access **accesses; /* per tensor: accesses of `problem`, writable */
    struct op_menus menus;
    struct lx_joint_problem problem;
    int64_t traffic;    /* bytes with everything off chip */
    int64_t grain;      /* gcd of the tensors' bytes; divides every traffic */
    int64_t worst_time; /* sum of the ops' worst times, in time units */
    int shift;          /* a time unit is 2^shift picoseconds */
};

static void cooptimise_problem_gather(struct graph_problem *w)
{
    for (int32_t t = 0; t < w->g->tensor_count; t++)
        w->use[t].first_op = w->use[t].last_op = w->use[t].last_writer = -1;
    for (int32_t o = 0; o < w->g->op_count; o++)
        for (int i = 0; i < op_operand_count(&w->g->ops[o]); i++) {
            const struct lx_op *op = &w->g->ops[o];
            struct tensor_use *u = &w->use[op_operand(op, i)];
            u->access_count++;
            if (i >= op->input_count)
                u->last_writer = o;
            else if (u->last_op != o || u->access_count == 1)
                u->reader_count++;
            if (u->first_op < 0) u->first_op = o;
            u->last_op = o;
            if (w->d->at[o].kind != LX_DIVIDED && !u->stuck) u->stuck = op;
        }
}

/* The first reason that bars tensor t from the chip, or NULL. */
static const char *cooptimise_problem_reason_of(struct graph_problem *w,
                                                const struct lx_cooptimise_options *how, int32_t t)
{
    const struct tensor_use *u = &w->use[t];
    enum lx_role role = w->g->tensors[t].role;
    if (u->access_count == 0) return "no op uses it";
    if (u->stuck && (u->stuck->kind->traits & LX_EXTERN))
        return arena_format(&w->memory, "op %s is extern and works on HBM only", u->stuck->name);
    if (u->stuck) return arena_format(&w->memory, "op %s: its index map is not known", u->stuck->name);
    if (role == LX_STATE) return "a state: its home is HBM";
    if (lx_role_arrives(role)) {
        if (!how->clone_inputs) return "graph input: it arrives in HBM";
        if (u->access_count < 2) return "graph input: read once, so that a copy on chip saves nothing";
    }
    if (lx_role_leaves(role) && (!how->outputs_on_chip || u->reader_count == 0))
        return "graph output: it leaves through HBM";
    return NULL;
}

/* True if `op` may write its output over tensor `in`: equal layouts and index maps, and `in` dies here. */
static bool in_place(const struct graph_problem *w, int32_t o, int32_t in)
{
    const struct lx_op *op = &w->g->ops[o];
    const struct lx_layout *y = w->d->layouts->layouts;
    if (!(op->kind->traits & LX_IN_PLACE) || op->reduces || !op->map || op_operand_made(op, in) >= 0)
        return false;
    if (w->use[in].last_op != o || w->use[op->output].first_op != o) return false;
    if (!lx_layout_equal(&y[in], &y[op->output]) || op->map->walks) return false;
    for (int i = 0; i < op->input_count; i++)
        if (op->inputs[i] == in &&
            (op->map->rank[i] != op->map->rank[op->input_count] ||
             memcmp(op->map->index[i], op->map->index[op->input_count], (size_t)op->map->rank[i]) != 0))
            return false;
    return true;
}

static void fill_buffers(struct graph_problem *w, struct lx_joint_buffer *buffers)
{
    const struct lx_graph *g = w->g;
    struct lx_joint_access **list = w->accesses;
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct tensor_use *u = &w->use[t];
        bool given = lx_role_arrives(g->tensors[t].role);
        buffers[t] = (struct lx_joint_buffer){.name = g->tensors[t].name,
                                              .bytes = w->bytes[t],
                                              .start = u->access_count ? u->first_op : 0,
                                              .end = u->access_count ? u->last_op + 1 : 1,
                                              .first_use_is_read = given,
                                              .reason = w->reason[t]};
        list[t] = arena_array(&w->memory, (size_t)u->access_count, sizeof **list);
        buffers[t].accesses = list[t];
    }
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct op_menu *menu = &w->menus.at[w->menus.of_op[o]];
        for (int i = 0; i < op_operand_count(&g->ops[o]); i++) {
            int32_t t = op_operand(&g->ops[o], i);
            struct lx_joint_buffer *b = &buffers[t];
            bool load = b->first_use_is_read && b->access_count == 0;
            bool store = lx_role_leaves(g->tensors[t].role) && i >= g->ops[o].input_count &&
                         w->use[t].last_writer == o;
            list[t][b->access_count++] =
                (struct lx_joint_access){.op = o,
                                         .always = load || store,
                                         .memory = &menu->memory[(int64_t)i * menu->count],
                                         .label = b->reason ? NULL : &menu->label[(int64_t)i * menu->count]};
        }
    }
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
        child->parents = arena_copy_array(&w->memory, parents, (size_t)count, sizeof *parents);
        child->parent_count = count;
    }
}

/* Sums the worst times; halves all times until the sum is below most_cost. */
static void fit_times(struct graph_problem *w)
{
    double total = 0;
    for (int32_t o = 0; o < w->g->op_count; o++) {
        const struct op_menu *m = &w->menus.at[w->menus.of_op[o]];
        int64_t most = 0;
        for (int32_t c = 0; c < m->count; c++) {
            int64_t time = m->compute[c] + m->extra[c];
            for (int i = 0; i < m->operand_count; i++) time += m->memory[(int64_t)i * m->count + c];
            most = max_i64(most, time);
        }
        total += (double)most;
    }
    for (; total >= (double)most_cost; total /= 2) w->shift++;
    w->worst_time = (int64_t)total + w->g->op_count; /* the rounding errors */
    for (int32_t k = 0; w->shift > 0 && k < w->menus.count; k++) {
        struct op_menu *m = &w->menus.at[k];
        for (int32_t c = 0; c < m->count; c++) m->compute[c] >>= w->shift;
        for (int32_t c = 0; c < m->count; c++) m->extra[c] >>= w->shift;
        for (int64_t c = 0; c < (int64_t)m->count * m->operand_count; c++) m->memory[c] >>= w->shift;
    }
}

/* Makes a problem with tolls 0: the objective is time. The caller frees w->memory, also after a failure. */
static bool graph_problem_make(struct graph_problem *w, const struct lx_divisions *d,
                               const struct lx_cooptimise_options *how, lx_status *st)
{
    const struct lx_graph *g = d->layouts->graph;
    size_t tensors = (size_t)g->tensor_count;
    *w = (struct graph_problem){.d = d, .g = g};
    w->use = arena_array(&w->memory, tensors, sizeof *w->use);
    w->reason = arena_array(&w->memory, tensors, sizeof *w->reason);
    w->bytes = arena_array(&w->memory, tensors, sizeof *w->bytes);
    w->accesses = arena_array(&w->memory, tensors, sizeof *w->accesses);
    struct lx_joint_op *ops = arena_array(&w->memory, (size_t)g->op_count, sizeof *ops);
    struct lx_joint_buffer *buffers = arena_array(&w->memory, tensors, sizeof *buffers);
    cooptimise_problem_gather(w);
    for (int32_t t = 0; t < w->g->tensor_count; t++) {
        const struct lx_layout *y = &w->d->layouts->layouts[t];
        w->reason[t] = cooptimise_problem_reason_of(w, how, t);
        w->bytes[t] = y->rank > 0 ? lx_layout_bytes(y) : w->g->tensors[t].bytes;
        if (w->bytes[t] > LX_INT_MAX)
            return status_set(st, LX_E_RANGE, "tensor %s is beyond 2^53 bytes", w->g->tensors[t].name);
        for (int32_t k = 0; k < w->use[t].access_count; k++)
            if (!add_i64(w->traffic, w->bytes[t], &w->traffic) || w->traffic > LX_INT_MAX)
                return status_set(st, LX_E_RANGE,
                                  "the traffic of all operands together is beyond 2^53 bytes");
        w->grain = gcd_i64(w->grain, w->bytes[t]);
    }
    if (!op_menus_make(d, &w->memory, &w->menus, st)) return false;

    fit_times(w);
    fill_buffers(w, buffers);
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
    w->problem = (struct lx_joint_problem){.capacity = how->capacity > 0 ? how->capacity
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

/* Traffic and predicted time of an answer; `*units`: the time in time units. */
static void graph_problem_measure(const struct graph_problem *w, const int32_t *choice,
                                  const int64_t *address, struct lx_cooptimise_figures *out, int64_t *units)
{
    int64_t *memory = mem_zeroed((size_t)w->g->op_count + 1, sizeof *memory), time = 0;
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
    *units = time;
    mem_free(memory);
}

/* --- Goals. --- */

/* A plan and its figures. */
struct outcome {
    int32_t *choice;
    int64_t *address;
    struct lx_cooptimise_figures figures;
    int64_t units; /* its time in time units */
};

struct goal_search {
    struct graph_problem w;
    const struct lx_cooptimise_options *how;
    struct outcome seed, best;
    int64_t bound; /* bytes, or time units */
    int64_t steps, leaves;
    double deadline; /* of the monotonic clock, in seconds; 0: none */
    bool flipped;    /* the published search was tried; it does not depend on prices */
    enum lx_verdict status;
};

/* Runs one joint search in which a byte costs `units_per_byte`. `*answer` has the bound of that search. */
static bool cooptimise_run_search(struct goal_search *s, enum lx_joint_mode mode, int64_t units_per_byte,
                                  int64_t steps, struct outcome *plan, struct lx_joint_answer *answer,
                                  lx_status *st)
{
    struct lx_joint_options how = {
        .mode = mode, .solver = s->how->solver, .run = s->how->run, .without_flip = s->flipped};
    how.run.work_limit = steps;
    if (s->deadline > 0) how.run.time_limit = fmax(s->deadline - clock_seconds(), 1e-3);
    s->flipped |= mode == LX_JOINT_FULL;
    for (int32_t t = 0; t < s->w.g->tensor_count; t++)
        for (int32_t k = 0; k < s->w.use[t].access_count; k++)
            s->w.accesses[t][k].toll = s->w.bytes[t] * units_per_byte;
    if (!lx_joint_search(&s->w.problem, &how, &s->w.memory, answer, st)) return false;
    plan->choice = answer->choice;
    plan->address = answer->address;
    s->steps += answer->steps;
    s->leaves += answer->leaves;
    if (answer->status == LX_LIMIT) s->status = LX_LIMIT;
    graph_problem_measure(&s->w, plan->choice, plan->address, &plan->figures, &plan->units);
    return true;
}

static void keep_if_less(struct goal_search *s, const struct outcome *plan)
{
    const struct lx_cooptimise_figures *a = &plan->figures, *b = &s->best.figures;
    if (a->traffic_bytes > b->traffic_bytes) return;
    if (a->traffic_bytes < b->traffic_bytes || plan->units < s->best.units) s->best = *plan;
}

/* Raises the byte bound: `bound` holds at this price for every plan that takes at most `time`. */
static void prove_bytes(struct goal_search *s, int64_t bound, int64_t time, int64_t units_per_byte)
{
    if (bound <= time) return;
    int64_t bytes = round_up_i64(ceil_div_i64(bound - time, units_per_byte), max_i64(s->w.grain, 1));
    s->bound = max_i64(s->bound, bytes);
}

/* A price at which a byte costs more than the times of all ops together, as far as most_cost allows. */
static int64_t top_price(const struct goal_search *s)
{
    int64_t top = 1;
    while (top < (int64_t)1 << 40 && s->w.traffic <= most_cost / (top * 2)) top *= 2;
    return top;
}

/* The steps left, divided by the number of searches that may follow. */
static int64_t next_share(const struct goal_search *s, int64_t steps, int searches)
{
    return max_i64((steps - s->steps) / max_i64(searches, 1), 1);
}

static bool traffic_search(struct goal_search *s, int64_t steps, lx_status *st)
{
    struct lx_joint_answer a;
    struct outcome plan;
    int64_t top = top_price(s);
    bool paced = !s->how->any_pace && s->how->mode == LX_JOINT_FULL;
    int64_t allowed = paced ? s->seed.units : s->w.worst_time;
    int searches = paced ? TRAFFIC_SEARCHES : 1;
    /* Time alone: gives a plan that is fast enough, and often has little traffic. */
    if (paced && !cooptimise_run_search(s, LX_JOINT_FULL, 0, next_share(s, steps, searches--), &plan, &a, st))
        return false;
    if (paced) keep_if_less(s, &plan);
    if (!cooptimise_run_search(s, s->how->mode, top, next_share(s, steps, searches--), &plan, &a, st))
        return false;
    prove_bytes(s, a.bound, allowed, top);
    if (plan.units <= allowed) return keep_if_less(s, &plan), true;
    int low = -1, high = PRICES; /* exponents of prices that gave plans fast enough, and too slow */
    while (high - low > 1 && s->best.figures.traffic_bytes > s->bound && !lx_run_stopped(&s->how->run) &&
           (s->deadline <= 0 || clock_seconds() <= s->deadline)) {
        int middle = (low + high) / 2;
        int64_t price = min_i64(max_i64(((int64_t)BYTE_TIME << middle) >> s->w.shift, 1), top);
        if (!cooptimise_run_search(s, LX_JOINT_FULL, price, next_share(s, steps, searches--), &plan, &a, st))
            return false;
        prove_bytes(s, a.bound, allowed, price);
        if (plan.units <= allowed) {
            keep_if_less(s, &plan);
            low = middle;
        } else
            high = middle;
    }
    return true;
}

static bool reach_goal(struct goal_search *s, lx_status *st)
{
    int64_t steps = min_i64(MOST_STEPS, LEAST_STEPS + (int64_t)STEPS_AN_OP * s->w.g->op_count);
    if (s->how->run.work_limit > 0) steps = s->how->run.work_limit;
    bool traffic = s->how->goal == LX_GOAL_TRAFFIC;
    struct lx_joint_answer a;
    s->status = LX_FEASIBLE;
    if (s->how->run.time_limit > 0) s->deadline = clock_seconds() + s->how->run.time_limit;
    if (!cooptimise_run_search(s, LX_JOINT_SEED, traffic ? top_price(s) : 0, steps, &s->seed, &a, st))
        return false;
    s->best = s->seed;
    if (s->how->mode != LX_JOINT_SEED && traffic) {
        if (!traffic_search(s, steps, st)) return false;
    } else if (s->how->mode != LX_JOINT_SEED) {
        struct outcome plan;
        if (!cooptimise_run_search(s, s->how->mode, 0, steps, &plan, &a, st)) return false;
        s->bound = a.bound;
        if (plan.units <= s->best.units) s->best = plan;
    }
    int64_t reached = traffic ? s->best.figures.traffic_bytes : s->best.units;
    s->bound = min_i64(s->bound, reached);
    if (s->bound == reached) s->status = LX_OPTIMAL;
    return true;
}

static bool cooptimise_report(const struct goal_search *s, struct lx_cooptimised *out, lx_status *st)
{
    struct arena *memory = out->memory;
    out->address =
        arena_copy_array(memory, s->best.address, (size_t)s->w.g->tensor_count, sizeof *out->address);
    out->seed = s->seed.figures;
    out->now = s->best.figures;
    out->status = s->status;
    out->steps = s->steps;
    out->leaves = s->leaves;
    if (s->how->goal == LX_GOAL_TRAFFIC) {
        out->bound_bytes = s->bound;
        out->gap = lx_gap(out->now.traffic_bytes, s->bound);
    } else {
        out->bound_us = (double)s->bound * (double)((int64_t)1 << s->w.shift) / 1e6;
        out->gap = lx_gap(s->best.units, s->bound);
    }
    out->divided = arena_array(memory, (size_t)s->w.d->count, sizeof *out->divided);
    for (int32_t o = 0; o < s->w.d->count; o++) {
        const struct op_menu *m = &s->w.menus.at[s->w.menus.of_op[o]];
        int64_t choice = s->best.choice[o];
        if (choice == m->seed) continue;
        struct lx_division *chosen = arena_alloc(memory, sizeof *chosen);
        out->divided[o] = chosen;
        out->changed++;
        if (!lx_division_with(s->w.d, o, &m->splits[choice * m->split_count], memory, chosen, st))
            return false;
    }
    return true;
}

bool lx_cooptimise(const struct lx_divisions *d, const struct lx_cooptimise_options *how,
                   struct lx_cooptimised *out, lx_status *st)
{
    struct goal_search s = {.how = how, .flipped = how->without_flip};
    *out = (struct lx_cooptimised){.status = LX_ERROR, .memory = mem_zeroed(1, sizeof *out->memory)};
    bool ok = graph_problem_make(&s.w, d, how, st) && reach_goal(&s, st) && cooptimise_report(&s, out, st);
    arena_free(&s.w.memory);
    if (!ok) lx_cooptimised_free(out);
    return ok;
}

void lx_cooptimised_free(struct lx_cooptimised *c)
{
    if (!c) return;
    if (c->memory) arena_free(c->memory);
    mem_free(c->memory);
    *c = (struct lx_cooptimised){.status = LX_ERROR};
}
