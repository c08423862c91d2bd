#include "support/each_plan.h"
#include "support/sampled.h"

struct lx_plan *plan_of(const struct lx_graph *g, const struct lx_passes *passes)
{
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"), .passes = *passes};
    lx_status st = {0};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    return p;
}

/* A preset with so many cores; 0: all, -2: all but two. Gives the graph that it got back. */
static const struct lx_graph *with_preset(const struct lx_graph *g, const struct lx_device *preset,
                                          int64_t cores)
{
    struct lx_device device = *preset;
    device.cores = cores > 0 ? cores : device.cores + cores;
    return with_device(g, &device);
}

static void plan_on(const char *path, const struct lx_device *preset, int64_t cores,
                    const struct lx_passes *passes, plan_check *check, void *totals)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    if (is_of_real_size(g)) {
        lx_graph_free(g);
        return;
    }
    g = with_preset(g, preset, cores);
    struct lx_layouts *l = lx_layouts_make(g, LX_WEIGHTS_FREE, &st);
    struct lx_divisions *v = l ? lx_divide(l, NULL, &st) : NULL;
    bool divides = v != NULL; /* some need more than four cores */
    lx_divisions_free(v);
    lx_layouts_free(l);
    if (!divides) {
        lx_graph_free(g);
        return;
    }
    struct lx_plan *p = plan_of(g, passes);
    check(p, totals);
    lx_plan_free(p);
}

/* On all cores of every preset, and on all but two; of the first, on few as well. One in SOME, in turn. */
static void each_plan_of(const char *path, plan_check *check, void *totals)
{
    static const int64_t cores[] = {0, -2, 1, 4, 24};
    static const struct lx_passes passes[] = {{.tile = LX_TILE_NONE},
                                              {.tile = LX_TILE_NONE, .cooptimise = LX_COOPTIMISE_FLIP},
                                              {.stage = LX_STAGE_BASELINE}};
    enum { SOME = SAMPLED ? 9 : 1 };
    static int turn;
    for (int d = 0; lx_device_at(d); d++)
        for (size_t c = 0; c < (d ? 2 : sizeof cores / sizeof *cores); c++)
            for (size_t k = 0; k < sizeof passes / sizeof *passes; k++)
                if (turn++ % SOME == 0) plan_on(path, lx_device_at(d), cores[c], &passes[k], check, totals);
}

void each_plan(plan_check *check, void *totals)
{
    static const char *const folders[] = {SOURCE_DIR "/patterns/graphs", SOURCE_DIR "/patterns/targets"};
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        DIR *dir = opendir(folders[f]);
        assert_non_null(dir);
        for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
            char path[1200];
            if (!strstr(e->d_name, ".json")) continue;
            snprintf(path, sizeof path, "%s/%s", folders[f], e->d_name);
            each_plan_of(path, check, totals);
        }
        closedir(dir);
    }
}

struct lx_plan *plan_with(const char *tensors, const char *ops, const struct lx_passes *passes)
{
    char text[2000];
    lx_status st = {0};
    int n =
        snprintf(text, sizeof text,
                 "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [%s], \"ops\": [%s]}",
                 tensors, ops);
    const struct lx_graph *g = lx_graph_of_text("t", text, (size_t)n, &st);
    if (!g) fail_msg("%s", st.text);
    return plan_of(g, passes);
}

struct lx_plan *plan_text(const char *tensors, const char *ops)
{
    return plan_with(tensors, ops, &(struct lx_passes){0});
}
