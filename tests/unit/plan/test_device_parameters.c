/* No parameter of a device is without effect: twice or half of it changes a plan, a launch or a predicted time. And the
 * manual of patterns states the presets as they are. */
#include "unstable.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "support/other_sizes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Between them: matmuls with and without split sums, reductions, copies, relayouts, a weight beyond a core's span. */
static const char *const patterns[] = {
    SOURCE_DIR "/patterns/graphs/gq_attention.json", SOURCE_DIR "/patterns/graphs/moe_mlp.json",
    SOURCE_DIR "/patterns/graphs/lm_head.json", SOURCE_DIR "/patterns/graphs/transformer_block.json"};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static void add_launch(const struct lx_plan *p, int32_t o, struct text *t)
{
    lx_status st = {0};
    struct lx_op_launch *l = lx_plan_launch(p, o, NULL, &st);
    if (!l) {
        text_format(t, " %s", st.text);
        return;
    }
    for (int d = 0; d < l->rank; d++)
        text_format(t, " tiles of %lld of %lld", (long long)l->dim[d].side, (long long)l->dim[d].extent);
    if (l->launch)
        text_format(t, " cores %lld %lld", (long long)l->launch->core_grid[0],
                    (long long)l->launch->core_grid[1]);
    lx_op_launch_free(l);
}

/* What a team of four is predicted to take. */
static void add_team(const struct lx_graph *g, struct text *t)
{
    lx_status st = {0};
    struct lx_team_options how = {.grid = {2, {2, 2}}};
    struct lx_team_plan *p = lx_team_make(g, &how, &st);
    if (p) text_format(t, "team %.17g us\n", p->predicted_us);
    lx_team_free(p);
}

/* All that is planned and predicted, without what was asked for. */
static void describe(const char *path, const struct lx_device *d, struct text *t)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    g = with_device(g, d);
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) {
        lx_graph_free(g);
        text_add(t, "refused\n");
        return;
    }
    text_format(t, "%.17g us, %lld B, %lld in HBM, height %lld of %lld\n", p->figures.end_to_end_us,
                (long long)p->figures.hbm_bytes, (long long)p->segment_bytes,
                (long long)p->figures.height_bytes, (long long)p->problem.capacity);
    for (int32_t o = 0; o < p->divisions->count; o++) {
        const struct lx_division *v = &p->divisions->at[o];
        text_format(t, "%lld cores", (long long)v->cores_used);
        for (int i = 0; i < v->split_count; i++) text_format(t, " /%lld", (long long)v->splits[i].split);
        add_launch(p, o, t);
        text_add(t, "\n");
    }
    lx_plan_free(p);
    if (g->op_count < 12) add_team(g, t);
    lx_graph_free(g);
}

/* What is said of a pattern on this device; the last device is kept. */
static const char *said_of(int pattern, const struct lx_device *d)
{
    static struct lx_device last;
    static struct text said[PATTERNS];
    if (memcmp(&last, d, sizeof last) != 0)
        for (int i = 0; i < PATTERNS; i++) text_free(&said[i]), said[i] = (struct text){0};
    last = *d;
    if (!said[pattern].at) describe(patterns[pattern], d, &said[pattern]);
    return said[pattern].at;
}

/* Does this value change something? A refusal does not count: it may only say that the value fits the others badly. */
static bool has_effect(const struct lx_device *d, const struct lx_device_parameter *q, double value)
{
    struct lx_device other = *d;
    bool differs = false;
    lx_status st;
    if (value == lx_device_get(d, q) || !lx_device_set(&other, q, value, &st)) return false;
    for (int i = 0; i < PATTERNS && !differs; i++) {
        struct text after = {0};
        describe(patterns[i], &other, &after);
        differs = !strstr(after.at, "refused") && strcmp(said_of(i, d), after.at) != 0;
        text_free(&after);
    }
    return differs;
}

static void every_parameter_counts(void **state)
{
    (void)state;
    for (const struct lx_device_parameter *q = lx_device_parameters(); q->key; q++) {
        bool counts = false;
        for (int i = 0; lx_device_at(i / 2) && !counts; i++) {
            struct lx_device d = *lx_device_at(i / 2);
            if (i % 2) d.cores = 22; /* of which only a high grid makes a rectangle */
            if (i % 2) d.bundle_tensors = 4;
            /* -1 is no number of bytes: from what it stands for. */
            double now = lx_device_get(&d, q) < 0 ? (double)lx_device_usable(&d) : lx_device_get(&d, q);
            counts = has_effect(&d, q, now * 2) || has_effect(&d, q, now / 2);
            if (!counts) counts = has_effect(&d, q, floor(now / 64));     /* a wide limit */
            if (!counts && now == 0) counts = has_effect(&d, q, 4);       /* no limit */
            if (!counts && now <= 1) counts = has_effect(&d, q, 1 - now); /* a switch */
        }
        if (!counts) fail_msg("%s has no effect", q->key);
    }
}

/* The rates above all: each one changes the predicted time on every preset. */
static void every_rate_changes_times(void **state)
{
    static const char *const rates[] = {"hbm_gb_per_s", "ring_gb_per_s", "psum_ring_gb_per_s", "lx_gb_per_s",
                                        "peak_gflop_per_s"};
    (void)state;
    for (int i = 0; lx_device_at(i); i++)
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
            const struct lx_device_parameter *q = lx_device_parameter_find(rates[k]);
            if (!has_effect(lx_device_at(i), q, lx_device_get(lx_device_at(i), q) / 4))
                fail_msg("%s has no effect on %s", q->key, lx_device_at(i)->preset);
        }
}

/* ---- patterns/devices.md ---- */

/* Column `number` of a row of a table, without the blanks around it. */
static void column(const char *row, int number, char out[80])
{
    for (int i = 0; i <= number && row; i++) row = strchr(row + (i > 0), '|');
    assert_non_null(row);
    const char *from = row + 1 + strspn(row + 1, " "), *end = strchr(from, '|');
    assert_true(end && end - from < 80);
    while (end > from && end[-1] == ' ') end--;
    memcpy(out, from, (size_t)(end - from));
    out[end - from] = 0;
}

/* Parameters that share a row stand in the same order as their values. */
static double stated(const char *section, const char *key, int number)
{
    char quoted[60], keys[80], values[80];
    snprintf(quoted, sizeof quoted, "`%s`", key);
    const char *at = strstr(section, quoted), *row = at;
    if (!at) fail_msg("patterns/devices.md has no row for %s", key);
    while (row > section && row[-1] != '\n') row--;
    column(row, 0, keys);
    column(row, number, values);
    const char *value = values;
    for (const char *k = keys; k < strstr(keys, quoted); k++)
        if (*k == ',') value = strchr(value, ',') + 1;
    return strtod(value, NULL);
}

static void manual_states_the_presets(void **state)
{
    (void)state;
    size_t length;
    lx_status st;
    char *text = file_read(SOURCE_DIR "/patterns/devices.md", &length, &st), heading[80];
    assert_non_null(text);
    const char *table = strstr(text, "\n| parameter");
    assert_non_null(table);
    for (int i = 0; lx_device_at(i); i++) {
        column(table + 1, 2 + i, heading);
        if (strcmp(heading, lx_device_at(i)->preset) != 0)
            fail_msg("patterns/devices.md has %s where the column of %s belongs", heading,
                     lx_device_at(i)->preset);
        for (const struct lx_device_parameter *q = lx_device_parameters(); q->key; q++)
            if (stated(table, q->key, 2 + i) != lx_device_get(lx_device_at(i), q))
                fail_msg("patterns/devices.md states another %s of %s", q->key, heading);
    }
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_counts),
        cmocka_unit_test(every_rate_changes_times),
        cmocka_unit_test(manual_states_the_presets),
    };
    return cmocka_run_group_tests_name("device parameters", tests, NULL, NULL);
}
