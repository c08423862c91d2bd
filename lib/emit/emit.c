/* The program of a plan: head, prelude, tables, and the kernel tick by tick. */
#include "emit/emit.h"
#include "emit/emission.h"
#include "emit/preludes.h"
#include "graph/choice.h"

enum { MOST_TENSOR_SHIFT = 31, EMIT_LINE = 2000 };

void emit_line(struct emission *e, const char *format, ...)
{
    char line[EMIT_LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_pad(&e->body, ' ', (size_t)e->indent * 4);
    text_add(&e->body, line);
    text_add(&e->body, "\n");
}

bool emit_refuse(struct emission *e, const char *format, ...)
{
    char why[300];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    const struct lx_op *op = &e->graph->ops[e->tick];
    return status_set_at(e->st, LX_E_UNSUPPORTED, e->graph->file, op->line, 0,
                         "op %.80s (%s) cannot be written as a program: %s", op->name, op->kind->name, why);
}

const char *emit_value(struct emission *e, double value, int64_t whole)
{
    if (strcmp(e->number, "i64") == 0)
        return arena_format(&e->memory, "%" PRId64 "LL", whole ? whole : (int64_t)value);
    if (isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
    if (isnan(value)) return "(INFINITY - INFINITY)";
    return arena_format(&e->memory, "(%s)%.17g", e->number, value);
}

/* --- what a tick is, in words --- */

const char *emit_comment_name(struct emission *e, const char *name)
{
    char *clean = arena_string(&e->memory, name);
    for (char *c = clean; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '*' || *c == '\\') *c = '_';
    return clean;
}

static void tick_comment_operand(struct emission *e, int32_t tick, int operand, struct text *out)
{
    const struct lx_plan *p = e->plan;
    int32_t tensor = op_operand(&e->graph->ops[tick], operand), stay = lx_plan_place(p, tick, operand);
    text_format(out, "%s %s at %" PRId64, emit_comment_name(e, e->graph->tensors[tensor].name),
                stay >= 0 ? "in LX" : "in HBM", stay >= 0 ? p->answer.address[stay] : p->hbm_address[tensor]);
    if (operand >= e->graph->ops[tick].input_count && stay >= 0 && p->took_slot_of[stay] >= 0)
        text_add(out, " (in place)");
}

void tick_comment(struct emission *e, int32_t tick)
{
    const struct lx_op *op = &e->graph->ops[tick];
    const struct lx_division *d = &e->plan->divisions->at[tick];
    const struct lx_launch *launch = e->plan->launches[tick].launch;
    bool dealt = launch && launch->mode == LX_PARTITION_GLOBAL;
    SCOPED(text_free) struct text t = {0};
    text_format(&t, "/* Tick %d: %s %s%s%s%s, %s of %" PRId64 " cores", (int)tick, op->kind->name,
                emit_comment_name(e, op->name), op->einsum ? " (" : "",
                op->einsum ? emit_comment_name(e, op->einsum) : "", op->einsum ? ")" : "",
                dealt ? "dealt out, a division" : "a division", d->cores_used);
    for (int s = 0; s < d->split_count; s++)
        if (d->splits[s].split > 1) text_format(&t, ", %c/%" PRId64, d->splits[s].letter, d->splits[s].split);
    text_add(&t, ".");
    emit_line(e, "%s", t.at);
    for (int i = 0; i < op_operand_count(op); i++) {
        t.length = 0;
        bool reads = i < op->input_count, on_chip = lx_plan_place(e->plan, tick, i) >= 0;
        text_format(&t, " * %s %s ",
                    on_chip ? "compute"
                    : reads ? "reader"
                            : "writer",
                    reads ? "reads" : "writes");
        tick_comment_operand(e, tick, i, &t);
        text_add(&t, i + 1 < op_operand_count(op) ? "" : " */");
        emit_line(e, "%s", t.at);
    }
}

/* --- ticks --- */

bool tick_numbers(struct emission *e)
{
    const struct lx_op *op = &e->graph->ops[e->tick];
    struct lx_choice c;
    bool chooses = lx_choice_of(op, &c);
    e->number = "float";
    if (op->kind->traits & LX_EXTERN) return emit_refuse(e, "it runs off the device");
    for (int i = 0; i < op_operand_count(op); i++) {
        int32_t tensor = op_operand(op, i);
        enum lx_dtype type = e->graph->tensors[tensor].dtype;
        bool index = chooses && i >= c.index && i < c.index + c.index_count;
        bool real = type == LX_FP16 || type == LX_BF16 || type == LX_FP32 || type == LX_BOOL;
        bool largest = op->kind->id == LX_KIND_ARGMAX || op->kind->id == LX_KIND_ARGMIN;
        if ((!real && !number_types[type].integer && type != LX_FP64) || type == LX_INT4)
            return emit_refuse(e, "there are no bodies for elements of type %s", lx_dtype_word(type));
        if (!index && !real && !largest)
            e->number = op_numbers(e->graph, op) == NUMBERS_INTEGER ? "i64" : "double";
        if (lx_layout_bytes(&e->plan->layouts->layouts[tensor]) >> MOST_TENSOR_SHIFT)
            return emit_refuse(e, "a tensor has 2 GiB or more");
    }
    return true;
}

bool tick_is_pointwise(const struct emission *e, int32_t tick)
{
    const struct lx_op *op = &e->graph->ops[tick];
    bool largest = op->kind->id == LX_KIND_ARGMAX || op->kind->id == LX_KIND_ARGMIN;
    return !(op->kind->traits & LX_CHOOSES) && op->kind->id != LX_KIND_CONCAT && !largest && !op->reduces &&
           e->plan->launches[tick].kind != LX_LAUNCH_WHOLE;
}

static bool tick_body(struct emission *e)
{
    struct op_emission o = {0};
    const struct lx_op *op = &e->graph->ops[e->tick];
    if (!tick_numbers(e) || !op_places_make(e, &o)) return false;
    o.shared = sum_is_shared(e, &o);
    bool largest = op->kind->id == LX_KIND_ARGMAX || op->kind->id == LX_KIND_ARGMIN;
    bool few = !o.all_cores && o.workers < e->cores, some = few && !(largest && largest_is_shared(e, &o));
    if (some) emit_line(e, "if (core < %d) {", (int)o.workers);
    e->indent += some;
    bool ok = body_rows(e, &o)                                     ? true
              : op->kind->traits & LX_CHOOSES                      ? body_choice(e, &o)
              : op->kind->id == LX_KIND_CONCAT                     ? body_concat(e, &o)
              : largest                                            ? body_largest(e, &o)
              : op->reduces                                        ? body_fold(e, &o)
              : e->plan->launches[e->tick].kind == LX_LAUNCH_WHOLE ? body_opaque(e, &o)
                                                                   : body_pointwise(e, &o);
    e->indent -= some;
    if (some) emit_line(e, "}");
    if (!ok) return false;
    emit_line(e, "meet_threads();");
    int32_t stay = lx_plan_place(e->plan, e->tick, e->graph->ops[e->tick].input_count);
    if (stay >= 0 && e->mirror[stay] >= 0) {
        if (!copies_mirror(e, stay)) return false;
        emit_line(e, "meet_threads();");
    }
    if (!e->how.traces) return true;
    struct op_place trace;
    if (!op_trace_place(e, &o, &trace)) return false;
    if (o.all_cores || o.shared) emit_line(e, EMIT_SYNC("%d"), (int)e->tick);
    if (few) emit_line(e, "if (core < %d)", (int)o.workers);
    if (o.groups > 1 && o.place[o.out].in != PLACE_LX)
        emit_line(e, "if (%s == 0)",
                  strchr(o.group, ' ') ? arena_format(&e->memory, "(%s)", o.group) : o.group);
    body_copy(e, &o, &o.place[o.out], &trace);
    emit_line(e, "meet_threads();");
    return true;
}

/* What a contraction fetches of HBM that no op writes is under way while the cores wait for each other. */
static void tick_begin_early(struct emission *e)
{
    struct op_emission o = {0};
    const struct lx_op *op = &e->graph->ops[e->tick];
    lx_status none = {0}, *st = e->st;
    e->st = &none; /* who cannot be written says why in its body */
    if (!e->nest && e->early < e->tick && op->reduces && (op->kind->traits & LX_CONTRACTS) &&
        tick_numbers(e) && strcmp(e->number, "float") == 0 && op_places_make(e, &o))
        tiles_begin_early(e, &o);
    e->st = st;
}

static void tick_sync(struct emission *e, const char *why)
{
    size_t before = e->body.length;
    emit_line(e, "sync_begins(counters);");
    size_t begun = e->body.length;
    tick_begin_early(e);
    if (e->body.length > begun) {
        emit_line(e, "sync_ends(counters, waits += ROUND, %d, fault); /* %s */", (int)e->tick, why);
        return;
    }
    e->body.length = before;
    emit_line(e, EMIT_SYNC("%d") " /* %s */", (int)e->tick, why);
}

/* The syncs that stand before this tick, inside its nest or outside. */
static void tick_syncs(struct emission *e, bool in_loop)
{
    for (int32_t i = 0; i < e->plan->sync_count; i++)
        if (e->plan->syncs[i].before == e->tick && e->plan->syncs[i].in_loop == in_loop)
            tick_sync(e, in_loop ? "a sync, in each iteration" : "a sync");
}

static bool tick_begins_bundle(const struct emission *e)
{
    for (int32_t b = 0; b < e->plan->bundle_count; b++)
        if (e->plan->bundles[b].first == e->tick && e->tick > 0) return true;
    return false;
}

/* Does a bundle begin inside the nest, so that one begins with each of its iterations, too? */
static bool nest_spans(const struct emission *e, const struct lx_nest *n)
{
    for (int32_t b = 0; b < e->plan->bundle_count; b++)
        if (e->plan->bundles[b].first > n->first && e->plan->bundles[b].first <= n->last) return true;
    return false;
}

static void tick_stamp(struct emission *e, int kind)
{
    if (e->how.stamps) emit_line(e, "stamp(&stamps, %d);", (int)e->tick * EMIT_STAMPS + kind);
}

static bool emit_tick(struct emission *e)
{
    bool first = e->nest && e->tick == e->nest->first;
    text_add(&e->body, "\n");
    if (first ? nest_spans(e, e->nest) : tick_begins_bundle(e)) tick_sync(e, "a bundle begins");
    tick_syncs(e, e->nest != NULL);
    tick_stamp(e, EMIT_STAMP_WAIT);
    tick_comment(e, e->tick);
    e->chain_last = rows_last_tick(e);
    if (!copies_before(e) || !copies_issue(e)) return false;
    tick_stamp(e, EMIT_STAMP_COPIES);
    if (!tick_body(e)) return false;
    tick_stamp(e, EMIT_STAMP_BODY);
    if (!copies_after(e)) return false;
    tick_stamp(e, EMIT_STAMP_COPIES);
    return true;
}

static void nest_open(struct emission *e)
{
    text_add(&e->body, "\n");
    if (tick_begins_bundle(e)) tick_sync(e, "a bundle begins");
    tick_syncs(e, false);
    for (int k = 0; k < e->nest->level_count; k++) {
        emit_line(e, "for (int n%d = 0; n%d < %" PRId64 "; n%d++) {", k, k, e->nest->tiles[k], k);
        e->indent++;
    }
}

static void nest_close(struct emission *e)
{
    for (int k = 0; k < e->nest->level_count; k++) {
        e->indent--;
        emit_line(e, "}");
    }
}

static bool emit_ticks(struct emission *e)
{
    for (e->tick = 0; e->tick < e->graph->op_count; e->tick++) {
        int32_t n = nest_of_op(e->plan->nests, e->plan->nest_count, e->tick);
        e->nest = n >= 0 ? &e->plan->nests[n] : NULL;
        if (e->nest && e->tick == e->nest->first) nest_open(e);
        if (!emit_tick(e)) return false;
        if (e->nest && e->tick == e->nest->last) nest_close(e);
    }
    return true;
}

/* --- the whole --- */

static void emission_begin(struct emission *e)
{
    const struct lx_plan *p = e->plan;
    int64_t most = 0;
    e->graph = p->layouts->graph;
    e->cores = p->divisions->cores;
    e->trace_at = e->early = -1;
    e->indent = 1;
    e->facts = (struct emit_facts){.cores = e->cores,
                                   .threads = EMIT_THREADS,
                                   .hbm_bytes = p->segment_bytes,
                                   .counters = EMIT_COUNTER_GROUPS};
    e->mirror = arena_array(&e->memory, (size_t)p->problem.count + 1, sizeof *e->mirror);
    for (int32_t s = 0; s < p->problem.count; s++) {
        e->mirror[s] = -1;
        if (p->answer.address[s] >= 0)
            most = max_i64(most, p->answer.address[s] + p->problem.buffers[s].size);
    }
    e->stages_at = round_up_i64(most, 1024); /* chunks change places within 1 KiB */
    for (int32_t i = 0; i < p->transfer_count; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (t->kind != LX_RING || t->bytes == 0 || e->mirror[t->source] >= 0) continue;
        e->mirror[t->source] = e->facts.aside_bytes;
        e->facts.aside_bytes += lx_layout_bytes(&p->layouts->layouts[p->stays[t->source].tensor]);
    }
    if (e->how.stamps)
        e->facts.trace_bytes = (EMIT_STAMPS * (int64_t)e->graph->op_count + EMIT_STAMPS_ALL) * e->cores * 8;
    if (e->how.traces)
        e->facts.trace = mem_zeroed((size_t)p->access_at[e->graph->op_count] + 1, sizeof *e->facts.trace);
}

/* What all arrivals of a round add to a counter: so counters begin each launch where they are. */
static unsigned emission_round(int64_t cores)
{
    unsigned round = 1;
    while (round < cores) round *= 2;
    return round;
}

void emit_head(const struct emit_facts *f, enum emit_on on, struct text *out)
{
    bool cuda = on == EMIT_CUDA;
    text_format(out,
                "#define CORES %" PRId64 "\n#define THREADS %d\n#define WARPS %d\n#define LX_BYTES %" PRId64
                "\n#define ROUND %uu\n\n",
                f->cores, cuda ? EMIT_THREADS : 1, EMIT_WARPS, f->lx_bytes, emission_round(f->cores));
    text_add(out, cuda ? emit_prelude_cuda_cu : emit_prelude_host_in);
    text_add(out, "\n");
    text_add(out, emit_prelude_bodies_in);
    text_add(out, "\n");
}

void emit_kernel(const struct emit_options *how, int32_t ticks, const char *body, struct text *out)
{
    text_add(out,
             "\nKERNEL plan(char *hbm, char *aside, char *trace, unsigned *counters, unsigned *fault)\n{\n"
             "    const int core = CORE;\n    unsigned waits = round_of(counters);\n"
             "    (void)core, (void)hbm, (void)aside, (void)trace, (void)waits, (void)fault;\n");
    if (how->traces) text_add(out, "    poison();\n");
    if (how->stamps) text_add(out, "    struct stamps stamps = stamps_begin(trace);\n");
    text_add(out, body);
    if (how->stamps) text_format(out, "\n    stamps_end(&stamps, %d);", (int)ticks * EMIT_STAMPS);
    text_add(out, "}\n");
}

static void emission_write(struct emission *e, struct text *out)
{
    const struct emit_facts *f = &e->facts;
    text_format(out,
                "/* The plan of %s for %s, as a program: %" PRId64 " cores, %" PRId64
                " bytes of scratchpad on each,\n"
                " * %" PRId64 " bytes of HBM, %" PRId64 " aside. */\n",
                emit_comment_name(e, e->graph->name ? e->graph->name : "a graph"),
                emit_comment_name(e, e->graph->device.preset), f->cores, f->lx_bytes, f->hbm_bytes,
                f->aside_bytes);
    if (e->how.counts) text_add(out, "#define COUNTS\n");
    emit_head(f, e->how.on, out);
    if (e->tables.at) text_add(out, e->tables.at);
    emit_kernel(&e->how, e->graph->op_count, e->body.at, out);
}

bool emit_program(const struct lx_plan *p, const struct emit_options *how, struct text *out,
                  struct emit_facts *facts, lx_status *st)
{
    if (!p->layouts || !p->launches)
        return status_set(st, LX_E_UNSUPPORTED, "a bare list of buffers has no program");
    OWNED struct emission *e = mem_zeroed(1, sizeof *e);
    e->plan = p;
    e->how = *how;
    e->how.stamps |= how->counts;
    e->st = st;
    emission_begin(e);
    bool ok = emit_ticks(e);
    e->facts.lx_bytes = e->stages_at + round_up_i64(e->stages_bytes, 1024);
    if (ok) emission_write(e, out);
    if (ok && facts)
        *facts = e->facts;
    else
        mem_free(e->facts.trace);
    text_free(&e->tables);
    text_free(&e->body);
    arena_free(&e->memory);
    return ok;
}
