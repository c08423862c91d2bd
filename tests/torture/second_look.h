/* A second look at a plan file that the checker has accepted: of its JSON alone, by a few lines that share nothing with the
 * library. Buffers on chip are inside, aligned and apart while they live; figures add up; copies are made while the buffer
 * that they fill lives. NULL: nothing is wrong. */
#ifndef LX_TESTS_TORTURE_SECOND_LOOK_H
#define LX_TESTS_TORTURE_SECOND_LOOK_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

static inline double look_at(const cJSON *object, const char *key, double absent)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(v) ? v->valuedouble : absent;
}

/* One range and another, half open. */
static inline bool look_meet(double a, double to_a, double b, double to_b)
{
    return a < to_b && b < to_a;
}

/* May `child` stand on `parent`, whose number is `number`? It takes its very place on the last tick of that one's life. */
static inline bool look_hands_over(const cJSON *child, const cJSON *parent, int number)
{
    return (int)look_at(child, "in_place_of", -1) == number &&
           !(look_at(child, "address", -1) < look_at(parent, "address", -1)) &&
           !(look_at(child, "address", -1) > look_at(parent, "address", -1)) &&
           !(look_at(child, "start", -1) < look_at(parent, "end", 0) - 1);
}

static inline const char *look_apart(const cJSON *buffers)
{
    int i = 0, k;
    const cJSON *a, *b;
    cJSON_ArrayForEach(a, buffers)
    {
        double at = look_at(a, "address", -1);
        k = 0;
        for (b = buffers->child; b != a; b = b->next, k++) {
            double there = look_at(b, "address", -1);
            if (at < 0 || there < 0 ||
                !look_meet(at, at + look_at(a, "size", 0), there, there + look_at(b, "size", 0)) ||
                !look_meet(look_at(a, "start", 0), look_at(a, "end", 0), look_at(b, "start", 0),
                           look_at(b, "end", 0)))
                continue;
            if (!look_hands_over(a, b, k) && !look_hands_over(b, a, i))
                return "two live buffers on the same bytes";
        }
        i++;
    }
    return NULL;
}

static inline const char *look_inside(const cJSON *plan, const cJSON *buffers)
{
    double capacity = look_at(plan, "capacity", 0), step = look_at(plan, "alignment", 1), highest = 0;
    const cJSON *a;
    cJSON_ArrayForEach(a, buffers)
    {
        double at = look_at(a, "address", -1), end = at + look_at(a, "size", 0);
        if (at < 0) continue;
        if (end > capacity) return "a buffer beyond the scratchpad";
        if ((long long)at % (long long)step != 0) return "a buffer that is not aligned";
        if (end > highest) highest = end;
    }
    if (look_at(plan, "height_bytes", -1) < highest || look_at(plan, "height_bytes", -1) > highest)
        return "another height";
    return NULL;
}

static inline const char *look_sums(const cJSON *plan, const cJSON *graph)
{
    double sum = 0, said = look_at(plan, "hbm_bytes", -1);
    const cJSON *o;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(graph, "ops")) sum +=
        look_at(o, "hbm_read", 0) + look_at(o, "hbm_written", 0);
    return sum < said || sum > said ? "traffic of ops that is not that of the plan" : NULL;
}

static inline const char *look_copies(const cJSON *graph, const cJSON *buffers)
{
    const cJSON *c;
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(graph, "transfers"))
    {
        const cJSON *b = cJSON_GetArrayItem(buffers, (int)look_at(c, "buffer", -1));
        double tick = look_at(c, "tick", -1);
        if (!b || look_at(b, "address", -1) < 0) return "a copy of a buffer that is off chip";
        if (tick < look_at(b, "start", 0) || tick >= look_at(b, "end", 0))
            return "a copy when its buffer does not live";
    }
    return NULL;
}

static inline const char *second_look(const cJSON *plan)
{
    const cJSON *graph = cJSON_GetObjectItemCaseSensitive(plan, "graph"),
                *buffers = cJSON_GetObjectItemCaseSensitive(plan, "buffers");
    const char *wrong = look_inside(plan, buffers);
    if (!wrong) wrong = look_apart(buffers);
    if (!wrong && graph) wrong = look_sums(plan, graph);
    if (!wrong && graph) wrong = look_copies(graph, buffers);
    return wrong;
}

#endif
