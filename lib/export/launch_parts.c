/* An op on a core runs as three programs: the reader brings operands from HBM, the compute part works in the
 * scratchpad, the writer takes results to HBM. The reader also makes the copies before the op, the writer the
 * stores behind it. Bytes are of all cores, in all iterations. */
#include "export/plan_words.h"
#include "base/base.h"

/* HBM bytes that reader or writer move of an operand. A nest reads partial sums back. */
static int64_t launch_part_bytes(const struct lx_plan *p, int32_t op, int operand, bool writer)
{
    const struct lx_access *a = &p->accesses[p->access_at[op] + operand];
    int64_t written = a->writes ? a->bytes - a->again : 0;
    if (lx_plan_place(p, op, operand) >= 0) return 0;
    return writer ? written : a->bytes - written;
}

/* Bytes of the tick's copies of a kind. */
static int64_t part_copied(const struct lx_plan *p, int32_t op, enum lx_transfer_kind kind)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < p->transfer_count; i++)
        if (p->transfers[i].tick == op && p->transfers[i].kind == kind) bytes += p->transfers[i].bytes;
    return bytes;
}

void add_parts_json(const struct lx_plan *p, int32_t op, struct text *out)
{
    const struct lx_op *o = &p->layouts->graph->ops[op];
    for (int writer = 0; writer < 2; writer++) {
        const char *between = "";
        text_add(out, writer ? ", \"writer\": [" : "\"parts\": {\"reader\": [");
        for (int i = 0; i < op_operand_count(o); i++) {
            int64_t bytes = launch_part_bytes(p, op, i, writer);
            if (bytes == 0) continue;
            text_format(out, "%s{\"operand\": %d, \"bytes\": %" PRId64 "}", between, i, bytes);
            between = ", ";
        }
        text_add(out, "]");
        if (!writer)
            text_format(out, ", \"compute\": {\"lx_read\": %" PRId64 ", \"lx_written\": %" PRId64 "}",
                        p->traffic[op].lx_read, p->traffic[op].lx_written);
    }
    text_add(out, "}");
}

static void part_add_words(const struct lx_plan *p, int32_t op, bool writer, const char *margin,
                           struct text *out)
{
    static const char *const copies[] = {
        [LX_LOAD] = "loads", [LX_RING] = "the ring", [LX_MOVE] = "moves", [LX_STORE] = "stores"};
    const struct lx_graph *g = p->layouts->graph;
    const char *between = writer ? "writer: " : "reader: ";
    text_add(out, margin);
    for (int i = 0; i < op_operand_count(&g->ops[op]); i++) {
        int64_t bytes = launch_part_bytes(p, op, i, writer);
        if (bytes == 0) continue;
        text_add(out, between);
        add_printable(out, g->tensors[op_operand(&g->ops[op], i)].name, 0);
        text_format(out, " %s B", grouped(bytes).at);
        between = ", ";
    }
    for (int kind = 0; kind < LX_TRANSFER_KINDS; kind++) {
        int64_t bytes = (kind == LX_STORE) == writer ? part_copied(p, op, (enum lx_transfer_kind)kind) : 0;
        if (bytes == 0) continue;
        text_format(out, "%s%s %s B", between, copies[kind], grouped(bytes).at);
        between = ", ";
    }
    text_add(out, *between == ',' ? "\n" : writer ? "writer: nothing\n" : "reader: nothing\n");
}

void add_part_lines(const struct lx_plan *p, int32_t op, const char *margin, struct text *out)
{
    const struct lx_op_traffic *t = &p->traffic[op];
    part_add_words(p, op, false, margin, out);
    text_format(out, "%scompute: %s, LX read %s B, written %s B\n", margin,
                p->layouts->graph->ops[op].kind->name, grouped(t->lx_read).at, grouped(t->lx_written).at);
    part_add_words(p, op, true, margin, out);
}
