/* The form of layout and division cases: layouts, coordinates, encodings, core maps, splits, spans,
 * constraints, matmul costs. This file has what its parts share; each part works through some sections of the
 * file. */
#include "cases/workdiv.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

struct named_ints named_ints_of(const cJSON *object)
{
    struct named_ints n = {0};
    const cJSON *v;
    cJSON_ArrayForEach(v, object)
    {
        if (n.count == MAX_NAMED) break;
        n.name[n.count] = key_of(v);
        n.value[n.count++] = case_int(v, 0);
    }
    return n;
}

int64_t named_int(const struct named_ints *n, const char *name, int64_t otherwise)
{
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->name[i], name) == 0) return n->value[i];
    return otherwise;
}

int ints_of(const cJSON *array, int64_t *out, int most)
{
    int n = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, array)
    {
        if (n == most) break;
        out[n++] = case_int(v, -1);
    }
    return n;
}

bool all_sane(const int64_t *at, int count)
{
    for (int i = 0; i < count; i++)
        if (at[i] < 1 || at[i] > INT64_C(1) << 40) return false;
    return true;
}

const char *text_of(const cJSON *value)
{
    return cJSON_IsString(value) ? value->valuestring : "";
}

const char *item_text(const cJSON *array, int item)
{
    return text_of(cJSON_GetArrayItem(array, item));
}

const char *key_of(const cJSON *value)
{
    return value && value->string ? value->string : "";
}

enum lx_dtype dtype_of(const char *word)
{
    char plain[32];
    size_t n = strcspn(word, "() ");
    snprintf(plain, sizeof plain, "%.*s", (int)n, word);
    int d = 0;
    while (d < LX_DTYPE_COUNT && strcmp(lx_dtype_word((enum lx_dtype)d), plain) != 0) d++;
    return d == LX_DTYPE_COUNT ? LX_FP16 : (enum lx_dtype)d;
}

void make_space(struct made_space *m, const cJSON *it, int64_t cores)
{
    memset(m, 0, sizeof *m);
    m->s = (struct space){.op_name = "case",
                          .file = "",
                          .axes = m->axes,
                          .operands = m->operands,
                          .cores = cores,
                          .span_limit = INT64_C(256) << 20,
                          .memory = &m->memory};
    const cJSON *v;
    cJSON_ArrayForEach(v, it)
    {
        if (m->s.axis_count == MAX_NAMED) break;
        struct axis *a = &m->axes[m->s.axis_count++];
        long long most = 0, granularity = 0;
        /* "sym max 1024 gran 256": known at run time only. */
        if (cJSON_IsString(v) && sscanf(v->valuestring, "sym max %lld gran %lld", &most, &granularity) == 2)
            *a = (struct axis){.extent = most, .basis = granularity};
        else
            *a = (struct axis){.extent = max_i64(case_int(v, 1), 1)};
        a->name = key_of(v);
        a->letter = key_of(v)[0];
        axis_settle(a);
    }
}

int axis_of(const struct space *s, const char *name)
{
    for (int i = 0; i < s->axis_count; i++)
        if (strcmp(s->axes[i].name, name) == 0) return i;
    return -1;
}

void add_tensor(struct made_space *m, enum lx_dtype dtype, int rank, const int64_t *shape, const int *axes)
{
    struct lx_layout y;
    lx_status st;
    if (m->s.operand_count == 4 || !lx_layout_make(dtype, rank, shape, NULL, NULL, 0, 128, &y, &st)) return;
    struct operand *o = &m->operands[m->s.operand_count++];
    *o = (struct operand){.name = "tensor", .rank = y.rank, .stick_bytes = y.stick_bytes};
    o->dims = arena_array(&m->memory, (size_t)y.rank, sizeof *o->dims);
    struct coordinate_term *walks = arena_array(&m->memory, (size_t)y.rank, sizeof *walks);
    if (!o->dims || !walks) abort();
    for (int d = 0; d < y.rank; d++) {
        o->dims[d].size = y.size[d];
        if (d == y.rank - 1 || y.host_dim[d] < 0) continue;
        walks[d] =
            (struct coordinate_term){.var = axes[(int)y.host_dim[d]], .scale = 1, .divisor = y.step[d]};
        o->dims[d].walks = &walks[d];
        o->dims[d].walk_count = 1;
    }
}

struct factor_set factor_set_of(const cJSON *array)
{
    struct factor_set s = {{0}};
    const cJSON *v;
    cJSON_ArrayForEach(v, array) factor_add(&s, case_int(v, 0));
    return s;
}

bool factor_sets_equal(const struct factor_set *a, const struct factor_set *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

bool apply_case_rules(struct made_space *m, const cJSON *one)
{
    const cJSON *v;
    bool ok = true;
    cJSON_ArrayForEach(v, cjson_find(one, "floors"))
    {
        int a = axis_of(&m->s, key_of(v));
        if (a >= 0) m->axes[a].floor = case_int(v, 1);
    }
    cJSON_ArrayForEach(v, cjson_find(one, "allowed"))
    {
        struct factor_set allowed = factor_set_of(v);
        int a = axis_of(&m->s, key_of(v));
        if (a >= 0) ok &= axis_allow(&m->axes[a], &allowed, "allowed by the case");
    }
    cJSON_ArrayForEach(v, cjson_find(one, "blocked"))
    {
        int a = cJSON_IsString(v) ? axis_of(&m->s, text_of(v)) : -1;
        if (a >= 0) axis_block(&m->axes[a], "blocked by the case");
    }
    return ok;
}

void expect_splits(struct cases *c, const struct space *s, const int64_t *got, const cJSON *expected)
{
    struct named_ints want = named_ints_of(expected);
    for (int i = 0; i < want.count; i++)
        case_expect(c, axis_of(s, want.name[i]) >= 0, "a split of %s is expected, which is no axis",
                    want.name[i]);
    for (int i = 0; i < s->axis_count; i++) {
        int64_t wanted = named_int(&want, s->axes[i].name, 1);
        case_expect(c, got[i] == wanted, "expected %s split into %lld, got %lld", s->axes[i].name,
                    (long long)wanted, (long long)got[i]);
    }
}

bool run_stages(struct stages *s, const char *body, const struct lx_divide_options *how)
{
    struct text t = {0};
    *s = (struct stages){0};
    text_add(&t, "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"case\", ");
    text_add(&t, body);
    text_add(&t, "}");
    s->graph = lx_graph_of_text("case", t.at, t.length, &s->st);
    text_free(&t);
    if (s->graph) s->layouts = lx_layouts_make(s->graph, LX_WEIGHTS_FREE, &s->st);
    if (s->layouts) s->divisions = lx_divide(s->layouts, how, &s->st);
    return s->divisions != NULL;
}

void free_stages(struct stages *s)
{
    lx_divisions_free(s->divisions);
    lx_layouts_free(s->layouts);
    lx_graph_free(s->graph);
}

static bool fits(const cJSON *root)
{
    static const char *const keys[] = {"layout",
                                       "coordinates",
                                       "coeff_encoding",
                                       "core_mapping",
                                       "per_core_view",
                                       "multi_dim_split",
                                       "constraints",
                                       "topk",
                                       "user_hints",
                                       "matmul_cost",
                                       "span",
                                       "span_overflow_tiles",
                                       "symbolic",
                                       "indirect",
                                       "residency_match",
                                       "candidate_enumeration",
                                       "end_to_end_default_splits",
                                       NULL};
    return has_any_key(root, keys);
}

static void run(struct cases *c, const cJSON *root)
{
    workdiv_layout(c, root);
    workdiv_mapping(c, root);
    workdiv_rules(c, root);
    workdiv_splits(c, root);
    workdiv_end_to_end(c, root);
    workdiv_span(c, root);
    workdiv_cost(c, root);
}

/* What the rest implies: names and sizes of the op that the case was taken from. */
static const char *const remarks[] = {"skipped_upstream", "decode_ranges", "dims", "grouped",
                                      "extent",           "kernel",        NULL};

const struct case_form form_workdiv = {"workdiv", fits, run, remarks};
