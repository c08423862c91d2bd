/* Cases of splits on spaces that the case makes up: distribution, candidates, hints, spans, coarse tiles. */
#include "cases/workdiv.h"
#include "cases/access_rules.h"

#include <stdlib.h>
#include <string.h>

static int axis_list(const struct space *s, const cJSON *names, int *out)
{
    int n = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, names) if (cJSON_IsString(v) && axis_of(s, text_of(v)) >= 0) out[n++] =
        axis_of(s, text_of(v));
    return n;
}

static void product_condition(struct cases *c, const char *text, const int64_t *splits, int64_t product)
{
    long long a, b;
    char at[200];
    snprintf(at, sizeof at, "%s", text);
    for (char *part = at, *next; part; part = next) {
        if ((next = strstr(part, ", "))) *next = 0, next += 2;
        if (sscanf(part, "%lld<product<=%lld", &a, &b) == 2)
            case_expect(c, a < product && product <= b, "the product is %lld", (long long)product);
        else if (sscanf(part, "product>%lld", &a) == 1)
            case_expect(c, product > a, "the product is %lld", (long long)product);
        else if (sscanf(part, "splits[%lld]>%lld", &a, &b) == 2)
            case_expect(c, splits[a] > b, "splits[%lld] is %lld", a, (long long)splits[a]);
        else if (sscanf(part, "splits[%lld]==%lld", &a, &b) == 2)
            case_expect(c, splits[a] == b, "splits[%lld] is %lld", a, (long long)splits[a]);
        else
            case_expect(c, false, "a condition of an unknown form: %s", part);
    }
}

/* Older cases: sizes with a priority each, negative ones stay whole. */
static int by_priority(const cJSON *one, int64_t *sizes, int *order)
{
    int64_t priority[MAX_NAMED];
    int n = ints_of(cjson_find(one, "sizes"), sizes, MAX_NAMED), count = 0;
    if (ints_of(cjson_find(one, "priority_values"), priority, MAX_NAMED) != n)
        for (int i = 0; i < n; i++) priority[i] = n - i;
    for (int i = 0; i < n; i++) {
        if (priority[i] < 0) continue;
        int at = count++;
        for (; at > 0 && priority[order[at - 1]] < priority[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

/* Refused, and for the reason that the words name. */
static void expect_refused(struct cases *c, const char *words, bool accepted, const lx_status *st)
{
    static const struct {
        const char *word;
        enum lx_code code;
    } rows[] = {{"reduction", LX_E_TWO_REDUCTIONS}, {"domain", LX_E_DOMAIN}, {"mandatory", LX_E_CORES}};
    if (!case_expect(c, !accepted, "expected an error (%s), got splits", words)) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(words, rows[i].word)) {
            case_expect(c, st->code == rows[i].code, "expected the error %s, got: %s",
                        lx_code_word(rows[i].code), st->text);
            return;
        }
}

static void multi_dim(struct cases *c, const cJSON *one)
{
    struct made_space m;
    int64_t splits[LX_MAX_VARS], sizes[MAX_NAMED];
    int outs[MAX_NAMED], reds[MAX_NAMED], out_count, red_count = 0;
    lx_status st = {0};
    int64_t cores = case_int(cjson_find(one, "cores"), 32);
    make_space(&m, cjson_find(one, "it"), cores);
    if (cjson_find(one, "sizes")) {
        static const char *const names[] = {"0", "1", "2", "3", "4", "5"};
        out_count = by_priority(one, sizes, outs);
        int n = cJSON_GetArraySize(cjson_find(one, "sizes"));
        for (int i = 0; i < n && i < 6; i++) {
            m.axes[i] = (struct axis){.name = names[i], .extent = sizes[i]};
            axis_settle(&m.axes[i]);
        }
        m.s.axis_count = n;
    } else if (cjson_find(one, "priorities"))
        out_count = axis_list(&m.s, cjson_find(one, "priorities"), outs);
    else {
        out_count = axis_list(&m.s, cjson_find(one, "out"), outs);
        red_count = axis_list(&m.s, cjson_find(one, "red"), reds);
        for (int i = 0; i < m.s.axis_count; i++) m.axes[i].is_reduction = true;
        for (int i = 0; i < out_count; i++) m.axes[outs[i]].is_reduction = false;
    }
    apply_case_rules(&m, one);
    bool ok = distribute(&m.s, outs, out_count, reds, red_count, splits, &st);
    if (case_refusal(one)) {
        expect_refused(c, case_refusal(one), ok, &st);
    } else if (case_expect(c, ok, "an error: %s", st.text)) {
        int64_t product = space_used(&m.s, splits);
        if (cjson_find(one, "splits")) expect_splits(c, &m.s, splits, cjson_find(one, "splits"));
        if (cjson_find(one, "derived_splits"))
            expect_splits(c, &m.s, splits, cjson_find(one, "derived_splits"));
        if (cjson_find(one, "expect_max_split_reduction_dims"))
            case_expect(c,
                        space_reductions_split(&m.s, splits) <=
                            case_int(cjson_find(one, "expect_max_split_reduction_dims"), 1),
                        "more reductions");
        if (cjson_find(one, "expect")) product_condition(c, case_text(one, "expect"), splits, product);
        if (cjson_find(one, "expect_product"))
            case_expect(c, product == case_int(cjson_find(one, "expect_product"), -1), "the product is %lld",
                        (long long)product);
        if (cjson_find(one, "claimed")) /* the note says the claim is wrong and what the greedy rule gives */
            case_expect(c, splits[0] == cores && product == cores,
                        "the greedy rule gives all cores to the first");
    }
    arena_free(&m.memory);
}

static void multi_dim_error(struct cases *c, const cJSON *one)
{
    if (cjson_find(one, "it")) {
        multi_dim(c, one);
        return;
    }
    bool domain = strstr(case_text(one, "case"), "domain") != NULL;
    struct made_space m;
    lx_status st = {0};
    int64_t splits[LX_MAX_VARS];
    cJSON *it = cJSON_Parse("{\"a\": 16, \"b\": 16}");
    make_space(&m, it, 8);
    m.axes[0].floor = 4, m.axes[1].floor = domain ? 1 : 4;
    struct factor_set odd = {{0}};
    factor_add(&odd, 1);
    factor_add(&odd, 8);
    if (domain) axis_allow(&m.axes[0], &odd, "a domain");
    bool ok = distribute(&m.s, NULL, 0, NULL, 0, splits, &st);
    case_expect(c, !ok && st.code == (domain ? LX_E_DOMAIN : LX_E_CORES), "expected %s, got %s",
                domain ? "domain" : "cores", ok ? "an answer" : lx_code_word(st.code));
    cJSON_Delete(it);
    arena_free(&m.memory);
}

/* A space of an enumeration case, with its operand where it has a shape. */
static void candidate_space(struct made_space *m, const cJSON *one)
{
    int64_t shape[LX_MAX_RANK];
    int identity[LX_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    make_space(m, cjson_find(one, "it"), case_int(cjson_find(one, "cores"), 32));
    m->s.span_limit = case_int(cjson_find(one, "span_limit"), INT64_C(256) << 20);
    const cJSON *v;
    cJSON_ArrayForEach(v, cjson_find(one, "stick"))
    {
        int a = axis_of(&m->s, key_of(v));
        if (a < 0) continue;
        m->axes[a].unit = case_int(v, 1), m->axes[a].basis = 0;
        axis_settle(&m->axes[a]);
    }
    int rank = ints_of(cjson_find(one, "shape"), shape, LX_MAX_RANK);
    if (rank > 0 && rank == m->s.axis_count)
        add_tensor(m, dtype_of(case_text(one, "dtype")), rank, shape, identity);
    case_looked(cjson_find(one, "input")); /* of the sizes that `it` has */
    int outs = ints_of(cjson_find(one, "output"), shape, LX_MAX_RANK);
    if (outs > 0) { /* what stands only within the output's stick counts as a reduction */
        const cJSON *names = cjson_find(one, "output_syms");
        for (int i = 0; i < m->s.axis_count; i++) m->axes[i].is_reduction = true;
        for (int i = 0; i < outs; i++) {
            const cJSON *name = cJSON_GetArrayItem(names, i);
            int a = cJSON_IsString(name) ? axis_of(&m->s, text_of(name)) : -1;
            if (a >= 0 && (i < outs - 1 || shape[i] > 64)) m->axes[a].is_reduction = false;
        }
    }
    apply_case_rules(m, one);
}

static void enumeration(struct cases *c, const cJSON *one)
{
    struct made_space m;
    int64_t splits[LX_MAX_VARS] = {0};
    candidate_space(&m, one);
    struct candidate_walk w = {.s = &m.s, .splits = splits};
    const cJSON *want;
    int n = 0;
    cJSON_ArrayForEach(want, cjson_find(one, "candidates"))
    {
        if (!case_expect(c, candidate_next(&w), "only %d candidates", n)) break;
        expect_splits(c, &m.s, splits, want);
        n++;
    }
    case_expect(c, !candidate_next(&w), "more than %d candidates", n);
    cJSON_ArrayForEach(want, cjson_find(one, "adjusted"))
    {
        int a = axis_of(&m.s, key_of(want));
        case_expect(c, a >= 0 && m.axes[a].units == case_int(want, -1), "%s has other units", key_of(want));
    }
    arena_free(&m.memory);
}

static void legality(struct cases *c, const cJSON *section, const cJSON *one)
{
    const cJSON *space = NULL, *v, *splits = cjson_find(one, "splits");
    cJSON_ArrayForEach(v, cjson_find(section, "cases")) if (strcmp(case_text(v, "name"),
                                                                   case_text(one, "case")) == 0) space = v;
    if (!case_expect(c, space != NULL, "no case named %s", case_text(one, "case"))) return;
    struct made_space m;
    int64_t at[LX_MAX_VARS];
    bool known = true;
    candidate_space(&m, space);
    for (int i = 0; i < m.s.axis_count; i++) at[i] = 1;
    cJSON_ArrayForEach(v, splits)
    {
        int a = axis_of(&m.s, key_of(v));
        known &= a >= 0;
        if (a >= 0) at[a] = case_int(v, 0);
    }
    bool committed = known && splits_admissible(&m.s, at), proposed = known && splits_legal(&m.s, at);
    if (cjson_find(one, "committed"))
        case_expect(c, committed == case_true(one, "committed"), "committed is %d", committed);
    case_expect(c, proposed == case_true(one, "proposed"), "proposed is %d", proposed);
    arena_free(&m.memory);
}

/* A pointwise op on this shape, sticks along the last dimension. */
static void shape_space(struct made_space *m, const cJSON *one, const char *key, int64_t cores)
{
    static const char *const names[] = {"dim0", "dim1", "dim2", "dim3", "dim4", "dim5", "dim6", "dim7"};
    int identity[LX_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    int64_t shape[LX_MAX_RANK];
    int rank = ints_of(cjson_find(one, key), shape, LX_MAX_RANK);
    enum lx_dtype dtype = dtype_of(case_text(one, "dtype"));
    make_space(m, NULL, cores);
    m->s.axis_count = rank;
    for (int i = 0; i < rank; i++) {
        m->axes[i] = (struct axis){
            .name = names[i], .extent = shape[i], .unit = i == rank - 1 ? lx_stick_elements(dtype, 128) : 1};
        axis_settle(&m->axes[i]);
    }
    if (rank > 0) add_tensor(m, dtype, rank, shape, identity);
}

static void with_tiling(struct cases *c, const cJSON *one)
{
    struct made_space m;
    struct space tiled;
    int64_t tiles[LX_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1}, splits[LX_MAX_VARS] = {0};
    lx_status st;
    const cJSON *v, *want;
    shape_space(&m, one, "shape", case_int(cjson_find(one, "cores"), 32));
    cJSON_ArrayForEach(v, cjson_find(one, "tile")) if (axis_of(&m.s, key_of(v)) >= 0)
        tiles[axis_of(&m.s, key_of(v))] = case_int(v, 1);
    bool ok = case_expect(c, tile_space(&m.s, tiles, &tiled, &st), "no tiles");
    for (int t = 0; t < (ok ? 2 : 1); t++) {
        const struct space *s = t ? &tiled : &m.s;
        if ((want = cjson_find(one, t ? "factor_domain_x_tiled" : "factor_domain_x_untiled"))) {
            struct factor_set set = factor_set_of(want);
            case_expect(c, factor_sets_equal(&set, &s->axes[0].legal), "the domain of x differs (%s)",
                        t ? "tiled" : "untiled");
        }
        if ((want = cjson_find(one, t ? "tiled_admitted" : "untiled_admitted"))) {
            struct candidate_walk w = {.s = s, .splits = splits};
            int64_t wanted[LX_MAX_RANK];
            cJSON_ArrayForEach(v, want)
            {
                int n = ints_of(v, wanted, LX_MAX_RANK);
                if (!case_expect(c, candidate_next(&w), "too few candidates")) break;
                for (int i = 0; i < n; i++)
                    case_expect(c, splits[i] == wanted[i], "axis %d has %lld", i, (long long)splits[i]);
            }
            case_expect(c, !candidate_next(&w), "too many candidates");
        }
    }
    cJSON_ArrayForEach(v, cjson_find(one, "admits"))
    {
        const cJSON *how = cJSON_GetArrayItem(v, 1);
        const struct space *s =
            ok && cJSON_IsString(how) && strcmp(text_of(how), "tiled") == 0 ? &tiled : &m.s;
        int64_t at[LX_MAX_RANK] = {
            case_int(cjson_find(cJSON_GetArrayItem(v, 0), "x"), 1), 1, 1, 1, 1, 1, 1, 1};
        case_expect(c, splits_legal(s, at) == cJSON_IsTrue(cJSON_GetArrayItem(v, 2)), "x in %lld, %s",
                    (long long)at[0], text_of(how));
    }
    arena_free(&m.memory);
}

static void overflow_tiles(struct cases *c, const cJSON *one)
{
    const char *op = case_text(one, "op");
    const cJSON *level = cjson_find(one, "level"), *v;
    int64_t tiles[LX_MAX_RANK], reduce[LX_MAX_RANK], out[LX_MAX_RANK],
        most = case_int(cjson_find(one, "max_auto_split"), MAX_AUTO_TILES);
    lx_status st = {0};
    if (strcmp(op, "manual hint only") == 0) {
        case_expect(c, 769 > MAX_AUTO_TILES, "769 tiles are beyond the automatic ones");
        return;
    }
    struct made_space m;
    shape_space(&m, one, "shape", case_int(cjson_find(one, "cores"), 4));
    m.s.span_limit = case_int(cjson_find(one, "span_limit"), INT64_C(256) << 20);
    int reds = ints_of(cjson_find(one, "reduce"), reduce, LX_MAX_RANK),
        outs = ints_of(cjson_find(one, "out"), out, LX_MAX_RANK);
    if (reds > 0) { /* the input, whose inner dimensions are summed */
        cJSON *shape = cJSON_CreateArray(), *holder = cJSON_CreateObject();
        for (int i = 0; i < outs; i++) cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)out[i]));
        for (int i = 0; i < reds; i++) cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)reduce[i]));
        cJSON_AddItemToObject(holder, "shape", shape);
        arena_free(&m.memory);
        shape_space(&m, holder, "shape", case_int(cjson_find(one, "cores"), 4));
        for (int i = outs; i < m.s.axis_count; i++) m.axes[i].is_reduction = true;
        cJSON_Delete(holder);
    }
    /* Reads through an index are not tiled: where they go is not known. */
    bool ok = strstr(op, "indirect") ? false : span_tiles(&m.s, most, tiles, &st);
    bool wanted = cJSON_IsArray(level), whole = true; /* a single tile is none */
    for (int i = 0; ok && i < m.s.axis_count; i++) whole &= tiles[i] == 1;
    case_expect(c, !whole == wanted, "expected %s tiles", wanted ? "some" : "no");
    if (case_refusal(one))
        case_expect(c, strstr(st.text, case_refusal(one)) != NULL, "another error: %s", st.text);
    if (ok && wanted) {
        int64_t total = 1, product = 1;
        cJSON_ArrayForEach(v, level)
        {
            int64_t d = case_int(cjson_find(v, "host_dim"), 0), split = case_int(cjson_find(v, "split"), 1);
            if (!case_expect(c, d >= 0 && d < m.s.axis_count, "no such dimension")) continue;
            case_expect(c, tiles[d] == split, "dimension %lld has %lld tiles", (long long)d,
                        (long long)tiles[d]);
            total *= split;
        }
        for (int i = 0; i < m.s.axis_count; i++) product *= tiles[i];
        case_expect(c, product == total, "%lld tiles", (long long)product);
        int64_t shape[LX_MAX_RANK];
        int n = ints_of(cjson_find(one, "tile_shape"), shape, LX_MAX_RANK);
        for (int i = 0; i < n && i < m.s.axis_count; i++)
            case_expect(c, m.axes[i].extent / tiles[i] == shape[i], "dimension %d of the tile differs", i);
    }
    arena_free(&m.memory);
}

static void each(struct cases *c, const char *name, const cJSON *list,
                 void (*check)(struct cases *, const cJSON *))
{
    int n = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, list)
    {
        const char *own = case_text(one, "name");
        case_begin(c, "%s/%d%s%s", name, n++, *own ? "_" : "", own);
        check(c, one);
        case_end(c, one);
    }
}

void workdiv_splits(struct cases *c, const cJSON *root)
{
    const cJSON *one, *section = cjson_find(root, "candidate_enumeration");
    int n = 0;
    each(c, "multi_dim_split", cjson_find(cjson_find(root, "multi_dim_split"), "cases"), multi_dim);
    each(c, "multi_dim_split/errors", cjson_find(cjson_find(root, "multi_dim_split"), "errors"),
         multi_dim_error);
    each(c, "candidate_enumeration", cjson_find(section, "cases"), enumeration);
    cJSON_ArrayForEach(one, cjson_find(section, "legality"))
    {
        case_begin(c, "candidate_enumeration/legality/%d_%s", n++, case_text(one, "case"));
        legality(c, section, one);
        case_end(c, one);
    }
    each(c, "candidate_enumeration/with_tiling", cjson_find(section, "with_tiling"), with_tiling);
    each(c, "span_overflow_tiles", cjson_find(cjson_find(root, "span_overflow_tiles"), "cases"),
         overflow_tiles);
}
