/* Cases of who works on what: splits by index coefficient, core maps, per-core views, sharing on chip. */
#include "cases/workdiv.h"
#include "cases/access_rules.h"
#include "divide/divide.h"
#include "divide/space.h"

#include <stdlib.h>
#include <string.h>

/* The coefficient of a variable in "8*i0+i1"; 0: not in it. */
static int64_t coefficient(const char *index, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = n > 0 ? strstr(index, name) : NULL; at; at = strstr(at + 1, name)) {
        char after = at[n], before = at > index ? at[-1] : '+';
        if ((after && after != '+') || (before != '+' && before != '*')) continue;
        if (before == '+') return 1;
        const char *digits = at - 1;
        while (digits > index && digits[-1] >= '0' && digits[-1] <= '9') digits--;
        return strtoll(digits, NULL, 10);
    }
    return 0;
}

static void expect_stored(struct cases *c, const cJSON *want, const struct lx_coeff_split *got, int count,
                          const char *what)
{
    case_expect(c, cJSON_GetArraySize(want) == count, "expected %d %s splits, got %d",
                cJSON_GetArraySize(want), what, count);
    const cJSON *v;
    cJSON_ArrayForEach(v, want)
    {
        int i = 0;
        while (i < count && got[i].coefficient != strtoll(key_of(v), NULL, 10)) i++;
        case_expect(c, i < count && got[i].split == case_int(v, 0), "the %s split of coefficient %s differs",
                    what, key_of(v));
    }
}

/* Variables are those of the indices in order; `decoded` names them anew, in the same order. */
static void encoding(struct cases *c, const cJSON *one)
{
    const char *write = case_text(one, "write"), *read = case_text(one, "read");
    if (strcmp(read, "same") == 0) read = write;
    struct named_ints splits = named_ints_of(cjson_find(one, "splits")),
                      ranges = named_ints_of(cjson_find(one, "ranges"));
    struct named_ints decoded = named_ints_of(cjson_find(one, "decoded"));
    struct coeff_var vars[MAX_NAMED];
    struct lx_coeff_splits stored;
    for (int i = 0; i < splits.count; i++)
        vars[i] =
            (struct coeff_var){named_int(&ranges, splits.name[i], 2), coefficient(write, splits.name[i]),
                               coefficient(read, splits.name[i]), splits.value[i]};
    coeff_encode(vars, splits.count, &stored);
    expect_stored(c, cJSON_GetArrayItem(cjson_find(one, "stored"), 0), stored.output, stored.output_count,
                  "output");
    expect_stored(c, cJSON_GetArrayItem(cjson_find(one, "stored"), 1), stored.reduction,
                  stored.reduction_count, "reduction");
    if (splits.count == 0) vars[0] = (struct coeff_var){2, 1, 1, 0};
    coeff_decode(&stored, vars, decoded.count);
    for (int i = 0; i < decoded.count; i++)
        case_expect(c, vars[i].split == decoded.value[i], "%s comes back as %lld", decoded.name[i],
                    (long long)vars[i].split);
}

static void core_map(struct cases *c, const cJSON *one)
{
    int64_t splits[8], first[8];
    int n = ints_of(cjson_find(one, "splits"), splits, 8);
    int64_t cores = case_int(cjson_find(one, "cores"), 32);
    lx_status st;
    const cJSON *contiguous = cjson_find(one, "contiguous_dim"), *v, *names = cjson_find(one, "iteration");
    int front = cJSON_IsNumber(contiguous) ? (int)case_int(contiguous, -1) : -1;
    if (cJSON_IsString(contiguous)) {
        int i = 0;
        cJSON_ArrayForEach(v, names)
        {
            if (strcmp(key_of(v), text_of(contiguous)) == 0) front = i;
            i++;
        }
    }
    if (!case_expect(c, all_sane(splits, n) && front < n && (n > 0 || !cjson_find(one, "splits")),
                     "splits out of range"))
        return;
    if (n > 0)
        case_expect(c, core_count_fits(splits, n, cores, &st), "expected the splits to fit %lld cores",
                    (long long)cores);
    int64_t core = 0;
    cJSON_ArrayForEach(v, cjson_find(one, "first_slots"))
    {
        ints_of(v, first, 8);
        for (int d = 0; d < n; d++)
            case_expect(c, core_slot(splits, n, front, d, core) == first[d],
                        "core %lld has another slot of %d", (long long)core, d);
        core++;
    }
    core = 0;
    cJSON_ArrayForEach(v, cjson_find(one, "first_slots_reduction"))
    {
        if (front < 0) break;
        case_expect(c, core_slot(splits, n, front, front, core) == case_int(v, -1),
                    "core %lld has another slot", (long long)core);
        core++;
    }
    if (strcmp(case_text(one, "slots_rule"), "(c%16, c//16)") == 0 && n == 2)
        for (core = 0; core < cores; core++)
            case_expect(c,
                        core_slot(splits, n, -1, 0, core) == core % 16 &&
                            core_slot(splits, n, -1, 1, core) == core / 16,
                        "core %lld has other slots", (long long)core);
    if (strstr(case_text(one, "rule"), "perm[c]=(c mod k)*(m*n)+(c div k)"))
        for (int64_t k = 1; k <= 8; k *= 2) {
            /* The permuted core under the plain order is the core under the order with K in front. */
            int64_t mnk[3] = {2, 16 / k, k};
            for (core = 0; core < 32; core++) {
                int64_t permuted = core % k * (mnk[0] * mnk[1]) + core / k;
                if (k == 1) case_expect(c, permuted == core, "no permutation without a split of K");
                for (int d = 0; d < 3; d++)
                    case_expect(c, core_slot(mnk, 3, 2, d, core) == core_slot(mnk, 3, -1, d, permuted),
                                "core %lld differs", (long long)core);
            }
        }
}

static void core_map_error(struct cases *c, const cJSON *one)
{
    const char *what = case_text(one, "case");
    lx_status st;
    if (strstr(what, "not a multiple of the split product")) {
        int64_t splits[2] = {2, 3};
        case_expect(c, !core_count_fits(splits, 2, 8, &st) && !core_count_fits(splits, 2, 4, &st),
                    "expected 8 and 4 cores to be refused");
    } else if (strstr(what, "slot outside its split")) {
        int64_t slots[4] = {0, 1, 2, 3}, split = 2;
        case_expect(c,
                    !core_slots_valid(slots, &split, 1, 4, &st) && strstr(st.text, "core 2") &&
                        strstr(st.text, "outside its split"),
                    "expected core 2 to be refused");
    } else {
        case_skip(c, "September 2026: ownership keyed by symbols; seed 000 keys splits by index "
                     "coefficients, and slots are integers by construction");
        return;
    }
    case_end(c, one);
}

static void mapping(struct cases *c, const cJSON *section)
{
    const cJSON *one;
    int n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "cases"))
    {
        case_begin(c, "core_mapping/%d", n++);
        core_map(c, one);
        case_end(c, one);
    }
    n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "errors"))
    {
        case_begin(c, "core_mapping/errors/%d: %.60s", n++, case_text(one, "case"));
        core_map_error(c, one);
    }
    n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "partition_physical_span_bytes"))
    {
        int64_t size[8], parts[8];
        int rank = ints_of(cjson_find(one, "device_size"), size, 8);
        const cJSON *v;
        for (int d = 0; d < rank; d++) parts[d] = 1;
        cJSON_ArrayForEach(v, cjson_find(one, "splits")) parts[strtol(key_of(v), NULL, 10) % 8] =
            case_int(v, 1);
        case_begin(c, "core_mapping/partition_physical_span_bytes/%d", n++);
        if (rank > 0) size[rank - 1] = 64;
        bool sane = all_sane(size, rank) && all_sane(parts, rank);
        for (int d = 0; sane && d < rank; d++) parts[d] = size[d] / parts[d];
        int64_t got = sane ? physical_span(rank, size, parts, 128) : -2;
        case_expect(c, got == case_int(cjson_find(one, "bytes"), -1), "got %lld", (long long)got);
        case_end(c, one);
    }
    n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "fused_split_decomposition"))
    {
        int64_t size[8], parts[8] = {0}, pair[2];
        int rank = ints_of(cjson_find(one, "device_size"), size, 8);
        const cJSON *v, *want = cjson_find(one, "work_slice_dims");
        case_begin(c, "core_mapping/fused_split_decomposition/%d", n++);
        if (!want) {
            case_skip(c, "upstream gives up beyond 1024 proof states (a later rule); ours is a closed form "
                         "and has no such limit");
            continue;
        }
        case_expect(c,
                    all_sane(size, rank) &&
                        decompose_split(rank, size, case_int(cjson_find(one, "split"), 1), parts),
                    "expected a decomposition");
        int64_t product = 1, wanted = 1;
        cJSON_ArrayForEach(v, want)
        {
            ints_of(v, pair, 2);
            wanted *= pair[1];
            case_expect(c, pair[0] >= 0 && pair[0] < rank && parts[pair[0]] == pair[1],
                        "dimension %lld differs", (long long)pair[0]);
        }
        for (int d = 0; d < rank; d++) product *= parts[d];
        case_expect(c, product == wanted, "got %lld parts", (long long)product);
        case_end(c, one);
    }
}

static void per_core_view(struct cases *c, const cJSON *one)
{
    int64_t size[8], stride[8] = {0}, host[8];
    int rank = ints_of(cjson_find(one, "device_size"), size, 8);
    int hosts = ints_of(cjson_find(one, "host"), host, 8);
    bool mapped = ints_of(cjson_find(one, "stride_map"), stride, 8) == rank;
    const cJSON *v;
    cJSON_ArrayForEach(v, cjson_find(one, "work_slice_dims"))
    {
        int d = (int)strtol(key_of(v), NULL, 10);
        int64_t got = 0;
        if (mapped && d < rank) {
            /* The variable of this dimension is the one whose host stride is nearest below the
             * dimension's. */
            for (int h = 0; h < hosts; h++) {
                char key[40];
                int64_t step = 1;
                for (int e = h + 1; e < hosts; e++) step *= host[e];
                snprintf(key, sizeof key, "host_stride_%lld", (long long)step);
                const cJSON *split = cjson_find(cjson_find(one, "splits"), key);
                if (split && step <= stride[d] && (stride[d] < step * host[h]) &&
                    (step == stride[d] || h == hosts - 1))
                    got = slices_of_dim(size[d], stride[d], step, host[h], case_int(split, 1));
            }
        } else if (d < rank) {
            int64_t split = case_int(cjson_find(one, "split"), 1);
            got = slices_of_dim(size[d], 64, case_int(cjson_find(one, "host_stride"), 1), split, split);
        }
        case_expect(c, got == case_int(v, -1), "dimension %d has %lld slices", d, (long long)got);
    }
}

/* "dim0/2*dim1/2", with the cores its splits use. */
static struct lx_core_view view_of(const char *text, const cJSON *splits)
{
    struct lx_core_view v = {.cores = 1, .rank = 2, .slices = {1, 1}, .representable = true};
    const cJSON *s;
    cJSON_ArrayForEach(s, splits) v.cores *= case_int(s, 1);
    int64_t stride = 1;
    for (const char *at = strstr(text, "dim"); at; at = strstr(at + 1, "dim")) {
        int d = at[3] - '0';
        v.slices[d] = strtoll(at + 5, NULL, 10);
        v.stride[d] = stride;
        stride *= v.slices[d];
    }
    return v;
}

static struct lx_core_view producer_view(const cJSON *splits)
{
    char text[64];
    int64_t x = case_int(cjson_find(splits, "x"), 1), y = case_int(cjson_find(splits, "y"), 1);
    if (y > 1)
        snprintf(text, sizeof text, "dim0/%lld*dim1/%lld", (long long)x, (long long)y);
    else
        snprintf(text, sizeof text, "dim0/%lld", (long long)x);
    return view_of(text, splits);
}

static void residency(struct cases *c, const cJSON *section)
{
    const cJSON *consumer = cjson_find(section, "consumer"), *views = cjson_find(section, "consumer_views"),
                *pairs;
    cJSON_ArrayForEach(pairs, cjson_find(section, "pairs"))
    {
        const char *name = key_of(pairs);
        case_begin(c, "residency_match/%s", name);
        cJSON *producers = NULL;
        const cJSON *producer = cjson_find(section, "producer");
        if (strncmp(name, "matmul producer ", 16) == 0) {
            /* "[{x:2,y:2},{x:2}]": letters without quotes. */
            struct text t = {0};
            for (const char *p = name + 16; *p; p++) {
                bool letter = *p >= 'a' && *p <= 'z';
                text_format(&t, letter ? "\"%c\"" : "%c", *p);
            }
            producer = producers = cJSON_Parse(t.at);
            text_free(&t);
        }
        int found = 0, total = cJSON_GetArraySize(pairs);
        bool barred = strstr(name, "barred") != NULL;
        for (int p = 0; p < cJSON_GetArraySize(producer) && !barred; p++)
            for (int q = 0; q < cJSON_GetArraySize(consumer); q++) {
                struct lx_core_view a = producer_view(cJSON_GetArrayItem(producer, p));
                struct lx_core_view b = view_of(item_text(views, q), cJSON_GetArrayItem(consumer, q));
                a.partial = p == 0 && strstr(name, "partial") != NULL;
                a.representable = !(p == 0 && strstr(name, "unrepresentable"));
                bool match = lx_core_views_match(&a, &b), wanted = false;
                const cJSON *v;
                cJSON_ArrayForEach(v, pairs) wanted |= case_int(cJSON_GetArrayItem(v, 0), -1) == p &&
                                                       case_int(cJSON_GetArrayItem(v, 1), -1) == q;
                found += match;
                case_expect(c, match == wanted, "producer %d and consumer %d: expected %s", p, q,
                            wanted ? "a match" : "none");
            }
        case_expect(c, found == total, "expected %d pairs, got %d", total, found);
        cJSON_Delete(producers);
        case_end(c, pairs);
    }
}

void workdiv_mapping(struct cases *c, const cJSON *root)
{
    const cJSON *one;
    int n = 0;
    cJSON_ArrayForEach(one, cjson_find(cjson_find(root, "coeff_encoding"), "cases"))
    {
        case_begin(c, "coeff_encoding/%s", case_text(one, "name"));
        encoding(c, one);
        case_end(c, one);
    }
    mapping(c, cjson_find(root, "core_mapping"));
    cJSON_ArrayForEach(one, cjson_find(root, "per_core_view"))
    {
        case_begin(c, "per_core_view/%d", n++);
        per_core_view(c, one);
        case_end(c, one);
    }
    residency(c, cjson_find(root, "residency_match"));
}
