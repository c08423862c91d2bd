#include "support/device_plans.h"

const struct lx_graph *device_test_graph(const char *path)
{
    char full[1400];
    size_t length;
    lx_status st = {0};
    snprintf(full, sizeof full, "%s/patterns/%s", SOURCE_DIR, path);
    char *text = file_read(full, &length, &st);
    if (!text) fail_msg("%s: %s", full, st.text);
    for (char *at = text; (at = strstr(at, "262144")) && strstr(path, "lm_head"); at += 6)
        memcpy(at, "  2048", 6);
    const struct lx_graph *g = lx_graph_of_text(full, text, length, &st);
    if (!g) fail_msg("%s: %s", full, st.text);
    mem_free(text);
    return g;
}

struct lx_plan *plan_graph(const struct lx_graph *g, const char *solver, const struct lx_passes *passes)
{
    struct lx_plan_options how = {.solver = lx_solver_find(solver), .passes = *passes};
    lx_status st = {0};
    assert_non_null(how.solver);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    return p;
}

const char *what_is_wrong(const struct lx_run_result *r)
{
    static char text[200];
    if (r->fault_count > 0 || r->unequal) return r->fault_count > 0 ? r->faults[0].text : r->unequal;
    for (int32_t o = 0; o < r->op_count; o++)
        if (r->ops[o].wrong > 0 || r->ops[o].altered > 0) {
            snprintf(text, sizeof text,
                     "op %d: %lld elements wrong, by %g, %g of the bound; %lld altered; largest %g", (int)o,
                     (long long)r->ops[o].wrong, r->ops[o].error, r->ops[o].share,
                     (long long)r->ops[o].altered, r->ops[o].largest);
            break;
        }
    return text;
}
