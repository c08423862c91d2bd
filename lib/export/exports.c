/* The table of exports, in the order of the help. */
#include "export/export_rows.h"
#include "base/fail.h"
#include "base/words.h"
#include "base/checked.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* clang-format off */
static const struct lx_export rows[] = {
    {.name = "handover", .summary = "hand-over to code generation", .write = handover_write,
     .help = "JSON for code generation: memory and start address of every operand of each op on every core, splits, loops of nests, copies, kernels with their arguments"},
    {.name = "perfetto", .summary = "trace of Perfetto", .write = perfetto_write,
     .help = "JSON for ui.perfetto.dev: ops per core, bytes in use of LX, rates of HBM, the rings, lives of buffers; in predicted time; for a team the ops, waits and link traffic of each device"},
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
     .help = "CSV with buffer_id, buffer_name, offset, size, definition_time, end_time, num_uses, use_times and use_names of buffers on chip; ids are those of allocinfo and of --format xla"},
    {.name = "allocinfo", .summary = "XLA allocinfo", .write = allocinfo_write,
     .help = "CSV with buffer_id, size, offset, start_time and end_time of each residency on chip; ids are those of --format xla of the same plan, and `lxplan check` takes both"},
    {.name = "html", .summary = "page of the plan", .write = html_write,
     .help = "one file for a browser, as `lxplan show --html` writes it: the map, hover, a slider for time, tables that sort"},
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof *rows, MOST_NAMES = 64 };

static bool exports_is_written(const struct lx_format *f)
{
    return f->write_graph || f->write_buffers || f->write_answer;
}

static struct lx_export of_format(const struct lx_format *f)
{
    return (struct lx_export){.name = f->name, .summary = f->summary, .help = f->help, .format = f};
}

bool lx_export_at(int i, struct lx_export *out)
{
    for (const struct lx_format *f = lx_formats(); f->name; f++) {
        if (!exports_is_written(f) || i-- > 0) continue;
        *out = of_format(f);
        return true;
    }
    if (i < 0 || i >= ROWS) return false;
    *out = rows[i];
    return true;
}

bool lx_export_find(const char *name, struct lx_export *out, lx_status *st)
{
    const char *names[MOST_NAMES + 1] = {0};
    const struct lx_format *f = lx_format_find(name);
    if (f && exports_is_written(f)) return *out = of_format(f), true;
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
        /* A plan in a format that is read as well. */
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

/* See tick_times.h. */

static int64_t length_of(const struct lx_plan *p, int32_t op)
{
    double ps = p->traffic[op].device_us * PS_PER_US;
    if (!(ps > 0)) return PS_PER_NS;
    return ps < 0x1p53 ? max_i64(llround(ps), 1) : (int64_t)1 << 53;
}

bool tick_times_make(const struct lx_plan *p, struct tick_times *out)
{
    *out = (struct tick_times){0};
    if (!p->traffic) {
        out->first = p->problem.count ? INT64_MAX : 0;
        for (int32_t i = 0; i < p->problem.count; i++) {
            out->first = min_i64(out->first, p->problem.buffers[i].start);
            out->last = max_i64(out->last, p->problem.buffers[i].end);
        }
        return true;
    }
    out->last = p->layouts->graph->op_count;
    out->at = mem_zeroed((size_t)out->last + 1, sizeof *out->at);
    for (int32_t o = 0; o < out->last; o++) out->at[o + 1] = out->at[o] + length_of(p, o);
    return true;
}

void tick_times_free(struct tick_times *t)
{
    mem_free(t->at);
    t->at = NULL;
}

int64_t tick_time(const struct tick_times *t, int64_t tick)
{
    tick = max_i64(t->first, min_i64(tick, t->last));
    return t->at ? t->at[tick] : (tick - t->first) * PS_PER_US;
}

void add_us(struct text *out, int64_t ps)
{
    text_format(out, "%" PRId64 ".%06" PRId64, ps / PS_PER_US, ps % PS_PER_US);
}
