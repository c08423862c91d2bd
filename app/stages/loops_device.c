/* The report of `loops --run`: the nest's time on the kernels, and the distance of its result from the scalar
 * executor's. Both are bounded: a quarter of a second of runs, and a sample of the output if the whole would
 * take longer. */
#include "stages/stages.h"
#include "text/colour.h"
#include "text/format.h"

/* Long enough for a time that means something, short enough to wait for. */
static const double run_seconds = 0.25;
/* Steps of the scalar executor: about a second. */
static const int64_t compare_steps = (int64_t)1 << 28;

bool report_device(struct call *call, const struct lx_loops *nest, const struct lx_loops *input,
                   int64_t threads)
{
    struct lx_nest_measure m;
    lx_status why = {0};
    if (lx_nest_measure(nest, input, (int)threads, run_seconds, compare_steps, &m, &why)) {
        if (wants_json(call)) {
            text_format(&call->out,
                        ",\n\"device\": {\"threads\": %" PRId64 ", \"target\": \"%s\", \"tasks\": %" PRId64
                        ", \"runs\": %" PRId64 ", \"seconds\": %.9g, \"gflops\": %.6g, ",
                        threads, m.target, m.tasks, m.runs, m.seconds, m.gflops);
            text_format(&call->out,
                        "\"difference\": %.9g, \"allowed\": %.9g, \"compared\": %" PRId64
                        ", \"sampled\": %s, \"right\": %s}",
                        m.difference, m.allowed, m.compared, m.sampled ? "true" : "false",
                        m.difference <= m.allowed ? "true" : "false");
        } else {
            bool right = m.difference <= m.allowed;
            text_format(&call->out, "device: %s, %s, %s: ", m.target, counted(threads, "thread").at,
                        counted(m.tasks, "task").at);
            if (m.gflops > 0) text_format(&call->out, "%.1f GFLOPS, ", m.gflops);
            text_format(&call->out, "%s at best in %s; ", in_time(m.seconds).at, counted(m.runs, "run").at);
            paint_add(&call->out, right ? PAINT_GOOD : PAINT_BAD, right ? "right" : "wrong");
            text_format(&call->out, ", largest difference %.2g in %s%s", m.difference,
                        counted(m.compared, "element").at, m.sampled ? " (a part of the output)" : "");
            if (!right) text_format(&call->out, ", allowed %.2g", m.allowed);
            text_add(&call->out, "\n");
        }
        return m.difference <= m.allowed;
    }
    if (wants_json(call)) {
        text_format(&call->out, ",\n\"device\": {\"code\": \"%s\", \"text\": ", lx_code_word(why.code));
        text_json_string(&call->out, why.text);
        text_add(&call->out, "}");
    } else {
        text_format(&call->out, "device: not run: %s\n", why.text);
    }
    return true;
}

bool report_tree(struct call *call, const struct lx_tree *tree, const struct lx_loop_rules *rules,
                 int64_t threads)
{
    struct lx_tree_measure m;
    if (!lx_tree_measure(tree, rules, (int)threads, compare_steps, &m, &call->st)) return false;
    bool right = m.share <= 1;
    if (wants_json(call)) {
        text_format(&call->out,
                    ",\n\"tree\": {\"seconds\": %.9g, \"gflops\": %.6g, \"compared\": %" PRId64
                    ", \"difference\": %.9g, \"share_of_bound\": %.6g, \"right\": %s}",
                    m.seconds, m.gflops, m.compared, m.difference, m.share, right ? "true" : "false");
        return right;
    }
    text_format(&call->out, "\nthe whole tree on the kernels: %.1f GFLOPS, %s; ", m.gflops,
                in_time(m.seconds).at);
    if (m.compared > 0) paint_add(&call->out, right ? PAINT_GOOD : PAINT_BAD, right ? "right" : "wrong");
    if (m.compared > 0)
        text_format(&call->out, ", largest difference %.2g in %s, %.2g of what fp32 may be off\n",
                    m.difference, counted(m.compared, "element").at, m.share);
    else
        text_add(&call->out, "not compared: the scalar executor would take too long\n");
    return right;
}
