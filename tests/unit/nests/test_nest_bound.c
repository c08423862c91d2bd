/* The bound of each tensor alone: that of exhaustive search on all cases, and below every plan. */
#include "unstable.h"
#include "base/file.h"
#include "search/search_steps.h"
#include "base/memory.h"
#include "nests/nest_candidates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>
#include <cmocka.h>

static char *read_all(const char *path)
{
    lx_status st = {0};
    size_t length;
    char *text = file_read(path, &length, &st);
    if (!text) fail_msg("%s", st.text);
    return text;
}

static const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

struct drafted {
    const struct lx_graph *g;
    struct lx_layouts *l;
    struct lx_divisions *d;
    struct arena memory;
    struct draft x;
};

static void draft_of(const char *text, struct drafted *out)
{
    lx_status st = {0};
    struct decisions plain = {0};
    *out = (struct drafted){.g = lx_graph_of_text("case", text, strlen(text), &st)};
    out->l = out->g ? lx_layouts_make(out->g, LX_WEIGHTS_FREE, &st) : NULL;
    out->d = out->l ? lx_divide(out->l, NULL, &st) : NULL;
    if (!out->d || !draft_make(out->d, &plain, &out->memory, &out->x, &st)) fail_msg("%s", st.text);
}

static void drafted_free(struct drafted *d)
{
    draft_free(&d->x);
    arena_free(&d->memory);
    lx_divisions_free(d->d);
    lx_layouts_free(d->l);
    lx_graph_free(d->g);
}

static int64_t alone_of(const struct drafted *d, bool any_order)
{
    struct alone_asks asks = {.room = lx_device_usable(&d->g->device) * d->d->cores, .any_order = any_order};
    return alone_traffic(&d->x, &asks);
}

static void cases_have_their_bounds(void **state)
{
    (void)state;
    char *text = read_all(SOURCE_DIR "/tests/data/cases/tiling.json");
    cJSON *all = cJSON_Parse(text), *c;
    int wrong = 0, count = 0;
    cJSON_ArrayForEach(c, get(all, "cases"))
    {
        char *pattern = cJSON_Print(get(c, "pattern"));
        struct drafted d;
        draft_of(pattern, &d);
        int64_t alone = alone_of(&d, false), any = alone_of(&d, true), crossing = crossing_traffic(&d.x);
        int64_t want = (int64_t)get(c, "bound_alone")->valuedouble;
        int64_t once = (int64_t)get(c, "compulsory")->valuedouble;
        count++;
        if (alone != want || crossing != once || any > alone || any < crossing) {
            wrong++;
            print_message("%s %s: alone %lld (%lld), in any order %lld, crossing %lld (%lld)\n",
                          get(c, "id")->valuestring, get(get(c, "pattern"), "name")->valuestring,
                          (long long)alone, (long long)want, (long long)any, (long long)crossing,
                          (long long)once);
        }
        drafted_free(&d);
        free(pattern);
    }
    cJSON_Delete(all);
    mem_free(text);
    assert_int_equal(count, 78);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases_have_their_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
