/* Runs a plan from its inputs to its outputs, tick by tick, and makes the result. */
#include "graph/online.h"
#include "base/slot.h"
#include "device/execute/arith.h"
#include "device/verify.h"
#include "device/reference/reference.h"

const char *lx_verify_word(enum lx_verify v)
{
    static const char *const words[] = {"full", "ops", "outputs", "none"};
    return (unsigned)v < LX_VERIFY_COUNT ? words[v] : "unknown";
}

struct lx_execution {
    struct machine m;
    struct lx_device_options how;
    struct cancel token; /* cancelled when `how.stop` returns true */
    double polled;       /* time of the last call of `how.stop` */
    const struct lx_reference *reference;
    struct lx_reference *own;
    struct verifier verifier;
    struct lx_output_run *outputs;
    struct lx_run_result *r;
    struct lx_op_run *ops;
    struct lx_counters *by_core;
    int64_t *in_use; /* per op and core, or NULL */
    void *items;     /* room for the largest tensor to read back */
    double start;
    int32_t bundle;  /* of the tick, or the next one */
    bool judges_all; /* every op is judged */
};

enum { MOST_SHIFT = 37 }; /* an executed graph's tensors have at most 2^37 bytes together */

/* Every tensor is held in full, with its comparison: the error names the largest. `all`: checks against 2^37
 * bytes, however much memory there is; else against 2^30. */
static bool run_has_room(const struct lx_graph *g, bool all, lx_status *st)
{
    const struct lx_tensor *largest = NULL;
    int64_t sum = 0, most = (int64_t)1 << (all ? MOST_SHIFT : 30);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        sum += min_i64(g->tensors[t].bytes, most);
        sum = min_i64(sum, most + 1);
        if (!largest || g->tensors[t].bytes > largest->bytes) largest = &g->tensors[t];
    }
    if (sum <= most) return true;
    return status_set_at(st, LX_E_LIMIT, g->file, largest->line, largest->column,
                         "no memory to execute this: %.60s alone has %lld bytes, and every tensor is held in "
                         "full; plan and check need none of it, or take smaller extents",
                         largest->name, (long long)largest->bytes);
}

/* Calls the caller's stop function between tasks; tasks may end thousands of times a millisecond, so at most
 * POLLS_A_SECOND times a second. */
static void run_poll(void *context)
{
    enum { POLLS_A_SECOND = 200 };
    struct lx_execution *u = context;
    double now = clock_seconds();
    if (!u->how.stop || (now - u->polled) * POLLS_A_SECOND < 1) return;
    u->polled = now;
    if (u->how.stop(u->how.context)) atomic_store(&u->token.requested, true);
}

static void run_enter(struct lx_execution *u)
{
    cancel_begin(&u->token, 0);
    u->polled = clock_seconds();
    if (u->how.stop && u->how.stop(u->how.context)) atomic_store(&u->token.requested, true);
}

/* False: cancelled since run_enter. */
static bool run_leave(struct lx_execution *u, lx_status *st)
{
    bool cancelled = cancel_requested();
    cancel_end(&u->token);
    return !cancelled ||
           status_set(st, LX_E_STOPPED, "stopped at op %d of %d", (int)u->m.tick, (int)u->m.graph->op_count);
}

static bool run_make_result(struct lx_execution *u, const struct lx_plan *p, lx_status *st)
{
    size_t ops = (size_t)p->layouts->graph->op_count, cores = (size_t)p->divisions->cores;
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    u->r = mem_zeroed(1, sizeof *u->r);
    *u->r = (struct lx_run_result){.op_count = (int32_t)ops,
                                   .cores = p->divisions->cores,
                                   .worst_op = -1,
                                   .device_us = p->figures.device_us,
                                   .end_to_end_us = p->figures.end_to_end_us,
                                   .memory = memory};
    u->m.plan = p;
    u->m.graph = p->layouts->graph;
    u->m.memory = memory;
    u->m.threads = u->how.threads > 0 ? u->how.threads : 1;
    u->r->ops = u->ops = arena_array(memory, ops, sizeof *u->ops);
    u->r->by_core = u->by_core = arena_array(memory, ops * cores, sizeof *u->by_core);
    u->m.transfer_bytes = arena_array(memory, (size_t)p->transfer_count, sizeof *u->m.transfer_bytes);
    u->r->transfer_bytes = u->m.transfer_bytes;
    u->r->outputs = u->outputs =
        arena_array(memory, (size_t)p->layouts->graph->tensor_count + 1, sizeof *u->outputs);
    if (u->how.in_use) u->r->lx_in_use = u->in_use = arena_array(memory, ops * cores, sizeof *u->in_use);
    u->m.pool = pool_create(u->m.threads);
    pool_on_poll(u->m.pool, run_poll, u);
    if (!machine_make(&u->m, st)) return false;
    verifier_make(&u->m, &u->verifier);
    return true;
}

static void run_report(struct lx_execution *u, enum lx_run_part part, int64_t done, int64_t of)
{
    struct lx_run_progress p = {.part = part, .done = done, .of = of};
    const struct lx_nest *n = part == LX_RUN_OPS ? u->m.at.nest : NULL;
    if (n) p.iteration = u->m.at.number, p.iterations = nest_iterations(n);
    if (u->how.progress) u->how.progress(u->how.context, &p);
}

static void run_reference_report(void *context, int64_t done, int64_t ops)
{
    run_report(context, LX_RUN_REFERENCE, done, ops);
}

/* The reference; none where data or extern ops are the caller's own. */
static bool get_reference(struct lx_execution *u, const struct lx_plan *p, lx_status *st)
{
    const struct lx_graph *from = p->graph->came_from ? p->graph->came_from : p->graph;
    u->reference = u->how.reference;
    if (u->reference &&
        (u->reference->program.identity != program_identity(from) || u->reference->seed != u->how.seed))
        return status_set(st, LX_E_MISMATCH, "the reference is of another pattern or seed");
    bool wanted = u->how.verify == LX_VERIFY_FULL || u->how.verify == LX_VERIFY_OUTPUTS;
    if (u->reference || !wanted || u->how.input || u->how.host_op || u->how.argument_count) return true;
    u->own = reference_make(p->graph, u->how.seed, u->m.pool, run_reference_report, u, st);
    u->reference = u->own;
    return u->own != NULL;
}

static void put_inputs(struct lx_execution *u)
{
    struct machine *m = &u->m;
    int64_t done = 0, all = 0;
    for (int32_t t = 0; t < m->graph->tensor_count; t++)
        if (lx_role_arrives(m->graph->tensors[t].role) && m->first_op[t] < m->graph->op_count)
            all += items_bytes(m, t);
    for (int32_t t = 0; t < m->graph->tensor_count; t++) {
        enum lx_role role = m->graph->tensors[t].role;
        int32_t origin = m->plan->layouts->origin[t];
        if (!lx_role_arrives(role) || m->first_op[t] >= m->graph->op_count) continue;
        void *items = u->judges_all ? verify_room(m, &u->verifier, t) : u->items;
        if (pool_cancelled(m->pool)) return;
        run_report(u, LX_RUN_INPUTS, done, all);
        done += items_bytes(m, t);
        int32_t own = graph_origin_tensor(m->plan->graph, origin);
        if (u->how.input)
            u->how.input(u->how.context, own, items);
        else
            data_fill(m->plan->graph, origin, u->how.seed, m->pool, items, layout_items(&m->layouts[t]));
        data_argument(&u->how, own, m->graph->tensors[t].dtype, items);
        machine_put_input(m, t, items);
    }
}

static void verify_outputs(struct lx_execution *u)
{
    struct machine *m = &u->m;
    uint64_t hash = HASH_START;
    m->tick = m->graph->op_count;
    m->at = iteration_at(m->plan, m->tick);
    for (int32_t t = 0; t < m->graph->tensor_count; t++) {
        if (!lx_role_leaves(m->graph->tensors[t].role)) continue;
        int32_t writer = m->graph->op_count - 1; /* the last op that writes it */
        while (writer >= 0 && op_operand_made(&m->graph->ops[writer], t) < 0) writer--;
        if (writer < 0) continue;
        if (pool_cancelled(m->pool)) return;
        if (!read_hbm(m, t, u->items)) continue;
        hash = hash_bytes(hash, u->items, (size_t)items_bytes(m, t));
        if (u->how.output)
            u->how.output(u->how.context, graph_origin_tensor(m->plan->graph, m->plan->layouts->origin[t]),
                          u->items);
        /* The store of an output must keep its bits; its error from end to end is only reported. */
        int32_t origin = m->plan->layouts->origin[t];
        struct lx_output_run *out = &u->outputs[u->r->output_count++];
        *out = (struct lx_output_run){.tensor = origin};
        u->ops[writer].altered += verify_altered(m, &u->verifier, t, u->items);
        if (u->reference)
            out->known = reference_distance(u->reference, m->plan->graph->tensors[origin].name,
                                            m->layouts[t].dtype, u->items, &out->error, &out->largest);
        u->r->unknown_outputs += u->reference && !out->known;
        out->relative = out->error > 0 ? out->error / (out->largest > 0 ? out->largest : 1) : 0;
    }
    u->r->output_hash = hash;
}

int32_t lx_device_next(const struct lx_execution *u)
{
    return u->m.tick;
}

/* The op of the tick with its transfers. A tick that is cancelled half-way leaves garbage: nothing reads it,
 * the run ends. */
static void run_tick(struct lx_execution *u)
{
    struct machine *m = &u->m;
    const struct lx_plan *p = m->plan;
    const struct lx_op *o = machine_op(m);
    struct lx_op_run *op = &u->ops[m->tick];
    bool judged = u->judges_all;
    for (int i = 0; u->how.verify == LX_VERIFY_OUTPUTS && i < o->output_count; i++)
        judged |= lx_role_leaves(m->graph->tensors[o->outputs[i]].role);
    /* The scratchpads are wiped before a bundle, unless it is the first or behind a non-terminal one. A nest
     * inside one bundle begins it once, any other with each iteration. */
    while (u->bundle < p->bundle_count && p->bundles[u->bundle].first < m->tick) u->bundle++;
    int32_t b = u->bundle;
    const struct lx_nest *n = m->at.nest;
    bool begins = b < p->bundle_count && p->bundles[b].first == m->tick, again = n && m->at.number > 0;
    bool spans = n && b + begins < p->bundle_count && p->bundles[b + begins].first <= n->last;
    if (again && m->tick == n->first ? spans : begins && m->tick > 0) skews_meet(m);
    skews_meet_at_tick(m);
    bool spared = b > 0 && p->bundles[b - 1].non_terminal && !(again && m->tick == n->first);
    if (begins && !spared && (again ? n->last >= p->bundles[b].first + p->bundles[b].count : m->tick > 0))
        machine_wipe(m);
    execute_prepare(m);
    move_transfers(m, false);
    issue_transfers(m);
    if (judged && !pool_cancelled(m->pool)) verify_before(m, &u->verifier, op);
    m->before = m->access;
    if (pool_cancelled(m->pool)) return;
    execute_op(m);
    if (judged && !pool_cancelled(m->pool)) verify_after(m, &u->verifier, op, u->items);
    if (pool_cancelled(m->pool)) return;
    if (u->in_use && iteration_inner_last(&m->at, 0))
        shadow_in_use(m, &u->in_use[(int64_t)m->tick * m->cores]);
    move_transfers(m, true);
}

bool lx_device_tick(struct lx_execution *u, lx_status *st)
{
    struct machine *m = &u->m;
    struct arena scratch = {0};
    run_enter(u);
    m->scratch = &scratch;
    m->counted = &u->by_core[(int64_t)m->tick * m->cores];
    if (!cancel_requested()) run_tick(u);
    arena_free(&scratch);
    m->scratch = NULL;
    if (!run_leave(u, st)) return false;
    if (m->failed) {
        if (st) *st = m->failure;
        return false;
    }
    /* Steps to the next op, or to the first of the next iteration. */
    const struct lx_nest *n = m->at.nest;
    if (n && m->tick == n->last && iteration_next(&m->at)) {
        m->tick = n->first;
        m->round++;
        u->bundle = 0;
    } else if (m->tick++, !n || m->tick > n->last)
        m->at = iteration_at(m->plan, m->tick);
    n = m->at.nest;
    int32_t done = m->tick;
    if (n) /* in a nest, a share of its ops is done */
        done = n->first +
               (int32_t)((m->at.number * (n->last - n->first + 1) + m->tick - n->first) / nest_iterations(n));
    run_report(u, LX_RUN_OPS, done, m->graph->op_count);
    return true;
}

struct lx_execution *lx_device_begin(const struct lx_plan *p, const struct lx_device_options *how,
                                     lx_status *st)
{
    if (!p->layouts || !p->divisions || !p->stays || !p->accesses || !p->access_at || !p->hbm_address) {
        status_set(st, LX_E_UNSUPPORTED,
                   "%s is a bare list of buffers: there is nothing to execute; a pattern with ops can be run",
                   p->graph->name ? p->graph->name : "the pattern");
        return NULL;
    }
    if (!arith_known(p->layouts->graph, st) || !run_has_room(p->graph, true, st)) return NULL;
    struct lx_execution *u = mem_zeroed(1, sizeof *u);
    if (how) u->how = *how;
    u->judges_all = u->how.verify == LX_VERIFY_FULL || u->how.verify == LX_VERIFY_OPS;
    u->start = clock_seconds();
    u->m.host = (struct machine_host){u->how.host_op, u->how.made, u->how.context};
    run_enter(u);
    bool ok = run_make_result(u, p, st) && get_reference(u, p, st);
    if (ok) {
        /* Kept inputs have room of their own. */
        int64_t most = 8;
        for (int32_t t = 0; t < u->m.graph->tensor_count; t++) {
            enum lx_role role = u->m.graph->tensors[t].role;
            if (u->judges_all && lx_role_arrives(role) && !lx_role_leaves(role)) continue;
            int64_t bytes = items_bytes(&u->m, t);
            most = bytes > most ? bytes : most;
        }
        u->items = mem_zeroed((size_t)most / 8 + 1, 8);
        machine_reserve(&u->m);
        skews_begin(&u->m, u->how.skew);
        put_inputs(u);
        u->m.at = iteration_at(p, 0);
    }
    bool goes_on = run_leave(u, ok ? st : NULL);
    if (ok && goes_on) return u;
    lx_device_abandon(u);
    if (st && st->code == LX_E_MEMORY) run_has_room(p->graph, false, st);
    return NULL;
}

struct lx_run_result *lx_device_end(struct lx_execution *u, lx_status *st)
{
    struct machine *m = &u->m;
    struct arena scratch = {0};
    run_enter(u);
    m->scratch = &scratch;
    m->counted = NULL;
    verify_outputs(u);
    arena_free(&scratch);
    m->scratch = NULL;
    struct lx_run_result *r = run_leave(u, st) ? u->r : NULL;
    if (r) {
        r->faults = arena_copy_array(r->memory, m->faults.at, m->faults.count, sizeof *m->faults.at);
        r->fault_count = m->fault_count;
        r->height_bytes = m->height;
        judge(m->plan, r, u->ops);
        r->seconds = clock_seconds() - u->start;
        u->r = NULL;
    }
    lx_device_abandon(u);
    return r;
}

void lx_device_abandon(struct lx_execution *u)
{
    if (!u) return;
    pool_destroy(u->m.pool);
    if (u->m.graph) verifier_free(&u->m, &u->verifier);
    machine_free(&u->m);
    lx_reference_free(u->own);
    mem_free(u->items);
    lx_run_result_free(u->r);
    mem_free(u);
}

static struct lx_run_result *run_here(const struct lx_plan *p, const struct lx_device_options *how,
                                      lx_status *st)
{
    struct lx_execution *u = lx_device_begin(p, how, st);
    bool ok = u != NULL;
    while (ok && lx_device_next(u) < u->m.graph->op_count) ok = lx_device_tick(u, st);
    if (ok) return lx_device_end(u, st);
    lx_device_abandon(u);
    return NULL;
}

/* A run that can be stopped has a worker, so that the caller does not wait for a large op to end. The worker
 * owns the job, except `asked`, which only the waiting thread reads. */
struct run_job {
    const struct lx_plan *plan;
    struct lx_device_options how;
    const struct lx_device_options *asked;
    struct lx_run_progress so_far; /* of a report */
};

static bool run_job_stop(void *context)
{
    (void)context;
    return cancel_requested();
}

static void run_job_report(void *argument)
{
    const struct run_job *job = argument;
    job->asked->progress(job->asked->context, &job->so_far);
}

static void run_job_progress(void *context, const struct lx_run_progress *so_far)
{
    struct run_job *job = context;
    job->so_far = *so_far;
    slot_call(run_job_report, job);
}

static void *run_job_make(void *argument, lx_status *st)
{
    const struct run_job *job = argument;
    return run_here(job->plan, &job->how, st);
}

static void run_job_drop(void *result)
{
    lx_run_result_free(result);
}

static void run_job_end(void *argument)
{
    OWNED struct run_job *job = argument;
    lx_plan_free(job->plan);
}

struct lx_run_result *lx_device_run(const struct lx_plan *p, const struct lx_device_options *how,
                                    lx_status *st)
{
    /* A worker that is left behind must not touch the caller's data. */
    bool alone =
        how && !how->input && !how->output && !how->host_op && !how->reference && !how->argument_count;
    if (!alone || !how->stop || slot_is_here()) return run_here(p, how, st);
    struct run_job *job = mem_alloc(sizeof *job);
    *job = (struct run_job){.plan = lx_plan_ref(p), .how = *how, .asked = how};
    job->how.stop = run_job_stop;
    job->how.context = job;
    if (how->progress) job->how.progress = run_job_progress;
    struct slot_work work = {run_job_make, run_job_drop, run_job_end, job, how->stop, how->context, 0};
    return slot_run(&work, st);
}

void lx_run_result_free(struct lx_run_result *r)
{
    if (!r) return;
    if (r->memory) arena_free(r->memory);
    mem_free(r->memory);
    mem_free(r);
}
