/* Files of team plans: what is read and right is written and read again as the same. */
#include "fuzz/fuzz_target.h"
#include "base/memory.h"
#include "team/run/team_plans.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    lx_status st = {0};
    size_t n, m;
    char *text = fuzz_text(data, length);
    struct lx_team_plans *p = lx_team_plans_parse("fuzz", text, length, &st), *again = NULL;
    if (!p || !lx_team_plans_check(p, &st)) {
        fuzz_refused(&st);
    } else {
        char *first = lx_team_plans_to_json(p, &n);
        fuzz_must(first != NULL, "a team's plan cannot be written", NULL);
        again = lx_team_plans_parse("again", first, n, &st);
        fuzz_must(again && lx_team_plans_check(again, &st), "a team's plan, read again, is not right", &st);
        char *second = lx_team_plans_to_json(again, &m);
        fuzz_same(first, n, second, m, "a team's plan that was read is written as another");
    }
    lx_team_plans_free(again);
    lx_team_plans_free(p);
    mem_free(text);
    return 0;
}
