/* Cases of spans: the formula, the choice among splits that fit, and the errors. */
#include "cases/workdiv.h"
#include "cases/access_rules.h"

#include <stdlib.h>
#include <string.h>

/* The span of an operand of which a core has so many positions of each dimension: one axis per dimension. */
static int64_t span_of(int rank, const int64_t *size, const int64_t *extent)
{
    struct axis axes[LX_MAX_DEVICE_RANK] = {0};
    struct coordinate_term walks[LX_MAX_DEVICE_RANK];
    struct device_dim dims[LX_MAX_DEVICE_RANK];
    int64_t ones[LX_MAX_DEVICE_RANK];
    for (int d = 0; d < rank; d++) {
        axes[d].extent = extent[d];
        axis_settle(&axes[d]);
        walks[d] = (struct coordinate_term){.var = d, .scale = 1, .divisor = 1};
        dims[d] = (struct device_dim){size[d], 1, &walks[d], 0};
        ones[d] = 1;
    }
    struct space s = {.axes = axes, .axis_count = rank};
    struct operand o = {.rank = rank, .dims = dims, .stick_bytes = 128};
    return operand_span(&s, &o, ones);
}

void workdiv_span(struct cases *c, const cJSON *root)
{
    const cJSON *section = cjson_find(root, "span");
    const cJSON *one;
    int n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "cases"))
    {
        int64_t size[LX_MAX_DEVICE_RANK], extent[LX_MAX_DEVICE_RANK];
        int rank = ints_of(cjson_find(one, "device_size"), size, LX_MAX_DEVICE_RANK);
        ints_of(cjson_find(one, "per_core_extent"), extent, LX_MAX_DEVICE_RANK);
        case_begin(c, "span/%d", n++);
        int64_t got = span_of(rank, size, extent);
        case_expect(c, got == case_int(cjson_find(one, "bytes"), -1), "got %lld", (long long)got);
        case_end(c, one);
    }
    n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "two_tier"))
    {
        case_begin(c, "span/two_tier/%d", n++);
        if (strncmp(case_text(one, "note"), "Sep 2026", 8) == 0) {
            case_skip(c, "smallest product first is a later upstream rule; design section 7 takes the "
                         "largest span that fits, as seed 000");
            continue;
        }
        /* One dimension of 12 positions, walked by 6 * b + c, of which a core may have 8: c in three leaves
         * 8, b in two leaves 6 and takes fewer cores. The larger span wins. */
        struct made_space m;
        lx_status st;
        cJSON *it = cJSON_Parse("{\"b\": 2, \"c\": 6}");
        make_space(&m, it, 32);
        struct coordinate_term walks[2] = {{.var = 0, .scale = 6, .divisor = 1},
                                           {.var = 1, .scale = 1, .divisor = 1}};
        struct device_dim dims[2] = {{12, 2, walks, 0}, {64, 0, NULL, 0}};
        m.operands[0] = (struct operand){.name = "t", .rank = 2, .dims = dims, .stick_bytes = 128};
        m.s.operand_count = 1;
        m.s.span_limit = 8 * 128;
        case_expect(c, span_reduce(&m.s, &st) && m.axes[0].floor == 1 && m.axes[1].floor == 3,
                    "floors %lld and %lld", (long long)m.axes[0].floor, (long long)m.axes[1].floor);
        cJSON_Delete(it);
        arena_free(&m.memory);
        case_end(c, one);
    }
    n = 0;
    cJSON_ArrayForEach(one, cjson_find(section, "errors"))
    {
        const char *what = case_text(one, "case");
        lx_status st = {0};
        case_begin(c, "span/errors/%d: %.50s", n++, what);
        if (strncmp(what, "cores ", 6) == 0) {
            struct lx_device device;
            lx_device_preset("spyre", &device);
            case_expect(c, !lx_cores_valid(&device, atoi(what + 6), &st) && st.code == LX_E_CORES,
                        "expected the code cores");
            case_expect(c, !lx_cores_valid(&device, 0, &st) && lx_cores_valid(&device, 32, &st),
                        "1 to 32 are valid");
        } else if (strstr(what, "no divisor >=")) {
            struct made_space m;
            cJSON *it = cJSON_Parse("{\"a\": 6}");
            make_space(&m, it, 32);
            m.axes[0].floor = 7;
            case_expect(c, !span_reduce(&m.s, &st) && st.code == LX_E_DOMAIN, "expected the code domain");
            cJSON_Delete(it);
            arena_free(&m.memory);
        } else if (strstr(what, "symbolic")) {
            bool stick = strstr(what, "stick") != NULL;
            case_expect(c, !symbolic_supported(stick, !stick, &st) && st.code == LX_E_UNSUPPORTED,
                        "expected it to be refused");
            case_expect(c, symbolic_supported(false, false, &st), "expected a plain dimension to be taken");
        }
        case_end(c, one);
    }
}
