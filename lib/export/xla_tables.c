/* The buffers on chip as two tables of XLA: the buffer assignment, and the allocations of the memory-space
 * assignment.
 *
 * * The first has a row per buffer on chip, all of a pool in one allocation, so that offsets are addresses; a
 * life is [definition_time, end_time + 1). The second has a row per time that a buffer is on chip, both times
 * inclusive. A list with buffer numbers keeps them. Others get the numbers of --format xla, which leaves out
 * barred buffers; that file and the second table together are a plan for lx_check_xla. There a buffer that
 * takes over another's place begins at the tick at which the other ends. */
#include "export/export_rows.h"
#include "files/pattern.h"

/* The uses of a buffer: as many times as names. */
struct uses {
    struct text times, names;
    int count;
};

static void xla_tables_add_read(struct uses *u, int64_t tick, const char *how, const char *name)
{
    if (u->count++) text_add(&u->times, ";"), text_add(&u->names, ";");
    text_format(&u->times, "%" PRId64, tick);
    text_add(&u->names, how);
    for (; *name; name++) text_add_n(&u->names, *name == ';' ? "," : name, 1); /* ";" separates names */
}

/* A list's buffers have no use names: the tick serves as one. */
static void xla_tables_find_reads(const struct lx_plan *p, int32_t i, struct uses *u)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    int32_t next = 0, first = b->first_use_is_read || b->use_count == 0 ? 0 : 1;
    for (int32_t k = first; !p->layouts && k < b->use_count; k++) {
        char word[40];
        snprintf(word, sizeof word, "%" PRId64, b->uses[k]);
        xla_tables_add_read(u, b->uses[k], "tick ", word);
    }
    if (!p->layouts) return;
    while (next < p->transfer_count && p->transfers[next].tick < b->start) next++;
    for (int64_t o = b->start; o < min_i64(b->end, p->layouts->graph->op_count); o++) {
        /* Copies to the chip, then the op (once), then stores. */
        bool reads = false, stores = false;
        for (; next < p->transfer_count && p->transfers[next].tick == o; next++) {
            const struct lx_transfer *t = &p->transfers[next];
            if (t->source == i) xla_tables_add_read(u, o, "copy to ", p->problem.buffers[t->stay].name);
            stores |= t->kind == LX_STORE && t->stay == i;
        }
        for (int32_t a = p->access_at[o]; a < p->access_at[o + 1]; a++)
            reads |= p->accesses[a].stay == i && p->accesses[a].reads;
        if (reads) xla_tables_add_read(u, o, "", p->layouts->graph->ops[o].name);
        if (stores) xla_tables_add_read(u, o, "", "store");
    }
    /* A move precedes the tick at which the life has ended: its read is the life's last use. */
    for (; next < p->transfer_count && p->transfers[next].tick <= b->end; next++)
        if (p->transfers[next].source == i)
            xla_tables_add_read(u, b->end - 1, "copy to ", p->problem.buffers[p->transfers[next].stay].name);
}

bool assignment_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    (void)other, (void)st;
    text_add(out,
             "buffer_id,buffer_name,offset,size,definition_time,end_time,num_uses,use_times,use_names\n");
    for (int32_t i = 0, n = 0; i < p->problem.count; i++) {
        if (p->problem.buffers[i].reason) continue;
        if (p->answer.address[i] >= 0) {
            int64_t id = lx_graph_buffer_id(p->graph, i, n);
            const struct lx_buffer *b = &p->problem.buffers[i];
            struct uses u = {0};
            xla_tables_find_reads(p, i, &u);
            text_format(out, "%" PRId64 ",", id);
            csv_field(out, b->name);
            text_format(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,%s,", p->answer.address[i],
                        b->size, b->start, b->end - 1, u.count, u.times.at ? u.times.at : "");
            csv_field(out, u.names.at ? u.names.at : "");
            text_add(out, "\n");
            text_free(&u.times);
            text_free(&u.names);
        }
        n++;
    }
    return true;
}

bool allocinfo_write(const struct lx_plan *p, const struct lx_plan *other, struct text *out, lx_status *st)
{
    int32_t n = -1;
    (void)other;
    if (lx_pool_count(&p->problem) > 1)
        return status_set(st, LX_E_UNSUPPORTED,
                          "allocinfo is of one memory and the plan has %d pools; use --format xla-csv",
                          (int)lx_pool_count(&p->problem));
    text_add(out, "buffer_id,size,offset,start_time,end_time\n");
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (b->reason) continue;
        n++;
        for (int32_t k = 0; p->answer.address[i] >= 0 && k < lx_life_count(b); k++)
            text_format(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
                        lx_graph_buffer_id(p->graph, i, n), b->size, p->answer.address[i],
                        lx_life_at(b, k).start, lx_life_at(b, k).end - 1);
    }
    return true;
}
