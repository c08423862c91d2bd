/* Files of kind "loops", and contraction trees in text: what is read is written and read again as the same; every pass of
 * every rule set keeps what a valid nest computes. */
#include "fuzz/fuzz_target.h"
#include "base/memory.h"
#include "loops/loops.h"

enum { MOST_WORK = 20000, MOST_INDICES = 8, MOST_TREE_TEXT = 200 };

static void loops_again(const struct lx_loops *l)
{
    size_t n;
    lx_status st = {0};
    struct lx_loops again;
    char *file = lx_loops_to_json(l, &n);
    fuzz_must(file && lx_loops_parse("again", file, n, &again, &st), "a nest that was written cannot be read",
              &st);
    fuzz_must(lx_loops_equal(l, &again), "a nest that was read is another", NULL);
    mem_free(file);
}

static void each_pass(const struct lx_loops *l, const struct lx_loop_rules *rules)
{
    lx_status st = {0};
    if (lx_loops_validate(l, rules, &st) != 0 || lx_loops_work(l) > MOST_WORK) return;
    for (int k = 0; k < LX_LOOP_OPERANDS; k++) /* what is compared is as large as the operands */
        if (lx_loops_extent(l, (enum lx_loop_operand)k) > MOST_WORK) return;
    for (int i = 0; i < LX_LOOP_PASSES; i++) {
        struct lx_loops changed = *l;
        if (!lx_loops_run_pass(&changed, lx_loop_pass_at(rules, i), rules, 4, &st)) {
            fuzz_refused(&st);
            continue;
        }
        fuzz_must(lx_loops_same(l, &changed, 1, MOST_WORK, NULL, &st), "a pass changes what is computed",
                  &st);
    }
}

/* Indices of extents 1, 2, 3, ... */
static void tree_of(const char *text)
{
    int64_t sizes[MOST_INDICES];
    lx_status st = {0};
    int count = lx_tree_indices(text, &st);
    if (count < 0) fuzz_refused(&st);
    if (count < 0 || count > MOST_INDICES) return;
    for (int i = 0; i < count; i++) sizes[i] = i % 4 + 1;
    struct lx_tree *t = lx_tree_parse(text, sizes, count, &st);
    if (!t) fuzz_refused(&st);
    for (int k = 0; t && k < t->node_count; k++) {
        struct lx_loops l;
        if (t->nodes[k].left < 0) continue;
        if (lx_tree_lower(t, k, &l, NULL, &st))
            each_pass(&l, lx_loop_rules_at(0));
        else
            fuzz_refused(&st);
    }
    lx_tree_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    lx_status st = {0};
    struct lx_loops l;
    char *text = fuzz_text(data, length);
    if (!lx_loops_parse("fuzz", text, length, &l, &st)) {
        fuzz_refused(&st);
    } else {
        loops_again(&l);
        each_pass(&l, lx_loop_rules_at(0));
    }
    if (length < MOST_TREE_TEXT && !memchr(text, 0, length)) {
        char line[MOST_TREE_TEXT + 1] = {0};
        memcpy(line, text, length);
        tree_of(line);
    }
    mem_free(text);
    return 0;
}
