/* A run of a plan's program on one of the machines, judged by the judge of the simulated device. */
#include "device/memory/stick_box.h"
#include "device/reference/reference.h"
#include "gpu/machines.h"
#include "graph/online.h"

static const struct machine_kind *const kinds[] = {&machine_kind_gpu, &machine_kind_host};

enum { KINDS = sizeof kinds / sizeof *kinds };

const struct lx_machine_kind *lx_machine_kind_at(int i)
{
    return i >= 0 && i < KINDS ? &kinds[i]->is : NULL;
}

const struct machine_kind *machine_kind_find(const char *name, lx_status *st)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->is.name, name) == 0) return kinds[i];
    return status_set(st, LX_E_UNKNOWN_NAME,
                      "there is no machine \"%.40s\"; there are simulated, gpu and host", name),
           NULL;
}

bool lx_machine_there(const char *kind, char *words, size_t size, lx_status *st)
{
    const struct machine_kind *k = machine_kind_find(kind, st);
    struct machine_room room;
    return k && k->there(words, size, &room, st);
}

/* One run, while it is made and judged. */
struct program_run {
    const struct lx_plan *plan;
    const struct lx_graph *graph;
    const struct machine_kind *kind;
    const struct lx_program_options *how;
    struct emit_facts facts; /* of the program with traces */
    unsigned char *start, *hbm, *trace;
    struct lx_measured *measured;
    lx_status *st;
};

/* --- memory --- */

unsigned char *program_memory(const struct lx_plan *p, const struct lx_device_options *how)
{
    const struct lx_graph *g = p->layouts->graph;
    unsigned char *start = mem_alloc((size_t)p->segment_bytes + 1);
    struct pool *pool = pool_create(how->threads > 0 ? how->threads : 1);
    memset(start, 0xff, (size_t)p->segment_bytes);
    for (int32_t t = 0; t < g->tensor_count; t++) {
        const struct lx_layout *l = &p->layouts->layouts[t];
        if (p->hbm_address[t] < 0 || l->rank == 0) continue;
        bool arrives = lx_role_arrives(g->tensors[t].role), kept = false;
        for (int32_t o = 0; o < g->op_count; o++) kept |= g->ops[o].output == t && op_keeps(&g->ops[o]);
        if (!arrives && !kept) continue;
        int64_t count = layout_items(l), bytes = count * number_types[l->dtype].item;
        OWNED unsigned char *items = mem_zeroed((size_t)bytes / 8 + 1, 8);
        struct box whole = box_whole(l);
        SCOPED(arena_free) struct arena memory = {0};
        struct region region;
        if (arrives) data_fill(p->graph, p->layouts->origin[t], how->seed, pool, items, count);
        if (arrives)
            data_argument(how, graph_origin_tensor(p->graph, p->layouts->origin[t]), l->dtype, items);
        memset(start + p->hbm_address[t], 0, (size_t)lx_layout_bytes(l));
        region_whole(l, &whole, false, &memory, &region);
        pack_items_in(l, &region, items, start + p->hbm_address[t]);
    }
    pool_destroy(pool);
    return start;
}

/* --- the judge's questions --- */

static const void *made_elsewhere(void *context, int32_t op, int operand, const int64_t *index)
{
    const struct program_run *r = context;
    const struct emit_trace *t = &r->facts.trace[r->plan->access_at[op] + operand];
    int32_t n = nest_of_op(r->plan->nests, r->plan->nest_count, op);
    int64_t slot = 0;
    for (int k = 0; n >= 0 && k < r->plan->nests[n].level_count; k++)
        if (t->levels & level_bit(k)) slot = slot * r->plan->nests[n].tiles[k] + index[k];
    return r->trace + t->at + slot * t->bytes;
}

/* HBM must have in the end what the judge has there. */
static void output_elsewhere(void *context, int32_t tensor, const void *items)
{
    struct program_run *r = context;
    for (int32_t t = 0; t < r->graph->tensor_count; t++) {
        const struct lx_layout *l = &r->plan->layouts->layouts[t];
        bool same = graph_origin_tensor(r->plan->graph, r->plan->layouts->origin[t]) == tensor;
        if (!same || !lx_role_leaves(r->graph->tensors[t].role) || r->plan->hbm_address[t] < 0) continue;
        struct box whole = box_whole(l);
        SCOPED(arena_free) struct arena memory = {0};
        struct region region;
        int64_t first[LX_MAX_RANK] = {0};
        region_whole(l, &whole, false, &memory, &region);
        r->measured->outputs_lost +=
            pack_items_differing(l, &region, first, r->hbm + r->plan->hbm_address[t], items);
    }
}

static void program_progress(void *context, const struct lx_run_progress *so_far)
{
    const struct program_run *r = context;
    if (r->how->judge.progress) r->how->judge.progress(r->how->judge.context, so_far);
}

static bool program_stop(void *context)
{
    const struct program_run *r = context;
    return r->how->judge.stop && r->how->judge.stop(r->how->judge.context);
}

static struct lx_run_result *program_judge(struct program_run *r)
{
    struct lx_device_options judge = r->how->judge;
    judge.made = made_elsewhere;
    judge.output = output_elsewhere;
    judge.progress = program_progress;
    judge.stop = program_stop;
    judge.context = r;
    return lx_device_run(r->plan, &judge, r->st);
}

/* --- the programs --- */

static void *program_open(struct program_run *r, struct emit_options how, struct emit_facts *facts)
{
    SCOPED(text_free) struct text program = {0};
    double start = clock_seconds();
    void *machine = NULL;
    how.on = r->kind->on;
    if (emit_program(r->plan, &how, &program, facts, r->st)) machine = r->kind->open(&program, facts, r->st);
    r->measured->seconds_compile += clock_seconds() - start;
    return machine;
}

static bool program_run_traced(struct program_run *r)
{
    void *machine = program_open(r, (struct emit_options){.traces = true}, &r->facts);
    if (!machine) return false;
    r->trace = mem_alloc((size_t)max_i64(r->facts.trace_bytes, 1));
    memcpy(r->hbm, r->start, (size_t)r->plan->segment_bytes);
    bool ok = r->kind->run(machine, r->hbm, r->trace, r->st);
    r->kind->close(machine);
    return ok;
}

static bool program_run_plain(struct program_run *r)
{
    struct emit_facts facts = {0};
    void *machine = program_open(r, (struct emit_options){0}, &facts);
    if (!machine) return false;
    size_t bytes = (size_t)r->plan->segment_bytes;
    OWNED unsigned char *hbm = mem_alloc(bytes + 1);
    memcpy(hbm, r->start, bytes);
    bool ok = r->kind->run(machine, hbm, NULL, r->st);
    for (int32_t t = 0; ok && r->trace && t < r->graph->tensor_count; t++) {
        int64_t at = r->plan->hbm_address[t];
        if (at < 0 || !lx_role_leaves(r->graph->tensors[t].role)) continue;
        for (int64_t i = at; i < at + lx_layout_bytes(&r->plan->layouts->layouts[t]); i++)
            r->measured->outputs_differing += hbm[i] != r->hbm[i];
    }
    if (ok && r->kind->time && r->how->launches > 0 && !r->measured->outputs_differing)
        ok = r->kind->time(machine, r->start, r->how->launches, r->measured, r->st);
    r->kind->close(machine);
    return ok;
}

/* --- times of ops --- */

/* The largest (least) of the cores' sums. */
static double stamps_of(const int64_t *sums, int64_t cores, bool least)
{
    int64_t found = sums[0];
    for (int64_t c = 1; c < cores; c++) found = least ? min_i64(found, sums[c]) : max_i64(found, sums[c]);
    return (double)found;
}

static void program_read_stamps(struct program_run *r, const int64_t *sums, struct lx_op_run *ops)
{
    const int64_t cores = r->plan->divisions->cores, count = r->graph->op_count;
    const int64_t *all = sums + EMIT_STAMPS * count * cores, *of[EMIT_STAMPS];
    double launches = stamps_of(all + EMIT_STAMPS_LAUNCHES * cores, cores, true);
    double us = (double)all[EMIT_STAMPS_NS * cores] / fmax((double)all[EMIT_STAMPS_STEPS * cores], 1) * 1e-3 /
                launches;
    OWNED int64_t *busy = mem_zeroed((size_t)cores, sizeof *busy);
    for (int64_t o = 0; o < count; o++) {
        for (int k = 0; k < EMIT_STAMPS; k++) of[k] = sums + (o * EMIT_STAMPS + k) * cores;
        for (int64_t c = 0; c < cores; c++) busy[c] = of[EMIT_STAMP_COPIES][c] + of[EMIT_STAMP_BODY][c];
        ops[o].measured_us = stamps_of(busy, cores, false) * us;
        ops[o].measured_wait_us = stamps_of(of[EMIT_STAMP_WAIT], cores, true) * us;
    }
    r->measured->stamps_us = stamps_of(all + EMIT_STAMPS_STEPS * cores, cores, false) * us;
}

/* Of one launch; `ops` may be NULL. */
static void program_read_counts(struct program_run *r, const int64_t *sums, struct lx_op_run *ops)
{
    const int64_t cores = r->plan->divisions->cores, of_op = EMIT_STAMPS * cores;
    for (int64_t o = 0; ops && o < r->graph->op_count; o++)
        for (int64_t i = 0; i < of_op; i++) ops[o].asked_bytes += sums[o * of_op + i];
    const int64_t *all = sums + r->graph->op_count * of_op + EMIT_STAMPS_STEPS * cores;
    for (int64_t c = 0; c < cores; c++) r->measured->asked_bytes += all[c];
}

/* Runs a program that adds up what each tick takes. Its sums, to be freed; NULL: see `st`. */
static int64_t *program_run_sums(struct program_run *r, struct emit_options how)
{
    struct emit_facts facts = {0};
    struct lx_measured unused = {0};
    void *machine = program_open(r, how, &facts);
    if (!machine) return NULL;
    int64_t *sums = mem_zeroed((size_t)facts.trace_bytes, 1);
    bool timed = how.stamps && r->kind->time;
    memcpy(r->hbm, r->start, (size_t)r->plan->segment_bytes);
    bool ok = (!timed || r->kind->time(machine, r->start, r->how->launches, &unused, r->st)) &&
              r->kind->run(machine, r->hbm, sums, r->st);
    r->kind->close(machine);
    if (ok) return sums;
    mem_free(sums);
    return NULL;
}

static bool program_run_stamped(struct program_run *r, struct lx_run_result *result)
{
    struct lx_op_run *ops =
        arena_copy_array(result->memory, result->ops, (size_t)result->op_count, sizeof *ops);
    OWNED int64_t *stamps = program_run_sums(r, (struct emit_options){.stamps = true});
    OWNED int64_t *counts = stamps ? program_run_sums(r, (struct emit_options){.counts = true}) : NULL;
    if (counts) {
        program_read_stamps(r, stamps, ops);
        program_read_counts(r, counts, ops);
    }
    result->ops = ops;
    return counts != NULL;
}

static bool program_run_begin(struct program_run *r)
{
    struct machine_room room;
    *r->measured = (struct lx_measured){0};
    r->kind = machine_kind_find(r->how->machine, r->st);
    if (!r->kind || !r->kind->there(r->measured->machine, sizeof r->measured->machine, &room, r->st))
        return false;
    r->measured->cache_bytes = room.cache_bytes;
    if (!r->plan->layouts) return status_set(r->st, LX_E_UNSUPPORTED, "a bare list of buffers cannot be run");
    r->graph = r->plan->layouts->graph;
    r->start = program_memory(r->plan, &r->how->judge);
    r->hbm = mem_alloc((size_t)r->plan->segment_bytes + 1);
    return true;
}

static void program_run_end(struct program_run *r)
{
    mem_free(r->start);
    mem_free(r->hbm);
    mem_free(r->trace);
    mem_free(r->facts.trace);
}

struct lx_run_result *lx_program_run(const struct lx_plan *p, const struct lx_program_options *how,
                                     struct lx_measured *measured, lx_status *st)
{
    struct program_run r = {.plan = p, .how = how, .measured = measured, .st = st};
    struct lx_run_result *result = NULL;
    if (!program_run_begin(&r)) return NULL;
    if (program_run_traced(&r)) result = program_judge(&r);
    bool ok = result && program_run_plain(&r);
    if (ok && how->launches > 0 && !measured->outputs_differing) ok = program_run_stamped(&r, result);
    if (result && !ok) {
        lx_run_result_free(result);
        result = NULL;
    }
    if (result && (measured->outputs_lost || measured->outputs_differing)) result->ok = false;
    program_run_end(&r);
    return result;
}

bool lx_program_time(const struct lx_plan *p, const struct lx_program_options *how,
                     struct lx_measured *measured, lx_status *st)
{
    struct program_run r = {.plan = p, .how = how, .measured = measured, .st = st};
    if (!program_run_begin(&r)) return false;
    bool ok = program_run_plain(&r);
    OWNED int64_t *counts =
        ok && how->counts ? program_run_sums(&r, (struct emit_options){.counts = true}) : NULL;
    if (counts) program_read_counts(&r, counts, NULL);
    ok = ok && (counts || !how->counts);
    program_run_end(&r);
    return ok;
}
