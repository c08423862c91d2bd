/* Walks through the iterations of a nest, and from nest to nest. What is there in an iteration the views show; the last
 * line says where one is. */
#include "export/nest_words.h"
#include "tui/core/explorer.h"

#include <stdlib.h>

static void say_iteration(struct explorer *x, int32_t nest)
{
    const struct lx_plan *p = session_plan(&x->session);
    struct text line = {0};
    add_iteration_words(p, &p->nests[nest], session_iteration(&x->session, nest), &line);
    text_add(&line, " (");
    add_nest_title(p, nest, &line);
    text_add(&line, ")");
    explorer_say(x, TONE_PLAIN, "%s", line.at ? line.at : "");
    text_free(&line);
}

/* The nest at the cursor; -1, and it was said why. */
static int32_t nest_here(struct explorer *x)
{
    const struct lx_plan *p = session_plan(&x->session);
    int32_t nest = session_nest(&x->session);
    if (!p || p->nest_count == 0)
        explorer_say(x, TONE_DIM, "this plan has no nests");
    else if (nest < 0)
        explorer_say(x, TONE_DIM, "tick %lld is in no nest; %s goes to the next one",
                     (long long)x->session.selection.tick, KEY_OF(NEXT_NEST));
    return p ? nest : -1;
}

/* The first comes after the last. */
static void go_to_iteration(struct explorer *x, int32_t nest, int64_t to)
{
    int64_t count = nest_iterations(&session_plan(&x->session)->nests[nest]);
    session_set_iteration(&x->session, (to % count + count) % count);
    say_iteration(x, nest);
}

void nest_step(struct explorer *x, const char *argument, int loop, int by)
{
    int32_t nest = nest_here(x);
    (void)argument;
    if (nest < 0) return;
    const struct lx_nest *n = &session_plan(&x->session)->nests[nest];
    int64_t step = loop == NEST_OUTER ? nest_iterations(n) / n->tiles[0] : 1;
    go_to_iteration(x, nest, session_iteration(&x->session, nest) + by * step);
}

void nest_iterate(struct explorer *x, const char *argument, int what, int by)
{
    int32_t nest = nest_here(x);
    char *end = NULL;
    (void)what, (void)by;
    if (nest < 0) return;
    int64_t to = strtoll(argument, &end, 10),
            count = nest_iterations(&session_plan(&x->session)->nests[nest]);
    if (end == argument || *end || to < 1 || to > count)
        explorer_say(x, TONE_BAD, "\"%s\" is no iteration of this nest: they go from 1 to %s", argument,
                     grouped(count).at);
    else
        go_to_iteration(x, nest, to - 1);
}

/* The first nest that begins after a tick, or the last that ends before it; around the ends of the plan. */
static int32_t nest_beside(const struct lx_plan *p, int64_t tick, int by)
{
    int32_t here = plan_nest_at(p, tick), n = p->nest_count, before = -1;
    if (here >= 0) return (here + by + n) % n;
    for (int32_t i = 0; i < n && p->nests[i].first <= tick; i++) before = i;
    return ((by > 0 ? before + 1 : before) + n) % n;
}

void nest_go(struct explorer *x, const char *argument, int what, int by)
{
    const struct lx_plan *p = session_plan(&x->session);
    (void)argument, (void)what;
    if (!p || p->nest_count == 0) {
        explorer_say(x, TONE_DIM, "this plan has no nests");
        return;
    }
    int32_t nest = nest_beside(p, x->session.selection.tick, by);
    session_select_op(&x->session, p->nests[nest].first);
    session_show_buffer(&x->session);
    say_iteration(x, nest);
}
