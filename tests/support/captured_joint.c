#include "support/captured_joint.h"

int64_t captured_number(const cJSON *object, const char *key, int64_t otherwise)
{
    const cJSON *v = cjson_find(object, key);
    return cJSON_IsNumber(v) ? (int64_t)v->valuedouble : otherwise;
}

int32_t captured_find(const struct captured *c, const char *name)
{
    for (int32_t i = 0; i < c->problem.buffer_count; i++) {
        const cJSON *n = cjson_find(c->json[i], "name");
        if (cJSON_IsString(n) && strcmp(n->valuestring, name) == 0) return i;
    }
    return -1;
}

int64_t captured_parts(const cJSON *division, bool outputs_only)
{
    int64_t parts = 1;
    const cJSON *v, *r, *outputs = cjson_find(division, "output_splits"),
                        *splits = cjson_find(division, "splits");
    const cJSON *reduction = cjson_find(division, "reduction");
    const cJSON *all = outputs ? outputs : splits ? splits : division;
    cJSON_ArrayForEach(v, all)
    {
        bool reduces = false;
        if (!cJSON_IsNumber(v)) continue;
        cJSON_ArrayForEach(r, reduction) reduces |=
            cJSON_IsString(r) && strcmp(r->valuestring, v->string) == 0;
        if (!reduces || !outputs_only) parts *= (int64_t)v->valuedouble;
    }
    if (!outputs_only)
        cJSON_ArrayForEach(v, cjson_find(division, "reduction_splits")) parts *= (int64_t)v->valuedouble;
    return parts;
}

static int32_t captured_root(int32_t *up, int32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* Labels of one buffer over its own divisions and those of its readers. */
static bool captured_accesses(struct captured *c, int32_t i, struct lx_joint_buffer *b,
                              const int32_t *readers, int32_t count, int64_t **sizes)
{
    struct lx_joint_problem *p = &c->problem;
    struct lx_joint_access *a = arena_array(&c->memory, (size_t)count + 1, sizeof *a);
    int32_t nodes = p->ops[i].choice_count,
            *first = arena_array(&c->memory, (size_t)count + 1, sizeof *first);
    if (!a || !first) return false;
    for (int32_t k = 0; k < count; k++) {
        first[k] = nodes;
        nodes += p->ops[readers[k]].choice_count;
    }
    int32_t *up = arena_array(&c->memory, (size_t)nodes, sizeof *up);
    int32_t *label = arena_array(&c->memory, (size_t)nodes, sizeof *label);
    if (!up || !label) return false;
    for (int32_t n = 0; n < nodes; n++) up[n] = n;
    for (int32_t k = 0; k < count; k++) {
        const cJSON *pair,
            *matches = cjson_find(cjson_find(c->json[readers[k]], "cd_parent_matches"), b->name);
        cJSON_ArrayForEach(pair, matches)
        {
            int32_t x = (int32_t)cJSON_GetArrayItem(pair, 0)->valuedouble;
            int32_t y = (int32_t)cJSON_GetArrayItem(pair, 1)->valuedouble;
            if (x < p->ops[i].choice_count && y < p->ops[readers[k]].choice_count)
                up[captured_root(up, first[k] + y)] = captured_root(up, x);
        }
    }
    *sizes = mem_resize(*sizes, ((size_t)p->label_count + (size_t)nodes + 1) * sizeof **sizes);
    if (!*sizes) return false;
    const cJSON *divisions = cjson_find(c->json[i], "core_divisions");
    for (int32_t n = 0; n < nodes; n++) {
        label[n] = p->label_count + captured_root(up, n);
        (*sizes)[p->label_count + n] = 0;
    }
    for (int32_t n = 0; n < p->ops[i].choice_count; n++) {
        int64_t parts = captured_parts(cJSON_GetArrayItem(divisions, n), true);
        int64_t *size = &(*sizes)[label[n]];
        *size = max_i64(*size, ceil_div_i64(max_i64(b->bytes, 0), max_i64(parts, 1)));
    }
    p->label_count += nodes;
    a[0] = (struct lx_joint_access){.op = i, .toll = max_i64(b->bytes, 0), .label = label};
    for (int32_t k = 0; k < count; k++)
        a[k + 1] = (struct lx_joint_access){
            .op = readers[k], .toll = max_i64(b->bytes, 0), .label = label + first[k]};
    b->accesses = a;
    b->access_count = count + 1;
    return true;
}

/* The one factor above 1 that the division splits the output by, 0 if there are none or several, or if it
 * splits a reduction too. */
static int64_t captured_single(const cJSON *division)
{
    int64_t single = 0, several = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, cjson_find(division, "output_splits")) if (v->valuedouble > 1)
    {
        single = (int64_t)v->valuedouble;
        several++;
    }
    return several == 1 && captured_parts(division, true) == captured_parts(division, false) ? single : 0;
}

static bool captured_flips(struct captured *c, int32_t i, struct lx_joint_op *op)
{
    const cJSON *menu = cjson_find(c->json[i], "core_divisions");
    int64_t seed = captured_single(cJSON_GetArrayItem(menu, op->seed));
    bool *flip = arena_array(&c->memory, (size_t)op->choice_count, sizeof *flip);
    if (!flip) return false;
    for (int32_t k = 0; k < op->choice_count && seed > 0; k++)
        flip[k] = k != op->seed && captured_single(cJSON_GetArrayItem(menu, k)) == seed;
    op->flip = flip;
    return true;
}

static bool captured_buffer(struct captured *c, int32_t i, struct lx_joint_buffer *b, int64_t **sizes)
{
    const cJSON *v, *one = c->json[i], *uses = cjson_find(one, "uses"),
                    *reason = cjson_find(one, "residency_reason");
    int32_t readers[LX_MAX_INPUTS * 8], count = 0, n = c->problem.buffer_count;
    b->name = cjson_find(one, "name")->valuestring;
    b->bytes = captured_number(one, "size", 0);
    b->start = (int64_t)cJSON_GetArrayItem(uses, 0)->valuedouble;
    b->end = (int64_t)cJSON_GetArrayItem(uses, cJSON_GetArraySize(uses) - 1)->valuedouble + 1;
    b->reason = cJSON_IsString(reason) ? reason->valuestring : NULL;
    for (int32_t k = 0; k < n && count < LX_MAX_INPUTS * 8; k++)
        cJSON_ArrayForEach(v, cjson_find(c->json[k], "parents")) if (cJSON_IsString(v) &&
                                                                     strcmp(v->valuestring, b->name) == 0)
            readers[count++] = k;
    /* A made-up reader may stand behind the last use. */
    for (int32_t k = 0; k < count; k++) b->end = max_i64(b->end, c->problem.ops[readers[k]].tick + 1);
    int32_t *parents = arena_array(&c->memory, (size_t)n, sizeof *parents);
    if (!parents) return false;
    cJSON_ArrayForEach(v, cjson_find(one, "in_place_parents"))
    {
        int32_t k = cJSON_IsString(v) ? captured_find(c, v->valuestring) : -1;
        if (k >= 0) parents[b->parent_count++] = k;
    }
    b->parents = parents;
    return captured_accesses(c, i, b, readers, count, sizes);
}

bool captured_read(struct captured *c, const cJSON *inputs, int64_t capacity, int64_t alignment)
{
    *c = (struct captured){0};
    int32_t n = (int32_t)cJSON_GetArraySize(inputs), k = 0;
    struct lx_joint_op *ops = arena_array(&c->memory, (size_t)n, sizeof *ops);
    struct lx_joint_buffer *buffers = arena_array(&c->memory, (size_t)n, sizeof *buffers);
    int64_t *sizes = NULL, *kept;
    c->json = arena_array(&c->memory, (size_t)n, sizeof *c->json);
    if (!ops || !buffers || !c->json) return false;
    const cJSON *v;
    cJSON_ArrayForEach(v, inputs)
    {
        int64_t tick = (int64_t)cJSON_GetArrayItem(cjson_find(v, "uses"), 0)->valuedouble;
        int32_t at = k++;
        for (; at > 0 && ops[at - 1].tick > tick; at--) {
            ops[at] = ops[at - 1];
            c->json[at] = c->json[at - 1];
        }
        ops[at] = (struct lx_joint_op){.name = cjson_find(v, "name")->valuestring, .tick = tick};
        ops[at].choice_count = (int32_t)cJSON_GetArraySize(cjson_find(v, "core_divisions"));
        c->json[at] = v;
    }
    c->problem = (struct lx_joint_problem){.capacity = capacity,
                                           .alignment = alignment,
                                           .op_count = n,
                                           .buffer_count = n,
                                           .ops = ops,
                                           .buffers = buffers};
    bool ok = true;
    for (int32_t i = 0; ok && i < n; i++) ok = captured_flips(c, i, &ops[i]);
    for (int32_t i = 0; ok && i < n; i++) ok = captured_buffer(c, i, &buffers[i], &sizes);
    kept = arena_copy_array(&c->memory, sizes, (size_t)c->problem.label_count, sizeof *sizes);
    c->problem.label_size = kept;
    mem_free(sizes);
    return ok && kept;
}

bool captured_agrees(const struct captured *c, const int32_t *choice, const int64_t *address)
{
    const struct lx_joint_problem *p = &c->problem;
    for (int32_t i = 0; i < p->buffer_count; i++)
        for (int32_t k = 1; address[i] >= 0 && k < p->buffers[i].access_count; k++) {
            int32_t reader = p->buffers[i].accesses[k].op;
            const cJSON *pair;
            bool listed = false;
            cJSON_ArrayForEach(
                pair, cjson_find(cjson_find(c->json[reader], "cd_parent_matches"), p->buffers[i].name))
                listed |= (int32_t)cJSON_GetArrayItem(pair, 0)->valuedouble == choice[i] &&
                          (int32_t)cJSON_GetArrayItem(pair, 1)->valuedouble == choice[reader];
            if (!listed) return false;
        }
    return true;
}
