/* Cases of the team form that are about a whole plan.
 *
 * The stencil is checked twice: function by function, as its source does it, and as a plan. The loops beside
 * the core are listed there in the order in which fusion left them; here they are compared as a set, op by op
 * (a view that reaches into one halo has rows 1, 1 on that side and 2 on the other). Our plan itself has
 * two: with the halos next to the own rows in one box, nothing is left to cut.
 *
 * The small programs are given in words; each is built here as a pattern. Our inputs lie in their default
 * partition from the start, so that only what really moves is an exchange:
 * fewer than the repartitions there. */
#include "cases/team_form.h"
#include "base/memory.h"
#include "team/team.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIEWS = 16 };

struct stencil {
    int64_t shape[2], size[2], insert[2];
    struct lx_team_view view[VIEWS];
    int views, members, member;
};

static struct lx_team_plan *plan_of(struct cases *c, const char *text, int members, const struct lx_graph **g)
{
    lx_status st = {0};
    struct lx_team_options how = {.devices = members};
    *g = lx_graph_of_text("case", text, strlen(text), &st);
    struct lx_team_plan *p = *g ? lx_team_make(*g, &how, &st) : NULL;
    case_expect(c, p != NULL, "%s", st.text);
    return p;
}

static void read_stencil(const cJSON *input, struct stencil *s)
{
    const cJSON *views = cjson_find(input, "views"), *one;
    s->views = 0;
    s->members = (int)case_int(cjson_find(input, "nprocs"), 1);
    s->member = (int)case_int(cjson_find(input, "prank"), 0);
    for (int d = 0; d < 2; d++) {
        s->shape[d] = team_item(cjson_find(input, "gshape"), d);
        s->size[d] = team_item(cjson_find(input, "size"), d);
        s->insert[d] = team_item(cjson_find(input, "insert_offset"), d);
    }
    cJSON_ArrayForEach(one, views)
    {
        if (s->views == VIEWS) break;
        s->view[s->views++] = (struct lx_team_view){
            2, {team_item(one, 0), team_item(one, 1)}, {s->size[0], s->size[1]}, {1, 1}};
    }
}

static char *stencil_pattern(const struct stencil *s)
{
    struct text t = {0};
    const char *shape = "\"shape\": [%" PRId64 ", %" PRId64 "], \"dtype\": \"fp32\"}";
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"s\", \"tensors\": [{\"name\": \"a\", ");
    text_format(&t, shape, s->shape[0], s->shape[1]);
    text_add(&t, ", {\"name\": \"y\", ");
    text_format(&t, shape, s->shape[0], s->shape[1]);
    for (int i = 0; i < s->views; i++)
        for (int k = 0; k < 2; k++) {
            text_format(&t, ", {\"name\": \"%c%d\", ", "vs"[k], i);
            text_format(&t, shape, s->size[0], s->size[1]);
        }
    text_add(
        &t, "], \"ops\": [{\"name\": \"keep\", \"kind\": \"clone\", \"inputs\": [\"a\"], \"output\": \"y\"}");
    for (int i = 0; i < s->views; i++) {
        text_format(&t,
                    ", {\"name\": \"v%d\", \"kind\": \"slice\", \"inputs\": [\"a\"], \"output\": \"v%d\", "
                    "\"offset\": [%" PRId64 ", %" PRId64 "]}",
                    i, i, s->view[i].offset[0], s->view[i].offset[1]);
        text_format(
            &t,
            ", {\"name\": \"s%d\", \"kind\": \"add\", \"inputs\": [\"v%d\", \"%c%d\"], \"output\": \"s%d\"}",
            i, i, i ? 's' : 'v', i ? i - 1 : 0, i);
    }
    text_format(&t,
                ", {\"name\": \"put\", \"kind\": \"insert\", \"inputs\": [\"s%d\"], \"output\": \"y\", "
                "\"offset\": [%" PRId64 ", %" PRId64 "]}]}",
                s->views - 1, s->insert[0], s->insert[1]);
    return t.at;
}

static void check_stencil_plan(struct cases *c, const struct stencil *s, const struct lx_team_box *core)
{
    const struct lx_graph *g = NULL;
    char *text = stencil_pattern(s);
    struct lx_team_plan *p = text ? plan_of(c, text, s->members, &g) : NULL;
    if (p) {
        const struct lx_team_group *fused = &p->groups[p->ops[1].group];
        case_expect(c, fused->first == 1 && fused->last == g->op_count - 2, "the ops are not one group");
        case_expect(c, p->exchange_count == 1, "%d exchanges", (int)p->exchange_count);
        if (case_expect(c, fused->core != NULL, "there is no core"))
            case_expect(c,
                        fused->core[s->member].range[0].begin == core->offset[0] &&
                            fused->core[s->member].range[0].end == core->offset[0] + core->size[0],
                        "the plan's core is another");
    }
    lx_team_free(p);
    lx_graph_free(g);
    mem_free(text);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Rows of the loops beside the core, of one view above and one below that reach a row into a halo. */
static void check_other_loops(struct cases *c, const struct stencil *s, const struct lx_team_array *held,
                              const struct lx_team_box *target, const struct lx_team_box *core,
                              const cJSON *wanted)
{
    int64_t rows[LX_TEAM_LOOPS * 2], expected[LX_TEAM_LOOPS * 2];
    int count = 0, entries = cJSON_GetArraySize(wanted);
    for (int i = 0; i < s->views; i++) {
        struct lx_team_subview v = lx_team_subview_of(held, &s->view[i], target);
        int64_t parts[LX_TEAM_PARTS];
        for (int k = 0; k < LX_TEAM_PARTS; k++) parts[k] = v.part[k].size[0];
        if (parts[LX_TEAM_LEFT] + parts[LX_TEAM_RIGHT] != 1) continue;
        struct lx_team_range middle = {core->offset[0] - target->offset[0],
                                       core->offset[0] - target->offset[0] + core->size[0]};
        struct lx_team_range loops[LX_TEAM_LOOPS];
        const int64_t *const list[] = {parts};
        int n = lx_team_elementwise_loops(list, 1, &middle, loops);
        for (int k = 1; k < n && count < LX_TEAM_LOOPS * 2; k++)
            rows[count++] = loops[k].end - loops[k].begin;
    }
    if (!case_expect(c, count == entries, "%d loops beside the core", count)) return;
    for (int i = 0; i < count; i++) expected[i] = team_item(wanted, i);
    qsort(rows, (size_t)count, sizeof *rows, by_size);
    qsort(expected, (size_t)count, sizeof *expected, by_size);
    case_expect(c, memcmp(rows, expected, (size_t)count * sizeof *rows) == 0, "rows of the other loops");
}

void team_check_stencil(struct cases *c, const cJSON *json)
{
    const cJSON *expected = cjson_find(json, "expected"), *parts = cjson_find(json, "view_parts");
    const cJSON *wanted_box = cjson_find(expected, "bounding_box");
    struct stencil s;
    read_stencil(cjson_find(json, "input"), &s);
    struct lx_team_array own = lx_team_array_make(s.members, s.member, 2, s.shape, 0);
    struct lx_team_view put = {2, {s.insert[0], s.insert[1]}, {s.size[0], s.size[1]}, {1, 1}};
    struct lx_team_box target = lx_team_local_target_of_slice(&own, &put).target, box, core;
    for (int i = 0; i < s.views; i++) {
        box = lx_team_local_bounding_box(&s.view[i], &target, i ? &box : NULL, false);
        core = lx_team_local_core(&own, &s.view[i], &target, i ? &core : NULL);
    }
    int64_t own_view[LX_MAX_RANK];
    struct lx_team_array held = lx_team_repartition(&own, &box, own_view);
    team_expect_array(c, "own_offset", cjson_find(expected, "own_offset"), own.offset, 2);
    team_expect_array(c, "own_shape", cjson_find(expected, "own_shape"), own.size, 2);
    team_expect_array(c, "toff", cjson_find(expected, "toff"), target.offset, 2);
    team_expect_array(c, "tsize", cjson_find(expected, "tsize"), target.size, 2);
    team_expect_array(c, "box offset", cJSON_GetArrayItem(wanted_box, 0), box.offset, 2);
    team_expect_array(c, "box size", cJSON_GetArrayItem(wanted_box, 1), box.size, 2);
    case_expect(c, held.part[LX_TEAM_LEFT] == case_int(cjson_find(expected, "left_halo_rows"), -1),
                "left halo");
    case_expect(c, held.part[LX_TEAM_RIGHT] == case_int(cjson_find(expected, "right_halo_rows"), -1),
                "right halo");
    int64_t relative[2] = {core.offset[0] - target.offset[0], core.offset[1] - target.offset[1]};
    team_expect_array(c, "core_offset", cjson_find(expected, "core_offset"), relative, 2);
    team_expect_array(c, "core_size", cjson_find(expected, "core_size"), core.size, 2);
    for (int i = 0; i < s.views; i++) {
        char key[64];
        snprintf(key, sizeof key, "[%d, %d]", (int)s.view[i].offset[0], (int)s.view[i].offset[1]);
        const cJSON *of_view = cjson_find(parts, key);
        struct lx_team_subview v = lx_team_subview_of(&held, &s.view[i], &target);
        for (int k = 0; of_view && k < LX_TEAM_PARTS; k++) {
            int64_t got[2] = {v.part[k].offset[0], v.part[k].size[0]};
            team_expect_array(c, key, cJSON_GetArrayItem(of_view, k), got, 2);
        }
    }
    check_other_loops(c, &s, &held, &target, &core, cjson_find(expected, "other_loop_rows_in_order"));
    check_stencil_plan(c, &s, &core);
}

#define SMALL(tensors, ops)                                                                                  \
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"p\", \"tensors\": [" tensors "], \"ops\": [" ops "]" \
    "}"
#define VECTOR(name, n) "{\"name\": \"" name "\", \"shape\": [" n "]}"
#define EW(name, a, b)                                                                                       \
    "{\"name\": \"" name "\", \"kind\": \"add\", \"inputs\": [\"" a "\", \"" b "\"], \"output\": \"" name    \
    "\"}"
#define VIEW(name, kind, from, to, offset, stride)                                                           \
    "{\"name\": \"" name "\", \"kind\": \"" kind "\", \"inputs\": [\"" from "\"], \"output\": \"" to         \
    "\", \"offset\": [" offset "], \"stride\": [" stride "]}"

static const struct {
    const char *program; /* how the case's words begin */
    const char *pattern;
    const char *tensor; /* of which so many exchanges are wanted */
    int exchanges;
} programs[] = {
    {"r3=repart(a)",
     SMALL(VECTOR("a", "16") "," VECTOR("b", "16") "," VECTOR("e", "16") "," VECTOR("f", "16"),
           EW("e", "a", "b") "," EW("f", "e", "a")),
     "e", 0},
    {"3 subviews of a",
     SMALL(VECTOR("a", "16") "," VECTOR("u", "5") "," VECTOR("v", "5") "," VECTOR("w", "5") "," VECTOR(
               "e", "5") "," VECTOR("f", "5") "," VECTOR("y", "16"),
           "{\"name\": \"keep\", \"kind\": \"clone\", \"inputs\": [\"a\"], \"output\": \"y\"}," VIEW(
               "u", "slice", "a", "u", "0",
               "2") "," VIEW("v", "slice", "a", "v", "5",
                             "1") "," VIEW("w", "slice", "a", "w", "1",
                                           "1") "," EW("e", "u", "v") "," EW("f", "e",
                                                                             "w") "," VIEW("put", "insert",
                                                                                           "f", "y", "1",
                                                                                           "2")),
     "a", 1},
};

void team_check_coalesce(struct cases *c, const cJSON *json)
{
    const char *program = case_text(cjson_find(json, "input"), "program");
    case_looked(cjson_find(json, "expected")); /* ops of the original; ours is a graph, in the table above */
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (strncmp(program, programs[i].program, strlen(programs[i].program)) != 0) continue;
        for (int members = 2; members <= 4; members++) {
            const struct lx_graph *g = NULL;
            struct lx_team_plan *p = plan_of(c, programs[i].pattern, members, &g);
            int found = 0;
            for (int32_t e = 0; p && e < p->exchange_count; e++) {
                const char *tensor = g->tensors[p->exchanges[e].tensor].name;
                if (strcmp(tensor, programs[i].tensor) == 0)
                    found++;
                else
                    case_expect(c, false, "%s travels, too", tensor);
            }
            case_expect(c, found == programs[i].exchanges, "%d exchanges of %s on %d devices", found,
                        programs[i].tensor, members);
            lx_team_free(p);
            lx_graph_free(g);
        }
    }
}
