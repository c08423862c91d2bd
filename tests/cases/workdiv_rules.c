/* Cases of constraints: which dimensions stay whole, and which factors are allowed. */
#include "cases/workdiv.h"
#include "cases/access_rules.h"

#include <stdlib.h>
#include <string.h>

static void expect_set(struct cases *c, const char *what, const struct factor_set *got, const cJSON *wanted)
{
    struct factor_set want = factor_set_of(wanted);
    case_expect(c, factor_sets_equal(got, &want), "the factors of %s differ from the case's", what);
}

static bool listed(const cJSON *array, const char *name)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, array) if (cJSON_IsString(v) && strcmp(v->valuestring, name) == 0) return true;
    return false;
}

/* Rules that say which axes of `it` are blocked. */
static void blocks(struct cases *c, const cJSON *one, const char *rule)
{
    const cJSON *v, *stick = cjson_find(one, "stick");
    int64_t stride[4];
    int strides = ints_of(cjson_find(one, "stride"), stride, 4);
    cJSON_ArrayForEach(v, cjson_find(one, "it"))
    {
        int64_t extent = case_int(v, 1), unit = case_int(cjson_find(stick, key_of(v)), 1);
        const char *name = key_of(v);
        bool got = false;
        if (strstr(rule, "conv")) {
            bool spatial = strcmp(name, "i") == 0 || strcmp(name, "j") == 0,
                 window = strcmp(name, "ki") == 0 || strcmp(name, "kj") == 0;
            got = window || (spatial && conv_blocks_spatial(stride, strides));
        } else if (strstr(rule, "restickify"))
            got = constraint_unaligned(extent, unit);
        else
            got = constraint_padded_reduction(extent, unit, listed(cjson_find(one, "reduction"), name));
        case_expect(c, got == listed(cjson_find(one, "blocked"), name), "%s is %sblocked", name,
                    got ? "" : "not ");
    }
}

/* "2w+k" into terms over `ranges`. */
static int window_index(const char *text, const struct named_ints *ranges, struct index_term *terms)
{
    int n = 0;
    for (const char *at = text; *at; at++) {
        char *end;
        int64_t factor = strtoll(at, &end, 10);
        if (end == at) factor = 1;
        char name[2] = {*end, 0};
        for (int v = 0; v < ranges->count; v++)
            if (strcmp(ranges->name[v], name) == 0)
                terms[n++] = (struct index_term){v, factor, ranges->value[v], 0};
        at = end + 1;
        if (!*at) break;
    }
    return n;
}

static void overlap_extents(struct cases *c, const cJSON *cases)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cases)
    {
        struct named_ints ranges = named_ints_of(cJSON_GetArrayItem(one, 1));
        struct index_term terms[MAX_NAMED];
        struct overlap got[MAX_NAMED];
        const cJSON *want = cJSON_GetArrayItem(one, 2), *v;
        const char *text = item_text(one, 0);
        int n = find_overlaps(terms, window_index(text, &ranges, terms), got);
        case_expect(c, n == cJSON_GetArraySize(want), "%s: %d overlaps", text, n);
        cJSON_ArrayForEach(v, want)
        {
            int i = 0;
            while (i < n && strcmp(ranges.name[got[i].inner], key_of(v)) != 0) i++;
            case_expect(c,
                        i < n && got[i].pitch == case_int(cJSON_GetArrayItem(v, 0), -1) &&
                            strcmp(ranges.name[got[i].outer], item_text(v, 1)) == 0,
                        "%s: %s differs", text, key_of(v));
        }
    }
}

/* unfold(1, size, step): windows of `size` every `step`; the case says which variable is summed. */
static void unfold(struct cases *c, const cJSON *one, const char *rule)
{
    long long dim, size, step;
    struct named_ints it = named_ints_of(cjson_find(one, "it"));
    if (!case_expect(c, sscanf(strstr(rule, "unfold("), "unfold(%lld,%lld,%lld)", &dim, &size, &step) == 3,
                     "unreadable rule"))
        return;
    struct factor_set inner, outer;
    factors_of_overlap(named_int(&it, "k", 1), named_int(&it, "w", 1), step,
                       strstr(rule, "summed over window") != NULL, &inner, &outer);
    const cJSON *allowed = cjson_find(one, "allowed");
    if (cjson_find(allowed, "k")) expect_set(c, "k", &inner, cjson_find(allowed, "k"));
    if (cjson_find(allowed, "w")) expect_set(c, "w", &outer, cjson_find(allowed, "w"));
}

static void constraint(struct cases *c, const cJSON *one)
{
    const char *rule = case_text(one, "rule");
    const cJSON *allowed = cjson_find(one, "allowed"), *v;
    long long a, b;
    struct factor_set s, t, whole = factors_whole();
    if (strstr(rule, "Aug 2026 behaviour")) {
        case_skip(c, "the block was dropped with a warning then; a domain that excludes a span commit is an "
                     "error here (code domain)");
        return;
    }
    if (cjson_find(one, "blocked"))
        blocks(c, one, rule);
    else if (sscanf(rule, "repeat x(2,64).repeat(3,2): rows %lld read as d0 mod %lld", &a, &b) == 2)
        s = factors_in_segments(a, b), expect_set(c, "d0", &s, cjson_find(allowed, "d0"));
    else if (sscanf(rule, "matmul rows flattened %lldx%lld segments", &a, &b) == 2)
        s = factors_in_segments(a * b, b), expect_set(c, "rows", &s, cjson_find(allowed, "rows"));
    else if (strstr(rule, "direct HBM read"))
        cJSON_ArrayForEach(v, cjson_find(one, "cases"))
        {
            int64_t extent = case_int(cjson_find(v, "extent"), 1);
            s = factors_direct_read(extent, 64, 3), expect_set(c, "the extent", &s, cjson_find(v, "allowed"));
            s = factors_direct_read(extent, 64, 2), t = factors_of_divisors(extent);
            case_expect(c, factor_sets_equal(&s, &t), "two trips are constrained");
        }
    else if (strstr(rule, "unfold("))
        unfold(c, one, rule);
    else if (strstr(rule, "overlap extents"))
        overlap_extents(c, cjson_find(one, "cases"));
    else if (strstr(rule, "topk k=") || strstr(rule, "keep_by_index")) {
        a = strtoll(strstr(rule, " k=") + 3, NULL, 10);
        s = (struct factor_set){{0}};
        factor_add(&s, topk_split(a, 32));
        expect_set(c, "k", &s, cjson_find(allowed, "k"));
        expect_set(c, "search", &whole, cjson_find(allowed, "search"));
    } else if (strstr(rule, "fp8 weight") || strstr(rule, "indirect access"))
        case_expect(c, factor_in(&whole, 1) && factor_least(&whole, 2) == 0, "expected the factor 1 only");
    else if (strstr(rule, "domains intersect")) {
        struct axis x = {.extent = 8};
        cJSON *both[2];
        axis_settle(&x);
        both[0] = cJSON_Parse("[1,2,4]"), both[1] = cJSON_Parse("[2,4,8]");
        for (int i = 0; i < 2; i++)
            s = factor_set_of(both[i]), axis_allow(&x, &s, "a domain"), cJSON_Delete(both[i]);
        expect_set(c, "r0", &x.legal, cjson_find(allowed, "r0"));
    }
    case_end(c, one);
}

void workdiv_rules(struct cases *c, const cJSON *root)
{
    const cJSON *one, *section;
    int n = 0;
    cJSON_ArrayForEach(one, cjson_find(root, "constraints"))
    {
        case_begin(c, "constraints/%d: %.60s", n++, case_text(one, "rule"));
        constraint(c, one);
    }
    cJSON_ArrayForEach(one, cjson_find(root, "topk"))
    {
        case_begin(c, "topk/k=%lld", (long long)case_int(cjson_find(one, "k"), -1));
        int64_t got = topk_split(case_int(cjson_find(one, "k"), 1), case_int(cjson_find(one, "cores"), 32));
        case_expect(c, got == case_int(cjson_find(one, "k_split"), -1), "got %lld", (long long)got);
        case_end(c, one);
    }
    section = cjson_find(root, "symbolic");
    for (int errors = 0; errors < 2; errors++)
        cJSON_ArrayForEach(one, cjson_find(section, errors ? "errors" : "cases"))
        {
            int64_t got = -1;
            lx_status st = {0};
            case_begin(c, "symbolic/%s/%lld", errors ? "errors" : "cases",
                       (long long)case_int(cjson_find(one, "max"), -1));
            bool ok = symbolic_granularity(case_int(cjson_find(one, "max"), 1),
                                           case_int(cjson_find(one, "min"), 0), &got, &st);
            case_expect(c, ok != (errors == 1 && case_refusal(one)), "expected %s",
                        errors ? "an error" : "a granularity");
            if (!errors)
                case_expect(c, got == case_int(cjson_find(one, "granularity"), -1), "got %lld",
                            (long long)got);
            case_end(c, one);
        }
    n = 0;
    cJSON_ArrayForEach(one, cjson_find(cjson_find(root, "indirect"), "cases"))
    {
        int64_t entries = 0, cores = case_int(cjson_find(one, "cores"), 32);
        bool scatter = strncmp(case_text(one, "op"), "scatter", 7) == 0;
        ints_of(cjson_find(one, "index"), &entries, 1);
        case_begin(c, "indirect/%d", n++);
        case_looked(cjson_find(one, "x")); /* the table, none of whose dimensions is split */
        if (scatter && strcmp(case_text(one, "splits"), "single core") == 0)
            case_expect(c,
                        indirect_split(40, cores, 32, true) == 1 && indirect_split(64, cores, 32, true) == 2,
                        "partial sticks are shared");
        else {
            int64_t got = indirect_split(entries, cores, 32, scatter),
                    want = case_int(cjson_find(cjson_find(one, "splits"), "d0"), 1);
            case_expect(c, got == want, "got %lld", (long long)got);
        }
        case_end(c, one);
    }
}
