#include "support/nest_plans.h"

cJSON *tiling_cases(void)
{
    FILE *f = fopen(SOURCE_DIR "/tests/data/cases/tiling.json", "rb");
    long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : 0;
    char *text = mem_zeroed((size_t)n + 1, 1);
    if (f) rewind(f);
    if (!f || !text || fread(text, 1, (size_t)n, f) != (size_t)n) n = 0;
    cJSON *all = n ? cJSON_Parse(text) : NULL;
    if (f) fclose(f);
    mem_free(text);
    return all;
}

const cJSON *case_array(const cJSON *all)
{
    return cJSON_GetObjectItemCaseSensitive(all, "cases");
}

struct lx_plan *nest_plan(const struct lx_graph *g, enum lx_ask ask, lx_status *st)
{
    struct lx_plan_options how = {
        .solver = lx_solver_find("auto"), .objective = ask, .passes = {.tile = LX_TILE_AUTO}};
    return g ? lx_plan_make(g, &how, st) : NULL;
}

struct lx_plan *plan_of_case(const cJSON *c, enum lx_ask ask, lx_status *st)
{
    char *text = cJSON_Print(cJSON_GetObjectItemCaseSensitive(c, "pattern"));
    const struct lx_graph *g = lx_graph_of_text("case", text, strlen(text), st);
    struct lx_plan *p = nest_plan(g, ask, st);
    lx_graph_free(g);
    free(text);
    return p;
}

struct lx_plan *plan_of_block(int64_t seq, int64_t usable, enum lx_ask ask, lx_status *st)
{
    const struct lx_generator *k = lx_generator_find("block");
    int64_t values[16];
    for (int i = 0; i < k->option_count; i++)
        values[i] = strcmp(k->options[i].name, "layers") == 0 ? 1
                    : strcmp(k->options[i].name, "seq") == 0  ? seq
                                                              : k->options[i].def;
    const struct lx_graph *whole = k->build(values, st);
    const struct lx_graph *g = whole ? lx_graph_with_capacity(whole, usable, st) : NULL;
    struct lx_plan *p = nest_plan(g, ask, st);
    lx_graph_free(whole);
    lx_graph_free(g);
    return p;
}
