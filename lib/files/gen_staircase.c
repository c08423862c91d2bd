/* The staircase patterns at any size. Each step loads A, computes B of the same size from it and drops A;
 * every B lives to the end. Appending needs about twice the bytes of keeping the A's in one place and
 * stacking the B's from the other end. Downward, the steps shrink and a small blocker Z lives from the first
 * op to the last.
 *
 * Seven steps up and five down are the two target patterns. */
#include "files/gen_common.h"

enum { PAIRS, UNIT, DOWN, OPTIONS };

const struct lx_option gen_staircase_options[OPTIONS] = {
    [PAIRS] = {"pairs", 7, 1, 65536, "steps"},
    [UNIT] = {"unit", 0, 0, 1 << 30,
              "bytes by which a step is larger than the next; 0: the whole scratchpad is filled"},
    [DOWN] = {"down", 0, 0, 1, "1: shrinking steps, and a blocker under them"},
};

struct stairs {
    struct gen g;
    int64_t unit;
    VEC(int32_t) kept; /* tensors alive to the end */
};

static int32_t staircase_add_bytes(struct stairs *s, const char *format, int64_t i, enum lx_role role,
                                   int64_t bytes)
{
    char name[40];
    snprintf(name, sizeof name, "%s%lld%s", format, (long long)i, role == LX_INPUT ? "_HBM" : "");
    return gen_bytes(&s->g, name, role, bytes);
}

static void staircase_add_op(struct stairs *s, const char *kind, int64_t i, const char *part, int count,
                             const int32_t *inputs, int32_t output)
{
    char name[40];
    snprintf(name, sizeof name, "op%lld_%s", (long long)i, part);
    gen_plain(&s->g, name, kind, count, inputs, output);
}

const struct lx_graph *gen_staircase(const int64_t *v, lx_status *st)
{
    struct stairs s = {.unit = v[UNIT]};
    int64_t pairs = v[PAIRS], read = v[DOWN], written = v[DOWN];
    char name[80];
    snprintf(name, sizeof name, "%sstaircase_%lld", v[DOWN] ? "downward_" : "", (long long)pairs);
    gen_begin(&s.g, name,
              "Pairs of buffers in steps of size: one of each pair dies at once, the other lives to the end.",
              st);
    if (!s.g.failed && !s.unit) {
        const struct lx_device *device = &s.g.b.graph->device;
        /* Units live at the peak. Upward at the last step: all B and the last A. Downward equally at the last
         * two steps: Z, all B, and an A of one. */
        int64_t peak = v[DOWN] ? pairs * (pairs + 1) / 2 + 2 : pairs * (pairs + 3) / 2;
        s.unit = lx_device_usable(device) / peak / device->stick_bytes * device->stick_bytes;
        if (s.unit == 0) {
            s.g.failed = true;
            status_set(st, LX_E_USAGE,
                       "%lld steps do not fit into the scratchpad; lower pairs or give a unit",
                       (long long)pairs);
        }
    }
    if (v[DOWN]) {
        int32_t source = gen_bytes(&s.g, "Z_HBM", LX_INPUT, s.unit),
                z = gen_bytes(&s.g, "Z", LX_ROLE_COUNT, s.unit);
        gen_plain(&s.g, "op0_load", "clone", 1, &source, z);
        gen_plain(&s.g, "op0_0", "generic", 1, &z, staircase_add_bytes(&s, "C", 0, LX_ROLE_COUNT, s.unit));
        if (!s.g.failed) VEC_PUSH(&s.kept, z);
    }
    for (int64_t i = 1; i <= pairs && !s.g.failed; i++) {
        int64_t units = v[DOWN] ? pairs - i + 1 : i, bytes = units * s.unit;
        int32_t source = staircase_add_bytes(&s, "A", i, LX_INPUT, bytes),
                a = staircase_add_bytes(&s, "A", i, LX_ROLE_COUNT, bytes);
        int32_t b = staircase_add_bytes(&s, "B", i, LX_ROLE_COUNT, bytes),
                c = staircase_add_bytes(&s, "C", i, LX_ROLE_COUNT, s.unit);
        staircase_add_op(&s, "clone", i, "load", 1, &source, a);
        staircase_add_op(&s, "generic", i, "0", 1, &a, b);
        staircase_add_op(&s, "generic", i, "1", 2, (const int32_t[]){a, b}, c);
        if (!s.g.failed) VEC_PUSH(&s.kept, b);
        read += units;
        written++;
    }
    /* An op reads at most LX_MAX_INPUTS tensors, so several last ops gather many. */
    int32_t inputs[LX_MAX_INPUTS], result = -1;
    size_t done = 0;
    for (int64_t i = 1; done < s.kept.count && !s.g.failed; i++) {
        int count = 0;
        if (result >= 0) inputs[count++] = result;
        while (count < LX_MAX_INPUTS && done < s.kept.count) inputs[count++] = s.kept.at[done++];
        result = staircase_add_bytes(&s, "C", pairs + i, LX_ROLE_COUNT, s.unit);
        staircase_add_op(&s, "generic", pairs + i, "final", count, inputs, result);
    }
    /* Every A is read once, every C written once. Last ops pass one C on, on chip. */
    if (!s.g.failed && !v[UNIT]) s.g.b.graph->target_hbm_bytes = (read + written + 1) * s.unit;
    VEC_FREE(&s.kept);
    return gen_finish(&s.g);
}
