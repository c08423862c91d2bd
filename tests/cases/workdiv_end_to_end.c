/* Cases that go through the stages as a graph would: default splits and hints. */
#include "cases/workdiv.h"
#include "cases/access_rules.h"

#include <stdlib.h>
#include <string.h>

/* The last "[...]" of a text as integers. */
static int ints_in_text(const char *text, int64_t *out, int most)
{
    const char *at = strrchr(text, '[');
    int n = 0;
    while (at && *at && *at != ']' && n < most) {
        char *end;
        out[n] = strtoll(at + 1, &end, 10);
        if (end == at + 1) break;
        at = end;
        n++;
    }
    return n;
}

static void shape_text(struct text *t, const int64_t *shape, int rank, int without)
{
    const char *comma = "";
    text_add(t, "[");
    for (int i = 0; i < rank; i++) {
        if (i == without) continue;
        text_format(t, "%s%lld", comma, (long long)shape[i]);
        comma = ", ";
    }
    text_add(t, "]");
}

/* A graph of one op: unary, a reduction over `reduce`, or a restickify. */
static void one_op(struct text *t, const char *kind, enum lx_dtype dtype, const int64_t *shape, int rank,
                   int reduce)
{
    char in[LX_MAX_RANK + 1] = "", out[LX_MAX_RANK + 1] = "";
    for (int i = 0, n = 0; i < rank; i++) {
        in[i] = (char)('a' + i);
        if (i != reduce) out[n++] = in[i];
    }
    text_add(t, "\"tensors\": [{\"name\": \"x\", \"shape\": ");
    shape_text(t, shape, rank, -1);
    text_format(t, ", \"dtype\": \"%s\"}, {\"name\": \"y\", \"shape\": ", lx_dtype_word(dtype));
    shape_text(t, shape, rank, reduce);
    text_format(t,
                ", \"dtype\": \"%s\"}], \"ops\": [{\"name\": \"op\", \"kind\": \"%s\", \"inputs\": [\"x\"], "
                "\"output\": \"y\"",
                lx_dtype_word(dtype), kind);
    if (strcmp(kind, "restickify") != 0) text_format(t, ", \"einsum\": \"%s->%s\"", in, out);
    text_add(t, "}]");
}

static void matmul_op(struct text *t, int64_t m, int64_t k, int64_t n)
{
    text_format(
        t,
        "\"tensors\": [{\"name\": \"x\", \"shape\": [%lld, %lld]}, {\"name\": \"w\", \"shape\": [%lld, "
        "%lld]}, "
        "{\"name\": \"y\", \"shape\": [%lld, %lld]}], \"ops\": [{\"name\": \"op\", \"kind\": \"matmul\", "
        "\"inputs\": [\"x\", \"w\"], \"output\": \"y\", \"einsum\": \"mk,kn->mn\"}]",
        (long long)m, (long long)k, (long long)k, (long long)n, (long long)m, (long long)n);
}

/* The split of a key: c0 or d0 is letter a; M, N, K are theirs; "out(coeff 1)" goes by the encoding. */
static int64_t split_of_key(const struct stages *s, const char *key)
{
    const struct lx_division *d = &s->divisions->at[0];
    const char *coeff = strstr(key, "(coeff ");
    struct lx_coeff_splits stored;
    char letter = (key[0] == 'c' || key[0] == 'd') && key[1] >= '0' && key[1] <= '9'
                      ? (char)('a' + key[1] - '0')
                      : (char)(key[0] | 0x20);
    if (coeff) {
        int64_t wanted = strtoll(coeff + 7, NULL, 10);
        bool reduction = strncmp(key, "red", 3) == 0;
        int64_t splits[LX_MAX_VARS];
        for (int i = 0; i < d->split_count; i++) splits[i] = d->splits[i].split;
        if (!lx_division_encode(s->layouts, 0, splits, &stored)) return -1;
        const struct lx_coeff_split *list = reduction ? stored.reduction : stored.output;
        for (int i = 0; i < (reduction ? stored.reduction_count : stored.output_count); i++)
            if (list[i].coefficient == wanted) return list[i].split;
        return 1;
    }
    for (int i = 0; i < d->split_count; i++)
        if (d->splits[i].letter == letter) return d->splits[i].split;
    return -1;
}

static void expect_division(struct cases *c, const struct stages *s, const cJSON *one)
{
    const cJSON *v;
    if (!case_expect(c, s->divisions->count > 0, "no op is left")) return;
    const struct lx_division *d = &s->divisions->at[0];
    int64_t product = 1;
    cJSON_ArrayForEach(v, cjson_find(one, "splits"))
    {
        int64_t got = split_of_key(s, key_of(v));
        product *= case_int(v, 1);
        case_expect(c, got == case_int(v, -1), "expected %s split into %lld, got %lld", key_of(v),
                    (long long)case_int(v, -1), (long long)got);
    }
    case_expect(c, d->cores_used == product, "expected %lld cores used, got %lld", (long long)product,
                (long long)d->cores_used);
    for (int i = 0; i < d->split_count; i++) {
        const struct lx_split *one_split = &d->splits[i];
        cJSON_ArrayForEach(v, cjson_find(one, "adjusted"))
        {
            if (strlen(key_of(v)) != 2 || one_split->letter != 'a' + key_of(v)[1] - '0') continue;
            case_expect(c, one_split->units == case_int(v, -1), "%s has %lld units", key_of(v),
                        (long long)one_split->units);
        }
        cJSON_ArrayForEach(v, cjson_find(one, "span_floor"))
        {
            if (one_split->letter != (key_of(v)[0] | 0x20)) continue;
            case_expect(c, one_split->rule == LX_SPLIT_SPAN && one_split->split == case_int(v, -1),
                        "%s is no floor", key_of(v));
        }
    }
    if ((v = cjson_find(one, "lx_bytes_per_core")) && d->operand_count > 0)
        case_expect(c, d->operands[0].core_bytes == case_int(v, -1), "a core holds %lld bytes",
                    (long long)d->operands[0].core_bytes);
}

/* A tile of columns, read in place: its span on one core. */
static void tiled_span(struct cases *c, const cJSON *one, const int64_t *shape)
{
    struct made_space m;
    struct space tile;
    cJSON *it = cJSON_Parse("{\"a\": 1, \"b\": 1}");
    int axes[2] = {0, 1};
    int64_t ones[2] = {1, 1}, tiles[2] = {1, 1};
    long long ways = 1;
    lx_status st = {0};
    sscanf(strstr(case_text(one, "op"), "coarse-tiled"), "coarse-tiled %lld ways", &ways);
    make_space(&m, it, case_int(cjson_find(one, "cores"), 1));
    for (int i = 0; i < 2; i++) {
        m.axes[i] = (struct axis){.name = i ? "b" : "a", .extent = shape[i], .unit = i ? 64 : 1};
        axis_settle(&m.axes[i]);
    }
    add_tensor(&m, LX_BF16, 2, shape, axes);
    int64_t device[3];
    if (ints_of(cjson_find(one, "device_size"), device, 3) == 3)
        for (int d = 0; d < 3; d++)
            case_expect(c, m.operands[0].dims[d].size == device[d], "device size %d differs", d);
    tiles[1] = ways;
    if (case_expect(c, tile_space(&m.s, tiles, &tile, &st), "no such tiles")) {
        int64_t span = operand_span(&tile, &tile.operands[0], ones);
        case_expect(c, span == case_int(cjson_find(one, "per_core_span"), -1), "the span is %lld",
                    (long long)span);
        bool refused = !span_reduce(&tile, &st) && st.code == LX_E_SPAN;
        case_expect(c, refused == (case_refusal(one) != NULL), "expected the code span");
    }
    cJSON_Delete(it);
    arena_free(&m.memory);
}

/* A dimension known at run time: "s in [64,1024]". */
static void symbolic_rows(struct cases *c, const cJSON *one)
{
    struct made_space m;
    long long least = 0, most = 0;
    int64_t granularity = 0, splits[LX_MAX_VARS];
    lx_status st;
    const cJSON *shape = cjson_find(one, "shape");
    cJSON *it = cJSON_Parse("{\"c0\": 1, \"c1\": 1}");
    make_space(&m, it, case_int(cjson_find(one, "cores"), 32));
    sscanf(item_text(shape, 0), "s in [%lld,%lld]", &least, &most);
    case_expect(c, symbolic_granularity(most, least, &granularity, &st), "no granularity");
    m.axes[0] = (struct axis){.name = "c0", .extent = most, .basis = granularity};
    m.axes[1] = (struct axis){.name = "c1", .extent = case_int(cJSON_GetArrayItem(shape, 1), 1), .unit = 64};
    for (int i = 0; i < 2; i++) axis_settle(&m.axes[i]);
    int outs[2], reds[2], out_count, red_count;
    prioritize(&m.s, outs, &out_count, reds, &red_count);
    case_expect(c, distribute(&m.s, outs, out_count, reds, red_count, splits, &st), "an error");
    expect_splits(c, &m.s, splits, cjson_find(one, "splits"));
    cJSON_Delete(it);
    arena_free(&m.memory);
}

static void end_to_end(struct cases *c, const cJSON *one)
{
    const char *op = case_text(one, "op");
    int64_t shape[LX_MAX_RANK];
    struct lx_divide_options how = {.cores = case_int(cjson_find(one, "cores"), 32), .no_cost = true};
    struct stages s;
    struct text t = {0};
    int rank = ints_of(cjson_find(one, "shape"), shape, LX_MAX_RANK),
        reduce = (int)case_int(cjson_find(one, "reduce_dim"), -1);
    if (rank == 0) rank = ints_in_text(op, shape, LX_MAX_RANK);
    if (strstr(op, "over dim ")) reduce = atoi(strstr(op, "over dim ") + 9);
    if (cJSON_IsString(cJSON_GetArrayItem(cjson_find(one, "shape"), 0))) {
        symbolic_rows(c, one);
        return;
    }
    if (strstr(op, "coarse-tiled")) {
        ints_in_text(op, shape, 2);
        tiled_span(c, one, shape);
        return;
    }
    enum lx_dtype dtype = dtype_of(case_text(one, "dtype"));
    if (strcmp(op, "matmul") == 0)
        matmul_op(&t, case_int(cjson_find(one, "M"), 1), case_int(cjson_find(one, "K"), 1),
                  case_int(cjson_find(one, "N"), 1));
    else
        one_op(&t,
               strstr(op, "restickify") ? "restickify"
               : reduce >= 0            ? (strstr(op, "max") ? "max" : "sum")
                                        : "relu",
               dtype, shape, rank, reduce);
    bool ok = run_stages(&s, t.at, &how);
    if (case_refusal(one)) {
        char span[40], used[60];
        struct named_ints splits = named_ints_of(cjson_find(one, "splits"));
        int64_t product = 1;
        for (int i = 0; i < splits.count; i++) product *= splits.value[i];
        snprintf(span, sizeof span, "%lld bytes", (long long)case_int(cjson_find(one, "per_core_span"), -1));
        snprintf(used, sizeof used, "%lld of %lld cores", (long long)product, (long long)how.cores);
        case_expect(c, !ok && s.st.code == LX_E_SPAN, "expected the code span");
        case_expect(c, strstr(s.st.text, span) && strstr(s.st.text, used),
                    "the message has other numbers: %s", s.st.text);
        const cJSON *size = cjson_find(one, "device_size_out");
        int64_t wanted[LX_MAX_DEVICE_RANK];
        int n = ints_of(size, wanted, LX_MAX_DEVICE_RANK);
        for (int i = 0; s.layouts && i < n; i++)
            case_expect(c, s.layouts->layouts[1].size[i] == wanted[i], "device size %d differs", i);
    } else if (case_expect(c, ok, "an error: %s", s.st.text))
        expect_division(c, &s, one);
    free_stages(&s);
    text_free(&t);
}

/* Gives the last op of a body hints. */
static void ask_for(struct text *t, const struct lx_split_hint *hints, int count)
{
    if (t->length < 2) return;
    t->length -= 2; /* "}]" */
    for (int i = 0; i < count; i++)
        text_format(t, "%s\"%c\": %lld", i ? ", " : ", \"hints\": {", hints[i].letter,
                    (long long)hints[i].split);
    text_add(t, count > 0 ? "}}]" : "}]");
}

/* Hints on named sizes, or on an op. */
static void hint(struct cases *c, const cJSON *one)
{
    struct lx_split_hint hints[8];
    const cJSON *v, *list = cjson_find(one, "hint"), *names = cjson_find(one, "sizes");
    const char *op = case_text(one, "op");
    int n = 0;
    int64_t shape[LX_MAX_RANK], cores = case_int(cjson_find(one, "cores"), 32);
    int rank = ints_of(cjson_find(one, "shape"), shape, LX_MAX_RANK);
    if (*op) {
        static const char letters[] = "MN";
        struct stages s;
        struct text t = {0};
        cJSON_ArrayForEach(v, list)
        {
            char letter = (char)(item_text(v, 0)[0] | 0x20);
            if (rank > 0)
                letter =
                    (char)('a' + (strchr(letters, letter & ~0x20) - letters)); /* M is the first dimension */
            hints[n++] = (struct lx_split_hint){letter, case_int(cJSON_GetArrayItem(v, 1), 0)};
        }
        struct lx_divide_options how = {.cores = cores};
        if (rank > 0)
            one_op(&t, "relu", LX_FP16, shape, rank, -1);
        else
            matmul_op(&t, case_int(cjson_find(one, "M"), 1), case_int(cjson_find(one, "K"), 1),
                      case_int(cjson_find(one, "N"), 1));
        ask_for(&t, hints, n);
        bool ok = run_stages(&s, t.at, &how);
        if (case_refusal(one))
            case_expect(c, !ok && s.st.code == LX_E_HINT && strstr(s.st.text, case_refusal(one)),
                        "another outcome: %s", ok ? "a division" : s.st.text);
        else if (case_expect(c, ok, "an error: %s", s.st.text)) {
            if (cjson_find(one, "splits")) expect_division(c, &s, one);
            cJSON_ArrayForEach(v, cjson_find(one, "skipped"))
                case_expect(c, split_of_key(&s, text_of(v)) == 1, "%s is split", text_of(v));
        }
        free_stages(&s);
        text_free(&t);
        return;
    }
    struct made_space m;
    int64_t splits[LX_MAX_VARS];
    lx_status st = {0};
    make_space(&m, names, cores);
    for (int i = 0; i < m.s.axis_count; i++) m.axes[i].letter = (char)('a' + i); /* names may begin alike */
    if (cjson_find(one, "output"))
        for (int i = 0; i < m.s.axis_count; i++) m.axes[i].is_reduction = true;
    cJSON_ArrayForEach(v, cjson_find(one, "output")) if (axis_of(&m.s, text_of(v)) >= 0)
        m.axes[axis_of(&m.s, text_of(v))]
            .is_reduction = false;
    cJSON_ArrayForEach(v, list)
    {
        int a = axis_of(&m.s, item_text(v, 0));
        hints[n++] =
            (struct lx_split_hint){a < 0 ? '?' : (char)('a' + a), case_int(cJSON_GetArrayItem(v, 1), 0)};
    }
    bool ok = apply_hints(&m.s, hints, n, splits, &st);
    if (case_refusal(one))
        case_expect(c, !ok && st.code == LX_E_HINT && strstr(st.text, case_refusal(one)),
                    "another outcome: %s", ok ? "splits" : st.text);
    else if (case_expect(c, ok, "an error: %s", st.text)) {
        expect_splits(c, &m.s, splits, cjson_find(one, "splits"));
        cJSON_ArrayForEach(v, cjson_find(one, "skipped"))
        {
            int a = axis_of(&m.s, text_of(v));
            case_expect(c, a >= 0 && splits[a] == 1, "%s is split", text_of(v));
        }
    }
    arena_free(&m.memory);
}

/* Hint errors that the file describes in words. */
static void hint_error(struct cases *c, const cJSON *one)
{
    static const struct {
        const char *words;
        char letter;
        int64_t split, floor;
        const char *text;
    } rows[] = {
        {"bool or non-integer", 'a', 0, 1, "integer"},
        {"not in iteration space", 'z', 2, 1, "not in the iteration space"},
        {"below span floor", 'a', 2, 4, "span limit needs more"},
    };
    if (cJSON_IsArray(cjson_find(one, "hint"))) {
        hint(c, one);
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strstr(case_text(one, "hint"), rows[i].words)) continue;
        struct made_space m;
        int64_t splits[LX_MAX_VARS];
        lx_status st = {0};
        cJSON *it = cJSON_Parse("{\"a\": 64}");
        struct lx_split_hint h = {rows[i].letter, rows[i].split};
        make_space(&m, it, 32);
        m.axes[0].floor = rows[i].floor;
        case_expect(c,
                    !apply_hints(&m.s, &h, 1, splits, &st) && st.code == LX_E_HINT &&
                        strstr(st.text, rows[i].text),
                    "got %s", st.text);
        cJSON_Delete(it);
        arena_free(&m.memory);
    }
}

static void each(struct cases *c, const char *name, const cJSON *list,
                 void (*check)(struct cases *, const cJSON *))
{
    int n = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, list)
    {
        case_begin(c, "%s/%d_%.50s", name, n++, case_text(one, "op"));
        check(c, one);
        case_end(c, one);
    }
}

void workdiv_end_to_end(struct cases *c, const cJSON *root)
{
    each(c, "end_to_end_default_splits", cjson_find(root, "end_to_end_default_splits"), end_to_end);
    each(c, "user_hints", cjson_find(cjson_find(root, "user_hints"), "cases"), hint);
    each(c, "user_hints/errors", cjson_find(cjson_find(root, "user_hints"), "errors"), hint_error);
}
