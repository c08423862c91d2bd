/* Members that do the same.
 *
 * Who has a tensor whole and computes with a part of it takes a slice, at an offset of his own. Nothing else differs
 * between members of the same sizes, and of the offset a plan depends on no more than where in its stick a slice begins:
 * so it is planned for the first of them, and the others have its plan with offsets of their own. */
#include "team_run/member_twins.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"
#include "graph/pattern.h"
#include "plan/plan_file.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a stick, of those of the smallest type that the graph has: powers of two. */
static int64_t offset_unit(const struct lx_graph *g)
{
    int64_t most = 1;
    for (int32_t t = 0; t < g->tensor_count; t++)
        most = max_i64(most, g->device.stick_bytes * 8 / lx_dtype_bits(g->tensors[t].dtype));
    return most;
}

/* Past a list of numbers, each of which counts by its place within the unit. */
static const char *hash_offsets(const char *at, int64_t unit, uint64_t *h)
{
    while (*at && *at != ']') {
        char *end = NULL;
        long long n = strtoll(at, &end, 10);
        if (end == at) {
            at++;
            continue;
        }
        unsigned char place[4];
        for (int i = 0; i < 4; i++) place[i] = (unsigned char)(n % unit >> 8 * i & 0xff);
        *h = hash_bytes(*h, place, sizeof place);
        at = end;
    }
    return at;
}

uint64_t team_shape_of(const struct lx_graph *does)
{
    static const char key[] = "\"offset\": [";
    struct text t = {0};
    uint64_t h = HASH_START;
    int64_t unit = offset_unit(does);
    pattern_write(does, &t);
    for (const char *at = t.failed ? NULL : t.at, *next; at; at = next) {
        next = strstr(at, key);
        h = hash_bytes(h, at, next ? (size_t)(next - at) : strlen(at));
        if (next) next = hash_offsets(next + sizeof key - 1, unit, &h);
    }
    bool ok = !t.failed;
    text_free(&t);
    return ok ? h | 1 : 0;
}

struct lx_plan *team_plan_of_twin(const struct lx_plan *plan, const struct lx_graph *does, lx_status *st)
{
    struct lx_plan moved = *plan;
    size_t length = 0;
    struct json j;
    moved.graph = does;
    char *text = lx_plan_to_json(&moved, &length);
    if (!text) return status_no_memory(st), NULL;
    struct lx_plan *made = NULL;
    if (json_parse(&j, does->file, text, length, st)) {
        made = plan_read_json(&j, j.root, st);
        json_free(&j);
    }
    free(text);
    return made;
}
