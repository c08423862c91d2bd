/* Cases of layouts: device sizes and stride maps, round trips, coordinates of flat indices. */
#include "cases/workdiv.h"
#include "base/checked.h"
#include "base/memory.h"
#include "layout/flat_index.h"
#include "support/host_copy.h"

#include <stdlib.h>
#include <string.h>

static void expect_ints(struct cases *c, const char *what, const cJSON *wanted, const int64_t *got, int count)
{
    int64_t want[16];
    int n = ints_of(wanted, want, 16);
    if (!case_expect(c, n == count, "expected %d entries of %s, got %d", n, what, count)) return;
    for (int i = 0; i < n; i++)
        case_expect(c, want[i] == got[i], "expected %s[%d] %lld, got %lld", what, i, (long long)want[i],
                    (long long)got[i]);
}

static bool layout_of(struct cases *c, const cJSON *one, struct lx_layout *y)
{
    int64_t size[LX_MAX_RANK], stride[LX_MAX_RANK], order[LX_MAX_RANK + 1];
    int narrow[LX_MAX_RANK + 1];
    lx_status st;
    int rank = ints_of(cjson_find(one, "size"), size, LX_MAX_RANK),
        orders = ints_of(cjson_find(one, "dim_order"), order, LX_MAX_RANK + 1);
    bool strided = ints_of(cjson_find(one, "stride"), stride, LX_MAX_RANK) == rank && rank > 0;
    for (int i = 0; i < orders; i++) narrow[i] = (int)order[i];
    bool ok = lx_layout_make(dtype_of(case_text(one, "dtype")), rank, size, strided ? stride : NULL,
                             orders ? narrow : NULL, orders, 128, y, &st);
    return case_expect(c, ok, "expected a layout, got: %s", ok ? "" : st.text);
}

static void layouts(struct cases *c, const cJSON *layout)
{
    static const char *const lists[] = {"default", "dim_order", "sparse", "linear_weight_swapped"};
    struct lx_layout y;
    const cJSON *one;
    cJSON_ArrayForEach(one, cjson_find(layout, "elems_per_stick"))
    {
        case_begin(c, "layout/elems_per_stick/%s", key_of(one));
        if (strstr(key_of(one), "stored as int")) {
            case_skip(c, "int64 has all its bits on our device, 16 to a stick, so that integers are exact");
            continue;
        }
        int64_t got = lx_stick_elements(dtype_of(key_of(one)), 128);
        case_expect(c, got == case_int(one, -1), "expected %lld, got %lld", (long long)case_int(one, -1),
                    (long long)got);
        case_end(c, one);
    }
    for (int i = 0; i < 4; i++) {
        int n = 0;
        cJSON_ArrayForEach(one, cjson_find(layout, lists[i]))
        {
            case_begin(c, "layout/%s/%d", lists[i], n++);
            if (layout_of(c, one, &y)) {
                if (cjson_find(one, "device_size"))
                    expect_ints(c, "device_size", cjson_find(one, "device_size"), y.size, y.rank);
                if (cjson_find(one, "stride_map"))
                    expect_ints(c, "stride_map", cjson_find(one, "stride_map"), y.stride_map, y.rank);
                if (cjson_find(one, "device_size_0"))
                    case_expect(c, y.size[0] == case_int(cjson_find(one, "device_size_0"), -1),
                                "device_size[0] is %lld", (long long)y.size[0]);
            }
            case_end(c, one);
        }
    }
    if ((one = cjson_find(layout, "dma_example"))) {
        int64_t strides[LX_MAX_DEVICE_RANK];
        case_begin(c, "layout/dma_example");
        if (layout_of(c, one, &y)) {
            layout_strides(&y, strides);
            expect_ints(c, "loop_ranges", cjson_find(one, "loop_ranges"), y.size, y.rank);
            expect_ints(c, "device_strides", cjson_find(one, "device_strides"), strides, y.rank);
            expect_ints(c, "host_strides", cjson_find(one, "host_strides"), y.stride_map, y.rank);
        }
        case_end(c, one);
    }
    int n = 0;
    cJSON_ArrayForEach(one, cjson_find(layout, "embedding_gather_layout"))
    {
        int64_t size[2] = {0, 0};
        case_begin(c, "layout/embedding_gather_layout/%d", n++);
        ints_of(cjson_find(one, "size"), size, 2);
        /* Rows whose entries are fetched one by one: rows outermost, whole sticks. */
        int64_t stick = lx_stick_elements(dtype_of(case_text(one, "dtype")), 128);
        bool ok = size[1] % stick == 0;
        int64_t device[3] = {size[0], size[1] / stick, stick};
        bool wanted = cJSON_IsArray(cjson_find(one, "device_size"));
        case_expect(c, ok == wanted, "expected %s layout", wanted ? "a" : "no");
        if (ok && wanted) expect_ints(c, "device_size", cjson_find(one, "device_size"), device, 3);
        case_end(c, one);
    }
}

/* Host to device and back through an explicit layout; `second_half` transfers only that. */
static void round_trip(struct cases *c, const cJSON *one)
{
    struct lx_layout y = {0};
    int64_t size[LX_MAX_RANK] = {0}, stride[LX_MAX_RANK] = {0};
    int rank = ints_of(cjson_find(one, "size"), size, LX_MAX_RANK);
    ints_of(cjson_find(one, "stride"), stride, LX_MAX_RANK);
    y.rank = ints_of(cjson_find(one, "device_size"), y.size, LX_MAX_DEVICE_RANK);
    ints_of(cjson_find(one, "stride_map"), y.stride_map, LX_MAX_DEVICE_RANK);
    int64_t count = 1, elements = 1;
    for (int d = 0; d < rank; d++)
        if (size[d] < 1 << 24 && stride[d] < 1 << 24) count += (size[d] - 1) * stride[d];
    if (strstr(case_text(one, "host_view"), "size//2:")) count -= size[0] / 2;
    for (int d = 0; d < y.rank; d++)
        if (!mul_i64(elements, y.size[d], &elements)) elements = INT64_MAX / 2;
    bool sane = all_sane(size, rank) && all_sane(y.size, y.rank) && y.rank > 0 && rank > 0 && count > 0;
    if (!case_expect(c, sane && elements < 1 << 24 && count < 1 << 24, "sizes out of range")) return;
    uint16_t *host = mem_zeroed((size_t)count, sizeof *host), *back = mem_zeroed((size_t)count, sizeof *back);
    uint16_t *device = mem_zeroed((size_t)elements, sizeof *device);
    if (!host || !back || !device) abort();
    for (int64_t i = 0; i < count; i++) host[i] = (uint16_t)(i * 7919 + 1);
    layout_copy_in(&y, host, count, sizeof *host, device);
    layout_copy_out(&y, device, sizeof *host, back, count);
    case_expect(c, memcmp(host, back, (size_t)count * sizeof *host) == 0, "the tensor comes back changed");
    mem_free(host);
    mem_free(back);
    mem_free(device);
}

/* "128*p1 + 4096*(p0%256) + 7" into terms; false if it is no such sum. */
static bool parse_index(const char *text, const struct named_ints *ranges, struct index_term *terms,
                        int *count, int64_t *constant)
{
    *count = 0;
    *constant = 0;
    for (const char *at = text; *at;) {
        char *end;
        int64_t sign = 1, factor = 1;
        if (*at == '+' || *at == '-') sign = *at++ == '-' ? -1 : 1;
        bool number = *at >= '0' && *at <= '9';
        if (number) factor = strtoll(at, &end, 10), at = end;
        if (number && *at != '*') {
            *constant += sign * factor;
            continue;
        }
        if (*at == '*') at++;
        bool bracket = *at == '(';
        if (bracket) at++;
        size_t n = strcspn(at, "+-*%()");
        int v = 0;
        while (v < ranges->count && (strlen(ranges->name[v]) != n || strncmp(ranges->name[v], at, n) != 0))
            v++;
        if (v == ranges->count || *count == MAX_NAMED) return false;
        at += n;
        struct index_term t = {v, sign * factor, ranges->value[v], 0};
        if (*at == '%')
            t.wrap = strtoll(at + 1, &end, 10), at = end, t.range = t.wrap < t.range ? t.wrap : t.range;
        if (bracket && *at == ')') at++;
        terms[(*count)++] = t;
    }
    return true;
}

static void coordinates(struct cases *c, const cJSON *section)
{
    const cJSON *one;
    int n = 0;
    lx_status st;
    cJSON_ArrayForEach(one, cjson_find(section, "cases"))
    {
        int64_t size[8], stride[8], constant;
        struct index_term terms[MAX_NAMED];
        struct coordinate got[8];
        int count = 0, rank = ints_of(cjson_find(one, "size"), size, 8);
        struct named_ints ranges = named_ints_of(cjson_find(one, "ranges"));
        const cJSON *coords = cjson_find(one, "coords");
        ints_of(cjson_find(one, "stride"), stride, 8);
        case_begin(c, "coordinates/%d", n++);
        bool ok = case_expect(c, parse_index(case_text(one, "index"), &ranges, terms, &count, &constant),
                              "unreadable index") &&
                  case_expect(c, access_coordinates(rank, size, stride, terms, count, constant, got, &st),
                              "an error");
        for (int d = 0; ok && d < rank; d++) {
            char text[256];
            const cJSON *want = cJSON_GetArrayItem(coords, d);
            coordinate_write(&got[d], ranges.name, text, sizeof text);
            case_expect(c, cJSON_IsString(want) && strcmp(text_of(want), text) == 0, "coordinate %d is %s", d,
                        text);
        }
        case_end(c, one);
    }
    n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "errors"))
    {
        const char *what = case_text(one, "case");
        case_begin(c, "coordinates/errors/%d", n++);
        if (strstr(what, "backwards")) {
            int64_t size[2] = {4, 128}, stride[2] = {128, 1};
            struct index_term term = {0, -128, 4, 0};
            struct coordinate got[2];
            bool ok = access_coordinates(2, size, stride, &term, 1, 384, got, &st);
            case_expect(c, !ok && st.code == LX_E_UNSUPPORTED, "expected a reversed walk to be refused");
        } else if (strstr(what, "stick coordinate")) {
            bool restick;
            struct coordinate halves = {1, {{.var = 0, .scale = 1, .divisor = 128}}, 0},
                              plain = {1, {{.var = 0, .scale = 1, .divisor = 1, .mod = 64}}, 3};
            case_expect(c, !stick_coordinate_legal(&halves, 64, &restick),
                        "expected floor(v/128) to be refused");
            case_expect(c, stick_coordinate_legal(&plain, 64, &restick) && restick,
                        "expected v mod 64 + 3 to need a restickify");
        }
        case_end(c, one);
    }
}

void workdiv_layout(struct cases *c, const cJSON *root)
{
    const cJSON *layout = cjson_find(root, "layout"), *one;
    int n = 0;
    layouts(c, layout);
    cJSON_ArrayForEach(one, cjson_find(cjson_find(layout, "explicit_roundtrip"), "cases"))
    {
        case_begin(c, "layout/explicit_roundtrip/%d_%s", n++, case_text(one, "kind"));
        round_trip(c, one);
        case_end(c, one);
    }
    coordinates(c, cjson_find(root, "coordinates"));
}
