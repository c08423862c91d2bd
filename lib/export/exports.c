/* The table of exports, in the order of the help. */
#include "export/export_rows.h"
#include "base/words/words.h"
#include "emit/emit.h"

/* The program of a plan. */
static bool cuda_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    (void)other;
    return emit_program(p, &(struct emit_options){.on = EMIT_CUDA}, out, NULL, st);
}

/* The same with traces: what `lxplan run --on gpu` judges. */
static bool cuda_traced_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out,
                              lx_status *st)
{
    struct emit_facts facts = {0};
    (void)other;
    bool ok = emit_program(p, &(struct emit_options){.on = EMIT_CUDA, .traces = true}, out, &facts, st);
    if (ok) mem_free(facts.trace);
    return ok;
}

/* clang-format off */
static const struct lx_export rows[] = {
    {.name = "handover", .summary = "hand-over to code generation", .write = handover_write,
     .help = "JSON for code generation: memory and start address of every operand of each op on every core, "
             "splits, loops of nests, copies, kernels with their arguments"},
    {.name = "perfetto", .summary = "trace of Perfetto", .write = perfetto_write,
     .help = "JSON for ui.perfetto.dev: ops per core, bytes in use of LX, rates of HBM, the rings, lives of "
             "buffers; in predicted time; for a team the ops, waits and link traffic of each device"},
    {.name = "memory_viz", .summary = "snapshot of PyTorch's MemoryViz", .write = memory_viz_write,
     .help = "a pickle for pytorch.org/memory_viz: each allocation in LX and in HBM"},
    {.name = "model-explorer", .summary = "graph of Model Explorer", .write = explorer_graph_write,
     .help = "JSON: ops, tensors and edges in layers of bundles and nests"},
    {.name = "model-explorer-residency", .summary = "node data of Model Explorer, residency",
     .write = explorer_residency_write, .help = "JSON beside that graph: the place of each op's output"},
    {.name = "model-explorer-hbm", .summary = "node data of Model Explorer, HBM bytes",
     .write = explorer_hbm_write, .help = "JSON beside that graph: bytes that each op moves through HBM"},
    {.name = "model-explorer-time", .summary = "node data of Model Explorer, time",
     .write = explorer_time_write, .help = "JSON beside that graph: predicted microseconds of each op"},
    {.name = "model-explorer-cores", .summary = "node data of Model Explorer, cores",
     .write = explorer_cores_write, .help = "JSON beside that graph: cores that work on each op"},
    {.name = "xla-csv", .summary = "XLA buffer assignment", .write = assignment_write,
     .help = "CSV with buffer_id, buffer_name, offset, size, definition_time, end_time, num_uses, use_times "
             "and use_names of buffers on chip; ids are those of allocinfo and of --format xla"},
    {.name = "allocinfo", .summary = "XLA allocinfo", .write = allocinfo_write,
     .help = "CSV with buffer_id, size, offset, start_time and end_time of each residency on chip; ids are "
             "those of --format xla of the same plan, and `lxplan check` takes both"},
    {.name = "cuda", .summary = "CUDA C program", .write = cuda_write,
     .help = "one kernel that runs the plan on a GPU, a block per core; needs no header"},
    {.name = "cuda-traced", .summary = "CUDA C program with traces", .write = cuda_traced_write,
     .help = "the same, and each result is copied to a trace area: what `lxplan run --on gpu` judges"},
    {.name = "html", .summary = "page of the plan", .write = html_write,
     .help = "one file for a browser, as `lxplan show --html` writes it: the map, hover, a slider for time, "
             "tables that sort"},
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof *rows, MOST_NAMES = 64 };

/* A writable format of files/formats.c as a row; false: it is read-only. */
static bool exports_of_format(const struct lx_format *f, struct lx_export *out)
{
    if (!f->write_graph && !f->write_buffers && !f->write_answer) return false;
    *out = (struct lx_export){.name = f->name, .summary = f->summary, .help = f->help, .format = f};
    return true;
}

bool lx_export_at(int i, struct lx_export *out)
{
    for (const struct lx_format *f = lx_formats(); f->name; f++)
        if (exports_of_format(f, out) && i-- == 0) return true;
    if (i < 0 || i >= ROWS) return false;
    *out = rows[i];
    return true;
}

bool lx_export_find(const char *name, struct lx_export *out, lx_status *st)
{
    const char *names[MOST_NAMES + 1] = {0};
    const struct lx_format *f = lx_format_find(name);
    if (f && exports_of_format(f, out)) return true;
    for (int i = 0; i < MOST_NAMES && lx_export_at(i, out); i++) {
        if (!out->format && strcmp(out->name, name) == 0) return true;
        names[i] = out->name;
    }
    return unknown_word("there is no format", name, names, LX_E_UNKNOWN_NAME, st);
}

char *lx_export_write(const struct lx_plan *p, const struct lx_plan *other, const char *name, size_t *length,
                      lx_status *st)
{
    struct lx_export row;
    struct text t = {0};
    if (!lx_export_find(name, &row, st)) return NULL;
    if (row.format) {
        /* Writes a plan in a format that is also read. */
        struct lx_left_out left;
        if (row.format->write_graph) return row.format->write_graph(p->graph, length);
        if (row.format->write_answer)
            return row.format->write_answer(p->graph, p->answer.address, p->answer.pool, length, st);
        return lx_export_list(p->graph, &p->problem, p, row.format, length, &left, st);
    }
    bool ok = row.write(p, other, &t, st);
    *length = t.length;
    if (ok) return t.at;
    text_free(&t);
    return NULL;
}

/* Constraints that another tool must respect, or its answer is illegal here. Costs are optional: other tools
 * place everything. */
enum {
    NEEDED = LX_CAN_POOLS | LX_CAN_LIVES | LX_CAN_PAIRS | LX_CAN_RESERVED | LX_CAN_STAGING | LX_CAN_SAME_PLACE
};

char *lx_export_list(const struct lx_graph *g, const struct lx_problem *problem, const struct lx_plan *p,
                     const struct lx_format *format, size_t *length, struct lx_left_out *left, lx_status *st)
{
    size_t room = (size_t)problem->count + 1;
    char what[300];
    int32_t n = 0;
    unsigned needs = lx_problem_needs(problem);
    if (needs & NEEDED)
        return status_set(st, LX_E_USAGE, "%s has no columns for %s; use --format pattern, which has",
                          format->summary, lx_needs_words(needs & NEEDED, what, sizeof what)),
               NULL;
    OWNED struct lx_buffer *kept = mem_alloc(room * sizeof *kept);
    OWNED int64_t *ids = mem_alloc(room * sizeof *ids);
    *left = (struct lx_left_out){.needs = needs, .places = p && format->has_addresses};
    for (int32_t i = 0; left->places && i < p->problem.count; i++) left->shared += p->took_slot_of[i] >= 0;
    for (int32_t i = 0; i < problem->count; i++) {
        if (problem->buffers[i].reason) continue;
        kept[n] = problem->buffers[i];
        ids[n] = lx_graph_buffer_id(g, i, n);
        left->may_take += kept[n].parent_count > 0;
        if (left->places && !left->shared) kept[n].fixed = p->answer.address[i];
        n++;
    }
    left->barred = problem->count - n;
    char *text = format->write_buffers(&(struct lx_buffers){kept, n, problem->alignment, ids}, length);
    return text;
}
