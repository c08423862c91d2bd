/* Plans and compares sets of nests: divides their ops together, makes the draft, and solves it if it may be
 * better. */
#include "search/nests/nest_search.h"

static struct decisions nest_try_decisions_of(const struct nest_set *s)
{
    struct decisions how = s->how;
    how.nests = s->nests;
    how.nest_count = s->nest_count;
    how.holds = s->holds;
    how.hold_count = s->hold_count;
    how.cuts = s->cuts;
    how.cut_count = s->cut_count;
    return how;
}

/* Limit on dividing all ops together; above it only ops in nests. */
enum { MOST_TOGETHER = 64 };

/* Chooses divisions of the ops in nests that agree; `*useless`: none is good enough for the set. */
static bool divide_nests(struct search *search, const struct nest_set *s, struct decisions *how,
                         struct arena *memory, bool *useless)
{
    int64_t below = limit_bytes(search, s->limit);
    size_t ops = (size_t)search->divided->count;
    const struct lx_division **divided = how->divided
                                             ? arena_copy_array(memory, how->divided, ops, sizeof *divided)
                                             : arena_array(memory, ops, sizeof *divided);
    struct draft x;
    *useless = false;
    if (!draft_make(search->divided, how, memory, &x, search->st)) return false;
    bool ok = true;
    if (s->op_count <= MOST_TOGETHER)
        ok = nest_divide(&x, 0, s->op_count - 1, s->menus, below, divided, useless, search->st);
    else
        for (int32_t i = 0; ok && i < s->nest_count; i++)
            if (i == s->changed || s->changed == EVERY_NEST)
                ok = nest_divide(&x, s->nests[i].first, s->nests[i].last, s->menus, INT64_MAX, divided,
                                 useless, search->st);
    how->divided = divided;
    draft_free(&x);
    return ok;
}

/* Solver steps that take as long as the rest of a try. */
enum { STEPS_OF_A_TRY = 150 };

static bool all_valid(const struct search *search, const struct nest_set *s)
{
    lx_status st;
    bool valid = true;
    for (int32_t i = 0; valid && i < s->nest_count; i++)
        valid = nest_valid(search->best.draft.layouts, &s->nests[i], &st);
    return valid;
}

/* The note of the set; NULL: there is no need to plan it, as it was planned in this round, or as it moves more
 * than the set's limit. */
static struct nest_tried *nest_try_note(const struct search *search, const struct nest_set *s,
                                        const struct decisions *how)
{
    struct nest_menus *menus = s->menus;
    struct nest_tried now = {.hash = decisions_hash(how, 0, menus->by_memory ? 2 : 1), .round = menus->round};
    for (int32_t o = 0; how->divided && o < search->divided->count; o++)
        now.divided = hash_number(now.divided, (int64_t)(intptr_t)how->divided[o]);
    struct nest_tried *note = NULL;
    for (size_t i = 0; i < menus->tried.count && !note; i++)
        if (menus->tried.at[i].hash == now.hash) note = &menus->tried.at[i];
    if (!note) {
        VEC_PUSH(&menus->tried, now);
        return &menus->tried.at[menus->tried.count - 1];
    }
    if (note->round == menus->round) return NULL;
    bool more = note->least == INT64_MAX || note->least > limit_bytes(search, s->limit);
    note->round = menus->round;
    if (more && note->divided == now.divided) return menus->spent += note->spent, NULL;
    return note->divided = now.divided, note;
}

/* Divides once more without the parts for which `first` found no room: others may agree then. */
static bool nest_set_spare(struct search *search, const struct nest_set *s, const struct decisions *first,
                           struct attempt *out)
{
    struct decisions how = nest_try_decisions_of(s);
    SCOPED(arena_free) struct arena memory = {0};
    struct attempt next = {0};
    struct limit limit = out->memory ? nest_set_limit(s, out) : s->limit;
    bool useless = false;
    s->menus->sparing = true;
    bool ok = divide_nests(search, s, &how, &memory, &useless);
    s->menus->sparing = false;
    if (ok && !useless && memcmp(how.divided, first->divided, (size_t)s->op_count * sizeof *how.divided) != 0)
        ok = try_decisions(search, &how, &search->effort, limit, &next);
    if (next.memory && out->memory)
        nest_keep_better(out, &next);
    else if (next.memory)
        *out = next;
    return ok;
}

/* An error, such as a tile that cannot be divided, gives no attempt. */
void nest_set_plan(struct search *search, const struct nest_set *s, bool divide, struct attempt *out)
{
    struct decisions how = nest_try_decisions_of(s);
    SCOPED(arena_free) struct arena memory = {0};
    lx_status st = {0}, *own = search->st;
    bool in_haste = search->effort.quick && !asks_time(search);
    *out = (struct attempt){0};
    struct nest_tried *note = nest_try_note(search, s, &how);
    if (!note) return;
    note->least = INT64_MAX;
    note->spent = 1;
    s->menus->spent++;
    if (!all_valid(search, s)) return;
    search->st = &st;
    s->menus->overfull = false;
    bool useless = false, ok = !divide || divide_nests(search, s, &how, &memory, &useless);
    ok = ok && !useless && try_decisions(search, &how, &search->effort, s->limit, out);
    if (ok && divide && s->menus->overfull && search->request->objective == LX_ASK_BALANCED)
        ok = nest_set_spare(search, s, &how, out);
    if (ok && out->memory && in_haste) (void)try_loading_copies(search, &search->effort, s->limit, out);
    search->st = own;
    if (out->memory) {
        out->perfect_bytes = search->best.perfect_bytes;
        note->spent += out->answer.steps / STEPS_OF_A_TRY;
        s->menus->spent += out->answer.steps / STEPS_OF_A_TRY;
        if (asks_time(search) || !s->menus->least || out->hbm_bytes < s->menus->least) {
            s->menus->least = out->hbm_bytes;
            s->menus->news_at = s->menus->spent;
        }
    }
    const int64_t below = limit_bytes(search, s->limit);
    if (asks_time(search) || search_is_over(search))
        note->least = 0;
    else if (out->memory || below < INT64_MAX)
        note->least = out->memory ? out->hbm_bytes : below + 1;
}

void nest_set_plan_in_full(struct search *search, const struct nest_set *s, const struct effort *effort,
                           struct attempt *out)
{
    struct decisions how = nest_try_decisions_of(s);
    lx_status st = {0};
    struct search by = *search;
    by.st = &st;
    *out = (struct attempt){0};
    if (all_valid(search, s) && try_decisions(&by, &how, effort, no_limit, out))
        out->perfect_bytes = search->best.perfect_bytes;
}

bool nest_set_force(struct search *search, const struct nest_set *s, struct attempt *out)
{
    struct decisions how = nest_try_decisions_of(s);
    struct nest_set all = *s;
    SCOPED(arena_free) struct arena memory = {0};
    *out = (struct attempt){0};
    all.changed = EVERY_NEST;
    all.limit = no_limit;
    bool useless,
        ok = divide_nests(search, &all, &how, &memory, &useless) && try_with(search, DRAFTS_FEW, &how, out);
    if (ok) out->perfect_bytes = search->best.perfect_bytes;
    return ok;
}

bool nest_set_has_news(const struct nest_menus *menus)
{
    enum { WITHOUT_NEWS = 100 };
    return menus->spent - menus->news_at < (menus->by_memory ? WITHOUT_NEWS / 2 : WITHOUT_NEWS);
}

bool nests_suffice(const struct search *search)
{
    int64_t least = search->bound_with_nests ? search->bound : 0;
    return !asks_time(search) && search->best.hbm_bytes <= max_i64(least, search->request->enough_bytes);
}

/* Between plans of equal bytes, fewer iterations, then fewer levels of all nests decide. */
static bool is_shorter(const struct lx_nest *nests, int32_t count, const struct attempt *than)
{
    int64_t iterations = 0, levels = 0;
    for (int32_t i = 0; i < count; i++) {
        iterations += nest_iterations(&nests[i]);
        levels += nests[i].level_count;
    }
    for (int32_t i = 0; i < than->draft.how.nest_count; i++) {
        iterations -= nest_iterations(&than->draft.how.nests[i]);
        levels -= than->draft.how.nests[i].level_count;
    }
    return iterations != 0 ? iterations < 0 : levels < 0;
}

bool nest_set_is_better(const struct attempt *a, const struct attempt *b)
{
    if (a->us != b->us) return a->us < b->us;
    if (a->hbm_bytes != b->hbm_bytes) return a->hbm_bytes < b->hbm_bytes;
    return is_shorter(a->draft.how.nests, a->draft.how.nest_count, b);
}

struct limit nest_set_limit(const struct nest_set *s, const struct attempt *than)
{
    return (struct limit){than->us, than->hbm_bytes - !is_shorter(s->nests, s->nest_count, than)};
}

bool nest_set_try(struct search *search, const struct nest_set *s)
{
    struct attempt next;
    struct nest_set from = *s;
    from.limit = nest_set_limit(s, &search->best);
    nest_set_plan(search, &from, true, &next);
    bool better = next.memory && nest_set_is_better(&next, &search->best);
    if (better)
        replace_best(search, &next);
    else
        attempt_free(&next);
    return better;
}
